"""Fewer columns, shorter words and shorter names where a table has little room."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from bridge.export.columns import KEPT_LAST, Role
from bridge.export.sheet import Sheet
from bridge.export.verdict_words import BARE, FULL, SHORT

SHARE = 3  # a verdict keeps its words, or its flags, where it takes at most this part of the line
LEAST_NAME = 8  # letters of a shortened name
GAP = "..."  # in the place of what is left out of a name
Name = TypeVar("Name")  # of a column, or its place
Length = int | float  # columns of a terminal, or points
Widths = Callable[[Sheet], Mapping[str, Length]]


def total(widths: Iterable[Length], gap: Length) -> Length:
    """Of columns side by side."""
    found = list(widths)
    return sum(found) + gap * (len(found) - 1)


def rooms(
    widths: Mapping[Name, Length],
    order: Sequence[Name],
    room: Length,
    gap: Length,
    *,
    least: Mapping[Name, Length] | None = None,
    always: int = 1,
    most: int | None = None,
) -> dict[Name, Length]:
    """How wide each of the columns is that fit side by side, taken in this order; one that does not fit is passed over.

    The first `always` stay in any case, and there are at most `most`. A column is as wide as it needs to be, one that
    may be narrower as wide as there is room, `least` at the least.
    """
    least = {**widths, **(least or {})}
    found: dict[Name, Length] = {}
    for name in order:
        spare = room - total([*found.values(), 0], gap)
        if len(found) < always or (spare >= least[name] and (most is None or len(found) < most)):
            found[name] = min(widths[name], max(spare, least[name]))
    return found


def shortened(name: str, room: int) -> str:
    """The name without its middle where it has more letters than `room`."""
    if len(name) <= room:
        return name
    tail = (room - len(GAP)) // 2
    return f"{name[: room - len(GAP) - tail]}{GAP}{name[len(name) - tail :]}"


def least_room(names: Iterable[str]) -> int:
    """The fewest letters with which names that differ still differ, and at least LEAST_NAME."""
    different = set(names)
    longest = max(map(len, different), default=LEAST_NAME)
    sizes = (
        size
        for size in range(LEAST_NAME, longest)
        if len({shortened(each, size) for each in different}) == len(different)
    )
    return next(sizes, max(longest, LEAST_NAME))


def name_room(widths: Mapping[Name, Length], first: Sequence[Name], room: Length, gap: Length, least: Length) -> Length:
    """What the column `first[0]` has where those after it stand beside it: at least `least`, unless it needs less."""
    name, *others = first
    left = room - sum(widths[each] + gap for each in others)
    return min(widths[name], max(left, least))


def narrowed(
    whole: Sheet,
    measure: Widths,
    room: Length,
    gap: Length,
    *,
    most: int | None = None,
    verdict: Length = math.inf,
    least_name: Length = LEAST_NAME,
) -> Sheet:
    """The table within `room`: all of it where it fits, else with shorter verdicts, names and fewer columns.

    A name is shortened, or broken, to `least_name` at the least, where otherwise a row had no bound or no error. A
    verdict wider than `verdict` is broken.
    """
    widths = measure(whole)
    if total(widths.values(), gap) <= room and (most is None or len(widths) <= most):
        return whole
    wordings = [replace(whole, wording=each) for each in (FULL, SHORT, BARE)]
    short = [each for each in wordings if measure(each)["verdict"] * SHARE <= room] or wordings[-1:]
    first, needed = whole.kept_first, whole.kept_first[: whole.needed]
    found = []
    for worded in short:
        widths = {**measure(worded)}
        widths["verdict"] = min(widths["verdict"], verdict)
        name: Length = math.inf
        if first[0] == "quantity":
            name = widths["quantity"] = name_room(widths, needed, room, gap, least_name)
        kept = rooms(widths, first, room, gap, always=whole.always, most=most)
        found.append(replace(worded.with_columns(_without_the_last(whole, kept)), name_room=name))
    return max(found, key=lambda each: sum(column.name in needed for column in each.columns))  # the first of several


def _without_the_last(whole: Sheet, kept: Iterable[str]) -> list[str]:
    """What is of least use, such as rounding, goes first: it stays only where every number before it does."""
    numbers = [column.name for column in whole.columns if column.role is Role.NUMBER]
    gone = next((at for at, name in enumerate(whole.kept_first) if name in numbers and name not in kept), None)
    behind = [] if gone is None else whole.kept_first[gone:]
    return [name for name in kept if name not in KEPT_LAST or name not in behind]
