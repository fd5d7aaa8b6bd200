"""Transformers and their layers, as modules with constructed weights."""
