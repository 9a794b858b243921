"""The database of a suite: items, rules, runs, verdicts and who gave them."""
