"""Linguistic test suites: rules that pass, fail or warn, and people who resolve the warnings."""
