"""Polynomials in the state that a flow conserves: found on sample points, then proved by the calculus.

The candidates of a degree are a linear space, and d/dt is linear on it: what is conserved is its kernel.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import mpmath
import sympy as sp
from sympy.polys.monomials import itermonomials

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics.flows import Flow

DIGITS = 60  # of the sampled rates
ZERO = 1e-40  # a pivot below this is one of 0
NONZERO = 1e-20  # one above this is not; one in between would leave the rank open
SPARE_POINTS = 4  # more sample points than candidates
LARGEST_DENOMINATOR = 10**6

Point = Mapping[sp.Symbol, sp.Rational]
Rows = list[list[Any]]  # of mpmath numbers


def conserved_quantities(flow: Flow, degree: int = 2, *, seed: int = 0) -> tuple[sp.Expr, ...]:
    """A basis of all polynomials in the state, without constant term and of that degree at most, that are conserved.

    Their coefficients are rational numbers or, where such do not do, expressions in the parameters. Each one is proved:
    SymPy finds its rate to be 0. That there are no more rests on the rank of the rates at random points, in DIGITS
    digits and with pivots that are clearly 0 or clearly not.

    Raises DerivationError where the rank is not clear, or where SymPy cannot prove what was found.
    """
    if degree < 1:
        raise DerivationError(f"conserved quantities: the degree has to be 1 at least, not {degree}")
    monomials = _monomials(flow.state, degree)
    rates = [flow.along(monomial) for monomial in monomials]
    parameters = sorted(set().union(*(f.free_symbols for f in flow.field)) - set(flow.state), key=str)
    draw = random.Random(seed)
    # One set of points moves the parameters too, the other holds them: what only the second conserves has
    # coefficients in the parameters.
    anywhere = _points((*flow.state, *parameters), len(monomials), draw)
    held = {parameter: _drawn(parameter, draw) for parameter in parameters}
    here = [{**point, **held} for point in _points(flow.state, len(monomials), draw)]
    if _rank(rates, here) < _rank(rates, anywhere):
        found = _kernel_over_parameters(rates, monomials, _points(flow.state, len(monomials), draw))
    else:
        found = _kernel(rates, monomials, anywhere)
    return tuple(_proved(flow, quantity) for quantity in found)


def is_conserved(flow: Flow, quantity: sp.Expr) -> bool:
    """Whether SymPy finds the rate of `quantity` along the flow to be 0, whatever state and parameters are."""
    return bool(sp.simplify(flow.along(quantity)) == 0)


def _proved(flow: Flow, quantity: sp.Expr) -> sp.Expr:
    if not is_conserved(flow, quantity):
        raise DerivationError(
            f"conserved quantities: {sp.sstr(quantity)} is conserved to {DIGITS} digits, but SymPy cannot prove it"
        )
    return quantity


def _monomials(state: tuple[sp.Symbol, ...], degree: int) -> list[sp.Expr]:
    found = set(itermonomials(list(state), degree)) - {sp.Integer(1)}
    return sorted(found, key=lambda m: (sp.Poly(m, *state).total_degree(), str(m)))


def _points(symbols: Sequence[sp.Symbol], candidates: int, draw: random.Random) -> list[Point]:
    return [{symbol: _drawn(symbol, draw) for symbol in symbols} for _ in range(candidates + SPARE_POINTS)]


def _drawn(symbol: sp.Symbol, draw: random.Random) -> sp.Rational:
    """A random number of the symbol's kind; reals lie in (0, 1/2), where the losses of interest are finite."""
    return sp.Integer(draw.randint(5, 40)) if symbol.is_integer else sp.Rational(draw.randint(1, 498), 997)


def _kernel(rates: list[sp.Expr], monomials: list[sp.Expr], points: list[Point]) -> list[sp.Expr]:
    """The combinations of monomials, with rational coefficients, of which the rate is 0 at all points."""
    with mpmath.workdps(DIGITS):
        reduced, pivots = _reduced(_sampled(rates, points))
        free = [column for column in range(len(monomials)) if column not in pivots]
        return [
            monomials[column]
            - sp.Add(*(_rational(reduced[row][column]) * monomials[pivot] for row, pivot in enumerate(pivots)))
            for column in free
        ]


def _rank(rates: list[sp.Expr], points: Sequence[Point]) -> int:
    with mpmath.workdps(DIGITS):
        return len(_reduced(_sampled(rates, points))[1])


def _sampled(rates: list[sp.Expr], points: Sequence[Point]) -> Rows:
    symbols = sorted(set().union(*points), key=str)
    evaluate = sp.lambdify(symbols, rates, "mpmath")
    rows = (evaluate(*(_number(point[symbol]) for symbol in symbols)) for point in points)
    return [[mpmath.mpmathify(rate) for rate in row] for row in rows]


def _number(value: sp.Rational) -> Any:
    return mpmath.mpf(int(value.p)) / int(value.q)


def _reduced(rows: Rows) -> tuple[Rows, list[int]]:
    """The reduced row echelon form, each row scaled to 1 beforehand, and the columns of its pivots."""
    rows = [[entry / size for entry in row] for row in rows if (size := max(map(abs, row))) > ZERO]
    pivots: list[int] = []
    for column in range(len(rows[0]) if rows else 0):
        done = len(pivots)
        best = max(range(done, len(rows)), key=lambda row: abs(rows[row][column]), default=None)
        if best is None or abs(rows[best][column]) < ZERO:
            continue
        if abs(rows[best][column]) < NONZERO:
            raise DerivationError(f"conserved quantities: a pivot of {mpmath.nstr(rows[best][column], 3)} leaves open")
        rows[done], rows[best] = rows[best], rows[done]
        rows[done] = [entry / rows[done][column] for entry in rows[done]]
        for row in range(len(rows)):
            if row != done:
                factor = rows[row][column]
                rows[row] = [x - factor * y for x, y in zip(rows[row], rows[done], strict=True)]
        pivots.append(column)
    return rows, pivots


def _rational(value: Any) -> sp.Rational:
    """The rational number with a small denominator that `value` is, to all digits but a few."""
    nearest = sp.Rational(str(mpmath.nstr(value, DIGITS))).limit_denominator(LARGEST_DENOMINATOR)
    if abs(value - _number(nearest)) > ZERO:
        raise DerivationError(
            f"conserved quantities: the coefficient {mpmath.nstr(value, 12)} is not a rational number with a "
            f"denominator up to {LARGEST_DENOMINATOR}"
        )
    return nearest


def _kernel_over_parameters(rates: list[sp.Expr], monomials: list[sp.Expr], points: list[Point]) -> list[sp.Expr]:
    """The same with coefficients in the parameters, by exact elimination at rational states."""
    matrix = sp.Matrix([[rate.subs(point) for rate in rates] for point in points])
    kernel = matrix.nullspace(simplify=sp.simplify)
    return [sp.expand(sp.Add(*(c * m for c, m in zip(vector, monomials, strict=True)))) for vector in kernel]
