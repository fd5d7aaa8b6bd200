"""The floor that uses both others: lowering, comparison, solving, proofs, export, the command line."""
