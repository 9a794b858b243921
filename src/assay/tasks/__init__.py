"""Task-based metrics: what a program that reads translations can still find in them."""
