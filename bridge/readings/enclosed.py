"""What is known of a step at a prompt (`Enclosed`), and the function `enclosed` that each operation extends."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import sympy as sp
import torch

from bridge.readings.arrays import Array, largest, spectral_of_scaled
from bridge.readings.errors import Error
from bridge.readings.operands import Operands
from bridge.readings.values import value
from symbolic.derivations.derivation import Step
from symbolic.derivations.operations import Operation, Unread

LEFT = "an argument may leave the range on which its function is known"


@dataclass(frozen=True)
class Image:
    """The error minus its centre is A u with ||u||_2 <= two, for each token."""

    matrix: Array  # (..., m, k)
    two: Callable[[], Array]


@dataclass(frozen=True)
class Enclosed:
    """The exact value of a step, and what is known of the error of the emulated one.

    `holds`: whether all arguments lie where the functions are known; a tensor of one truth value in a batch.
    """

    exact: Array
    error: Error
    image: Image | None = None
    holds: Any = True


@dataclass(frozen=True)
class AtHand:
    """The operands, and what of them is used.

    `local`: approximants at each argument, beside their supremum; a tensor of one truth value where the prompts of a
    batch differ in that. `by_rules`: the bounds of the rules too, where the letters in them are known. `every`: for
    every matrix within the distance that is stated (`Emulated.within`), not for the one that is bound.
    """

    operands: Operands
    local: bool | torch.Tensor = True
    by_rules: bool = True
    every: bool = False

    def within(self, step: Step) -> "AtHand":
        return replace(self, operands=self.operands.within(step))

    def in_layer(self, place: int, number: sp.Symbol) -> "AtHand":
        return replace(self, operands=self.operands.in_layer(place, number))


class NoEnclosure(Exception):  # noqa: N818 - what the field calls it
    """Nothing is known of what a step computes; the message says why."""


@singledispatch
def enclosed(operation: Operation, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    """What is known after the operation. Raises NoEnclosure where that is nothing."""
    raise NoEnclosure(f"'{step.rule}' has no enclosure")


@enclosed.register
def _unread(operation: Unread, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    raise NoEnclosure(f"'{step.rule}' has no enclosure: {operation.why}")


def exactly(operation: Operation, x: list[Enclosed], at: AtHand) -> Array:
    return value(operation, [each.exact for each in x], at.operands, False)


def gain(slope: Array, before: Enclosed) -> Array:
    """At least ||slope * u||_2 for the radius u of an error: ||D A||_2 ||v||_2 where u = A v."""
    image = before.image
    if before.error.is_known or image is None:
        return largest(abs(slope)) * before.error.two
    return spectral_of_scaled(slope, image.matrix) * image.two()


@singledispatch
def is_of_the_step(operation: Operation) -> bool:
    """Whether what is known depends on the step itself: its norm, its error, its rule."""
    return False


@singledispatch
def beyond(operation: Operation) -> str:
    """Why nothing is known where `holds` is false."""
    raise NotImplementedError(f"{type(operation).__name__} holds everywhere")
