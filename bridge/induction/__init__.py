"""Induction heads (wang2024): the studies."""
