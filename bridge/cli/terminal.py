"""Where words go: tables to stdout, wide enough to lose no digit; progress to stderr, and only to a terminal."""

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from bridge.cli.printable import message as in_words
from bridge.cli.printable import printable, printable_json
from bridge.export.grids import UNBOUNDED, print_block
from bridge.limits.accepted import LongRun

Progress = Callable[[int, int, str], None]


def console(width: int | None) -> Console:
    """Prints what it is given: names such as p[1] are not markup, numbers are not coloured."""
    return Console(width=width, markup=False, highlight=False, emoji=False)


def line_width() -> int:
    """That of the terminal. In a file or a pipe lines are as long as they need to be, unless COLUMNS is set."""
    set_by_user = os.environ.get("COLUMNS", "")
    if set_by_user.isdecimal() and int(set_by_user):
        return int(set_by_user)
    return Console().width if sys.stdout.isatty() else UNBOUNDED


class _Printable:
    """A block whose characters are printable, whatever a file or an argument brought into it."""

    def __init__(self, block: RenderableType) -> None:
        self.block = block

    def __rich_console__(self, screen: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for part in screen.render(self.block, options):
            yield part if part.control else Segment(printable(part.text), part.style)


def show(*lines: str) -> None:
    """Prints the lines; one that is longer than the terminal goes on in the next, wherever it is full."""
    for line in lines:
        console(line_width()).print(printable(line), soft_wrap=True)


def show_filled(*blocks: RenderableType) -> None:
    """Prints tables that fit the terminal; a sentence that is longer than its line is broken between words."""
    screen, width = console(UNBOUNDED), line_width()
    for block in blocks:
        if isinstance(block, str | Text):
            text = Text(block) if isinstance(block, str) else block
            print_block(screen, Text(printable(text.plain), spans=text.spans), width)
        else:
            print_block(screen, _Printable(block), width)


@contextlib.contextmanager
def warnings_in_words() -> Iterator[None]:
    """Inside, a warning is one line on stderr: that of a long run, or what a library says of its numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LongRun)
        warnings.showwarning = _warn
        yield


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    kind = "" if issubclass(category, LongRun) else "warning: "
    words = str(message).strip().splitlines() or [category.__name__]
    typer.echo(in_words(f"boundsmith: {kind}{words[0]}"), err=True)


def show_json(record: Any) -> None:
    """One JSON object and nothing else."""
    show_json_text(json.dumps(record, indent=2, ensure_ascii=False, default=str))


def show_json_text(text: str) -> None:
    typer.echo(printable_json(text))


@contextlib.contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A bar on stderr that vanishes at the end; `label` is shown until the first report."""
    if not sys.stderr.isatty():
        yield lambda done, total, label: None
        return
    from rich import progress as bars

    columns = (bars.TextColumn("{task.description}", markup=False), bars.BarColumn(), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(printable(label), total=None)
        yield lambda done, total, label: display.update(task, completed=done, total=total, description=printable(label))
