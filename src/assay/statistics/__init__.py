"""Statistics of scores: weights, intervals, tests, correlation, proportions and agreement."""
