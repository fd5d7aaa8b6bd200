"""Boolean circuits and Turing machines (wei2021): the constructed networks, and reference simulators of their own."""
