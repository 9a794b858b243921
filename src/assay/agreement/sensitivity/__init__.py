"""Whether a metric still tells good from bad texts where systems are good."""
