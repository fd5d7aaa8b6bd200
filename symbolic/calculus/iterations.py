"""Rules 8 and 12: perturbed iterations, contracting or quadratic, and descent summed over the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.geometric import power_of
from symbolic.calculus.recursions import constant_recursion, latex
from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr, rule_step
from symbolic.derivations.obligations import Obligation, nonnegative, real, whole
from symbolic.derivations.operations import Handle, Operation, Unread, unnamed


@dataclass(frozen=True)
class Iteration(Operation):
    """`depth` steps that each multiply the error by the matrix A and add at most `offset`; the exact value stays.

    The norm of A is at most `factor`.
    """

    matrix: Handle
    factor: sp.Expr
    depth: sp.Expr
    offset: sp.Expr


# e_n <= q^n e_0 + b (1 - q^n)/(1 - q) by rule 7. For q < 1 it is q^n (e_0 - e*) + e*, e* = b/(1 - q): between e_0 and
# e*, tending to e*. Equality: every step an equality, e.g. x -> q x + b of numbers x >= 0 against x -> q x.
def contract(
    x: Approximated,
    name: str,
    *,
    factor: Any,
    offset: Any,
    size: Any,
    depth: Any = sp.oo,
    reason: str = "",
    matrix: str = "",
) -> Approximated:
    """x after `depth` steps that each take an error e to at most factor e + offset, 0 <= factor < 1.

    depth = oo bounds the limit (the upper limit of the errors): offset/(1 - factor), whatever the start. `size` bounds
    the exact value after these steps. `matrix` is the handle of the linear map of a step, if its norm is `factor`.
    """
    factor, offset, depth, size = as_expr(factor), as_expr(offset), as_expr(depth), as_expr(size)
    numbers = nonnegative("contract", name, factor=factor, offset=offset, size=size)
    below = Obligation(f"the factor of '{name}' is below 1", sp.Lt(factor, 1))
    recursion = constant_recursion(x.error_symbol, factor, offset)
    rest = _rest(factor, offset)
    step = rule_step(
        name,
        x.norm,
        "contraction",
        rest if depth is sp.oo else rest + power_of(factor, depth) * (x.error_symbol - rest),
        obligations=(below, *numbers, *_depth("contract", name, depth)),
        reason=reason,
        recursion=recursion,
        operation=Iteration(matrix, factor, depth, offset) if matrix else unnamed("matrix"),
    )
    return x.follows(step, dim=x.dim, size=size)


def _depth(rule: str, name: str, depth: sp.Expr) -> tuple[Obligation, ...]:
    return () if depth is sp.oo else whole(rule, name, least=0, depth=depth)


def _rest(factor: sp.Expr, offset: sp.Expr) -> sp.Expr:
    return offset / (1 - factor)


# q^n (e_0 - e*) + e* <= accuracy as soon as q^n <= (accuracy - e*)/(e_0 - e*), for 0 < q < 1 and accuracy > e*. None is
# needed if e_0 <= accuracy, and one is enough if q = 0.
def contraction_steps(start: Any, factor: Any, offset: Any, accuracy: Any) -> sp.Expr:
    """The number of steps after which the bound of `contract` is at most `accuracy`, which is above its limit.

    If the premises 0 <= factor < 1 and accuracy > offset/(1 - factor) are not clear, they are conditions of the
    answer, which is undefined without them. Raises DerivationError if one is false.
    """
    start, factor, offset, accuracy = map(as_expr, (start, factor, offset, accuracy))
    nonnegative("contraction_steps", "the iteration", start=start, factor=factor, offset=offset)
    real("contraction_steps", "the iteration", accuracy=accuracy)
    if sp.Lt(factor, 1) == sp.false:
        raise DerivationError(f"contraction_steps: the factor is {factor}; give a factor below 1")
    rest = _rest(factor, offset)
    if sp.Gt(accuracy, rest) == sp.false:
        raise DerivationError(f"contraction_steps: the accuracy {accuracy} is not above {rest}, the limit of the bound")
    at_zero = sp.And(sp.Eq(factor, 0), sp.Gt(accuracy, rest))
    if factor == 0:
        return sp.Piecewise((0, sp.Le(start, accuracy)), (1, at_zero))
    needed = sp.ceiling(sp.log((accuracy - rest) / (start - rest)) / sp.log(factor))
    premises = sp.And(sp.Gt(factor, 0), sp.Lt(factor, 1), sp.Gt(accuracy, rest))
    return sp.Piecewise((0, sp.Le(start, accuracy)), (1, at_zero), (needed, premises))


MOST_SQUARINGS = 12


# g(e) = a e^2 + b is increasing on e >= 0 and, for 4 a b < 1, has the fixed points
#   floor = 2 b / (1 + sqrt(1 - 4 a b))   <   basin = (1 + sqrt(1 - 4 a b)) / (2 a),
# the roots of a e^2 - e + b. Between them g(e) < e, below the floor e < g(e) <= floor. So errors that start below the
# basin stay below max(e_0, floor), and tend to at most the floor (a decreasing sequence above the floor has a limit,
# which is a fixed point). Equality: e_{n+1} = a e_n^2 + b; a start at the basin never decreases.
#
# Two stages (for 2 a e_0 < 1): A_n = (2 a e_0)^(2^n) / (2 a) obeys A_{n+1} = 2 a A_n^2. Claim: e_n <= max(A_n, 2 b).
# Let m = max(A_n, 2 b). If a m^2 <= b, then e_{n+1} <= 2 b. If a m^2 > b then m = A_n, since a (2 b)^2 <= b, and
# e_{n+1} <= 2 a A_n^2 = A_{n+1}. And 2 b is at most twice the floor. For b = 0 the steps multiply out exactly:
# e_n = (a e_0)^(2^n) / a. Not sharp for b > 0: the largest known ratio is 2^(2^n - 1), as b tends to 0, and 2 at the
# floor.
@dataclass(frozen=True)
class QuadraticRecursion:
    """e_{n+1} <= quadratic e_n^2 + offset, from e_0 = start, all >= 0: Newton's method with an error in each step."""

    start: sp.Expr
    quadratic: sp.Expr
    offset: sp.Expr

    def __post_init__(self) -> None:
        if not self.quadratic.is_positive:
            raise DerivationError(
                f"QuadraticRecursion: cannot show that the coefficient {sp.sstr(self.quadratic)} is positive; "
                f"where it is 0 the recursion is linear: use recur or contract"
            )
        nonnegative("QuadraticRecursion", "the recursion", start=self.start, offset=self.offset)

    @property
    def root(self) -> sp.Expr:
        return sp.sqrt(1 - 4 * self.quadratic * self.offset)

    @property
    def floor(self) -> sp.Expr:
        """An upper bound on the limit of the errors."""
        return 2 * self.offset / (1 + self.root)

    @property
    def basin(self) -> sp.Expr:
        """Errors that start below it tend to the floor."""
        return (1 + self.root) / (2 * self.quadratic)

    def obligations(self, name: str) -> tuple[Obligation, ...]:
        floor = Obligation(f"'{name}' has a floor: `4 a b < 1`", sp.Lt(4 * self.quadratic * self.offset, 1))
        if floor.condition == sp.false:  # the basin is not real
            return (floor,)
        return floor, Obligation(f"'{name}' starts inside the basin", sp.Lt(self.start, self.basin))

    def after(self, steps: Any) -> sp.Expr:
        """A bound on e_n that squares in each step, for 2 quadratic start < 1 (offset 0: quadratic start < 1).

        It also needs 4 quadratic offset <= 1. Raises DerivationError if one of these is false; `converge` makes them
        obligations.
        """
        steps = as_expr(steps)
        whole("QuadraticRecursion.after", "the recursion", least=0, steps=steps)
        self._require_squares()
        if steps.is_Integer and steps > MOST_SQUARINGS:
            raise DerivationError(
                f"QuadraticRecursion: {steps} squarings are too many to expand; keep the number symbolic"
            )
        if self.offset == 0:
            return (self.quadratic * self.start) ** (2**steps) / self.quadratic
        doubled = 2 * self.quadratic
        return sp.Max((doubled * self.start) ** (2**steps) / doubled, 2 * self.offset)

    def _require_squares(self) -> None:
        scale = self.quadratic if self.offset == 0 else 2 * self.quadratic
        if sp.Lt(scale * self.start, 1) == sp.false:
            raise DerivationError(f"QuadraticRecursion: the start {self.start} is not below {1 / scale}")
        if sp.Le(4 * self.quadratic * self.offset, 1) == sp.false:
            raise DerivationError(
                f"QuadraticRecursion: 4 a b = {4 * self.quadratic * self.offset} is above 1, so there is no floor"
            )

    # (2 a e_0)^(2^n) <= 2 a accuracy as soon as 2^n >= log(2 a accuracy) / log(2 a e_0): both logarithms are negative.
    def steps_to(self, accuracy: Any) -> sp.Expr:
        """The number of steps after which `after` is at most `accuracy` >= 2 offset, for 2 quadratic start < 1."""
        accuracy = as_expr(accuracy)
        if sp.Ge(accuracy, 2 * self.offset) == sp.false:
            raise DerivationError(f"steps_to: the accuracy {accuracy} is below twice the offset, {2 * self.offset}")
        scale = self.quadratic if self.offset == 0 else 2 * self.quadratic
        if accuracy.is_nonpositive:
            raise DerivationError(f"steps_to: the accuracy is {accuracy}; give one above 0")
        if self.start == 0 or sp.Le(self.start, accuracy) == sp.true:
            return sp.Integer(0)  # no step is needed if the start is accurate enough
        self._require_squares()
        needed = sp.ceiling(sp.log(sp.log(scale * accuracy) / sp.log(scale * self.start)) / sp.log(2))
        floor = sp.And(sp.Ge(accuracy, 2 * self.offset), sp.Le(4 * self.quadratic * self.offset, 1))
        squares = sp.And(sp.Lt(scale * self.start, 1), floor)
        return sp.Piecewise((0, sp.Le(self.start, accuracy)), (needed, squares))

    def run(self, coefficients: Sequence[tuple[Any, Any]], start: Any) -> list[Any]:
        """e_0, e_1, ... with each step's own (quadratic, offset)."""
        errors = [start]
        for a, b in coefficients:
            errors.append(a * errors[-1] * errors[-1] + b)
        return errors

    def latex(self, names: Mapping[sp.Symbol, str] | None = None) -> str:
        a, b, start = (latex(each, names) for each in (self.quadratic, self.offset, self.start))
        return rf"e_{{n+1}} \le {a}\,e_n^2 + {b},\qquad e_0 = {start}"

    def words(self) -> str:
        """The same in plain text."""
        a, b, start = map(sp.sstr, (self.quadratic, self.offset, self.start))
        return f"e_(n+1) <= {f'({a})' if self.quadratic.is_Add else a}*e_n**2 + {b}, e_0 = {start}"


