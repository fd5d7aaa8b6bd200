"""What the names on a page mean: the quantities that are shown, and the parameters whose names are words."""

from collections.abc import Sequence

import sympy as sp

from bridge.export.layout import Layout
from bridge.record import Comparison, Row
from symbolic.catalogue import RUNNING, find_result
from symbolic.statements import Parameter, Result

EPSILON = "eps"  # a letter, though not under its whole name


def legend(comparison: Comparison, rows: Sequence[Row], columns: Layout) -> list[tuple[str, str]]:
    """Names and their meaning: the quantities of the rows, in their order, then the parameters.

    Quantities of one meaning share an entry. A parameter under a letter of the paper has none.
    """
    of_quantities: dict[str, list[str]] = {}
    for row in rows:
        names = of_quantities.setdefault(row.meaning, [])
        names += [] if row.quantity in names else [row.quantity]
    entries = [(", ".join(names), meaning) for meaning, names in of_quantities.items() if meaning]
    shown = (*columns.varying, *columns.constant)
    return entries + [
        (f"parameter {each.name}", each.meaning) for each in _worded(comparison, rows) if each.name in shown
    ]


def _worded(comparison: Comparison, rows: Sequence[Row]) -> list[Parameter]:
    """The parameters that need words: a number under a word, and an option that the meaning explains."""
    if comparison.result not in RUNNING:
        return []
    result: Result = find_result(comparison.result)
    return [each for each in result.parameters if _is_word(each.name) and (each.symbol or _is_explained(each, rows))]


def _is_word(name: str) -> bool:
    """Whether it is no letter, Latin or Greek, with or without an index."""
    base = name.split("_")[0]
    return len(base) > 1 and base != EPSILON and not sp.latex(sp.Symbol(base)).startswith("\\")


def _is_explained(parameter: Parameter, rows: Sequence[Row]) -> bool:
    values = {row.params.get(parameter.name) or "" for row in rows if isinstance(row.params.get(parameter.name), str)}
    return any(value and f"{value}: " in parameter.meaning for value in values)
