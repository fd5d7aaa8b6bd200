"""How the options of the commands are typed."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

# The order of bridge/export/columns.py, which `--help` need not wait for.
LEFT_OUT_FIRST = (
    "rounding, exact, mean at least, median, level, seeds, p value, failures, ratio, attacked, at most, at least, "
    "printed, instance, where, the parameters that vary but for the first, claimed ratio, claimed, derived, measured"
)
SLASHES = tuple({"/", os.sep})


def flag(name: str, help: str) -> Any:
    """An option without a value, and without its opposite."""
    return typer.Option(name, help=help)


def taking(metavar: str, help: str, *names: str, **limits: Any) -> Any:
    """An option with a value; of the name of its argument, unless `names` are given."""
    return typer.Option(*names, metavar=metavar, help=help, **limits)


def writing(help: str, *names: str, metavar: str = "FILE") -> Any:
    """An option with a file to write to."""
    return typer.Option(*names, metavar=metavar, parser=output_file, help=help)


def output_file(text: str) -> Path:
    """A path to write to. A trailing slash means a folder, which `Path` would drop."""
    if text.endswith(SLASHES):
        raise typer.BadParameter(f"'{text}' is a folder; name a file in it")
    return Path(text)


Json = Annotated[bool, flag("--json", "Print one JSON object and nothing else.")]
