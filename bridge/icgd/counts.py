"""Counts and parameter norms of the construction, (C.1) and (3.18), as balls."""

from collections.abc import Callable, Mapping
from typing import Any

import flint

from bridge.check import Sides
from bridge.icgd.emulation import Emulation
from bridge.icgd.values import EXACT_BITS, one_norm
from numeric.balls import ball_maximum, working_precision
from numeric.families import ActivationHeads, FamilyAttention, MaskedUnits, OuterProductHeads
from numeric.icgd.construction import IcgdConstruction
from numeric.icgd.norms import layer_sizes, network_size


def count(quantity: str, emulation: Emulation, n: int) -> Sides:
    """The count or norm of that name."""
    with working_precision(EXACT_BITS):
        return Sides(found=_COUNTED[quantity](emulation.construction(n), emulation), rounding=0.0)


# Queries and keys have norm 1; each family adds the absolute values of its coefficients, a row each.
def _attention_norm(layer: Any) -> flint.arb:
    assert isinstance(layer, FamilyAttention)  # the layers of the block are known
    total = flint.arb(1)
    for family in layer.families:
        if isinstance(family, ActivationHeads):
            total += layer.stream.size(family.target) * one_norm(family.relus.weights)
        elif isinstance(family, OuterProductHeads):
            scale = flint.fmpq(family.scale.numerator, family.scale.denominator)
            total += family.count(layer.stream) * flint.arb(scale)
    return total


# W_1 has the units of one k in the columns of t[k] and y[k], those of all k at `one` and at the mask.
def _loss_norm(layer: Any) -> flint.arb:
    assert isinstance(layer, MaskedUnits)  # the layers of the block are known
    copies, directions = layer.stream.size(layer.target), layer.relus.directions
    shifts = [flint.arb(shift) - flint.arb(layer.bound) for shift in directions[:, 2].tolist()]
    columns = [
        *(one_norm(directions[:, column]) for column in (0, 1)),
        copies * sum((abs(shift) for shift in shifts), start=flint.arb(0)),
        copies * len(directions) * flint.arb(layer.bound),
    ]
    return ball_maximum(columns) + flint.arb(float(abs(layer.relus.weights).max(initial=0.0)))


def _forward(built: IcgdConstruction) -> flint.arb:
    return ball_maximum([_attention_norm(layer) for layer in built.block[: built.shape.N]])


def _backward(built: IcgdConstruction) -> float:
    N = built.shape.N
    return max(size.norm for size in layer_sizes(built)[N + 2 : 2 * N + 2])


_COUNTED: Mapping[str, Callable[[IcgdConstruction, Emulation], Any]] = {
    "norm[forward]": lambda built, _: _forward(built),
    "norm[derivative]": lambda built, _: _attention_norm(built.block[built.shape.N]),
    "norm[loss_gradient]": lambda built, _: _loss_norm(built.block[built.shape.N + 1]),
    "norm[backward]": lambda built, _: _backward(built),
    "norm[step]": lambda built, _: _attention_norm(built.block[2 * built.shape.N + 2]),
    "heads": lambda built, _: network_size(built).heads,
    "relus": lambda built, emulation: emulation.relus,
    "width": lambda built, _: network_size(built).width,
}
