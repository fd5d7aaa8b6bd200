"""The network reading: norms in place of arrays, for every prompt, each layer with its own matrix and its own range.

A value is known by bounds on its norm, on that of the emulated value, and on their distance, all in the norm of its
step. The numbers are Arb balls, whose upper ends count.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import flint
import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.enclosures import supremum
from bridge.readings.arrays import one_norm, two_norm
from numeric.balls import BallArray, ball_maximum, float_above
from numeric.networks.norms import spectral_norm_upper
from symbolic.calculus.sums import norm_change_factor
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.derivations.operations import Operation
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
        norms = {(DUAL[target], DUAL[source]): norm for (source, target), norm in self.norms.items()}
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


DUAL = {Norm.ONE: Norm.INF, Norm.TWO: Norm.TWO, Norm.INF: Norm.ONE}


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


def require_equal_dims(step: Step, x: list[Bounded]) -> None:
    """Raises UsageError for premises of different numbers of coordinates."""
    if len({each.dim for each in x}) > 1:
        dims = ", ".join(f"'{name}' has {each.dim}" for name, each in zip(step.premises, x, strict=True))
        raise UsageError(f"step '{step.name}' takes values with as many coordinates: {dims}")


@singledispatch
def bounded(operation: Operation, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    """The bounds after the operation; None if nothing is proved for it here."""
    return None


def _whole(dim: sp.Expr, known: NormsAtHand) -> int | None:
    """The number, if letters that have whole values make it one."""
    if dim.free_symbols - set(known.letters):
        return None
    found = evaluate_ball(dim, known.letters).unique_fmpz()
    return None if found is None else int(found)


def joined_norm(norm: Norm, parts: list[Ball]) -> Ball:
    """The norm of a concatenation, from those of its parts."""
    if norm is Norm.INF:
        return ball_maximum(parts)
    if norm is Norm.ONE:
        return sum(parts, start=flint.arb(0))
    return sum((each * each for each in parts), start=flint.arb(0)).sqrt()
