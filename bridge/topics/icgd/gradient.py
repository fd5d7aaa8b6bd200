"""The gradient (Lemma 1, Definition 3, Lemma 15 of wu2024) as a theorem: the derived formulas against autograd.

The formulas that run are the derived matrix expressions of `symbolic.gradients` themselves, evaluated on tensors and on
arrays of balls. What they are compared with knows none of them: torch's autograd of the loss, and, in exact arithmetic,
the propagation of tangents with slopes from difference quotients.

Shapes, of one prompt: n examples, D_w parameters; a layer is rows x cols, its gradient block a column of rows * cols.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Ball, Domain, Rows
from bridge.domains.layered import layered_box
from bridge.limits.cost import Count, Work
from bridge.lowering.activations import activation_formula, loss_formula, loss_quotient, slope_quotient
from bridge.lowering.array_algebra import ArrayAlgebra
from bridge.lowering.formula import ArrayFunction
from bridge.theorems.check import Sides, checks_of
from bridge.theorems.pair import Pair
from bridge.theorems.parts import ExactRuns
from bridge.theorems.theorem import Function, Theorem
from numeric.tools.layered import Shape, autograd_gradient, relative_distance, tangent_gradient
from symbolic.gradients import gradient_as_product, gradient_by_recursion
from symbolic.topics.icgd import gradient as theory
from symbolic.topics.icgd import symbols

FORMS: dict[str, Callable[..., list[Any]]] = {"recursion": gradient_by_recursion, "product": gradient_as_product}
EXACT_LIMIT = 200_000_000  # ball operations for one prompt, at the bits below: some two seconds
EXACT_BITS = 512  # saturated slopes are tiny, and norms relative
Array = Any  # a tensor or an array of balls


# ---- the derived formulas


def by_form(form: str) -> Function:
    """The gradient of L_n, (D_w,), by the derived formula of that name."""

    def gradient(
        w: Array, x: Array, y: Array, shape: Shape, r: ArrayFunction, r1: ArrayFunction, u: ArrayFunction
    ) -> Array:
        algebra = ArrayAlgebra(r, r1, x)
        states, p = theory.NETWORK.states(shape.matrices(w), x[..., None], algebra)
        blocks = FORMS[form](states, u(p, y[..., None]), algebra)  # each (n, rows * cols, 1)
        return torch.cat([block[..., 0].sum(0) for block in blocks]) / (2 * len(x))

    return gradient


# ---- what knows none of them


def autograd(w: Tensor, x: Tensor, y: Tensor, shape: Shape, r: ArrayFunction, ell: ArrayFunction) -> Tensor:
    """The same by automatic differentiation of L_n."""
    return autograd_gradient(shape, w, x, y, r, ell)


def tangents(w: Array, x: Array, y: Array, shape: Shape, r: ArrayFunction, activation: Any, loss: Any) -> Array:
    """The same in balls, with slopes from difference quotients of r and of the loss."""
    return tangent_gradient(shape, w, x, y, r, partial(slope_quotient, activation), partial(loss_quotient, loss))


# ---- sizes, counts


def work(N: Count, K: Count, d_x: Count, d_y: Count, n: Count) -> Work:
    """A prompt's parameters, and the Kronecker products of (3.7), layer by layer."""
    wide = max(K, d_x, d_y)
    return Work(numbers=N * wide**2 + n * wide**3, products=n * N * wide**3, passes=4 * N)


def parameters_off(shape: Shape) -> Sides:
    """How far the printed D_N is from the number of parameters."""
    letters = {symbols.N: shape.N, symbols.K: shape.K, symbols.d_x: shape.d_x, symbols.d_y: shape.d_y}
    return Sides(found=abs(int(theory.PRINTED_TOTAL.subs(letters)) - shape.parameters), rounding=0.0)


def count_of_slopes(shape: Shape) -> Sides:
    return Sides(found=sum(shape.widths[1:]), rounding=0.0)


def prompt_domains(d_x: sp.Symbol, d_y: sp.Symbol, B_y: Any = symbols.B_y, **rows: Any) -> dict[str, Domain]:
    """Those of w, x and y, for the dimensions that a result has letters for; `rows` as of `Rows`."""
    return {
        "w": layered_box(symbols.N, symbols.K, d_x, d_y, row_norm=symbols.B_v),
        "x": Rows(symbols.n, Ball(d_x, radius=symbols.B_x), **rows),
        "y": Rows(symbols.n, Ball(d_y, radius=B_y), **rows),
    }


GRADIENT = Theorem(
    statement=theory.GRADIENT,
    main="recursion",
    inputs=prompt_domains(symbols.d_x, symbols.d_y),
    network={form: by_form(form) for form in FORMS},
    reference=Pair(tensors=autograd, balls=tangents),
    built={
        "shape": Shape,
        "r": activation_formula,
        "r1": lambda activation: activation_formula(activation, 1),
        "ell": loss_formula,
        "u": lambda loss: loss_formula(loss, 1),
    },
    checks=checks_of(theory.GRADIENT, {"parameters": parameters_off, "slopes": count_of_slopes}),
    distance=relative_distance,
    exact=ExactRuns(bits=EXACT_BITS, limit=EXACT_LIMIT),
    work=work,
)
