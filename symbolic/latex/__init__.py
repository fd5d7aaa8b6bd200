"""Formulas and sentences as LaTeX."""
