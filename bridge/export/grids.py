"""Tables of words within the width of a terminal: one line a row, columns left out where they have no room."""

import re
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.export.narrowing import fitting, total

UNBOUNDED = 10_000  # columns: more than any table needs
WIDE_GAP, NARROW_GAP = 3, 2  # columns between two cells: with a line, and without
INDENT = "  "


def grid(headings: Sequence[tuple[str, bool]], *, has_lines: bool) -> Table:
    """An empty table, of which no cell is ever broken. A heading stands with whether its column is set to the right."""
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    if not has_lines:
        table.box, table.padding = box.SIMPLE_HEAD, (0, 1, 0, 0)
    for heading, right in headings:
        table.add_column(heading, justify="right" if right else "left", no_wrap=True)
    return table


def bounded(
    headings: Sequence[tuple[str, bool]], lines: Sequence[Sequence[str]], width: int
) -> Iterator[RenderableType]:
    """The table within `width`, and a line that names the columns which are left out, if any.

    Columns are taken from the left; the first always stays.
    """
    places = {str(place): place for place, _ in enumerate(headings)}
    widths = {
        name: max(map(len, (headings[place][0], *(line[place] for line in lines)))) for name, place in places.items()
    }
    has_lines = total(list(widths.values()), WIDE_GAP) <= width
    kept = list(places) if has_lines else fitting(widths, list(places), width, NARROW_GAP)
    table = grid([headings[places[name]] for name in kept], has_lines=has_lines)
    for line in lines:
        table.add_row(*(Text(line[places[name]]) for name in kept))
    yield table
    missing = [headings[place][0] for name, place in places.items() if name not in kept]
    if missing:
        yield f"left out, as a line has {width} columns: {', '.join(missing)}; --json has all"


def print_block(screen: Console, block: RenderableType, width: int) -> None:
    """A sentence that is longer than `width` goes on in the next line, indented; a table stays as it is.

    The screen is UNBOUNDED, so that it shortens no cell.
    """
    if not isinstance(block, str | Text):
        screen.print(block)
        return
    text = Text(block) if isinstance(block, str) else block
    if len(text) <= width:
        screen.print(text, soft_wrap=True)
        return
    for place, line in enumerate(text.divide(_breaks(text.plain, width))):
        line.rstrip()
        screen.print(Text(INDENT if place else "").append_text(line), soft_wrap=True)


def _breaks(words: str, width: int) -> list[int]:
    """Where the lines after the first begin: at a word, which is itself never broken."""
    places, start, room = [], 0, width
    for word in re.finditer(r"\S+", words):
        if word.end() - start > room and word.start() > start:
            start, room = word.start(), width - len(INDENT)
            places.append(start)
    return places
