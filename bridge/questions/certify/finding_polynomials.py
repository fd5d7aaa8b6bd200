"""Steps for polynomials, proposed by linear programs in floats and made exact: squares, amgm, order."""

import itertools
from collections.abc import Iterator
from typing import Any

import flint
import numpy as np
import sympy as sp

from bridge.questions.certify.goals import ProofGoal
from bridge.questions.certify.letters import polynomial_of
from bridge.questions.certify.steps import (
    ByAmgm,
    ByOrder,
    BySquares,
    ProofStep,
    Side,
    is_nonnegative,
    side_of,
)

MOST_TERMS, MOST_COLUMNS, MOST_DEGREE = 60, 4_000, 10
Powers = tuple[int, ...]
Terms = dict[Powers, Any]


def polynomial_steps(goal: ProofGoal) -> Iterator[ProofStep]:
    """By weighted AM-GM, squares, or the orders of the letters."""
    terms = polynomial_of(goal.expression, goal.symbols)
    if terms is None or not 0 < len(terms) <= MOST_TERMS or max(map(sum, terms)) > MOST_DEGREE:
        return
    terms = dict(terms)
    yield from _amgm(goal, terms)
    for level in (0, 1, 2):
        yield from _squares(goal, terms, level)
    if 1 < len(goal.symbols) <= 4 and not goal.where:
        yield ByOrder(min(low for _, low, _ in goal.ranges))


def _amgm(goal: ProofGoal, terms: Terms) -> Iterator[ProofStep]:
    """One monomial that may be negative, as the weighted mean of few others."""
    above = [a for a, c in terms.items() if c > 0 and is_nonnegative(goal, a)]
    others = [b for b in terms if b not in above]
    if len(others) != 1:
        return
    (b,) = others
    for count in range(2, len(b) + 2):
        for some in itertools.combinations(above, count):
            weights = _weights(some, b)
            if weights is not None:
                yield ByAmgm(((b, tuple((a, w, terms[a]) for a, w in zip(some, weights, strict=True))),))


def _weights(some: tuple[Powers, ...], b: Powers) -> list[sp.Rational] | None:
    """The positive weights by which the mean of the monomials is b."""
    system = flint.fmpq_mat(len(b) + 1, len(some) + 1)
    for j, a in enumerate((*some, b)):
        for i, p in enumerate((*a, 1)):
            system[i, j] = p
    found = _solution(system)
    return found if found is not None and all(w > 0 for w in found) else None


def _solution(system: Any) -> list[sp.Rational] | None:
    """A solution of the system whose right side is the last column; None where it has none."""
    reduced, rank = system.rref()
    count = system.ncols() - 1
    found = [sp.Integer(0)] * count
    for i in range(rank):
        pivot = next(j for j in range(count + 1) if reduced[i, j] != 0)
        if pivot == count:
            return None
        found[pivot] = sp.Rational(int(reduced[i, count].p), int(reduced[i, count].q))
    return found


# f = sum w q^2 g with q = m, m + m' or m - m' for monomials m, m': linear in the weights w >= 0. The program's basis is
# solved once more in rational numbers.
def _squares(goal: ProofGoal, terms: Terms, level: int) -> Iterator[ProofStep]:
    columns: list[tuple[Terms, sp.Expr, tuple[Side, ...]]] = []
    degree = max(map(sum, terms))
    for sides in _products_of_sides(goal, level):
        side = polynomial_of(sp.Mul(*(side_of(goal, g) for g in sides)), goal.symbols)
        if side is None or max(map(sum, side)) > degree:
            continue
        half = (degree - max(map(sum, side))) // 2
        top = [max(powers[i] for powers in terms) for i in range(len(goal.symbols))]
        monomials = [m for m in _monomials(len(goal.symbols), half) if sides or _within(m, top, terms)]
        if len(columns) + len(monomials) ** 2 > MOST_COLUMNS:
            return
        for i, m in enumerate(monomials):
            roots: list[Terms] = [{m: 1}, *({m: 1, n: s} for n in monomials[:i] for s in (1, -1))]
            columns += [(_product(_product(q, q), dict(side)), _written(goal, q), sides) for q in roots]
    weights = _weights_of_squares(terms, [column for column, _, _ in columns])
    if weights is not None:
        found = zip(weights, columns, strict=True)
        yield BySquares(tuple((w, q, sides) for w, (_, q, sides) in found if w != 0))


def _products_of_sides(goal: ProofGoal, level: int) -> list[tuple[Side, ...]]:
    """Nothing; or each side; or each product of two."""
    single: list[Side] = [side for s in goal.symbols for side in (("low", s), ("high", s))]
    single += [("where", k) for k in range(len(goal.where))]
    found: list[tuple[Side, ...]] = [()]
    if level:
        found += [(side,) for side in single]
    if level > 1 and len(goal.symbols) <= 3:
        found += list(itertools.combinations(single, 2))
    return found


def _monomials(count: int, degree: int) -> list[Powers]:
    return [m for m in itertools.product(range(degree + 1), repeat=count) if sum(m) <= degree]


def _within(m: Powers, top: list[int], terms: Terms) -> bool:
    """Whether the square of a monomial can occur in a sum of squares that is this polynomial."""
    return all(2 * p <= most for p, most in zip(m, top, strict=True)) and 2 * sum(m) >= min(map(sum, terms))


def _product(a: Terms, b: Terms) -> Terms:
    found: Terms = {}
    for (m, c), (n, d) in itertools.product(a.items(), b.items()):
        powers = tuple(p + q for p, q in zip(m, n, strict=True))
        found[powers] = found.get(powers, 0) + c * d
    return found


def _written(goal: ProofGoal, terms: Terms) -> sp.Expr:
    monomials = (sp.Mul(c, *(s**p for s, p in zip(goal.symbols, m, strict=True))) for m, c in terms.items())
    return sp.Add(*monomials)


def _weights_of_squares(terms: Terms, columns: list[Terms]) -> list[sp.Rational] | None:
    from scipy.optimize import linprog
    from scipy.sparse import csc_matrix

    places = {m: i for i, m in enumerate(sorted({m for each in columns for m in each} | set(terms)))}
    entries = [(places[m], j, float(c)) for j, each in enumerate(columns) for m, c in each.items()]
    if not entries or any(m not in {n for each in columns for n in each} for m in terms):
        return None
    rows, of, values = zip(*entries, strict=True)
    target = np.zeros(len(places))
    for m, c in terms.items():
        target[places[m]] = float(c)
    matrix = csc_matrix((values, (rows, of)), shape=(len(places), len(columns)))
    options = {"time_limit": 2.0}
    found = linprog(np.ones(len(columns)), A_eq=matrix, b_eq=target, method="highs-ds", options=options)
    if found.status != 0:
        return None
    basis = [j for j in range(len(columns)) if found.x[j] > 1e-9]
    system = flint.fmpq_mat(len(places), len(basis) + 1)
    for k, each in enumerate((*(columns[j] for j in basis), terms)):
        for m, c in each.items():
            system[places[m], k] = flint.fmpq(int(sp.Rational(c).p), int(sp.Rational(c).q))
    exact = _solution(system)
    if exact is None or any(w < 0 for w in exact):
        return None
    by_place = dict(zip(basis, exact, strict=True))
    return [by_place.get(j, sp.Integer(0)) for j in range(len(columns))]
