"""Fixed points of a flow: that they are, their linearisation, and how many directions attract and repel.

Signs are proved, not sampled: a `Chart` writes the parameters by positive symbols that run over all of their domain,
and an expression whose numerator and denominator have coefficients of one sign has that sign.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics.flows import Flow

Chart = Mapping[sp.Symbol, sp.Expr]  # e.g. v* in (0, 1/2) as 1/(2 + r), r > 0


class Stability(StrEnum):
    """What the linear part says of the flow nearby."""

    SINK = "sink"  # every direction attracts
    SOURCE = "source"
    SADDLE = "saddle"  # attracting and repelling directions, perhaps others
    NEUTRAL = "not decided by the linear part"  # eigenvalues 0, and all others of one sign (or none)


@dataclass(frozen=True)
class Inertia:
    """How many eigenvalues are positive, zero and negative."""

    positive: int
    zero: int
    negative: int

    @property
    def stability(self) -> Stability:
        if self.positive and self.negative:
            return Stability.SADDLE
        if self.zero:
            return Stability.NEUTRAL
        return Stability.SOURCE if self.positive else Stability.SINK


@dataclass(frozen=True)
class FixedPoint:
    """A point at which the flow rests. Raises DerivationError if SymPy does not find the field to be 0 there.

    Symbols in `at` that are not coordinates are parameters, or run along a whole curve of fixed points.
    """

    flow: Flow
    at: Mapping[sp.Symbol, sp.Expr]

    def __post_init__(self) -> None:
        if set(self.at) != set(self.flow.state):
            raise DerivationError(f"fixed point: give every coordinate, {', '.join(map(str, self.flow.state))}")
        for coordinate, rate in zip(self.flow.state, self.flow.field, strict=True):
            left = sp.simplify(rate.subs(self.at, simultaneous=True))
            if left != 0:
                raise DerivationError(f"fixed point: the rate of {coordinate} is {sp.sstr(left)} there, not 0")

    @cached_property
    def linear(self) -> sp.Matrix:
        """The Jacobian at the point; powers are collected first, as x^(n+1)/x has no value at x = 0."""
        collected = self.flow.jacobian.applyfunc(sp.powsimp)
        return collected.subs(self.at, simultaneous=True).applyfunc(sp.simplify)

    @cached_property
    def blocks(self) -> tuple[sp.Matrix, ...]:
        """The Jacobian's diagonal blocks of coordinates that do not interact."""
        return tuple(self.linear.extract(part, part) for part in self.linear.connected_components())

    @cached_property
    def _characteristics(self) -> tuple[list[sp.Expr], ...]:
        return tuple(map(_characteristic, self.blocks))

    @cached_property
    def eigenvalues(self) -> tuple[sp.Expr, ...]:
        """Those of the Jacobian, with multiplicity, in closed form. Raises DerivationError where SymPy finds none."""
        return tuple(root for coefficients in self._characteristics for root in _roots(coefficients))

    def inertia(self, chart: Chart) -> Inertia:
        """Proved over the whole chart. Raises DerivationError where a sign, or a real spectrum, is not proved."""
        for block in self.blocks:
            _require_real_spectrum(block, chart)
        parts = [_inertia(coefficients, chart) for coefficients in self._characteristics]
        return Inertia(sum(p.positive for p in parts), sum(p.zero for p in parts), sum(p.negative for p in parts))


def _characteristic(matrix: sp.Matrix) -> list[sp.Expr]:
    """The coefficients of det(x I - J), that of the highest power first."""
    return [sp.simplify(coefficient) for coefficient in matrix.charpoly(sp.Dummy("x")).all_coeffs()]


def _roots(coefficients: list[sp.Expr]) -> list[sp.Expr]:
    """All of them; those that are 0 are divided out first, so that the others stay short."""
    zeros = len(coefficients) - 1 - max(place for place, c in enumerate(coefficients) if c != 0)
    rest = coefficients[: len(coefficients) - zeros]
    if len(rest) == 3:
        half, product = rest[1] / 2, rest[2]
        root = sp.sqrt(sp.factor(half**2 - product))
        others = [root - half, -root - half]
    else:
        others = sp.roots(sp.Poly.from_list(rest, sp.Dummy("x")), multiple=True) if len(rest) > 1 else []
    if len(others) != len(rest) - 1:
        raise DerivationError("fixed point: the eigenvalues have no closed form that SymPy finds")
    return [*others, *[sp.Integer(0)] * zeros]


# The spectrum is real, so Descartes' rule of signs is exact: as many positive roots as the coefficients change their
# sign, as many zero ones as trailing coefficients are 0.
def _inertia(coefficients: list[sp.Expr], chart: Chart) -> Inertia:
    signs = [proved_sign(coefficient, chart) for coefficient in coefficients]
    kept = [sign for sign in signs if sign]
    zero = len(signs) - 1 - max(place for place, sign in enumerate(signs) if sign)
    positive = sum(a != b for a, b in pairwise(kept))
    return Inertia(positive, zero, len(signs) - 1 - positive - zero)


def proved_sign(expression: sp.Expr, chart: Chart) -> int:
    """1, 0 or -1, whatever the chart's positive symbols are. Raises DerivationError where that is not shown."""
    inside = sp.factor(expression.subs(chart, simultaneous=True), deep=True)
    sign = _read_sign(inside)
    sign = _read_sign(sp.factor(sp.simplify(inside))) if sign is None else sign
    if sign is not None:
        return sign
    raise DerivationError(f"sign: that of {sp.sstr(expression)} is not shown by the chart {sp.sstr(dict(chart))}")


def _read_sign(form: sp.Expr) -> int | None:
    known = ((0, form.is_zero), (1, form.is_positive), (-1, form.is_negative))
    return next((sign for sign, holds in known if holds), None)


# x -> f(x) with f' > 0 takes no value twice.
def require_increasing(expression: sp.Expr, x: sp.Symbol, chart: Chart) -> None:
    """Raises DerivationError unless the expression is proved to increase strictly over the chart (an interval of x)."""
    if proved_sign(sp.diff(expression, x), chart) != 1:
        raise DerivationError(f"monotonicity: {sp.sstr(expression)} does not increase in {x}")


# A symmetric matrix has a real spectrum; so has a triangular one, and one of size 2 with J_12 J_21 >= 0, whose
# discriminant is (J_11 - J_22)^2 + 4 J_12 J_21.
def _require_real_spectrum(matrix: sp.Matrix, chart: Chart) -> None:
    if matrix.is_symmetric(simplify=True) or matrix.is_upper or matrix.is_lower:
        return
    if matrix.shape == (2, 2) and proved_sign(matrix[0, 1] * matrix[1, 0], chart) >= 0:
        return
    raise DerivationError("fixed point: its eigenvalues are not shown to be real")
