"""The derived formulas, run on any kind of matrix: explicit SymPy ones, batches of tensors, balls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, runtime_checkable

import sympy as sp
from sympy.matrices.expressions.kronecker import KroneckerProduct

from symbolic.derivations.derivation import DerivationError
from symbolic.gradients.layers import GENERIC, Backward, NetworkLayer
from symbolic.gradients.matrices import derivative


@runtime_checkable
class Algebra(Protocol):
    """What a kind of matrix (explicit SymPy, a batch of tensors, balls) has to offer; columns are n x 1 matrices."""

    def product(self, left: Any, right: Any) -> Any: ...

    def transpose(self, matrix: Any) -> Any: ...

    def hadamard(self, left: Any, right: Any) -> Any: ...

    def diagonal(self, column: Any) -> Any: ...

    def kronecker(self, left: Any, right: Any) -> Any: ...

    def identity(self, size: int) -> Any: ...

    def activation(self, column: Any) -> Any:
        """r, entry by entry."""

    def slope(self, column: Any) -> Any:
        """r', entry by entry."""


@dataclass(frozen=True)
class LayerState:
    """The numbers of one layer: V_j, p(j-1) and r'(V_j p(j-1))."""

    V: Any
    before: Any
    slope: Any


def evaluate(expression: sp.MatrixExpr, values: Mapping[Any, Any], algebra: Algebra) -> Any:
    """A matrix expression at `values` (matrix symbols to matrices, size symbols to integers)."""
    if isinstance(expression, sp.MatrixSymbol):
        return values[expression]
    if isinstance(expression, sp.Identity):
        size = expression.shape[0]
        return algebra.identity(int(values.get(size, size)))
    if isinstance(expression, sp.Transpose):
        return algebra.transpose(evaluate(expression.arg, values, algebra))
    if isinstance(expression, sp.DiagMatrix):
        return algebra.diagonal(evaluate(expression.args[0], values, algebra))
    for kind, operation in _operations(algebra).items():
        if isinstance(expression, kind):
            return reduce(operation, [evaluate(factor, values, algebra) for factor in expression.args])
    raise DerivationError(f"evaluate: no rule for {type(expression).__name__} {expression}")


def _operations(algebra: Algebra) -> dict[Any, Any]:
    return {
        sp.MatMul: algebra.product,
        sp.HadamardProduct: algebra.hadamard,
        KroneckerProduct: algebra.kronecker,
    }


def gradient_by_recursion(
    states: Sequence[LayerState], u: Any, algebra: Algebra, rule: Backward | None = None
) -> list[Any]:
    """A(1) .. A(N) from the derived recursion, the last layer first. `u` is the derivative of the loss by p(N)."""
    rule = rule or GENERIC
    here, later = rule.here, rule.next
    s = evaluate(rule.start, {rule.u: u, **_held(here, states[-1])}, algebra)
    blocks = []
    for number, state in reversed(list(enumerate(states))):
        known = _held(here, state)
        if number + 1 < len(states):
            s = evaluate(rule.step, {**known, **_held(later, states[number + 1]), later.s: s}, algebra)
        blocks.append(evaluate(rule.block, {**known, here.s: s}, algebra))
    return blocks[::-1]


def gradient_as_product(
    states: Sequence[LayerState], u: Any, algebra: Algebra, rule: Backward | None = None
) -> list[Any]:
    """A(1) .. A(N) from the derived chain steps: for each j the whole Jacobian dp(N)/dV_j, multiplied out."""
    layer = (rule or GENERIC).here
    above: Any = None  # by_state(N) ... by_state(j+1)
    blocks = []
    for state in reversed(states):
        known = _held(layer, state)
        by_weights = evaluate(layer.step.by_weights, known, algebra)
        jacobian = by_weights if above is None else algebra.product(above, by_weights)
        blocks.append(algebra.product(algebra.transpose(jacobian), u))
        by_state = evaluate(layer.step.by_state, known, algebra)
        above = by_state if above is None else algebra.product(above, by_state)
    return blocks[::-1]


def _held(layer: NetworkLayer, state: LayerState) -> dict[Any, Any]:
    """The symbols of a layer with the numbers of a state, its sizes among them."""
    sizes = {layer.rows: _rows(state.slope), layer.columns: _rows(state.before)}
    return {layer.V: state.V, layer.before: state.before, layer.slope: state.slope, **sizes}


def _rows(matrix: Any) -> int:
    """Rows of a SymPy matrix, a batch of tensors or a matrix of balls."""
    if hasattr(matrix, "nrows"):
        return int(matrix.nrows())
    return int(matrix.shape[-2])


class ExplicitAlgebra:
    """Explicit SymPy matrices."""

    def __init__(self, activation: sp.Lambda) -> None:
        self._activation, self._slope = activation, derivative(activation)

    def product(self, left: sp.MatrixBase, right: sp.MatrixBase) -> sp.MatrixBase:
        return left * right

    def transpose(self, matrix: sp.MatrixBase) -> sp.MatrixBase:
        return matrix.T

    def hadamard(self, left: sp.MatrixBase, right: sp.MatrixBase) -> sp.MatrixBase:
        return left.multiply_elementwise(right)

    def diagonal(self, column: sp.MatrixBase) -> sp.MatrixBase:
        return sp.ImmutableMatrix(sp.diag(*column))

    def kronecker(self, left: sp.MatrixBase, right: sp.MatrixBase) -> sp.MatrixBase:
        return sp.ImmutableMatrix(sp.kronecker_product(left, right))

    def identity(self, size: int) -> sp.MatrixBase:
        return sp.ImmutableMatrix(sp.eye(size))

    def activation(self, column: sp.MatrixBase) -> sp.MatrixBase:
        return column.applyfunc(self._activation)

    def slope(self, column: sp.MatrixBase) -> sp.MatrixBase:
        return column.applyfunc(self._slope)
