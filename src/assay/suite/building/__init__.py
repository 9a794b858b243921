"""Samples to be translated, and translations taken back."""
