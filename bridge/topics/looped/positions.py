"""Positions (algoformer, Lemma A.1): the dimension of a search, between two bounds, and what a gap costs in norm."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

import sympy as sp
from torch import Tensor

from bridge.limits.cost import LARGEST, PRODUCT, Cost, Work
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.theorem import Theorem
from numeric.topics.looped import positions as vectors
from symbolic.topics.looped import positions as theory
from symbolic.words.errors import UsageError

ACCURACY = 1e-12
TINY = 1e-150
BYTES, PRODUCTS = 32, 10  # of signs and their products, for each entry


@cache
def searched(N: int, eps: float, r: float, seed: int) -> Tensor:
    """Signs with the gap, in the least dimension that the search finds."""
    start = int(theory.dimension_of_signs().subs({theory.N: N, theory.eps: sp.Rational(eps), theory.r: sp.Rational(r)}))
    found = vectors.least_signs(N, start, Fraction(eps) / Fraction(r) ** 2, seed)
    if found is None:
        why = f"no draw of seed {seed} has the gap in dimension {start}; take another seed"
        raise UsageError(f"{theory.POSITIONS.id}: {why}")
    return found


def dimension(N: int, eps: float, r: float, seed: int) -> Sides:
    found = searched(N, eps, r, seed)
    shown = f"{vectors.DRAWS} draws in each dimension tried"
    return Sides(found.shape[1], rounding=0.0, proved=("derived",), remark=shown)


def growth(eps: float, r: float) -> Sides:
    at = {theory.eps: sp.Rational(eps), theory.r: sp.Rational(r)}
    t = sp.Symbol("t", positive=True)
    inner = theory.dimension_of_signs().subs(at).replace(sp.floor, lambda x: x)
    limit = sp.limit((inner / sp.log(theory.N)).subs(theory.N, t), t, sp.oo)
    return Sides(derived=limit, limit=limit, remark="derived: the limit")


def needed(N: int, eps: float, r: float, seed: int) -> Sides:
    return Sides(searched(N, eps, r, seed).shape[1], rounding=0.0, proved=("derived",))


def gap(N: int, eps: float, r: float, seed: int) -> Sides:
    found = vectors.gap_of_signs(searched(N, eps, r, seed)) * Fraction(r) ** 2
    return Sides(found, rounding=0.0)


def of_digits(N: int, eps: float) -> Sides:
    signs = vectors.digits(N)
    return Sides(Fraction(eps) / vectors.gap_of_signs(signs), rounding=0.0, letters={theory.digits: signs.shape[1]})


def on_circle(N: int, eps: float) -> Sides:
    found = eps / (1 - float(vectors.largest_product(vectors.on_circle(N))))
    return Sides(within(found, ACCURACY * N**2 * found), measured=found, computed=("derived",))


SIDES: Mapping[str, Callable[..., Sides]] = {
    "dimension": dimension,
    "needed": needed,
    "growth": growth,
    "gap": gap,
    "norm.digits": of_digits,
    "norm.circle": on_circle,
}


def search_cost(N: float | int, eps: float | int, r: float | int) -> Cost:
    """Of `searched`: some halvings of the dimension, in each of which all draws may be looked at."""
    N, share = max(N, 3.0), 1 - eps / max(r, TINY) ** 2
    if share <= 0:  # no gap, which is refused
        return Cost()
    dimension = min(2 * math.log(N * (N - 1) / 2) / share**2 + 1, LARGEST)
    halvings = math.log2(dimension) + 1
    return Cost(BYTES * N * (dimension + N), PRODUCT * PRODUCTS * vectors.DRAWS * halvings * N * (dimension + N))


POSITIONS = Theorem(
    theory.POSITIONS,
    main="dimension",
    checks=checks_of(theory.POSITIONS, SIDES),
    work=lambda N, eps, r: Work(before=search_cost(N, eps, r)),
)
