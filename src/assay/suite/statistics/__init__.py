"""Accuracies, their intervals and tests, and how far people agree."""
