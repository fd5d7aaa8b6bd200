"""The constructions of each topic: weights, tasks and data."""
