"""Counts and parameter norms of the construction, (C.1) and (3.18), as balls."""

from collections.abc import Callable, Mapping
from typing import Any

import flint

from bridge.theorems.check import Sides
from bridge.topics.icgd.emulation import Emulation
from numeric.balls import ball_maximum, working_precision
from numeric.networks.families import FamilyLayer, layer_size
from numeric.networks.families.norms import EXACT_BITS


def count(quantity: str, emulation: Emulation, n: int) -> Sides:
    """The count or norm of that name."""
    built, N = emulation.construction(n), emulation.setting.shape.N
    return Sides(found=_COUNTED[quantity](built, emulation, N), rounding=0.0)


def _norm(layers: tuple[FamilyLayer, ...]) -> flint.arb:
    with working_precision(EXACT_BITS):
        return ball_maximum([layer_size(layer).norm for layer in layers])


_COUNTED: Mapping[str, Callable[..., Any]] = {
    "norm[forward]": lambda built, _, N: _norm(built.block[:N]),
    "norm[derivative]": lambda built, _, N: _norm(built.block[N : N + 1]),
    "norm[loss_gradient]": lambda built, _, N: _norm(built.block[N + 1 : N + 2]),
    "norm[backward]": lambda built, _, N: _norm(built.block[N + 2 : 2 * N + 2]),
    "norm[step]": lambda built, _, N: _norm(built.block[2 * N + 2 : 2 * N + 3]),
    "heads": lambda built, *_: max(layer_size(layer).heads for layer in built.block),
    "relus": lambda _, emulation, N: emulation.relus,
    "width": lambda built, *_: built.stream.width,
}
