"""The networks of the theorems in PyTorch, and their exact evaluation in Arb balls."""
