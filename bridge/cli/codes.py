"""Exit codes of the command, and its version."""

import importlib.metadata

BUG, USAGE, INTERRUPTED = 1, 2, 130


class AdvisedInterrupt(Exception):  # noqa: N818 - typer makes an exit code of a KeyboardInterrupt
    """An interrupt that says what is done and how to go on."""


def version() -> str:
    return importlib.metadata.version("boundsmith")
