"""What runs, reports and comparisons show to people."""
