"""Tables of words within the width of a terminal: one line a row, columns left out where they have no room."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.export.narrowing import GAP, Length, least_room, name_room, rooms, shortened, total

UNBOUNDED = 10_000  # columns: more than any table needs
WIDE_GAP, NARROW_GAP = 3, 2  # columns between two cells: with a line, and without
INDENT = "  "
LEAST_CUT = 24  # letters of a column whose words lose their end


def grid(
    headings: Sequence[tuple[str, bool]],
    lines: Iterable[Sequence[Text]],
    *,
    has_lines: bool,
    ends: Collection[int] = (),
) -> Table:
    """A table of which no cell is ever broken, with a little space after the lines at `ends`.

    A heading stands with whether its column is set to the right.
    """
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    if not has_lines:
        table.box, table.padding = box.SIMPLE_HEAD, (0, 1, 0, 0)
    for heading, right in headings:
        table.add_column(heading, justify="right" if right else "left", no_wrap=True)
    for place, line in enumerate(lines):
        table.add_row(*line, end_section=place in ends)
    return table


def bounded(
    headings: Sequence[tuple[str, bool]],
    lines: Sequence[Sequence[str | Text]],
    width: int,
    kept_first: Sequence[str] = (),
    cut: Sequence[str] = (),
    all_in: str = "--json has all",
    shortens: bool = True,
) -> Iterator[RenderableType]:
    """The table within `width`, and a line that names the columns which are left out or cut off, if any.

    Columns are taken in the order `kept_first`, then from the left. The first always stays; its names lose their middle
    before another column is left out, unless it never `shortens`. The words of the columns in `cut` may lose their end.
    """
    names = [heading for heading, _ in headings]
    places = range(len(names))  # two columns may have one heading
    cells = [[_text(line[place]) for line in lines] for place in places]
    widths = {place: max(len(names[place]), *(len(cell) for cell in cells[place]), 0) for place in places}
    room: Mapping[int, Length] = widths
    has_lines = total(widths.values(), WIDE_GAP) <= width
    if not has_lines:
        order = list(dict.fromkeys([0, *(names.index(name) for name in kept_first if name in names), *places]))
        short = {place: min(widths[place], LEAST_CUT) if names[place] in cut else widths[place] for place in places}
        least = least_room(cell.plain for cell in cells[0]) if shortens else widths[0]
        name = name_room(short, order, width, NARROW_GAP, least)
        room = rooms({**widths, 0: name}, order, width, NARROW_GAP, least=short)
    kept = [place for place in places if place in room]
    shown = [
        [_within(cells[place][line], int(room[place]), middle=place == 0) for place in kept]
        for line, _ in enumerate(lines)
    ]
    yield grid([headings[place] for place in kept], shown, has_lines=has_lines)
    missing = [names[place] for place in places if place not in room]
    ended = [names[place] for place in kept if names[place] in cut and room[place] < widths[place]]
    if missing or ended:
        yield f"{_losses(missing, ended, width)}; {all_in}"


def _losses(missing: Sequence[str], ended: Sequence[str], width: int) -> str:
    """Which columns are left out, and of which the words lose their end; some are."""
    narrow = f", as a line has {width} columns"
    cut_off = f"cut off{'' if missing else narrow}: {', '.join(ended)}" if ended else ""
    return "; ".join(filter(None, [f"left out{narrow}: {', '.join(missing)}" if missing else "", cut_off]))


def _text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)


def _within(cell: Text, room: int, *, middle: bool) -> Text:
    if len(cell) <= room:
        return cell
    words = shortened(cell.plain, room) if middle else f"{cell.plain[: room - len(GAP)].rstrip()}{GAP}"
    return Text(words, style=cell.style)


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
