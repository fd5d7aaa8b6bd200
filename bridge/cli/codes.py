"""Exit codes of the command, and its version."""

import importlib.metadata

BUG, USAGE, INTERRUPTED = 1, 2, 130


def version() -> str:
    return importlib.metadata.version("boundsmith")
