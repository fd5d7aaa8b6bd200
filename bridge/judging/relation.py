"""The relation of what was found to what is stated, by balls: kept, violated, or undecided where they straddle."""

import flint
import sympy as sp

from bridge.theorems.record import Verdict
from symbolic.statements.result import Kind, Order

EQUAL_BITS = 60  # two numbers that agree to 60 bits, more than a float64 has, count as equal
AGREEMENT = 0.05  # relative, of a run and an asymptotic formula


def relation(
    kind: Kind, found: flint.arb, bound: flint.arb, *, strict: bool = False, unit: int = 0, is_estimate: bool = False
) -> Verdict:
    """The verdict on one bound from what was found.

    Equal to 60 bits counts as equal: it keeps a bound that is not strict. `unit` is the size of what an error is the
    difference of: beside a bound of exactly 0, an error below 2^-60 of it counts as 0 (0: what is counted has none).
    `is_estimate`: of a float run with its rounding, which decides nothing where it meets the bound. A rate is only ever
    consistent: an input does not refute it.
    """
    equal = not is_estimate and equals(found, bound, unit)
    if kind is Kind.RATE:
        return Verdict.CONSISTENT if found <= bound or equal else Verdict.UNDECIDED
    if kind is Kind.EXACT:
        return Verdict.KEPT if equal else Verdict.UNDECIDED if found.overlaps(bound) else Verdict.VIOLATED
    low, high = (found, bound) if kind is Kind.UPPER else (bound, found)  # low <= high, or low < high
    if low > high or (strict and not is_estimate and low >= high):
        return Verdict.VIOLATED
    kept = low < high if strict or is_estimate else low <= high or equal
    return Verdict.KEPT if kept else Verdict.UNDECIDED


def equals(one: flint.arb, other: flint.arb, unit: int = 0) -> bool:
    """They meet, and each is narrower than 2^-60 of its size (of 1, above it; of `unit`, beside an exact 0)."""
    if not one.overlaps(other):
        return False
    if one.is_exact() and other.is_exact():
        return True
    if unit and other == 0:
        return bool(one < flint.arb(unit) * flint.arb(2) ** -EQUAL_BITS)
    scale, width = one.abs_upper().max(other.abs_upper()).min(flint.arb(1)), one.rad().max(other.rad())
    return bool(width <= scale * flint.arb(2) ** -EQUAL_BITS)


def implies(kind: Kind, known: flint.arb, bound: flint.arb, *, strict: bool = False) -> bool:
    """Whether a bound of this kind follows from a known one: a rate only from the same one."""
    same = Kind.EXACT if kind is Kind.RATE else kind
    return relation(same, known, bound, strict=strict) is Verdict.KEPT


def of_order(order: Order, limit: sp.Expr) -> Verdict:
    """The verdict on a Landau symbol from the limit of the quantity over the expression inside, along one path."""
    too_large, too_small = limit == sp.oo, bool(limit.is_zero)
    refuted = {Order.O: too_large, Order.OMEGA: too_small, Order.THETA: too_large or too_small}
    if refuted.get(order, False):
        return Verdict.VIOLATED
    holds = limit.is_extended_nonnegative and (limit.is_finite or order is Order.OMEGA)
    return Verdict.CONSISTENT if holds else Verdict.UNDECIDED


def agrees(found: flint.arb, derived: flint.arb) -> bool:
    """Whether a run confirms an asymptotic formula."""
    return bool(abs(found - derived) <= AGREEMENT * abs(derived))
