"""In-context gradient descent (icgd): the theorems, the layers they build and what is measured on them."""
