"""Comparisons of balls: True, False, or None where the balls do not decide them."""

from typing import TypeAlias

from numeric.balls.arbs import Arb

Decision: TypeAlias = bool | None


def less(a: Arb, b: Arb) -> Decision:
    return True if a < b else False if a >= b else None


def at_most(a: Arb, b: Arb) -> Decision:
    return True if a <= b else False if a > b else None


def equal(a: Arb, b: Arb) -> Decision:
    return True if a == b else False if a != b else None


def negation(a: Decision) -> Decision:
    return None if a is None else not a


def both(*parts: Decision) -> Decision:
    """Of any number of parts: whether all of them hold."""
    return False if False in parts else None if None in parts else True


def either(*parts: Decision) -> Decision:
    return negation(both(*map(negation, parts)))
