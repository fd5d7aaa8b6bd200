"""What a theorem is, beside its statement: the parts of it that are data."""
