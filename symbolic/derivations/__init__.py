"""What a derivation records: steps, obligations, hypotheses and the signs that they imply."""
