"""Where words go: tables to stdout, wide enough to lose no digit; progress to stderr, and only to a terminal."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.measure import Measurement

UNBOUNDED = 10_000  # columns: more than any table needs

Progress = Callable[[int, int, str], None]


def console(width: int | None) -> Console:
    """Prints what it is given: names such as p[1] are no markup, numbers are not coloured."""
    return Console(width=width, markup=False, highlight=False, emoji=False)


def line_width() -> int | None:
    """None: as wide as the terminal is. In a file or a pipe lines are as long as they need to be."""
    return None if sys.stdout.isatty() else UNBOUNDED


def show(*blocks: RenderableType) -> None:
    """Prints the blocks; one that cannot shrink to the terminal runs over its edge rather than lose digits."""
    screen = console(line_width())
    for block in blocks:
        if isinstance(block, str):
            screen.print(block, soft_wrap=True)
        else:
            console(max(screen.width, _least_width(screen, block))).print(block)


def _least_width(screen: Console, block: RenderableType) -> int:
    return Measurement.get(screen, screen.options.update(max_width=UNBOUNDED), block).minimum


def show_json(record: Any) -> None:
    """One JSON object and nothing else."""
    typer.echo(json.dumps(record, indent=2, ensure_ascii=False, default=str))


@contextlib.contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A bar on stderr that vanishes at the end; `label` is shown until the first report."""
    if not sys.stderr.isatty():
        yield lambda done, total, label: None
        return
    from rich import progress as bars

    columns = (bars.TextColumn("{task.description}", markup=False), bars.BarColumn(), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(label, total=None)
        yield lambda done, total, label: display.update(task, completed=done, total=total, description=label)
