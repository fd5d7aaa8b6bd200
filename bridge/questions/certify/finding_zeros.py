"""Steps at the places where an expression is 0: monotone in a letter, and cuts at a point or a graph of zeros."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import sympy as sp

from bridge.questions.certify.goals import NotShownError, ProofGoal, affine_in, same, substituted
from bridge.questions.certify.samples import RegionSample
from bridge.questions.certify.steps import ByMonotone, ProofStep

USUAL = tuple(map(sp.sympify, (0, 1, -1, "1/2", "-1/2", 2, "log(2)")))
NEAREST = 7  # halvings towards an end at which the expression is 0
SIMPLE = 1000  # of the denominator of a zero


def monotone_steps(goal: ProofGoal, sample: RegionSample) -> Iterator[ProofStep]:
    """In each letter whose slope seems to have one sign; conditions that are not affine in it are left out."""
    slopes = {x: sp.diff(goal.expression, x) for x in goal.symbols if goal.expression.has(x)}
    for x, slope in sorted(slopes.items(), key=lambda pair: _complexity(pair[1])):
        kept = tuple(k for k, c in enumerate(goal.where) if not c.has(x) or affine_in(c, x) is not None)
        for sign in (1, -1):
            if sample.seems(sign * slope):
                yield ByMonotone(x, sign, kept)


def _complexity(expression: sp.Expr) -> tuple[int, int]:
    return len(expression.atoms(sp.Function)), int(sp.count_ops(expression))


def zero_cuts(goal: ProofGoal, sample: RegionSample) -> Iterator[tuple[sp.Symbol, sp.Expr]]:
    """Letters and what they are where the expression or its slope in it is exactly 0: a number inside the range, or
    another letter."""
    lowest = sample.lowest(goal.expression)
    for i, (x, low, high) in enumerate(goal.ranges):
        if not goal.expression.has(x):
            continue
        places: list[Any] = [y for y in goal.symbols[:i] if goal.expression.has(y)]
        places += [place for place in (*_near(goal, x, lowest, i), *USUAL) if low < place < high]
        for place in dict.fromkeys(places):
            cut = {x - place, place - x} & set(goal.where)
            if not cut and (_is_zero(goal, x, place) or _is_zero(goal, x, place, sp.diff(goal.expression, x))):
                yield x, place


def _near(goal: ProofGoal, x: sp.Symbol, lowest: list[float] | None, i: int) -> list[sp.Rational]:
    """Simple rational numbers near the float at which the expression is least."""
    if lowest is None:
        return []
    if len(goal.symbols) > 1:
        return [sp.Rational(round(lowest[i] * 12), 12)]
    from scipy.optimize import minimize_scalar  # takes a quarter of a second, which few runs need

    _, low, high = goal.ranges[i]
    width = float(high - low) / 50
    bounds = (max(float(low), lowest[i] - width), min(float(high), lowest[i] + width))
    f = sp.lambdify(x, goal.expression, modules=["scipy", "numpy"])
    with np.errstate(all="ignore"):
        found = minimize_scalar(lambda t: float(f(t)), bounds=bounds, method="bounded", options={"xatol": 1e-12})
    place = sp.nsimplify(round(float(found.x), 7), rational=True, tolerance=1e-6)
    return [place] if place.q < SIMPLE else []


def _is_zero(goal: ProofGoal, x: sp.Symbol, place: sp.Expr, expression: sp.Expr | None = None) -> bool:
    try:
        there = substituted(goal.expression if expression is None else expression, {x: place})
    except NotShownError:
        return False
    rest = ProofGoal(there, tuple(each for each in goal.ranges if each[0] != x))
    return RegionSample(rest, 50).vanishes(there) and same(rest, there, sp.Integer(0))


def cuts_near(goal: ProofGoal) -> Iterator[tuple[sp.Symbol, sp.Expr]]:
    """Where the expression is 0 at an end of a range, and grows from there on a part of it."""
    for x, low, high in goal.ranges:
        if not goal.expression.has(x):
            continue
        slope = sp.diff(goal.expression, x)
        for end, far in ((low, high), (high, low)):
            if not _is_zero(goal, x, end):
                continue
            sign = 1 if end == low else -1
            for k in range(1, NEAREST):
                at = end + (far - end) / 2**k
                part = tuple((s, *sorted((end, at))) if s == x else (s, a, b) for s, a, b in goal.ranges)
                if RegionSample(ProofGoal(goal.expression, part, goal.where)).seems(sign * slope):
                    yield x, at
                    break
