"""The store: a folder of results, so that nothing is scored twice and runs can be compared."""
