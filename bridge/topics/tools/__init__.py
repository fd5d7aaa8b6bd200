"""What several topics ask at numbers: flows, all-layer margins, the inversion of bounds, least paths."""
