"""Linguistic features of texts: who finds them, and which there are."""
