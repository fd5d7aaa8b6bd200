"""Induction heads (wang2024): the theorems."""
