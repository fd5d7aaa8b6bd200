"""Searches for the worst inputs of a function."""
