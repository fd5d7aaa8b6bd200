"""A theorem is an expression: it knows its size, its error, its domain, and what it computes, exactly and nearly."""
