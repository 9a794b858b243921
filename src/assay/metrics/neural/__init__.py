"""Neural metrics: texts compared by what a model makes of them."""
