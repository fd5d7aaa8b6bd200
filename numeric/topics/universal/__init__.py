"""Universal features for in-context learning (li2025)."""
