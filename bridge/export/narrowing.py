"""Fewer columns and shorter words where a table has little room."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bridge.export.choice import ALWAYS
from bridge.export.sheet import KEPT_LAST, Role, Sheet
from bridge.export.verdict_words import BARE, FULL, SHORT

SHARE = 3  # a verdict keeps its words, or its flags, where it takes at most this part of the line
LEAST_NAME = 12  # of the room for verdict and name, at least so much is for the name
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


def narrowed(
    whole: Sheet, measure: Widths, room: Length, gap: Length, *, most: int | None = None, verdict: Length = math.inf
) -> Sheet:
    """The table within `room`: all of it where it fits, else with shorter verdicts, else with fewer columns.

    A verdict wider than `verdict` is broken.
    """
    widths = measure(whole)
    if total(list(widths.values()), gap) <= room and (most is None or len(widths) <= most):
        return whole
    wordings = [replace(whole, wording=each) for each in (FULL, SHORT, BARE)]
    worded = next((each for each in wordings if measure(each)["verdict"] * SHARE <= room), wordings[-1])
    widths = dict(measure(worded))
    widths["verdict"] = min(widths["verdict"], verdict)
    widths["quantity"] = min(widths["quantity"], name_room(room, widths["verdict"], gap))
    kept = fitting(widths, worded.kept_first, room, gap, always=len(ALWAYS), most=most)
    return worded.with_columns(_without_the_last(worded, kept))


def _without_the_last(whole: Sheet, kept: Sequence[str]) -> list[str]:
    """What is of least use, such as rounding, goes first: it stays only where every number before it does."""
    numbers = [column.name for column in whole.columns if column.role is Role.NUMBER]
    missing = [place for place, name in enumerate(whole.kept_first) if name in numbers and name not in kept]
    behind = whole.kept_first[missing[0] :] if missing else []
    return [name for name in kept if name not in KEPT_LAST or name not in behind]


def name_room(room: Length, verdict: Length, gap: Length) -> Length:
    """What is left for the name of a quantity beside its verdict."""
    return max(LEAST_NAME, room - gap - verdict)
