"""MuLER (Karidi et al., 2023): a metric taken apart by linguistic feature."""
