"""The command line: `boundsmith list | show | latex | solve | compare | certify | errata | new`.

Nothing here imports SymPy, torch, pydantic or matplotlib before a command needs it, so that `--help` is instant.
"""

from bridge.cli.commands import app
from bridge.cli.entry import main

__all__ = ["app", "main"]
