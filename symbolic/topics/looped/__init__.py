"""Algorithms by a transformer in a loop (algoformer)."""
