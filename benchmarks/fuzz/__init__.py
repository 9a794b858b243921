"""Fuzzing: inputs made at random, and what may come of them."""
