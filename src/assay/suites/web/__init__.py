"""The web page where people resolve warnings."""
