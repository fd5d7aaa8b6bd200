"""Forms: rigorous proofs that an inequality holds on a box, by enclosures in Arb balls.

- "range": the expression evaluated on the balls of the box;
- "slope": the mean-value form, with the gradient enclosed on the box;
- "hessian": z^T (second derivatives) z in the vanishing coordinates;
- "form": the matrix of the inequality's quadratic form is defined and positive semidefinite;
- "outside k": the k-th condition is negative throughout.

Each but the last also has to show that the expression, as it was given, is a real number throughout.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import sympy as sp

from bridge.lowering import LoweringError, lower
from bridge.questions.certify.definedness import DomainCondition, Relation, conditions_of, evaluated, is_finite_real
from bridge.questions.certify.requirements import Requirement
from bridge.questions.certify.scalars import BITS, Box, Cell, Scalar, balls_of, by_slope, positive, root_of, shown
from bridge.questions.certify.sizes import check_sizes, replaced
from numeric.balls import Arb, rational, working_precision
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError


class Enclosures:
    """An inequality on boxes: the form that proves it on a box, and the slopes that determine the next cut."""

    def __init__(self, inequality: Inequality, bits: int = BITS) -> None:
        self.inequality, self.bits = inequality, bits
        # A proof ignores the assumptions on symbols: the box determines their values.
        self._real = {symbol: sp.Dummy(symbol.name, real=True) for symbol in inequality.box}
        self.coordinates = tuple(inequality.box)
        self.symbols = tuple(self._real.values())
        self.root = root_of(inequality)

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
    def domain_of_form(self) -> list[Requirement]:
        """What has to hold for the quadratic form to be the expression: its vector and its matrix are defined."""
        vector, matrix = self.inequality.form or ((), ())
        return [each for entry in (*vector, *(x for row in matrix for x in row)) for each in self._requirements(entry)]

    @cached_property
    def domain_of_conditions(self) -> list[Requirement]:
        return [each for condition in self.inequality.where for each in self._requirements(condition)]

    def defined_on(self, cell: Cell) -> bool:
        """Whether the expression is shown to be a real number throughout the region in that box."""
        with working_precision(self.bits):
            return all(each.holds_on(cell) for each in self.domain)

    def defined_at(self, point: Sequence[Fraction]) -> bool:
        return self.defined_on(Cell(tuple((x, x) for x in point)))

    def undefined_at(self, point: Sequence[Fraction]) -> DomainCondition | None:
        """A condition that surely fails at a point of the region: the expression is not defined there."""
        with working_precision(self.bits):
            failing = next((each.condition for each in self.domain if each.fails_at(point)), None)
            return failing if failing is not None and self.inside(point) else None

    def undefined_in(self, cell: Cell) -> DomainCondition | None:
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
    def opposites(self) -> list[Scalar]:
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
        return all(shown(minor, cell) for minor in self.minors) and all(
            each.holds_on(cell) for each in self.domain_of_form
        )

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
        return shown(self.opposites[int(which)], cell, strict=True)

    def value_at(self, point: Sequence[Fraction]) -> Arb:
        """The expression at a point of exact numbers."""
        with working_precision(self.bits):
            return self.whole.value(*(rational(x) for x in point))

    def inside(self, point: Sequence[Fraction]) -> bool:
        """Whether a point surely lies in the box and meets every condition."""
        with working_precision(self.bits):
            at = [rational(x) for x in point]
            in_box = all(low <= x <= high for x, (low, high) in zip(point, self.root, strict=True))
            if not in_box or not all(bool(condition.value(*at) >= 0) for condition in self.conditions):
                return False
            return all(each.holds_on(Cell(tuple((x, x) for x in point))) for each in self.domain_of_conditions)


def _follows(condition: DomainCondition, given: sp.Expr) -> bool:
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
