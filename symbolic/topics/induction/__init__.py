"""Induction heads (wang2024): what is claimed of the networks that compute them, and of how they are learnt."""
