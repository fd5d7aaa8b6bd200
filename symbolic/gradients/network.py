"""The whole network: sizes, counts, explicit gradients at small sizes, LaTeX at any."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError, as_expr
from symbolic.gradients.evaluation import (
    Algebra,
    ExplicitAlgebra,
    LayerState,
    gradient_as_product,
    gradient_by_recursion,
)
from symbolic.gradients.layers import Backward, NetworkLayer
from symbolic.gradients.matrices import product, transpose
from symbolic.gradients.printing import aligned, matrix_latex
from symbolic.words.shown import displayed


@dataclass(frozen=True)
class LayeredNetwork:
    """p(0) = x in R^d_x, p(j) = r(V_j p(j-1)), K entries in each hidden layer, d_y in p(depth).

    `depth` and the sizes are positive integers, or symbols for them. `activation` (t to r(t)) and `loss` ((t, y) to
    the loss of one coordinate; the loss is the sum over coordinates) are needed for explicit gradients only.
    """

    depth: Any
    d_x: Any
    K: Any
    d_y: Any
    activation: sp.Lambda | None = None
    loss: sp.Lambda | None = None

    def __post_init__(self) -> None:
        for name in ("depth", "d_x", "K", "d_y"):
            size = as_expr(getattr(self, name))
            if size.is_positive is False or size.is_integer is False:
                raise DerivationError(
                    f"LayeredNetwork: {name} = {size} has to be a positive integer or a symbol of one"
                )
            object.__setattr__(self, name, size)

    def width(self, j: Any) -> sp.Expr:
        """Entries of p(j). A symbolic j that is not the depth stands for a hidden layer."""
        j = as_expr(j)
        return self.d_x if j == 0 else self.d_y if j == self.depth else self.K

    def layer(self, j: Any) -> NetworkLayer:
        return NetworkLayer(as_expr(j), self.width(j), self.width(as_expr(j) - 1))

    def shapes(self) -> tuple[tuple[int, int], ...]:
        """(rows, columns) of V_1 .. V_N; depth and sizes have to be numbers."""
        N = self._number("shapes", self.depth)
        return tuple(
            (self._number("shapes", self.width(j)), self._number("shapes", self.width(j - 1))) for j in range(1, N + 1)
        )

    @staticmethod
    def _number(call: str, size: sp.Expr) -> int:
        if not size.is_Integer:
            raise DerivationError(f"LayeredNetwork.{call}: {size} is symbolic; give a number")
        return int(size)

    # Layer 1 has d_x K entries, each of the layers 2 .. j has K^2, the last K d_y; a single layer has d_x d_y.
    def parameters(self, j: Any) -> sp.Expr:
        """Entries of V_1 .. V_j, counted from the shapes. A symbolic j counts hidden layers, 1 <= j < depth."""
        j = as_expr(j)
        if j == 0:
            return sp.Integer(0)
        if j != self.depth:
            return self.d_x * self.K + (j - 1) * self.K**2
        deep = self.d_x * self.K + (j - 2) * self.K**2 + self.K * self.d_y
        single = self.d_x * self.d_y
        if j == 1:
            return single
        return deep if (j - 1).is_positive else sp.Piecewise((single, sp.Eq(j, 1)), (deep, True))

    def outputs(self) -> sp.Expr:
        """Entries of p(1) .. p(N) together, and of r'(0) .. r'(N-1)."""
        return (self.depth - 1) * self.K + self.d_y

    # -- explicit gradients

    def block_as_product(self, j: Any) -> sp.MatrixExpr:
        """Lemma 1 for layer j, written out; depth and j have to be numbers."""
        N, first = self._number("block_as_product", self.depth), self._number("block_as_product", as_expr(j))
        above = [self.layer(i).step.by_state for i in range(N, first, -1)]
        return product(transpose(product(*above, self.layer(first).step.by_weights)), sp.MatrixSymbol("u", self.d_y, 1))

    def symbols(self) -> tuple[list[sp.ImmutableMatrix], sp.ImmutableMatrix, sp.ImmutableMatrix]:
        """V_1 .. V_N, x, y as matrices of scalar symbols."""
        shapes = self.shapes()
        V = [_symbols(f"v{j}", *shape) for j, shape in enumerate(shapes, start=1)]
        return V, _symbols("x", shapes[0][1], 1), _symbols("y", shapes[-1][0], 1)

    def states(self, V: Sequence[Any], x: Any, algebra: "Algebra") -> tuple[list["LayerState"], Any]:
        """What each layer holds at these weights and this input, and the output p(N)."""
        states, p = [], x
        for weights in V:
            z = algebra.product(weights, p)
            states.append(LayerState(weights, p, algebra.slope(z)))
            p = algebra.activation(z)
        return states, p

    def loss_at(self, V: Sequence[Any], x: Any, y: Any) -> sp.Expr:
        """The loss itself as a SymPy expression, for those who differentiate it by other means."""
        r, loss = self._functions()
        p = reduce(lambda p, weights: (weights * p).applyfunc(r), V, x)
        return sum((loss(t, target) for t, target in zip(p, y, strict=True)), start=sp.Integer(0))

    def gradient_by_recursion(self, V: Sequence[Any], x: Any, y: Any) -> list[sp.ImmutableMatrix]:
        """A(1) .. A(N) by (3.7) and (3.8), explicit columns."""
        states, u, algebra = self._explicit(V, x, y)
        return gradient_by_recursion(states, u, algebra)

    def gradient_as_product(self, V: Sequence[Any], x: Any, y: Any) -> list[sp.ImmutableMatrix]:
        """A(1) .. A(N) by the products of Lemma 1, explicit columns."""
        states, u, algebra = self._explicit(V, x, y)
        return gradient_as_product(states, u, algebra)

    def _explicit(self, V: Sequence[Any], x: Any, y: Any) -> tuple[list["LayerState"], Any, "ExplicitAlgebra"]:
        r, loss = self._functions()
        algebra = ExplicitAlgebra(r)
        states, t = self.states(V, x, algebra)
        out, target = loss.variables
        u = sp.Lambda((out, target), sp.diff(loss.expr, out))
        return states, sp.ImmutableMatrix([u(*pair) for pair in zip(t, y, strict=True)]), algebra

    def _functions(self) -> tuple[sp.Lambda, sp.Lambda]:
        if self.activation is None or self.loss is None:
            raise DerivationError("LayeredNetwork: an explicit gradient needs an activation and a loss; give both")
        return self.activation, self.loss

    # -- LaTeX

    def recursion_latex(self) -> str:
        """(3.7) and (3.8), for a generic hidden layer and the last one."""
        j = sp.Symbol("j", integer=True, positive=True)
        last, rule = self._last(), Backward(self.layer(j), self.layer(j + 1))
        top = Backward(last, last)
        lines = [rf"{matrix_latex(last.s)} &= {matrix_latex(top.start.xreplace({top.u: self._u}))}"]
        if self.depth != 1:
            lines.append(rf"{matrix_latex(rule.here.s)} &= {matrix_latex(rule.step)} && {self._hidden}")
            lines.append(rf"A_{{i}}(j) &= {matrix_latex(rule.block)} && {self._hidden}")
        lines.append(rf"A_{{i}}({sp.latex(last.j)}) &= {matrix_latex(top.block)}")
        return aligned(lines)

    def product_latex(self) -> str:
        """Lemma 1 / Lemma 15, with dots for the layers between."""
        j = sp.Symbol("j", integer=True, positive=True)
        last, generic = self._last(), self.layer(j)
        u = matrix_latex(self._u)
        lines = []
        if self.depth != 1:
            chain = rf"{matrix_latex(last.step.by_state)} \cdots {matrix_latex(generic.step.by_weights)}"
            lines.append(rf"A_{{i}}(j) &= \left({chain}\right)^{{\top}} {u} && {self._hidden}")
        lines.append(rf"A_{{i}}({sp.latex(last.j)}) &= \left({matrix_latex(last.step.by_weights)}\right)^{{\top}} {u}")
        return aligned(lines)

    def latex(self) -> str:
        """Both forms."""
        return self.recursion_latex() + "\n\\qquad\n" + self.product_latex()

    def _repr_latex_(self) -> str:
        return displayed(self.recursion_latex()) + "\n" + displayed(self.product_latex())

    @property
    def _hidden(self) -> str:
        return rf"1 \le j < {sp.latex(self.depth)}"

    @property
    def _u(self) -> sp.MatrixSymbol:
        return sp.MatrixSymbol(rf"u(p_{{i}}({sp.latex(self.depth)}), y_{{i}})", self.d_y, 1)

    def _last(self) -> NetworkLayer:
        return self.layer(self.depth)


def _symbols(letter: str, rows: int, columns: int) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix(rows, columns, lambda i, k: sp.Symbol(f"{letter}_{i + 1}_{k + 1}", real=True))
