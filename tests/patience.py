"""How long a test waits for what must come: only what hangs is given up, never what is slow."""

PATIENCE = 900
"""Seconds; far more than any step of a test takes on the busiest machine."""
