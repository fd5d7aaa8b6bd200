"""Forms: rigorous proofs that an inequality holds on a box, by enclosures in Arb balls.

- "range": the expression evaluated on the balls of the box;
- "slope": the mean-value form, with the gradient enclosed on the box;
- "hessian": z^T (second derivatives) z in the vanishing coordinates;
- "form": the matrix of the inequality's quadratic form is positive semidefinite;
- "outside k": the k-th condition is negative throughout.

Each but the last also has to show that the expression, as it was given, is a real number throughout.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import flint
import sympy as sp

from bridge.certify.definedness import Condition, Relation, conditions_of, evaluated, is_finite_real
from bridge.certify.sizes import check_sizes, replaced
from bridge.certify.tapes import Tape, UnknownNodeError
from bridge.lowering import LoweringError, lower
from numeric.balls import Arb, working_precision
from symbolic.inequalities import Inequality
from symbolic.statements import UsageError

Box = tuple[tuple[Fraction, Fraction], ...]  # one interval for each coordinate, in the order of Inequality.box
BITS = 64


def as_ball(number: Fraction) -> Arb:
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def balls_of(box: Box) -> list[Arb]:
    """The box as balls that contain it."""
    return [as_ball(low) if low == high else as_ball(low).union(as_ball(high)) for low, high in box]


@dataclass(frozen=True, eq=False)
class Cell:
    """A box with its balls, which every form uses."""

    box: Box

    @cached_property
    def balls(self) -> list[Arb]:
        return balls_of(self.box)


@dataclass(frozen=True)
class Scalar:
    """A function of the box's coordinates, with its gradient where SymPy has one that encloses its differences."""

    expression: sp.Expr
    symbols: tuple[sp.Symbol, ...]
    bits: int

    @cached_property
    def value(self) -> Any:
        return lower(self.expression, "arb", args=self.symbols, bits=self.bits)

    @cached_property
    def gradient(self) -> Callable[[Sequence[Arb]], list[Arb]] | None:
        """All partial derivatives on balls; None where there is none that encloses the function's differences."""
        return None if self.tape is None else self.tape.gradient

    # SymPy's derivative will not do: it is simplified, and the one of atan(tan(x)) is 1, across all jumps.
    @cached_property
    def tape(self) -> Tape | None:
        """The nodes of the expression; None where a node has no derivative that encloses its differences."""
        try:
            return Tape(self.expression, self.symbols)
        except UnknownNodeError:
            return None

    def smooth_on(self, balls: Sequence[Arb]) -> bool:
        """Whether every node is an analytic function of those before it on the box: no pole, no kink, no edge."""
        return self.tape is not None and self.tape.analytic and all(b.is_finite() for b in self.tape.derivatives(balls))

    def below(self, cell: Cell) -> Arb:
        """A lower bound by the natural extension; nan if there is none."""
        return self.value(*cell.balls).lower()

    def slopes(self, cell: Cell) -> list[Arb] | None:
        """Enclosures of the partial derivatives on the box; None where there are none to be had."""
        return None if self.gradient is None else self.gradient(cell.balls)

    # f(x) = f(c) + sum_i f_i(xi) (x_i - c_i) with xi in the box. Where f_i >= 0 on the box c_i is its lower end, where
    # f_i <= 0 the upper one: those terms are >= 0. Otherwise c_i is the middle, and the term is at least -|f_i| radius.
    def below_by_slopes(self, cell: Cell, slopes: Sequence[Arb]) -> Arb:
        """A lower bound by the mean-value form; nan if there is none."""
        centre, loss = [], flint.arb(0)
        for (low, high), slope in zip(cell.box, slopes, strict=True):
            if low == high or slope >= 0:
                centre.append(as_ball(low))
            elif slope <= 0:
                centre.append(as_ball(high))
            else:
                centre.append(as_ball((low + high) / 2))
                loss += abs(slope).upper() * as_ball((high - low) / 2)
        return (self.value(*centre) - loss).lower()


def positive(ball: Arb, strict: bool) -> bool:
    """Whether a lower bound proves > 0 (>= 0); nan proves nothing."""
    return bool(ball > 0) if strict else bool(ball >= 0)


