"""The options of `boundsmith report`. Its body is imported when it runs, so that `--help` stays instant."""

from pathlib import Path
from typing import Annotated

import typer

from bridge.cli.options import flag, taking


def write_report(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID|FILE.py", help="Results, or Python files with theorems of your own."),
    ] = None,
    output: Annotated[Path | None, taking("FOLDER", "The folder to write.", "-o", "--output")] = None,
    every: Annotated[bool, flag("--all", "All results that run.")] = False,
    settings: Annotated[
        list[str] | None, taking("NAME=VALUE", "The value of a parameter. Repeatable.", "--set")
    ] = None,
    grid: Annotated[
        list[str] | None, taking("NAME=V1,V2,...", "Several values of a parameter. Repeatable.", "--grid")
    ] = None,
    jobs: Annotated[
        int | None, taking("N", "Processes of this machine; by default as many as it has cores and memory for.")
    ] = None,
) -> None:
    """Write a site of HTML pages: statement, table, plots, errata and proof of each result, and an overview.

    --set and --grid go with one result. Where a report is stopped, or killed, the same command goes on. A page that
    cannot be made says why; the exit code is then 1, and the same command tries it again.
    """
    from bridge.cli.reporting import run_report

    raise typer.Exit(run_report(ids or [], output, every=every, settings=settings or [], grids=grid or [], jobs=jobs))
