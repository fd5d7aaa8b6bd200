"""The statements of the papers: what each one says, where it stands, and what is known to be wrong in it."""
