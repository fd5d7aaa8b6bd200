"""Boolean circuits and Turing machines (wei2021): what is claimed of the networks that run them, and their margins."""