def by_slope(scalar: Scalar, cell: Cell, strict: bool) -> bool:
    """Whether the mean-value form shows the function positive (>= 0, unless strict) on the box."""
    slopes = scalar.slopes(cell)
    return slopes is not None and positive(scalar.below_by_slopes(cell, slopes), strict)


def shown(scalar: Scalar, cell: Cell) -> bool:
    """Whether either form proves that the function is >= 0 on the box."""
    return positive(scalar.below(cell), False) or by_slope(scalar, cell, False)


# Where no slope changes its sign on the box, the function is least at a corner. Its exact value there counts: a ball
# around 1/3 - x at x = 1/3 contains negative numbers.
def least_at_corner(scalar: Scalar, cell: Cell) -> bool:
    """Whether the function is least at a corner of the box, and a rational number >= 0 there."""
    slopes = scalar.slopes(cell)
    if slopes is None or not all(a == b or s >= 0 or s <= 0 for (a, b), s in zip(cell.box, slopes, strict=True)):
        return False
    corner = [a if a == b or s >= 0 else b for (a, b), s in zip(cell.box, slopes, strict=True)]
    if not scalar.value(*map(as_ball, corner)).contains(0):
        return False
    at = {symbol: sp.Rational(x.numerator, x.denominator) for symbol, x in zip(scalar.symbols, corner, strict=True)}
    try:
        check_sizes(replaced(scalar.expression, at), "a corner")
    except UsageError:
        return False
    value = scalar.expression.xreplace(at)
    return bool(value.is_Rational and value >= 0)


@dataclass(frozen=True)
class Requirement:
    """A condition for an expression to be defined, as a function of the coordinates, and its negative."""

    condition: Condition
    scalar: Scalar
    opposite: Scalar

    def holds_on(self, cell: Cell) -> bool:
        """Whether it is shown to hold throughout."""
        relation = self.condition.relation
        if relation is Relation.NEVER:
            return False
        if relation is Relation.NONNEGATIVE:
            return shown(self.scalar, cell) or least_at_corner(self.scalar, cell)
        if positive(self.scalar.below(cell), True) or by_slope(self.scalar, cell, True):
            return True
        if relation is Relation.NONZERO:
            return positive(self.opposite.below(cell), True) or by_slope(self.opposite, cell, True)
        ball = self.scalar.value(*cell.balls)
        return relation is Relation.NO_POLE and bool(ball.is_finite()) and not ball.contains_integer()

    def fails_at(self, point: Sequence[Fraction]) -> bool:
        """Whether it surely fails at a point of exact numbers."""
        relation = self.condition.relation
        if relation is Relation.NEVER:
            return True
        ball = self.scalar.value(*map(as_ball, point))
        if relation is Relation.POSITIVE:
            return bool(ball <= 0)
        if relation is Relation.NONNEGATIVE:
            return bool(ball < 0)
        exact = bool(ball.is_exact() and ball.is_integer())
        return exact and bool(ball == 0 if relation is Relation.NONZERO else ball <= 0)

    # The intermediate value theorem: where every node of the expression has finite slopes it is continuous.
    def fails_somewhere(self, cell: Cell) -> bool:
        """Whether an expression that must not be 0 surely takes both signs on the box."""
        if self.condition.relation is not Relation.NONZERO or self.scalar.tape is None:
            return False
        ends = [self.scalar.value(*map(as_ball, corner)) for corner in zip(*cell.box, strict=True)]
        if not (any(end > 0 for end in ends) and any(end < 0 for end in ends)):
            return False
        return all(slope.is_finite() for slope in self.scalar.tape.derivatives(cell.balls))


