"""Feed-forward layers of ramps, and of interpolants at given knots, with rational weights.

`number` makes the weights: floats, or balls for an exact run. Shapes: H hidden units, s and t sizes of a source and of
a target block.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from numeric.networks.layers import FeedForward
from numeric.networks.maps import BlockMap
from numeric.networks.stream import Block, Stream

Number = Callable[[Fraction], Any]
Values = Mapping[str, Sequence[Fraction | int]]  # by target block


@dataclass(frozen=True)
class Ramp:
    """`rises` times min(max((z - start)/width, 0), 1), z one coordinate of the source; a width < 0 leads downwards."""

    coordinate: int
    start: Fraction
    width: Fraction
    rises: Values


def ramp_layer(stream: Stream, source: str, ramps: Sequence[Ramp], number: Number = float) -> FeedForward:
    """h + the sum of these ramps of a block of h, by two ReLUs each: relu(t) - relu(t - 1)."""
    inner, bias = np.full((2 * len(ramps), stream.size(source)), Fraction(0)), np.full(2 * len(ramps), Fraction(0))
    outer = {
        name: np.full((len(bias), stream.size(name)), Fraction(0)) for name in {each for r in ramps for each in r.rises}
    }
    for place, ramp in enumerate(ramps):
        both = slice(2 * place, 2 * place + 2)
        inner[both, ramp.coordinate] = 1 / ramp.width
        bias[both] = [-ramp.start / ramp.width, -ramp.start / ramp.width - 1]
        for name, rises in ramp.rises.items():
            outer[name][both] = np.outer([1, -1], np.array(rises, object))
    return _layer(stream, source, inner, bias, outer, number)


def interpolating_layer(
    stream: Stream, source: str, start: int, values: Mapping[int, Values], number: Number = float
) -> FeedForward:
    """h + what interpolates `values`, of one and the same blocks, at ascending whole numbers of a block of one.

    0 up to `start`, below all of these; linear beyond the last.
    """
    knots = np.array([Fraction(knot) for knot in (start, *values)])
    outer = {}
    for name, first in next(iter(values.values())).items():
        rows = np.array([[0] * len(first), *(each[name] for each in values.values())], object)
        slopes = np.diff(rows, axis=0) / np.diff(knots)[:, None]
        outer[name] = np.diff(slopes, axis=0, prepend=0)
    return _layer(stream, source, np.full((len(values), 1), Fraction(1)), -knots[:-1], outer, number)


def _layer(
    stream: Stream, source: str, inner: np.ndarray, bias: np.ndarray, outer: Mapping[str, np.ndarray], number: Number
) -> FeedForward:
    """With `inner` (H, s), `bias` (H) and what each hidden unit adds to the blocks, (H, t)."""
    hidden = Stream([Block("hidden", len(bias))])

    def numbers(array: np.ndarray) -> np.ndarray:
        return np.array([number(Fraction(entry)) for entry in array.ravel()]).reshape(array.shape)

    return FeedForward(
        BlockMap(stream, hidden, {("hidden", source): numbers(inner)}),
        {"hidden": numbers(bias)},
        BlockMap(hidden, stream, {(name, "hidden"): numbers(each.T) for name, each in outer.items()}),
        residual=True,
    )
