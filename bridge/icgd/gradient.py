"""The gradient (Lemma 1, Definition 3, Lemma 15 of wu2024) as a theorem: the derived formulas against autograd.

The formulas that run are the derived matrix expressions of `symbolic.gradients` themselves, evaluated on tensors and on
arrays of balls. What they are compared with knows none of them: torch's autograd of the loss, and, in exact arithmetic,
the propagation of tangents with slopes from difference quotients.

Shapes, of one prompt: n examples, D_w parameters; a layer is rows x cols, its gradient block a column of rows * cols.
"""

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.array_algebra import ArrayAlgebra
from bridge.budget import Budget
from bridge.check import Check, Sides
from bridge.cost import Cost
from bridge.difference_quotients import enclosed_derivative
from bridge.domains import Ball, Box, Concatenated, Rows
from bridge.formula import ArrayFunction
from bridge.icgd.setting import activation_formula, loss_formula
from bridge.pair import Pair
from bridge.theorem import Function, Theorem
from bridge.theorem_parts import ExactRuns
from numeric.layered import Shape, autograd_gradient
from symbolic.activations import activation as activation_named
from symbolic.gradients import gradient_as_product, gradient_by_recursion
from symbolic.icgd import gradient as theory
from symbolic.icgd import symbols

FORMS: dict[str, Callable[..., list[Any]]] = {"recursion": gradient_by_recursion, "product": gradient_as_product}
EXACT_LIMIT = 200_000_000  # ball operations for one prompt, at the bits below: some two seconds
EXACT_BITS = 512  # saturated slopes are tiny, and norms relative
FLOOR = 2.0**-500
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


# Forward mode, by the definition of a derivative: moving V_j[a, b] by t moves z(j)[a] by t p(j-1)[b]; the tangent of
# z(j)[a] then runs through the later layers, T(i) = diag(slopes) V_i T(i-1), and through the loss.
def tangents(w: Array, x: Array, y: Array, shape: Shape, r: ArrayFunction, activation: Any, loss: Any) -> Array:
    """The same in balls, with slopes from difference quotients of r and of the loss."""
    V, p, slopes = shape.matrices(w), [x], []
    for matrix in V:
        z = p[-1] @ matrix.mT  # (n, rows)
        slopes.append(slope_quotient(activation, z))
        p.append(r(z))
    pull = loss_quotient(loss, p[-1], y)[:, None, :]  # (n, 1, d_y)
    blocks = []
    for j, before in enumerate(p[:-1]):
        T = torch.diag_embed(slopes[j])  # (n, rows, rows)
        for matrix, slope in zip(V[j + 1 :], slopes[j + 1 :], strict=True):
            T = slope[..., None] * (matrix @ T)
        by_argument = (pull @ T).mT  # (n, rows, 1): the loss by z(j)[a]
        blocks.append((by_argument * before[:, None, :]).sum(0).reshape(-1))
    return torch.cat(blocks) / (2 * len(x))


def slope_quotient(activation: Any, z: Array) -> Array:
    """r'(z) enclosed by a difference quotient of r; where r has no three derivatives, by r' itself."""
    if activation_named(activation).smoothness < 3:
        return activation_formula(activation, 1)(z)
    return enclosed_derivative(activation_formula(activation), activation_formula(activation, 3), z)


def loss_quotient(loss: Any, p: Array, y: Array) -> Array:
    """d ell / dt at (p, y) enclosed by a difference quotient of the loss."""
    ell, third = loss_formula(loss), loss_formula(loss, 3)
    return enclosed_derivative(lambda t: ell(t, y), lambda t: third(t, y), p)


# ---- distance, sizes, counts


def relative_distance(found: Array, truth: Array, shape: Shape) -> Array:
    """The largest over the blocks of ||a - b|| / max(||a||, ||b||, 2^-500), a floor against 0/0 and underflow."""
    norm = torch.linalg.vector_norm
    blocks = [(found[where], truth[where]) for where in shape.slices]
    return torch.stack([norm(a - b) / torch.maximum(norm(a), norm(b)).clamp(min=FLOOR) for a, b in blocks]).amax(0)


def bytes_of_one(N: int, K: int, d_x: int, d_y: int, n: int) -> int:
    """What one prompt takes: its parameters, and the largest Kronecker product of its examples."""
    wide = max(K, d_y)
    return 8 * (N * max(K, d_x) * wide + n * wide**2 * max(K, d_x))


# Layer by layer, the Kronecker products of (3.7); an attack takes each of them backwards.
def cost(sizes: Mapping[str, float], budget: Budget | None) -> Cost:
    layers, n, wide = sizes["N"], sizes["n"], max(sizes["K"], sizes["d_x"], sizes["d_y"])
    built = Cost(8 * (layers * wide**2 + n * wide**3))
    if budget is None:
        return built
    runs = budget.samples + 4 * budget.attack * budget.restarts
    return built + Cost(0.0, layers * (0.03 + 0.01 * budget.attack) + 1e-9 * runs * n * layers * wide**3)


def parameters_off(shape: Shape) -> Sides:
    """How far the printed D_N is from the number of parameters."""
    letters = {symbols.N: shape.N, symbols.K: shape.K, symbols.d_x: shape.d_x, symbols.d_y: shape.d_y}
    return Sides(found=abs(int(theory.PRINTED_TOTAL.subs(letters)) - shape.parameters), rounding=0.0)


def count_of_slopes(shape: Shape) -> Sides:
    return Sides(found=sum(shape.widths[1:]), rounding=0.0)


def box_of_weights(d_x: sp.Symbol = symbols.d_x, d_y: sp.Symbol = symbols.d_y) -> Concatenated:
    """|v_jk[i]| <= B_v / sqrt(length of v_jk), layer by layer: K x d_x, K x K, ..., d_y x K; d_y x d_x if N = 1."""
    N, K, B_v = symbols.N, symbols.K, symbols.B_v
    single = sp.Eq(N, 1)
    return Concatenated(
        Box(sp.Piecewise((d_y, single), (K, True)), d_x, size=B_v / sp.sqrt(d_x)),
        Box(sp.Max(N - 2, 0), K, K, size=B_v / sp.sqrt(K)),
        Box(sp.Piecewise((0, single), (d_y, True)), K, size=B_v / sp.sqrt(K)),
    )


def _count(name: str, sides: Function) -> Check:
    """Definition 1, and so its counts, has a hidden layer."""
    return Check(theory.GRADIENT.quantity(name), sides, when=sp.Ge(symbols.N, 2))


GRADIENT = Theorem(
    statement=theory.GRADIENT,
    main="recursion",
    inputs={
        "w": box_of_weights(),
        "x": Rows(symbols.n, Ball(symbols.d_x, radius=symbols.B_x)),
        "y": Rows(symbols.n, Ball(symbols.d_y, radius=symbols.B_y)),
    },
    network={form: by_form(form) for form in FORMS},
    reference=Pair(tensors=autograd, balls=tangents),
    built={
        "shape": Shape,
        "r": activation_formula,
        "r1": lambda activation: activation_formula(activation, 1),
        "ell": loss_formula,
        "u": lambda loss: loss_formula(loss, 1),
    },
    checks=(_count("parameters", parameters_off), _count("slopes", count_of_slopes)),
    distance=relative_distance,
    exact=ExactRuns(bits=EXACT_BITS, limit=EXACT_LIMIT),
    memory=bytes_of_one,
    cost=cost,
)