class Enclosures:
    """An inequality on boxes: the form that proves it on a box, and the slopes that determine the next cut."""

    def __init__(self, inequality: Inequality, bits: int = BITS) -> None:
        self.inequality, self.bits = inequality, bits
        # A proof ignores the assumptions on symbols: the box determines their values.
        self._real = {symbol: sp.Dummy(symbol.name, real=True) for symbol in inequality.box}
        self.coordinates = tuple(inequality.box)
        self.symbols = tuple(self._real.values())
        self.root: Box = tuple(
            (Fraction(int(a.p), int(a.q)), Fraction(int(b.p), int(b.q))) for a, b in inequality.box.values()
        )

    def _scalar(self, expression: sp.Expr) -> Scalar:
        found = evaluated(expression, self._real)
        if not is_finite_real(found):
            raise UsageError(f"inequality '{self.inequality.name}': {found} is not a finite real expression")
        return Scalar(found, self.symbols, self.bits)

    def _requirements(self, expression: sp.Expr) -> list[Requirement]:
        """What has to hold for the expression to be defined, unless it holds on the whole box."""
        found = [
            Requirement(each, *(Scalar(sign * each.of, self.symbols, self.bits) for sign in (1, -1)))
            for each in conditions_of(expression, self._real)
        ]
        with working_precision(self.bits):
            return [each for each in found if not each.holds_on(Cell(self.root))]

    @cached_property
    def domain(self) -> list[Requirement]:
        """What has to hold for the expression as given, unless it holds throughout or a condition implies it."""
        implied = [each.expression for each in self.conditions]
        return [
            each
            for each in self._requirements(self.inequality.expression)
            if not any(_follows(each.condition, condition) for condition in implied)
        ]

    @cached_property
    def domain_of_conditions(self) -> list[Requirement]:
        return [each for condition in self.inequality.where for each in self._requirements(condition)]

    def defined_on(self, cell: Cell) -> bool:
        """Whether the expression is shown to be a real number throughout the region in that box."""
        with working_precision(self.bits):
            return all(each.holds_on(cell) for each in self.domain)

    def defined_at(self, point: Sequence[Fraction]) -> bool:
        return self.defined_on(Cell(tuple((x, x) for x in point)))

    def undefined_at(self, point: Sequence[Fraction]) -> Condition | None:
        """A condition that surely fails at a point of the region: the expression is not defined there."""
        with working_precision(self.bits):
            failing = next((each.condition for each in self.domain if each.fails_at(point)), None)
            return failing if failing is not None and self.inside(point) else None

    def undefined_in(self, cell: Cell) -> Condition | None:
        """A condition that surely fails somewhere in the box; None under conditions on the coordinates."""
        if self.inequality.where:
            return None
        with working_precision(self.bits):
            return next((each.condition for each in self.domain if each.fails_somewhere(cell)), None)

    @cached_property
    def whole(self) -> Scalar:
        return self._scalar(self.inequality.expression)

    @cached_property
    def conditions(self) -> list[Scalar]:
        return [self._scalar(condition) for condition in self.inequality.where]

    @cached_property
    def _opposites(self) -> list[Scalar]:
        return [self._scalar(-condition) for condition in self.inequality.where]

    # A symmetric matrix is positive semidefinite if and only if all its principal minors are >= 0. On a box each minor
    # is a function of its own.
    @cached_property
    def minors(self) -> list[Scalar]:
        """The principal minors of H, for the inequality's form."""
        if self.inequality.form is None:
            return []
        H = sp.Matrix([list(row) for row in self.inequality.form[1]])
        return [self._scalar(minor) for minor in _principal_minors(H)]

    @cached_property
    def hessian(self) -> Any:
        """The second derivatives in the vanishing coordinates; None where there are no such coordinates."""
        vanishing = self.inequality.vanishing
        if not vanishing or self.whole.tape is None or not self.whole.tape.analytic:
            return None
        real = [self._real[y] for y in vanishing]
        try:
            return lower(sp.hessian(self.whole.expression, real), "arb", args=self.symbols, bits=self.bits)
        except LoweringError:
            return None

    @cached_property
    def vanishes(self) -> bool:
        """Whether the expression and its gradient in the vanishing coordinates are 0 at the equilibrium, by SymPy."""
        vanishing, f = [self._real[y] for y in self.inequality.vanishing], self.whole.expression
        at = dict.fromkeys(vanishing, sp.Integer(0))
        try:
            check_sizes(replaced(f, at), "the equilibrium")  # SymPy evaluates what becomes constant there
        except UsageError:
            return False
        try:
            values = [sp.simplify(each.subs(at)) for each in (f, *(sp.diff(f, y) for y in vanishing))]
        except TypeError:  # SymPy met a nan: undefined there
            return False
        return bool(vanishing) and all(value == 0 for value in values)

    def shown_by(self, box: Box, form: str) -> bool:
        """Whether that form proves the inequality on that box."""
        with working_precision(self.bits):
            return self.shown_on(Cell(box), form)

    def shown_on(self, cell: Cell, form: str) -> bool:
        """The same at the working precision."""
        if form.startswith("outside "):
            return self._outside(cell, form.removeprefix("outside "))
        return self._shown(cell, form) and self.defined_on(cell)

    def _shown(self, cell: Cell, form: str) -> bool:
        """Whether the form proves it wherever the expression is defined."""
        if form == "range":
            return positive(self.whole.below(cell), self.inequality.strict)
        if form == "slope":
            return by_slope(self.whole, cell, self.inequality.strict)
        if form == "form":
            return self._by_form(cell)
        if form == "hessian":
            return self._by_hessian(cell)
        return False

    def _by_form(self, cell: Cell) -> bool:
        if self.inequality.form is None or self.inequality.strict:
            return False
        return all(shown(minor, cell) for minor in self.minors)

    # Taylor's theorem along the segment from (0, z) to (y, z): f = y^T H(xi) y / 2 with xi on that segment, because f
    # and its gradient in y are 0 at y = 0. The segment lies in the box widened to contain y = 0, on which f has to be
    # analytic: SymPy's second derivatives ignore jumps.
    def _by_hessian(self, cell: Cell) -> bool:
        if self.inequality.strict or self.hessian is None or not self.vanishes:
            return False
        vanishing = set(self.inequality.vanishing)
        wide = tuple(
            (min(low, Fraction(0)), max(high, Fraction(0))) if symbol in vanishing else (low, high)
            for symbol, (low, high) in zip(self.coordinates, cell.box, strict=True)
        )
        balls = balls_of(wide)
        return self.whole.smooth_on(balls) and positive_semidefinite(self.hessian(*balls).tolist())

    def _outside(self, cell: Cell, which: str) -> bool:
        if not which.isdecimal() or int(which) >= len(self.conditions):
            return False
        opposite = self._opposites[int(which)]
        return positive(opposite.below(cell), True) or by_slope(opposite, cell, True)

    def value_at(self, point: Sequence[Fraction]) -> Arb:
        """The expression at a point of exact numbers."""
        with working_precision(self.bits):
            return self.whole.value(*(as_ball(x) for x in point))

    def inside(self, point: Sequence[Fraction]) -> bool:
        """Whether a point surely lies in the box and meets every condition."""
        with working_precision(self.bits):
            at = [as_ball(x) for x in point]
            in_box = all(low <= x <= high for x, (low, high) in zip(point, self.root, strict=True))
            if not in_box or not all(bool(condition.value(*at) >= 0) for condition in self.conditions):
                return False
            return all(each.holds_on(Cell(tuple((x, x) for x in point))) for each in self.domain_of_conditions)


