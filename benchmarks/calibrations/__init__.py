"""Simulations of tests and intervals, one module per part of the project."""
