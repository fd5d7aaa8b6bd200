"""What was found beside what is stated: one judge for every kind of row."""
