"""A theorem at a point: what its functions take, and what its networks make of a prompt."""
