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
    """f(w, x) = p(N), (B, n, d_y)."""
    return forward_values(shape, w, x, r)[-1]


def forward_values(shape: Shape, w: Float[Tensor, "B D_w"], x: Float[Tensor, "B n d_x"], r: Activation) -> list[Tensor]:
    """p(0), ..., p(N), each (B, n, size): p(j) = r(V_j p(j-1)) (wu2024, Definition 1)."""
    p = [x]
    for V in shape.matrices(w):
        p.append(r(torch.einsum("brc,bnc->bnr", V, p[-1])))
    return p


def exact_step(
    shape: Shape,
    w: Float[Tensor, "B D_w"],
    x: Float[Tensor, "B n d_x"],
    y: Float[Tensor, "B n d_y"],
    r: Activation,
    r1: Activation,
    u: PairFunction,
    eta: float,
    B_v: float,
) -> dict[str, Tensor]:
    """p[j], r'[j], g, s[j] (B, n, size), gradient (B, D_w) and the new w (B, D_w), all exact up to rounding."""
    V, p = shape.matrices(w), forward_values(shape, w, x, r)
    slopes = [r1(torch.einsum("brc,bnc->bnr", matrix, value)) for matrix, value in zip(V, p[:-1], strict=True)]
    g = u(p[-1], y)  # (B, n, d_y)
    # (3.7): s(N) = r'(N) * u and s(j) = r'(j) * (V_{j+1}^T s(j+1)).
    s = [slopes[-1] * g]
    for j in range(shape.N - 1, 0, -1):
        s.insert(0, slopes[j - 1] * torch.einsum("brc,bnr->bnc", V[j], s[0]))
    # (3.8): A(j) = (1/2n) sum_i s_i(j) p_i(j-1)^T.
    blocks = [torch.einsum("bnr,bnc->brc", s[j], p[j]) / (2 * x.shape[1]) for j in range(shape.N)]
    gradient = torch.cat([block.flatten(1) for block in blocks], dim=-1)  # (B, D_w)
    box = torch.as_tensor(shape.box(B_v), dtype=w.dtype, device=w.device)  # (D_w)
    taps = {"g": g, "gradient": gradient, "w": torch.clamp(w - eta * gradient, -box, box)}
    for j in range(shape.N):
        taps |= {f"p[{j + 1}]": p[j + 1], f"r'[{j + 1}]": slopes[j], f"s[{j + 1}]": s[j]}
    return taps


def exact_trajectory(
    shape: Shape,
    w: Float[Tensor, "B D_w"],
    x: Float[Tensor, "B n d_x"],
    y: Float[Tensor, "B n d_y"],
    r: Activation,
    r1: Activation,
    u: PairFunction,
    eta: float,
    B_v: float,
    steps: int,
) -> Float[Tensor, "B steps D_w"]:
    """w after each of `steps` exact projected steps."""
    points = []
    for _ in range(steps):
        w = exact_step(shape, w, x, y, r, r1, u, eta, B_v)["w"]
        points.append(w)
    return torch.stack(points, dim=1)


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
