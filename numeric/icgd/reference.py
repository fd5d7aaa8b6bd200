"""What the icgd network approximates, computed directly: the exact projected gradient step on the network f.

Callables r, r1, u stand for the activation, its derivative and the derivative of the loss per coordinate; they act
entry by entry on tensors. Names and shapes are those of the network's taps.

Shapes: B prompts, n examples, D_w parameters.
"""

from collections.abc import Callable
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from numeric.icgd.shape import Shape

Activation: TypeAlias = Callable[[Tensor], Tensor]
PairFunction: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def predict(shape: Shape, w: Float[Tensor, "B D_w"], x: Float[Tensor, "B n d_x"], r: Activation) -> Tensor:
    """f(w, x) = p(N), (B, n, d_y): p(j) = r(V_j p(j-1)) (wu2024, Definition 1)."""
    for V in shape.matrices(w):
        x = r(torch.einsum("brc,bnc->bnr", V, x))
    return x


def empirical_loss(
    shape: Shape,
    w: Float[Tensor, "B D_w"],
    x: Float[Tensor, "B n d_x"],
    y: Float[Tensor, "B n d_y"],
    r: Activation,
    loss: PairFunction,
) -> Float[Tensor, " B"]:
    """L_n(w) = (1/2n) sum_i sum_k loss(p_i(N)[k], y_i[k]) (wu2024, eq. (2.2))."""
    return loss(predict(shape, w, x, r), y).sum(dim=(1, 2)) / (2 * x.shape[1])


def autograd_gradient(
    shape: Shape,
    w: Float[Tensor, "B D_w"],
    x: Float[Tensor, "B n d_x"],
    y: Float[Tensor, "B n d_y"],
    r: Activation,
    loss: PairFunction,
) -> Float[Tensor, "B D_w"]:
    """The gradient of L_n by automatic differentiation."""
    parameters = w.detach().requires_grad_(True)
    (gradient,) = torch.autograd.grad(empirical_loss(shape, parameters, x, y, r, loss).sum(), parameters)
    return gradient
