"""Theorems of certificates as files that the proof assistant Coq compiles."""
