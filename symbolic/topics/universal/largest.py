"""The integral of the largest of several functions of r > 0, where two of them meet at no number in closed form."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import sympy as sp

DIGITS = 40
REACH, POINTS = 80, 1600  # of log r: the first places where a difference of logarithms is looked at
NARROWINGS = 80
DECADE = 4  # ratio of the ends of a piece that a quadrature takes at once

Real = Any  # of mpmath
Curve = Callable[[Real], Real]


# The integral of the function that is largest as r -> oo is known; on each interval where another one is larger, their
# difference is added. As the two are equal where they meet, an error in that place changes the sum by its square.
def integral_of_largest(parts: Sequence[sp.Expr], integrals: Sequence[sp.Expr], r: sp.Symbol) -> sp.Expr:
    """int_0^oo max_i f_i dr to DIGITS - 10 digits, of positive functions whose integrals are known."""
    with mpmath.workdps(DIGITS):
        curves = [sp.lambdify(r, part, "mpmath") for part in parts]
        edges = [mpmath.exp(-REACH), *_meetings(curves), mpmath.exp(REACH)]
        pieces = [(low, high, _largest(curves, low, high)) for low, high in itertools.pairwise(edges)]
        last = pieces[-1][2]
        more = [_difference(curves[place], curves[last], low, high) for low, high, place in pieces if place != last]
        return integrals[last] + sp.Float(mpmath.fsum(more), DIGITS - 10)


def _largest(curves: Sequence[Curve], low: Real, high: Real) -> int:
    middle = mpmath.sqrt(low * high)
    values = [curve(middle) for curve in curves]
    return max(range(len(curves)), key=values.__getitem__)


def _difference(one: Curve, other: Curve, low: Real, high: Real) -> Real:
    """int (one - other), in pieces of bounded ratio."""
    count = max(1, int(mpmath.ceil(mpmath.log(high / low, DECADE))))
    edges = [low * (high / low) ** (mpmath.mpf(k) / count) for k in range(count + 1)]
    return mpmath.quad(lambda x: one(x) - other(x), edges)


def _meetings(curves: Sequence[Curve]) -> list[Real]:
    """Where two of the functions are equal."""
    pairs = itertools.combinations(curves, 2)
    return sorted({meeting for one, other in pairs for meeting in _zeros(_log_ratio(one, other))})


def _log_ratio(one: Curve, other: Curve) -> Curve:
    def ratio(s: Real) -> Real:
        x = mpmath.exp(s)
        return mpmath.log(one(x)) - mpmath.log(other(x))

    return ratio


# For Gaussians times powers of r, and r over a hyperbolic sine, the second derivative in r of the logarithm of a ratio
# has one sign: at most two zeros, which both show as a change of sign or beside an extremum.
def _zeros(difference: Curve) -> list[Real]:
    """exp of the zeros of the difference: where it changes sign between places, and beside an extremum that touches."""
    step = mpmath.mpf(2 * REACH) / POINTS
    places = [-REACH + step * k for k in range(POINTS + 1)]
    values = [difference(place) for place in places]
    brackets = list(itertools.pairwise(places))
    found = [
        _zero(difference, *ends)
        for ends, pair in zip(brackets, itertools.pairwise(values), strict=True)
        if pair[0] * pair[1] < 0
    ]
    for k in range(1, POINTS):
        before, here, after = values[k - 1 : k + 2]
        if before * here > 0 and here * after > 0 and abs(here) < min(abs(before), abs(after)):
            nearest = _nearest(difference, places[k - 1], places[k + 1])
            if difference(nearest) * here < 0:
                found += [_zero(difference, places[k - 1], nearest), _zero(difference, nearest, places[k + 1])]
    return [mpmath.exp(s) for s in found]


def _zero(difference: Curve, low: Real, high: Real) -> Real:
    return mpmath.findroot(difference, (low, high), solver="anderson", tol=mpmath.mpf(10) ** (-DIGITS), verify=False)


def _nearest(difference: Curve, low: Real, high: Real) -> Real:
    """Where the difference, of one sign at both ends, comes closest to the other sign."""
    sign = mpmath.sign(difference(low))
    for _ in range(NARROWINGS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if sign * difference(first) < sign * difference(second) else (first, high)
    return (low + high) / 2
