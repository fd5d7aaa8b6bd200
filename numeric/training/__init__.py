"""Transformers that are trained: models, tasks with seeded streams, a trainer that resumes bit by bit, baselines."""
