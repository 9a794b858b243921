"""How far a metric can be trusted: agreement with people, sensitivity, downstream tasks."""
