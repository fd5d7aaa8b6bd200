"""The formulas and derivations of each topic."""
