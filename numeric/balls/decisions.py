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


def both(a: Decision, b: Decision) -> Decision:
    return False if a is False or b is False else None if a is None or b is None else True


def either(a: Decision, b: Decision) -> Decision:
    return negation(both(negation(a), negation(b)))
