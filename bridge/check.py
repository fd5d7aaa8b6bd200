"""Checks: rows that are not the error of a network. Two sides, their relation, and the inputs at which they are judged.

A lower bound, an identity, a limit, a proof, a count, an erratum: the theorem gives the sides, the engine the verdict,
the witness and its replay.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import flint
import sympy as sp

from bridge.balls import as_exact
from bridge.record import TIERS, Verdict
from bridge.verdicts import EQUAL_BITS
from symbolic.statements import Kind, Quantity

Number = Any  # int, float (the number itself), Fraction or ball


@dataclass(frozen=True)
class Sides:
    """What was found at some inputs, and what bounds it there.

    `found` is the quantity itself, a ball where it is rigorous; None if nothing was run. A bound that is left out is
    the quantity's own formula, if it has one. `proved` names the tiers that a proof covers beyond these inputs.
    `rounding` is how far a float run is from `found` (0 for a count): the row then shows both.
    """

    found: Number | None = None
    printed: Number | None = None
    derived: Number | None = None
    instance: Number | None = None
    rounding: float | None = None
    proved: tuple[str, ...] = ()
    remark: str = ""

    def __post_init__(self) -> None:
        unknown = [tier for tier in self.proved if tier not in TIERS]
        if unknown:
            raise ValueError(f"Sides: {', '.join(unknown)} is no tier; the tiers are {', '.join(TIERS)}")


@dataclass(frozen=True)
class Check:
    """A quantity whose sides are computed at `inputs`, by name: arrays, or a function of parameters that gives them.

    `sides` takes parameters, weights and these inputs by name. `when` is a condition on parameters: at others there is
    neither the quantity nor its row. `params` are parameters of its own, for a check that
    does not depend on those of the comparison (an erratum at a point); it is then judged once.
    """

    quantity: Quantity
    sides: Callable[..., Sides]
    inputs: Mapping[str, Any] | Callable[..., Mapping[str, Any]] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    when: sp.Basic = sp.true

    @property
    def name(self) -> str:
        return self.quantity.name


def as_ball(number: Number) -> flint.arb:
    """An enclosure of the number, exact for ints, floats and Fractions."""
    if isinstance(number, flint.arb):
        return number
    exact = as_exact(number)
    if isinstance(exact, int):
        return flint.arb(exact)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def relation(kind: Kind, found: flint.arb, bound: flint.arb, *, strict: bool = False) -> Verdict:
    """The verdict on one bound from what was found: by balls, so that a ball that straddles the bound is undecided.

    Equal to 60 bits counts as equal: it keeps a bound that is not strict. A rate is only ever consistent: an input
    does not refute it.
    """
    if kind is Kind.RATE:
        return Verdict.CONSISTENT if found <= bound or _equal(found, bound) else Verdict.UNDECIDED
    if kind is Kind.EXACT:
        return _identity(found, bound)
    low, high = (found, bound) if kind is Kind.UPPER else (bound, found)  # low <= high, or low < high
    if low > high or (strict and (low >= high or _equal(low, high))):
        return Verdict.VIOLATED
    return Verdict.KEPT if low <= high or _equal(low, high) else Verdict.UNDECIDED


def _identity(found: flint.arb, bound: flint.arb) -> Verdict:
    if _equal(found, bound):
        return Verdict.KEPT
    return Verdict.UNDECIDED if found.overlaps(bound) else Verdict.VIOLATED


def _equal(one: flint.arb, other: flint.arb) -> bool:
    """As far as balls can tell: they meet, and each is narrower than 2^-60 of its size (of 1, near 0)."""
    if not one.overlaps(other):
        return False
    scale = one.abs_upper().max(other.abs_upper()).min(flint.arb(1))
    width = one.rad().max(other.rad())
    return bool(width <= scale * flint.arb(2) ** -EQUAL_BITS) or bool(one.is_exact() and other.is_exact())
