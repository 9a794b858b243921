"""One report on machine translation systems: its page."""
