"""Fewer columns, shorter words and shorter names where a table has little room."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from bridge.export.sheet import KEPT_LAST, Role, Sheet
from bridge.export.verdict_words import BARE, FULL, SHORT

SHARE = 3  # a verdict keeps its words, or its flags, where it takes at most this part of the line
LEAST_NAME = 8  # letters of a shortened name
GAP = "..."  # in the place of what is left out of a name
Name = TypeVar("Name")  # of a column, or its place
Length = int | float  # columns of a terminal, or points
Widths = Callable[[Sheet], Mapping[str, Length]]


def total(widths: Sequence[Length], gap: Length) -> Length:
    """Of columns side by side."""
    return sum(widths) + gap * (len(widths) - 1)


def fitting(
    widths: Mapping[str, Length],
    kept_first: Sequence[str],
    room: Length,
    gap: Length,
    *,
    always: int = 1,
    most: int | None = None,
) -> list[str]:
    """The names that fit side by side, taken in this order; one that is too wide is passed over.

    The first `always` names stay in any case. There are at most `most`.
    """
    kept = list(kept_first[:always])
    for name in kept_first[always:]:
        if total([widths[each] for each in (*kept, name)], gap) <= room and (most is None or len(kept) < most):
            kept.append(name)
    return kept


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
    rooms = (
        room
        for room in range(LEAST_NAME, longest)
        if len({shortened(each, room) for each in different}) == len(different)
    )
    return next(rooms, max(longest, LEAST_NAME))


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
    if total(list(widths.values()), gap) <= room and (most is None or len(widths) <= most):
        return whole
    wordings = [replace(whole, wording=each) for each in (FULL, SHORT, BARE)]
    short = [each for each in wordings if measure(each)["verdict"] * SHARE <= room] or wordings[-1:]
    needed = whole.kept_first[: whole.needed]
    found = []
    for worded in short:
        widths = {**measure(worded)}
        widths["verdict"] = min(widths["verdict"], verdict)
        first = worded.kept_first
        name: Length = math.inf
        if first[0] == "quantity":
            name = widths["quantity"] = name_room(widths, first[: worded.needed], room, gap, least_name)
        kept = fitting(widths, first, room, gap, always=min(worded.always, len(first)), most=most)
        found.append(replace(worded.with_columns(_without_the_last(worded, kept)), name_room=name))
    return max(found, key=lambda each: sum(column.name in needed for column in each.columns))  # the first of several


def _without_the_last(whole: Sheet, kept: Sequence[str]) -> list[str]:
    """What is of least use, such as rounding, goes first: it stays only where every number before it does."""
    numbers = [column.name for column in whole.columns if column.role is Role.NUMBER]
    missing = [place for place, name in enumerate(whole.kept_first) if name in numbers and name not in kept]
    behind = whole.kept_first[missing[0] :] if missing else []
    return [name for name in kept if name not in KEPT_LAST or name not in behind]
