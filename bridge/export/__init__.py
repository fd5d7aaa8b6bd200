"""A comparison as a table on the terminal, in a notebook and in files, and as plots; and read back from JSON."""
