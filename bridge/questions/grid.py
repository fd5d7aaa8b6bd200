"""The grid of a comparison: every combination of the values of its parameters."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.theorems.theorem import Theorem
from symbolic.words.errors import UsageError

MOST_POINTS = 10_000  # each has rows of its own


def grid_of(theorem: Theorem, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the given values; defaults where nothing is given."""
    for name in params:
        theorem.statement.parameter(name)  # raises for a name that is not a parameter
    chosen = with_defaults(theorem, params)
    axes = []
    for name, value in chosen.items():
        values = _values(value, is_number=theorem.statement.parameter(name).symbol is not None)
        if len(values[: MOST_POINTS + 1]) > MOST_POINTS:  # a range may have more than `len` can tell
            raise UsageError(f"{theorem.id}: {name} has more than {MOST_POINTS} values; give fewer")
        if not values:
            raise UsageError(f"{theorem.id}: {name} has no values; give at least one")
        if any(each in values[:place] for place, each in enumerate(values)):
            raise UsageError(f"{theorem.id}: {name} has the same value twice in {values}")
        axes.append([(name, each) for each in values])
    points = math.prod(len(axis) for axis in axes)
    if points > MOST_POINTS:
        raise UsageError(f"{theorem.id}: the grid has {points} points, at most {MOST_POINTS}; give fewer values")
    return [dict(point) for point in itertools.product(*axes)]


def with_defaults(theorem: Theorem, params: Mapping[str, Any]) -> dict[str, Any]:
    """The given parameters, with defaults for the others but for those that these imply (d, from W_star)."""
    defaults = {parameter.name: parameter.default for parameter in theorem.statement.parameters}
    return {
        name: params.get(name, value)
        for name, value in defaults.items()
        if name in params or name not in theorem.knobs.implied
    }


def _values(value: Any, *, is_number: bool) -> Sequence[Any]:
    """A grid axis: the elements of a tuple, list or range; one value otherwise (a matrix is one value)."""
    if isinstance(value, range | tuple):
        return value
    if isinstance(value, list) and (is_number or not any(isinstance(row, list | tuple) for row in value)):
        return value
    return [value]


def listed(value: Any) -> Any:
    if isinstance(value, range | tuple):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value
