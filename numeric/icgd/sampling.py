"""Inputs that meet the hypotheses of wu2024: w in the box W, ||x_i||_2 <= B_x, ||y_i||_2 <= B_y.

Shapes: C prompts, n examples, D_w parameters.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from numeric.icgd.shape import Shape

Inputs = dict[str, Tensor]  # w (C, D_w), x (C, n, d_x), y (C, n, d_y)


def prompts(
    shape: Shape,
    n: int,
    B_v: float,
    B_x: float,
    B_y: float,
    count: int,
    seed: int,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
) -> Inputs:
    """Independent prompts, w uniform in the box, each x_i and y_i uniform in its ball; the same on every device."""
    generator = torch.Generator().manual_seed(seed)
    drawn = {
        "w": _signed(generator, count, shape.parameters) * _box(shape, B_v),
        "x": B_x * _in_unit_ball(generator, count, n, shape.d_x),
        "y": B_y * _in_unit_ball(generator, count, n, shape.d_y),
    }
    return project(shape, _converted(drawn, dtype, device), B_v, B_x, B_y)


def project(shape: Shape, inputs: Mapping[str, Tensor], B_v: float, B_x: float, B_y: float) -> Inputs:
    """The inputs moved to the nearest admissible ones: w clipped, each x_i and y_i drawn back to its sphere."""
    projected = dict(inputs)
    if "w" in projected:
        w = projected["w"]
        box = _round_down(_box(shape, B_v), w.dtype).to(w.device)  # (D_w)
        projected["w"] = torch.minimum(torch.maximum(w, -box), box)
    for name, radius in (("x", B_x), ("y", B_y)):
        if name in projected:
            projected[name] = onto_ball(projected[name], radius)
    return projected


def onto_ball(tokens: Float[Tensor, "*any d"], radius: float) -> Float[Tensor, "*any d"]:
    """Tokens inside the ball as they are, the others scaled to its sphere, and a few roundings inside of it.

    Norms are formed in float64, so that the result lies in the ball in exact arithmetic whatever the dtype.
    """
    limit = radius * (1 - 4 * torch.finfo(tokens.dtype).eps)
    norms = torch.linalg.vector_norm(tokens.double(), dim=-1, keepdim=True)  # (..., 1)
    factors = torch.where(norms > limit, limit / norms.clamp(min=torch.finfo(torch.float64).tiny), 1.0)
    return (tokens.double() * factors).to(tokens.dtype)


def starts(
    shape: Shape,
    n: int,
    B_v: float,
    B_x: float,
    B_y: float,
    restarts: int,
    seed: int,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
) -> Inputs:
    """Points from which an attack starts, in turn: random, corners of the box, aligned rank-one layers, w = 0.

    Aligned: V_j = +-half width * a_j a_{j-1}^T with sign vectors a_j, x_i along a_0 and y_i along a_N at their
    bounds, so that each layer's scores are as large as the box allows. All but the first kind take x_i on the sphere.
    """
    generator = torch.Generator().manual_seed(seed)
    kinds = (_random_start, _corner_start, _aligned_start, _zero_start)
    drawn = [kinds[index % len(kinds)](generator, shape, n, B_v) for index in range(restarts)]
    stacked = {name: torch.stack([each[name] for each in drawn]) for name in ("w", "x", "y")}
    stacked |= {"x": B_x * stacked["x"], "y": B_y * stacked["y"]}
    return project(shape, _converted(stacked, dtype, device), B_v, B_x, B_y)


def _random_start(generator: torch.Generator, shape: Shape, n: int, B_v: float) -> Inputs:
    w = _signed(generator, shape.parameters) * _box(shape, B_v)
    return {"w": w, "x": _in_unit_ball(generator, n, shape.d_x), "y": _in_unit_ball(generator, n, shape.d_y)}


def _corner_start(generator: torch.Generator, shape: Shape, n: int, B_v: float) -> Inputs:
    w = _signs(generator, shape.parameters) * _box(shape, B_v)
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
    w = torch.zeros(shape.parameters, dtype=torch.float64)
    return {"w": w, "x": _on_unit_sphere(generator, n, shape.d_x), "y": _on_unit_sphere(generator, n, shape.d_y)}


def _box(shape: Shape, B_v: float) -> Float[Tensor, " D_w"]:
    return torch.tensor(shape.box(B_v), dtype=torch.float64)


def _round_down(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Positive float64 numbers rounded towards 0 in another dtype."""
    rounded = values.to(dtype)
    below = torch.nextafter(rounded, torch.zeros_like(rounded))
    return torch.where(rounded.double() > values, below, rounded)


def _converted(inputs: Inputs, dtype: torch.dtype, device: torch.device | str) -> Inputs:
    return {name: value.to(device=device, dtype=dtype) for name, value in inputs.items()}


def _signed(generator: torch.Generator, *size: int) -> Tensor:
    return 2 * torch.rand(size, generator=generator, dtype=torch.float64) - 1


def _shrunk(generator: torch.Generator, *size: int) -> Tensor:
    return 0.9 + 0.1 * torch.rand(size, generator=generator, dtype=torch.float64)


def _signs(generator: torch.Generator, *size: int) -> Tensor:
    return 2.0 * torch.randint(0, 2, size, generator=generator, dtype=torch.float64) - 1


def _on_unit_sphere(generator: torch.Generator, *size: int) -> Tensor:
    normal = torch.randn(size, generator=generator, dtype=torch.float64)
    return normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)


def _in_unit_ball(generator: torch.Generator, *size: int) -> Tensor:
    radii = torch.rand((*size[:-1], 1), generator=generator, dtype=torch.float64) ** (1 / size[-1])
    return radii * _on_unit_sphere(generator, *size)
