"""In-context gradient descent on N-layer networks (wu2024): what is claimed, and why."""
