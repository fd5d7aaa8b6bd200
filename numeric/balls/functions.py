"""Real functions of balls, sound and sharp for wide balls too.

A ball stands for every real number in it. The value of each function contains f(t) for every t of the ball at which f
is defined; "undefined everywhere" and "no enclosure" are both the ball nan. Arb itself is sound, but it gives up where
a ball touches the edge of a domain or where an even power meets zero, and it overestimates many a function of a wide
ball. Monotone functions are therefore evaluated at both ends. exp, log, log1p and atan of Arb are sharp as they are.
"""

import itertools
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

from flint import acb, arb

from numeric.balls.arbs import Arb

BallFunction: TypeAlias = Callable[[Arb], Arb]

NARROW = 2.0**-20  # of a radius: what Arb overestimates is of second order
NARROW_BITS = 20  # the same, relative to the middle
FAR = 64  # from 0: exp(-FAR) is small


def hull(*balls: Arb) -> Arb:
    return reduce(lambda a, b: a.union(b), balls)


def at_ends(function: Callable[..., Arb], *balls: Arb) -> Arb:
    """f on balls, for f monotone in each argument separately: the hull over all corners."""
    ends = [(x,) if x.is_exact() or x.is_nan() else (x.lower(), x.upper()) for x in balls]
    return hull(*itertools.starmap(function, itertools.product(*ends)))


def monotone(function: BallFunction) -> BallFunction:
    """A monotone function of the whole line: by its values at the two ends of a ball that is not narrow."""

    def enclosure(x: Arb) -> Arb:
        if x.is_nan():
            return arb.nan()
        if x.is_exact():
            return function(x)
        if x.rad() < NARROW and (direct := function(x)).is_finite():
            return direct
        ends = function(x.lower()).union(function(x.upper()))
        return ends if ends.is_finite() else function(x)

    return enclosure


def within(low: int | None, high: int | None, function: BallFunction) -> BallFunction:
    """A function with the domain [low, high], monotone on it, on the part of the ball that lies there."""

    def on_part(x: Arb) -> Arb:
        if x.is_nan() or (low is not None and x < low) or (high is not None and x > high):
            return arb.nan()
        inside_below, inside_above = low is None or x >= low, high is None or x <= high
        if inside_below and inside_above:
            return at_ends(function, x)
        return function(x.lower() if inside_below else arb(low)).union(
            function(x.upper() if inside_above else arb(high))
        )

    return on_part


# powers


def absolute(x: Arb) -> Arb:
    return x.abs_lower().union(x.abs_upper()) if x.contains(0) else abs(x)


def sqrt(x: Arb) -> Arb:
    """Over the part of the ball in [0, oo)."""
    return x.sqrt() if x > 0 or x < 0 else arb(0).union(x.upper().sqrt())


def _power_by_squaring(x: Arb, power: int) -> Arb:
    result = arb(1)
    while power:
        if power & 1:
            result = result * x
        power >>= 1
        if power:
            x = x * x
    return result


def int_power(x: Arb, power: int) -> Arb:
    """x**n: even powers through |x|, on which they increase; odd ones increase everywhere."""
    if power < 0:
        return 1 / int_power(x, -power)
    if power == 0:
        return arb(1)
    if x.rel_accuracy_bits() > NARROW_BITS:
        return _power_by_squaring(x, power)
    return at_ends(lambda end: _power_by_squaring(end, power), absolute(x) if power % 2 == 0 else x)


def rational_power(x: Arb, p: int, q: int) -> Arb:
    """x**(p/q), p/q in lowest terms; for q > 1 over the part of the ball in [0, oo)."""
    if q == 1:
        return int_power(x, p)
    if p < 0:
        return 1 / rational_power(x, -p, q)
    return within(0, None, lambda end: int_power(end.root(q), p) if end != 0 else arb(0))(x)


def power(x: Arb, exponent: Arb) -> Arb:
    """x**y: by repeated multiplication for an exact integer y, else for x >= 0, with 0**y = 0 for y > 0."""
    whole = exponent.unique_fmpz() if exponent.is_exact() else None
    if whole is not None:
        return int_power(x, int(whole))
    if x > 0:
        return monotone(lambda end: end**exponent)(x)
    integers_of_negatives = exponent.contains_integer() and not x >= 0  # (-2)**2 is real, though (-2)**1.9 is not
    if x < 0 or integers_of_negatives or not exponent > 0:
        return arb.nan()
    top = x.upper()
    return arb(0) if top == 0 else arb(0).union(top**exponent)


# functions with a step


def heaviside(x: Arb, at_zero: Arb, below: Arb | None = None) -> Arb:
    """1 for x > 0, 0 (or `below`) for x < 0."""
    low = arb(0) if below is None else below
    if x.is_nan():
        return hull(low, arb(1), at_zero)
    possible = [low] if not x >= 0 else []
    possible += [arb(1)] if not x <= 0 else []
    possible += [at_zero] if x.contains(0) else []
    return hull(*possible)


