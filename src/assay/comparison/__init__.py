"""Comparisons of systems: which segments and which words make the difference."""
