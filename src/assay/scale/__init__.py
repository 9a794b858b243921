"""Scoring of what does not fit into memory: batches, shards, and sums that add up."""