def converge(
    x: Approximated, name: str, *, quadratic: Any, offset: Any, size: Any, depth: Any = sp.oo, reason: str = ""
) -> Approximated:
    """x after `depth` steps that each take an error e to at most quadratic e^2 + offset.

    depth = oo bounds the limit, the floor. Obligations: 4 quadratic offset < 1 and a start inside the basin, for
    depth = oo; a start below 1/(2 quadratic) (below 1/quadratic if offset = 0) for a finite depth. `size` bounds the
    exact value after these steps.
    """
    quadratic, offset, depth, size = as_expr(quadratic), as_expr(offset), as_expr(depth), as_expr(size)
    numbers = nonnegative("converge", name, quadratic=quadratic, offset=offset, size=size)
    numbers += _depth("converge", name, depth)
    local = QuadraticRecursion(x.error_symbol, quadratic, offset)
    here = QuadraticRecursion(x.error, quadratic, offset)
    obligations = here.obligations(name)
    if depth is not sp.oo:
        scale = quadratic if offset == 0 else 2 * quadratic
        halfway = Obligation(f"'{name}' starts where squaring reduces the error", sp.Lt(scale * x.error, 1))
        obligations = (obligations[0], halfway)
    step = rule_step(
        name,
        x.norm,
        "quadratic convergence",
        local.floor if depth is sp.oo else local.after(depth),
        obligations=(*obligations, *numbers),
        reason=reason,
        recursion=None if reason else local,
        sharp=depth is sp.oo or offset == 0,
        operation=Unread("a step is known by how it reduces an error, not by what it computes"),
    )
    return x.follows(step, dim=x.dim, size=size)


