"""Inputs that meet the hypotheses of wu2024: w in the box W, ||x_i||_2 <= B_x, ||y_i||_2 <= B_y.

Shapes: C prompts, n examples, D_w parameters.
"""

import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.tools.layered import Shape

Inputs = dict[str, Tensor]  # w (C, D_w), x (C, n, d_x), y (C, n, d_y)
INSIDE = 1 - 2.0**-50  # of a radius: what has at most this norm in floats lies in the ball exactly


def prompts(shape: Shape, n: int, B_v: float, B_x: float, B_y: float, count: int, seed: int) -> Inputs:
    """Independent prompts in float64, w uniform in the box, each x_i and y_i uniform in its ball."""
    generator = torch.Generator().manual_seed(seed)
    return {
        "w": _signed(generator, count, shape.parameters)
        * torch.as_tensor(shape.box(B_v), dtype=torch.float64, device="cpu"),
        "x": onto_ball(B_x * _in_unit_ball(generator, count, n, shape.d_x), B_x),
        "y": onto_ball(B_y * _in_unit_ball(generator, count, n, shape.d_y), B_y),
    }


def starts(shape: Shape, n: int, B_v: float, B_x: float, B_y: float, restarts: int, seed: int) -> Inputs:
    """Points from which an attack starts, in turn: random, corners of the box, aligned rank-one layers, w = 0.

    Aligned: V_j = +-half width * a_j a_{j-1}^T with sign vectors a_j, x_i along a_0 and y_i along a_N at their
    bounds, so that each layer's scores are as large as the box allows. All but the first kind take x_i on the sphere.
    """
    generator = torch.Generator().manual_seed(seed)
    kinds = (_random_start, _corner_start, _aligned_start, _zero_start)
    drawn = [kinds[index % len(kinds)](generator, shape, n, B_v) for index in range(restarts)]
    stacked = {name: torch.stack([each[name] for each in drawn]) for name in ("w", "x", "y")}
    return {**stacked, "x": onto_ball(B_x * stacked["x"], B_x), "y": onto_ball(B_y * stacked["y"], B_y)}


def onto_ball(tokens: Float64[Tensor, "*any d"], radius: float) -> Float64[Tensor, "*any d"]:
    """Tokens inside the ball as they are, the others scaled to its sphere, and a few roundings inside of it."""
    limit = radius * INSIDE
    norms = torch.linalg.vector_norm(tokens, dim=-1, keepdim=True)  # (..., 1)
    return tokens * torch.where(norms > limit, limit / norms, 1.0)


def _random_start(generator: torch.Generator, shape: Shape, n: int, B_v: float) -> Inputs:
    w = _signed(generator, shape.parameters) * torch.as_tensor(shape.box(B_v), dtype=torch.float64, device="cpu")
    return {"w": w, "x": _in_unit_ball(generator, n, shape.d_x), "y": _in_unit_ball(generator, n, shape.d_y)}


def _corner_start(generator: torch.Generator, shape: Shape, n: int, B_v: float) -> Inputs:
    w = _signs(generator, shape.parameters) * torch.as_tensor(shape.box(B_v), dtype=torch.float64, device="cpu")
    return {"w": w, "x": _on_unit_sphere(generator, n, shape.d_x), "y": _on_unit_sphere(generator, n, shape.d_y)}


def _aligned_start(generator: torch.Generator, shape: Shape, n: int, B_v: float) -> Inputs:
    a = [_signs(generator, width) for width in shape.widths]
    # Entries a little inside the box, each by itself: equal rows would leave the gradients of a layer's rows equal.
    layers = zip(a[1:], a[:-1], shape.half_widths(B_v), strict=True)
    blocks = [width * torch.outer(out, into) * _shrunk(generator, len(out), len(into)) for out, into, width in layers]
    x = _signs(generator, n, 1) * a[0] / shape.d_x**0.5
    y = _signs(generator, n, 1) * a[-1] / shape.d_y**0.5
    return {"w": torch.cat([block.flatten() for block in blocks]), "x": x, "y": y}


def _zero_start(generator: torch.Generator, shape: Shape, n: int, B_v: float) -> Inputs:
    w = torch.zeros(shape.parameters, dtype=torch.float64, device="cpu")
    return {"w": w, "x": _on_unit_sphere(generator, n, shape.d_x), "y": _on_unit_sphere(generator, n, shape.d_y)}


def _signed(generator: torch.Generator, *size: int) -> Tensor:
    return 2 * torch.rand(size, generator=generator, dtype=torch.float64, device="cpu") - 1


def _shrunk(generator: torch.Generator, *size: int) -> Tensor:
    return 0.9 + 0.1 * torch.rand(size, generator=generator, dtype=torch.float64, device="cpu")


def _signs(generator: torch.Generator, *size: int) -> Tensor:
    return 2.0 * torch.randint(0, 2, size, generator=generator, dtype=torch.float64, device="cpu") - 1


def _on_unit_sphere(generator: torch.Generator, *size: int) -> Tensor:
    normal = torch.randn(size, generator=generator, dtype=torch.float64, device="cpu")
    return normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)


def _in_unit_ball(generator: torch.Generator, *size: int) -> Tensor:
    radii = torch.rand((*size[:-1], 1), generator=generator, dtype=torch.float64, device="cpu") ** (1 / size[-1])
    return radii * _on_unit_sphere(generator, *size)
