"""What is asked of a theorem: compare, solve, certify, its claims and its errata."""
