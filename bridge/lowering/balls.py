"""Real functions on Arb balls, also sound for wide balls.

A ball stands for every real number in it. The result of each function contains f(t) for every t of the ball at which
f is defined; "undefined everywhere" and "no enclosure" are both the ball nan. Arb itself is sound but gives up
where a ball touches the edge of a domain, or where an even power meets zero; monotone functions are therefore
evaluated at both ends.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

from flint import acb, arb, fmpq

from . import loops

Ball = Any  # flint.arb, which has no types
Truth = bool | None  # None: true for some points of the balls, or unknown


def number(value: int) -> Ball:
    return arb(value)


def ratio(p: int, q: int) -> Ball:
    return arb(fmpq(p, q))


def nan() -> Ball:
    return arb("nan")


def hull(*balls: Ball) -> Ball:
    return reduce(lambda a, b: a.union(b), balls)


def monotone(function: Callable[[Ball], Ball], x: Ball) -> Ball:
    """f on a ball, for f monotone on it: the hull of f at the two ends."""
    return function(x) if x.is_exact() or x.is_nan() else hull(function(x.lower()), function(x.upper()))


def at_ends(function: Callable[..., Ball], *balls: Ball) -> Ball:
    """f on balls, for f monotone in each argument separately: the hull over all corners."""
    corners: list[tuple[Ball, ...]] = [()]
    for x in balls:
        ends = (x,) if x.is_exact() or x.is_nan() else (x.lower(), x.upper())
        corners = [(*corner, end) for corner in corners for end in ends]
    return hull(*(function(*corner) for corner in corners))


# powers


def _power_by_squaring(x: Ball, power: int) -> Ball:
    result = arb(1)
    while power:
        if power & 1:
            result = result * x
        power >>= 1
        if power:
            x = x * x
    return result


def int_power(x: Ball, power: int) -> Ball:
    """x**n: even powers through |x|, on which they increase; odd ones increase everywhere."""
    if power < 0:
        return 1 / int_power(x, -power)
    base = absolute(x) if power % 2 == 0 else x
    return monotone(lambda end: _power_by_squaring(end, power), base) if power else arb(1)


def absolute(x: Ball) -> Ball:
    return abs(x) if x.is_exact() or x.is_nan() else hull(x.abs_lower(), x.abs_upper())


def on_nonnegative(function: Callable[[Ball], Ball], x: Ball) -> Ball:
    """An increasing function with domain [0, oo), on the part of the ball that lies there."""
    if x.is_nan() or x < 0:
        return nan()
    if x >= 0:
        return monotone(function, x)
    return hull(function(arb(0)), function(x.upper()))


def sqrt(x: Ball) -> Ball:
    return on_nonnegative(lambda end: end.sqrt(), x)


def rational_power(x: Ball, p: int, q: int) -> Ball:
    """x**(p/q) for x >= 0, p/q in lowest terms, q > 1."""
    if p < 0:
        return 1 / rational_power(x, -p, q)
    return on_nonnegative(lambda end: int_power(end.root(q), p) if end != 0 else arb(0), x)


def power(x: Ball, exponent: Ball) -> Ball:
    """x**y: by repeated multiplication for an exact integer y, else exp(y log x), with 0**y = 0 for y > 0."""
    whole = exponent.unique_fmpz() if exponent.is_exact() else None
    if whole is not None:
        return int_power(x, int(whole))
    if x > 0:
        return (exponent * x.log()).exp()
    integers_of_negatives = exponent.contains_integer() and not x >= 0  # (-2)**2 is real, though (-2)**1.9 is not
    if x < 0 or integers_of_negatives or not exponent > 0:
        return nan()
    top = x.upper()
    return arb(0) if top == 0 else hull(arb(0), (exponent * top.log()).exp())


# functions with a kink or a step


def sign(x: Ball) -> Ball:
    return heaviside(x, arb(0), arb(-1))


def heaviside(x: Ball, at_zero: Ball, below: Ball | None = None) -> Ball:
    if x.is_nan():
        return hull(arb(-1) if below is not None else arb(0), arb(1), at_zero)
    low = arb(0) if below is None else below
    possible = [low] if not x >= 0 else []
    possible += [arb(1)] if not x <= 0 else []
    possible += [at_zero] if x.contains(0) else []
    return hull(*possible)


def within(low: int | None, high: int | None, function: Callable[[Ball], Ball]) -> Callable[[Ball], Ball]:
    """A function with the domain [low, high], monotone on it, on the part of the ball that lies there."""

    def on_part(x: Ball) -> Ball:
        if x.is_nan() or (low is not None and x < low) or (high is not None and x > high):
            return nan()
        if (low is None or x >= low) and (high is None or x <= high):
            return monotone(function, x)
        ends = (
            arb(low) if low is not None and not x >= low else x.lower(),
            arb(high) if high is not None and not x <= high else x.upper(),
        )
        return hull(*map(function, ends))

    return on_part


# exponentials


def softplus(u: Ball) -> Ball:
    return monotone(lambda end: end + (-end).exp().log1p() if end > 0 else end.exp().log1p(), u)


def sigmoid(u: Ball) -> Ball:
    return monotone(lambda end: 1 / (1 + (-end).exp()) if end > 0 else end.exp() / (1 + end.exp()), u)


def logsumexp(*exponents: Ball) -> Ball:
    """Increasing in each exponent, so two corners suffice."""
    lower, upper = ([end(w) for w in exponents] for end in (lambda w: w.lower(), lambda w: w.upper()))
    return _logsumexp(lower) if lower == upper else hull(_logsumexp(lower), _logsumexp(upper))


def _logsumexp(exponents: list[Ball]) -> Ball:
    highest = reduce(lambda a, b: a if a > b else b, exponents)
    rest = list(exponents)
    rest.remove(highest)
    return highest + sum(((w - highest).exp() for w in rest), arb(0)).log1p()


def geometric(z: Ball, m: Ball) -> Ball:
    """((1 + z)^m - 1)/z = int_0^1 m (1 + t z)^(m-1) dt for z > -1: monotone in z and in m separately."""
    if not z > -1:
        return (power(1 + z, m) - 1) / z
    return at_ends(lambda a, b: b if a == 0 else (b * a.log1p()).expm1() / a, z, m)


# special functions


def polygamma(order: int, x: Ball) -> Ball:
    """Through the Hurwitz zeta function, for order >= 1 and x > 0; elsewhere as Arb has it on complex balls."""
    if order == 0:
        return x.digamma()
    if not x > 0:
        return acb(x).polygamma(order).real
    size = arb(order + 1).gamma() * arb(order + 1).zeta(x)
    return size if order % 2 else -size


def lambertw(x: Ball, branch: int) -> Ball:
    return monotone(lambda end: end.lambertw(branch), x)


def loggamma(x: Ball) -> Ball:
    return x.lgamma() if x > 0 else nan()


def binomial(n: Ball, k: Ball) -> Ball:
    if n < 0 and n.is_exact() and n.is_integer() and k.is_exact() and k.is_integer():
        return binomial_below_zero(n, int(k.unique_fmpz()))
    return (n + 1).gamma() * (k + 1).rgamma() * (n - k + 1).rgamma()


def binomial_below_zero(n: Ball, k: int) -> Ball:
    """(-1)^k binomial(k - n - 1, k), where Gamma(n + 1) has its poles."""
    size = binomial(k - n - 1, arb(k)) if k >= 0 else arb(0)
    return -size if k % 2 else size


# conditions and loops


def less(a: Ball, b: Ball) -> Truth:
    return True if a < b else False if a >= b else None


def at_most(a: Ball, b: Ball) -> Truth:
    return True if a <= b else False if a > b else None


def equal(a: Ball, b: Ball) -> Truth:
    if not a.overlaps(b):
        return False
    return True if a.is_exact() and b.is_exact() and a == b else None


def negation(a: Truth) -> Truth:
    return None if a is None else not a


def both(a: Truth, b: Truth) -> Truth:
    return False if a is False or b is False else None if a is None or b is None else True


def either(a: Truth, b: Truth) -> Truth:
    return negation(both(negation(a), negation(b)))


def hull_of_branches(*parts: Any) -> Ball:
    """(c_1, e_1, c_2, e_2, ...): the hull of the e_i (functions) whose branch some point of the balls may take."""
    possible = []
    for condition, value in zip(parts[::2], parts[1::2], strict=True):
        if condition is not False:
            possible.append(value())
        if condition is True:
            return hull(*possible)
    return hull(*possible, nan())


def as_integer(limit: Ball) -> int:
    whole = limit.unique_fmpz() if limit.is_exact() else None
    if whole is None:
        raise ValueError(f"limits and indices must be exact integers, got {limit}")
    return int(whole)


def loop_sum(like: Any, body: Any, masked: Any, first: Ball, last: Ball) -> Ball:
    return loops.sum_of(lambda index: body(arb(index)), as_integer(first), as_integer(last), arb(0))


def loop_product(like: Any, body: Any, masked: Any, first: Ball, last: Ball) -> Ball:
    return loops.product_of(lambda index: body(arb(index)), as_integer(first), as_integer(last), arb(1))


def loop_run(like: Any, body: Any, masked: Any, first: Ball, last: Ball, factor: Any, masked_factor: Any) -> Ball:
    limits = as_integer(first), as_integer(last)
    return loops.run_of(lambda index: body(arb(index)), lambda index: factor(arb(index)), *limits, arb(0))