# If f(w^{l+1}) <= f(w^l) - c g_l + d for l = 0 .. n-1, summing telescopes:
#   c sum_{l<n} g_l <= f(w^0) - f(w^n) + n d <= (f(w^0) - inf f) + n d,
# so that the mean of the g_l, and a fortiori the least of them, is at most (f(w^0) - inf f)/(c n) + d/c.
# Equality: every step an equality and f(w^n) = inf f; the least equals the mean where all g_l are equal.
def descend(
    gap: Approximated, name: str, *, decrease: Any, offset: Any = 0, steps: Any, reason: str = ""
) -> Approximated:
    """The mean over `steps` steps of g_l >= 0, where each step has f(w+) <= f(w) - decrease g_l + offset.

    `gap` is a number whose error bounds f(w^0) - inf f. The conclusion's error bounds the mean (and the least) g_l.
    """
    if gap.norm is not Norm.INF or gap.dim != 1:
        raise DerivationError(f"descend: '{gap.name}' must be a number (dim 1, sup norm): f(w^0) - inf f")
    decrease, offset, steps = as_expr(decrease), as_expr(offset), as_expr(steps)
    if not decrease.is_positive:
        raise DerivationError(f"descend: cannot show that the decrease {sp.sstr(decrease)} of '{name}' is positive")
    if not (steps.is_integer and steps.is_positive):
        raise DerivationError(f"descend: '{name}' is a mean over {sp.sstr(steps)} steps, not a positive whole number")
    step = rule_step(
        name,
        gap.norm,
        "descent",
        gap.error_symbol / (decrease * steps) + offset / decrease,
        obligations=nonnegative("descend", name, offset=offset),
        reason=reason or "`c sum g_l <= f(w^0) - inf f + n d`, telescoping",
        operation=Unread("its value is a mean over all steps, which no operand gives"),
    )
    return gap.follows(step, dim=sp.Integer(1), size=sp.Integer(0))
