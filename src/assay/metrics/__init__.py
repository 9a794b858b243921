"""Metrics: frozen settings with `rows` (text to sums) and `aggregate` (sums to scores)."""
