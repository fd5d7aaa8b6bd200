"""Induction heads (wang2024): the constructed networks, the one that is trained, and exact references."""