def _follows(condition: Condition, given: sp.Expr) -> bool:
    """Whether it holds wherever the given expression is >= 0."""
    if condition.relation is Relation.NEVER:
        return False
    left = condition.of - given
    return bool(left.is_nonnegative if condition.relation is Relation.NONNEGATIVE else left.is_positive)


def positive_semidefinite(rows: list[list[Arb]]) -> bool:
    """Whether every symmetric matrix in these balls is: by elimination, all pivots of which have to be positive."""
    matrix = [list(row) for row in rows]
    for k in range(len(matrix)):
        pivot = matrix[k][k]
        if not pivot > 0:
            return False
        for i in range(k + 1, len(matrix)):
            factor = matrix[i][k] / pivot
            for j in range(i, len(matrix)):
                update = factor * factor * pivot if i == j else factor * matrix[k][j]
                matrix[i][j] = matrix[i][j] - update
                matrix[j][i] = matrix[i][j]
    return True


def _principal_minors(H: sp.Matrix) -> list[sp.Expr]:
    return [
        _determinant(H.extract(list(rows), list(rows)))
        for count in range(1, H.rows + 1)
        for rows in combinations(range(H.rows), count)
    ]


def _determinant(H: sp.Matrix) -> sp.Expr:
    """Expanded by the first row, without simplification: SymPy's own expands and cancels, which takes minutes here."""
    if H.rows == 1:
        return H[0, 0]
    return sp.Add(*((-1) ** j * H[0, j] * _determinant(H.minor_submatrix(0, j)) for j in range(H.cols)))