def sign(x: Arb) -> Arb:
    return heaviside(x, arb(0), arb(-1))


# exponentials


# The ball enters once; far out, where it enters twice, the second time as exp(-FAR).
def _softplus(x: Arb) -> Arb:
    return x.exp().log1p() if x < FAR else x + (-x).exp().log1p()


def _sigmoid(x: Arb) -> Arb:
    return 1 / (1 + (-x).exp()) if x > -FAR else x.exp() / (1 + x.exp())


def logsumexp(*exponents: Arb) -> Arb:
    """Increasing in each exponent, so two corners suffice."""
    if all(x.rad() < NARROW for x in exponents):
        return _logsumexp(exponents)
    return _logsumexp([x.lower() for x in exponents]).union(_logsumexp([x.upper() for x in exponents]))


def _logsumexp(exponents: Sequence[Arb]) -> Arb:
    """Each exponent enters once; what is added to the pivot keeps its digits where it is small."""
    highest = max(range(len(exponents)), key=lambda place: exponents[place].mid())  # middles are exact
    pivot = exponents[highest].mid()
    others = [(x - pivot).exp() for place, x in enumerate(exponents) if place != highest]
    return pivot + sum(others, start=(exponents[highest] - pivot).expm1()).log1p()


def geometric(z: Arb, m: Arb) -> Arb:
    """((1 + z)^m - 1)/z = int_0^1 m (1 + t z)^(m-1) dt for z > -1: monotone in z and in m separately."""
    if not z > -1:
        return (power(1 + z, m) - 1) / z
    return at_ends(lambda a, b: b if a == 0 else (b * a.log1p()).expm1() / a, z, m)


# special functions


def _erf(x: Arb) -> Arb:
    return x.erf() if x.is_finite() else x.sgn()


def _erfc(x: Arb) -> Arb:
    return x.erfc() if x.is_finite() else 1 - x.sgn()


def loggamma(x: Arb) -> Arb:
    return x.lgamma() if x > 0 else arb.nan()


def polygamma(order: int, x: Arb) -> Arb:
    """Through the Hurwitz zeta function, for order >= 1 and x > 0; elsewhere as Arb has it on complex balls."""
    if order == 0:
        return x.digamma()
    if not x > 0:
        return acb(x).polygamma(order).real
    size = arb(order + 1).gamma() * arb(order + 1).zeta(x)
    return size if order % 2 else -size


def lambertw(x: Arb, branch: int) -> Arb:
    return at_ends(lambda end: end.lambertw(branch), x)


def binomial(n: Arb, k: Arb) -> Arb:
    if n < 0 and n.is_exact() and n.is_integer() and k.is_exact() and k.is_integer():
        return _binomial_below_zero(n, int(k.unique_fmpz()))
    return (n + 1).gamma() * (k + 1).rgamma() * (n - k + 1).rgamma()


def _binomial_below_zero(n: Arb, k: int) -> Arb:
    """(-1)^k binomial(k - n - 1, k), where Gamma(n + 1) has its poles."""
    size = binomial(k - n - 1, arb(k)) if k >= 0 else arb(0)
    return -size if k % 2 else size


ONE_ARGUMENT: dict[str, BallFunction] = {
    "absolute": absolute,
    "sqrt": sqrt,
    "sign": sign,
    "floor": arb.floor,
    "ceiling": arb.ceil,
    "exp": arb.exp,
    "expm1": monotone(arb.expm1),
    "log": arb.log,
    "log1p": arb.log1p,
    "softplus": monotone(_softplus),
    "sigmoid": monotone(_sigmoid),
    "sin": arb.sin,
    "cos": arb.cos,
    "tan": arb.tan,
    "asin": within(-1, 1, arb.asin),
    "acos": within(-1, 1, arb.acos),
    "atan": arb.atan,
    "sinh": monotone(arb.sinh),
    "cosh": lambda x: monotone(arb.cosh)(absolute(x)),
    "tanh": monotone(arb.tanh),
    "asinh": monotone(arb.asinh),
    "acosh": within(1, None, arb.acosh),
    "atanh": arb.atanh,
    "erf": monotone(_erf),
    "erfc": monotone(_erfc),
    "gamma": arb.gamma,
    "loggamma": loggamma,
    "factorial": lambda x: (x + 1).gamma(),
}

# By the names of their arguments: all balls but for integers where these are meant.
SEVERAL_ARGUMENTS: dict[str, Callable[..., Arb]] = {
    "maximum": arb.max,
    "minimum": arb.min,
    "heaviside": heaviside,
    "int_power": int_power,
    "rational_power": rational_power,
    "power": power,
    "atan2": arb.atan2,
    "logsumexp": logsumexp,
    "geometric": geometric,
    "polygamma": polygamma,
    "zeta": arb.zeta,
    "lambertw": lambertw,
    "binomial": binomial,
}
