"""The empirical risk of the network f and its gradient, computed directly, without the constructed network's code.

Callables r and loss stand for the activation and the loss of one coordinate; they act entry by entry.

Shapes: ... prompts, n examples, D_w parameters.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from numeric.icgd.shape import Shape

Array: TypeAlias = Any  # a tensor or an array of balls


def predict(shape: Shape, w: Array, x: Array, r: Callable[..., Any]) -> Array:
    """f(w, x) = p(N), (..., n, d_y): p(j) = r(V_j p(j-1)) (wu2024, Definition 1)."""
    for V in shape.matrices(w):
        x = r(x @ V.mT)
    return x


def empirical_loss(
    shape: Shape, w: Array, x: Array, y: Array, r: Callable[..., Any], loss: Callable[..., Any]
) -> Array:
    """L_n(w) = (1/2n) sum_i sum_k loss(p_i(N)[k], y_i[k]), (...) (wu2024, eq. (2.2)); on tensors and on balls."""
    return loss(predict(shape, w, x, r), y).sum((-2, -1)) / (2 * x.shape[-2])


def autograd_gradient(
    shape: Shape, w: Float[Tensor, "*B D_w"], x: Tensor, y: Tensor, r: Callable[..., Any], loss: Callable[..., Any]
) -> Float[Tensor, "*B D_w"]:
    """The gradient of L_n by automatic differentiation."""
    gradient: Tensor = torch.func.grad(lambda at: empirical_loss(shape, at, x, y, r, loss).sum())(w)
    return gradient
