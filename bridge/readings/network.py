"""The network reading: norms in place of arrays, for every prompt, each layer with its own matrix and its own range.

A value is known by bounds on its norm, on that of the emulated value, and on their distance, all in the norm of its
step. The numbers are Arb balls, whose upper ends count.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import flint
import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.enclosures import supremum
from bridge.readings.arrays import one_norm, two_norm
from numeric.balls import BallArray, ball_maximum, float_above
from numeric.networks.norms import spectral_norm_upper
from symbolic.calculus.sums import norm_change_factor, norm_of_ones
from symbolic.derivations import operations as op
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.words.errors import UsageError

Ball = Any  # flint.arb


@dataclass(frozen=True)
class MatrixNorms:
    """Bounds on the operator norms of a matrix, by source and target, and its number of rows and columns."""

    rows: int
    columns: int
    norms: Mapping[tuple[Norm, Norm], Ball]

    @classmethod
    def of(cls, matrix: Any, bits: int) -> "MatrixNorms":
        """Of a matrix of float64 numbers."""
        exact = BallArray.exactly(matrix, bits)
        rows, columns = exact.shape

        def largest(norms: BallArray) -> Ball:
            return ball_maximum(norms.balls)

        return cls(
            rows,
            columns,
            {
                (Norm.TWO, Norm.TWO): flint.arb(spectral_norm_upper(exact.midpoint())),
                (Norm.TWO, Norm.INF): largest(two_norm(exact)),
                (Norm.INF, Norm.INF): largest(one_norm(exact)),
                (Norm.ONE, Norm.ONE): largest(one_norm(exact.mT)),
                (Norm.ONE, Norm.TWO): largest(two_norm(exact.mT)),
                (Norm.ONE, Norm.INF): exact.sup_norm(),
            },
        )

    @property
    def transposed(self) -> "MatrixNorms":
        """||A^T|| from p to q is ||A|| from the dual norm of q to that of p."""
        norms = {(_DUAL[target], _DUAL[source]): norm for (source, target), norm in self.norms.items()}
        return MatrixNorms(self.columns, self.rows, norms)

    def knows(self, source: Norm, target: Norm) -> bool:
        return (source, target) in self.norms

    def norm(self, source: Norm, target: Norm, step: str = "") -> Ball:
        """Raises UsageError for norms of which nothing is known, with the step that needs them."""
        if not self.knows(source, target):
            known = ", ".join(f"{p} to {q}" for p, q in self.norms) or "none"
            where = f"step '{step}': " if step else ""
            raise UsageError(
                f"{where}the norm of a matrix from the {source}-norm to the {target}-norm is not known; give it beside "
                f"those of `norms` ({known})"
            )
        return self.norms[source, target]


_DUAL = {Norm.ONE: Norm.INF, Norm.TWO: Norm.TWO, Norm.INF: Norm.ONE}


def least(balls: list[Ball]) -> Ball:
    first, *others = balls
    for each in others:
        first = first.min(each)
    return first


@dataclass(frozen=True)
class OnRange:
    """Of f and f_hat on a range [-R, R]: sup |f|, a Lipschitz constant of f, and sup |f_hat - f|."""

    size: Ball
    lipschitz: Ball
    eps: Ball


FunctionBounds = Callable[[Ball], OnRange]  # of R


def bounds_of(expr: sp.Expr, symbol: sp.Symbol, *, eps: Any) -> FunctionBounds:
    """Of f typed in SymPy, certified on each range that is asked for; `eps` is at least |f_hat - f| on all of them."""

    def on_range(reach: Ball) -> OnRange:
        radius = float_above(reach)
        size, lipschitz = (supremum(each, symbol, -radius, radius) for each in (expr, expr.diff(symbol)))
        return OnRange(size, lipschitz, flint.arb(eps))

    return on_range


@dataclass(frozen=True)
class Bounded:
    """||v|| <= size, ||v_hat|| <= emulated, ||v_hat - v|| <= error in `norm`, v in R^dim.

    No coordinate of v has an absolute value above `reach`, none of v_hat one above `emulated_reach`.
    """

    norm: Norm
    dim: int
    size: Ball
    emulated: Ball
    error: Ball
    reach: Ball
    emulated_reach: Ball

    @classmethod
    def exact(cls, norm: Norm, dim: int, size: Ball) -> "Bounded":
        return cls(norm, dim, size, size, flint.arb(0), size, size)

    def in_norm(self, target: Norm) -> "Bounded":
        factor = evaluate_ball(norm_change_factor(self.norm, target, sp.Integer(self.dim)), {})
        size, emulated, error = (factor * each for each in (self.size, self.emulated, self.error))
        return Bounded(target, self.dim, size, emulated, error, self.reach, self.emulated_reach)


@dataclass(frozen=True)
class NormsAtHand:
    """What a network binds: givens to `Bounded`, matrices to `MatrixNorms`, functions to `FunctionBounds`; letters."""

    operands: Mapping[str, Any]
    letters: Mapping[sp.Symbol, Any] = field(default_factory=dict)

    def operand(self, step: Step, name: str, kind: Any, give: str) -> Any:
        """Raises UsageError, with the step that wants it, for an operand that is not bound or of another kind."""
        if name not in self.operands:
            bound = ", ".join(sorted(self.operands)) or "none"
            raise UsageError(f"step '{step.name}' needs '{name}', which nothing binds; give {give}; bound are: {bound}")
        found = self.operands[name]
        if not isinstance(found, kind):
            raise UsageError(f"step '{step.name}': '{name}' is bound to {type(found).__name__}; give {give}")
        return found

    def number(self, step: Step, expression: sp.Expr) -> Ball:
        """Raises UsageError for a letter without a value."""
        missing = sorted(map(str, expression.free_symbols - set(self.letters)))
        if missing:
            raise UsageError(f"step '{step.name}' needs the letter {', '.join(missing)}, which nothing binds")
        return evaluate_ball(expression, self.letters)


def bound_network(derivation: Derivation, known: NormsAtHand, wanted: Iterable[str] = ()) -> dict[str, Bounded]:
    """The steps that lead to the `wanted` ones, or all, as far as these bounds say something of them.

    A derivation x -> W x -> r(W x) takes `{"x": Bounded.exact(Norm.INF, dim, size), "W": MatrixNorms.of(W, bits),
    "r": bounds_of(f, t, eps=...)}`, and a handle for each matrix of each layer.

    A given that is not bound, an operation without a rule here, and what follows from either, are left out; `stops`
    says why. Raises UsageError, with the step, for operands that are not bound, of another kind or another shape, and
    for letters without a value.
    """
    return _read(derivation, known, wanted)[0]


def stops(derivation: Derivation, known: NormsAtHand, wanted: Iterable[str] = ()) -> dict[str, str]:
    """The steps that `bound_network` leaves out, and the first step on the way to each that has no bound."""
    return _read(derivation, known, wanted)[1]


def _read(
    derivation: Derivation, known: NormsAtHand, wanted: Iterable[str]
) -> tuple[dict[str, Bounded], dict[str, str]]:
    found, stopped = dict[str, Bounded](), dict[str, str]()
    for step in derivation.leading_to(*wanted):
        missing = [name for name in step.premises if name not in found]
        result = None
        if step.operation is not None and not missing:
            result = bounded(step.operation, step, [found[name] for name in step.premises], known)
        if result is None:
            here = f"step '{step.name}' ({step.rule}) has no bound for all prompts"
            stopped[step.name] = stopped[missing[0]] if missing else here
        else:
            _require_dim(step, result.dim, known)
            found[step.name] = result
    return found, stopped


def _require_dim(step: Step, dim: int, known: NormsAtHand) -> None:
    """Raises UsageError for a bound on another number of coordinates than the step has."""
    stated = None if step.dim is None else _whole(step.dim, known)
    if stated not in (None, dim):
        raise UsageError(f"step '{step.name}' has {stated} coordinates, and the Bounded for it {dim}")


def _require_equal_dims(step: Step, x: list[Bounded]) -> None:
    """Raises UsageError for premises of different numbers of coordinates."""
    if len({each.dim for each in x}) > 1:
        dims = ", ".join(f"'{name}' has {each.dim}" for name, each in zip(step.premises, x, strict=True))
        raise UsageError(f"step '{step.name}' takes values with as many coordinates: {dims}")


@singledispatch
def bounded(operation: op.Operation, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    """The bounds after the operation; None if nothing is proved for it here."""
    return None


@bounded.register
def _given(operation: op.Given, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    if operation.name not in known.operands:
        return None
    found: Bounded = known.operand(step, operation.name, Bounded, "a Bounded(...)")
    return found.in_norm(step.norm)


def _whole(dim: sp.Expr, known: NormsAtHand) -> int | None:
    """The number, if letters that have whole values make it one."""
    if dim.free_symbols - set(known.letters):
        return None
    found = evaluate_ball(dim, known.letters).unique_fmpz()
    return None if found is None else int(found)


@bounded.register
def _linear(operation: op.Linear, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    (before,) = x
    if operation.bias:
        return None
    matrix = known.operand(step, operation.matrix, MatrixNorms, "MatrixNorms.of(matrix, bits)")
    if operation.transposed:
        matrix = matrix.transposed
    if matrix.columns != before.dim:
        raise UsageError(
            f"step '{step.name}': '{operation.matrix}' has {matrix.columns} columns, and '{step.premises[0]}' "
            f"{before.dim} coordinates"
        )
    norm = matrix.norm(before.norm, step.norm, step.name)
    size, emulated, error = (norm * each for each in (before.size, before.emulated, before.error))
    widest = least(
        [matrix.norm(before.norm, each) for each in (step.norm, Norm.INF) if matrix.knows(before.norm, each)]
    )
    reach, emulated_reach = widest * before.size, widest * before.emulated
    return Bounded(step.norm, matrix.rows, size, emulated, error, reach, emulated_reach)


@bounded.register
def _apply(operation: op.Apply, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    (before,) = x
    function = known.operand(step, operation.function, Callable, "bounds_of(f, t, eps=...), or a function of R")
    exact, both = function(before.reach), function(before.reach.max(before.emulated_reach))
    ones = evaluate_ball(norm_of_ones(step.norm, sp.Integer(before.dim)), {})
    emulated = both.size + both.eps
    error = ones * both.eps + both.lipschitz * before.error
    return Bounded(step.norm, before.dim, ones * exact.size, ones * emulated, error, exact.size, emulated)


# B(x_hat, y_hat) - B(x, y) = B(dx, y) + B(x_hat, dy) = B(dx, y_hat) + B(x, dy): the lesser of the two. The norm of the
# product is at most the product of the norms for these norms of x, y and B(x, y).
_SUBMULTIPLICATIVE = {
    op.ProductKind.ENTRYWISE: {(Norm.INF, each, each) for each in Norm},
    op.ProductKind.INNER: {(each, _DUAL[each], any_norm) for each in Norm for any_norm in Norm},
    op.ProductKind.MEAN_OUTER: {(each, each, each) for each in Norm},
}


@bounded.register
def _product(operation: op.Product, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    a, b = x
    if operation.kind is op.ProductKind.INNER:
        _require_equal_dims(step, x)
    if (a.norm, b.norm, step.norm) not in _SUBMULTIPLICATIVE[operation.kind]:
        return None
    if operation.kind is op.ProductKind.ENTRYWISE and a.dim not in (1, b.dim):
        return None  # a number that multiplies a vector counts in each of its coordinates
    first, second = a.error * b.size + a.emulated * b.error, a.error * b.emulated + a.size * b.error
    dims = {op.ProductKind.ENTRYWISE: b.dim, op.ProductKind.INNER: 1, op.ProductKind.MEAN_OUTER: a.dim * b.dim}
    size, emulated = a.size * b.size, a.emulated * b.emulated
    return Bounded(step.norm, dims[operation.kind], size, emulated, first.min(second), size, emulated)


@bounded.register
def _combination(operation: op.Combination, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    _require_equal_dims(step, x)
    factors = [abs(known.number(step, each)) for each in operation.coefficients]

    def total(numbers: Iterable[Ball]) -> Ball:
        return sum((factor * each for factor, each in zip(factors, numbers, strict=True)), start=flint.arb(0))

    size, emulated = total(each.size for each in x), total(each.emulated for each in x)
    error = total(each.error for each in x)
    reach, emulated_reach = total(each.reach for each in x), total(each.emulated_reach for each in x)
    return Bounded(step.norm, x[0].dim, size, emulated, error, reach, emulated_reach)


@bounded.register
def _token_mean(operation: op.TokenMean, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    return x[0]


@bounded.register
def _restated(operation: op.Restated, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    return x[0].in_norm(step.norm)


# Each coordinate of the result is between those of low and high, so that its p-th power is at most the sum of theirs;
# none exceeds the reach. The projection does not expand. Equality: low and high apart in their coordinates, or of one
# absolute value in all.
@bounded.register
def _clip(operation: op.Clip, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    (before,) = x
    ends = (known.operands.get(handle) for handle in (operation.low, operation.high))
    found = [_repeated(each, before.dim).in_norm(step.norm) for each in ends if isinstance(each, Bounded)]
    if step.norm is not before.norm or len(found) < 2:
        return None
    low, high = found
    reach = low.reach.max(high.reach)
    of_reach = evaluate_ball(norm_of_ones(step.norm, sp.Integer(before.dim)), {}) * reach
    size = joined_norm(step.norm, [low.size, high.size]).min(of_reach)
    return Bounded(step.norm, before.dim, size, size, before.error, reach, reach)


def _repeated(number: Bounded, dim: int) -> Bounded:
    """A number in the place of a vector, as the vector of equal entries that it stands for."""
    return replace(number, norm=Norm.INF, dim=dim) if number.dim == 1 else number


@bounded.register
def _concatenation(operation: op.Concatenation, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    parts = [[getattr(each, part) for each in x] for part in ("size", "emulated", "error")]
    size, emulated, error = (joined_norm(step.norm, each) for each in parts)
    reach, emulated_reach = (ball_maximum([getattr(each, part) for each in x]) for part in ("reach", "emulated_reach"))
    return Bounded(step.norm, sum(each.dim for each in x), size, emulated, error, reach, emulated_reach)


def joined_norm(norm: Norm, parts: list[Ball]) -> Ball:
    """The norm of a concatenation, from those of its parts."""
    if norm is Norm.INF:
        return ball_maximum(parts)
    if norm is Norm.ONE:
        return sum(parts, start=flint.arb(0))
    return sum((each * each for each in parts), start=flint.arb(0)).sqrt()
