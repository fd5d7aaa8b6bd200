"""Boolean circuits and Turing machines (wei2021): files read, and the theorems."""
