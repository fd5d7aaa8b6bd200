"""The networks of the theorems in PyTorch, and exact truth about them in Arb balls."""
