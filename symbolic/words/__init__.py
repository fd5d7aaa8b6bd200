"""The words of all floors: citations, errors, names, and how a value is shown."""
