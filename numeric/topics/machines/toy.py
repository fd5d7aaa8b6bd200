"""Small networks whose all-layer margin is known: their outputs, batched over changed parameters.

Every function takes the parameters with a leading dimension P (P copies of the network) and gives P outputs F.

Glossary: P copies, D depth, H hidden units.
"""

import torch
from torch import Tensor

Parameters = dict[str, Tensor]

THIRD = 1.0 / 3.0


def plain(parameters: Parameters) -> Tensor:
    """W_1 ... W_D x - 1/2 at x = 1 (Section 3.1). W: (P, D) -> (P,)."""
    return parameters["W"].prod(dim=-1) - 0.5


def rounding(z: Tensor) -> Tensor:
    """The ReLU net of Proposition 3.4, on each entry."""
    return 3 * torch.relu(z - THIRD) - 3 * torch.relu(z - 2 * THIRD)


def rounded(parameters: Parameters) -> Tensor:
    """(3.1) at x = 1: round after each W_i, then - 1/2. W: (P, D) -> (P,)."""
    value = torch.ones_like(parameters["W"][:, 0])  # (P,)
    for weight in parameters["W"].unbind(dim=-1):
        value = rounding(weight * value)
    return value - 0.5


def rounded_with_layers(parameters: Parameters) -> Tensor:
    """The same, the rounding layers V phi(U z + b) + c being parameters too.

    W: (P, D), U, b, V: (P, D, 2), c: (P, D) -> (P,).
    """
    value = torch.ones_like(parameters["W"][:, 0])  # (P,)
    for layer in range(parameters["W"].shape[1]):
        entry = parameters["W"][:, layer] * value  # (P,)
        hidden = torch.relu(parameters["U"][:, layer] * entry[:, None] + parameters["b"][:, layer])  # (P, 2)
        value = (parameters["V"][:, layer] * hidden).sum(dim=-1) + parameters["c"][:, layer]  # (P,)
    return value - 0.5


def ones(depth: int) -> Parameters:
    """The weights of the toy. Without the leading dimension: (D,)."""
    return {"W": torch.ones(depth, dtype=torch.float64, device="cpu")}


def ones_with_layers(depth: int) -> Parameters:
    """The same with the rounding layers of Proposition 3.4."""
    pair = torch.ones(depth, 2, dtype=torch.float64, device="cpu")
    return {
        **ones(depth),
        "U": pair,
        "b": pair * torch.tensor([-THIRD, -2 * THIRD], dtype=torch.float64, device="cpu"),
        "V": pair * torch.tensor([3.0, -3.0], dtype=torch.float64, device="cpu"),
        "c": torch.zeros(depth, dtype=torch.float64, device="cpu"),
    }


# Networks of Section 2.1's kind, at one input x.


def linear(parameters: Parameters, x: Tensor) -> Tensor:
    """w . x + b. w: (P, n), b: (P,) -> (P,)."""
    return parameters["w"] @ x + parameters["b"]


def product(parameters: Parameters, x: Tensor, c: float) -> Tensor:
    """w2 w1 x - c, the offset c no parameter. w: (P, 2) -> (P,)."""
    return parameters["w"].prod(dim=-1) * x[0] - c


def two_layers(parameters: Parameters, x: Tensor) -> Tensor:
    """v . phi(W x + b) + c. W: (P, H, n), b, v: (P, H), c: (P,) -> (P,)."""
    hidden = torch.relu(parameters["W"] @ x + parameters["b"])  # (P, H)
    return (parameters["v"] * hidden).sum(dim=-1) + parameters["c"]


def hard_max(scores: Tensor, values: Tensor) -> Tensor:
    """The mean of the values of largest score (Section 4.1). scores: (P, n), values: (n,) -> (P,)."""
    largest = scores == scores.amax(dim=-1, keepdim=True)  # (P, n)
    return (largest * values).sum(dim=-1) / largest.sum(dim=-1)
