"""The all-layer margin from above: small changes of the parameters that flip a prediction.

    rho(theta, x, y) = min ||delta||_2  subject to  (y - 1/2) F(x, theta + delta) <= 0         (Wei et al. 2021, (2.1))

Every distance here is the norm of a change that was run and did flip the prediction, so it is never below rho. The
search gives no bound on the excess.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from numeric.tools.flip_lines import (
    Change,
    Flip,
    FlipError,
    along,
    along_each,
    combine,
    coordinate_lines,
    norm,
    random_lines,
    unit,
)
from numeric.tools.flip_walk import Output, walk_boundary

__all__ = [
    "Flip", "FlipError", "smallest_flip", "along", "along_each", "combine", "walk_boundary",
    "completed", "coordinate_lines", "random_lines", "unit", "norm",
]  # fmt: skip


def completed(output: Output, parameters: Change) -> Output:
    """From an output of all parameters, each (P, *shape), to one of those that move: the others keep their values."""

    def run(moved: dict[str, Tensor]) -> Tensor:
        copies = next(iter(moved.values())).shape[0]
        kept = {name: part.expand(copies, *part.shape) for name, part in parameters.items() if name not in moved}
        return output({**kept, **moved})

    return run


def smallest_flip(
    output: Output,
    parameters: Change,
    directions: Mapping[str, Change],
    *,
    largest: float,
    seed: int,
    smallest: float | None = None,
    random_directions: int = 8,
    keep: int = 4,
    differentiable: bool = True,
    restarts: int = 8,
    steps: int = 60,
    batch: int = 256,
) -> Flip:
    """An upper bound of the all-layer margin: the nearest of all flips found along lines, in planes and by gradient.

    Args:
        output: moved tensors, each (P, *shape), to the P signed outputs (2 y - 1) F; must be positive at theta. One of
            all parameters is `completed` first.
        directions: suspects, of joint norm 1 (`unit`); `random_directions` over all parameters are added.
        largest, smallest: the scales searched along lines, see `along_each`.
        differentiable: whether the gradient walk (`restarts`, `steps`) is tried as well.
    Raises:
        FlipError: when the prediction at theta itself is wrong (then the margin is 0), or nothing is to be searched.
    """
    first = next(iter(parameters))
    if not float(output({first: parameters[first][None]})[0]) > 0:
        raise FlipError(
            "smallest_flip: the output at theta is not positive, so the margin is 0 and there is nothing to flip."
        )

    def flips(moved: dict[str, Tensor]) -> Tensor:
        with torch.no_grad():
            return output(moved) <= 0

    lines = {**directions, **random_lines(parameters, random_directions, seed)}
    found = (
        along_each(flips, parameters, lines, largest=largest, smallest=smallest, keep=keep, batch=batch)
        if lines
        else []
    )
    candidates = [*found[:1], combine(flips, parameters, found, batch=batch)] if found else []
    if differentiable:
        starts = [flip.delta for flip in (*candidates[1:], *found) if flip.found]
        radii = [largest / 2**k for k in range(6)]
        candidates.append(
            walk_boundary(output, parameters, starts, radii=radii, restarts=restarts, steps=steps, seed=seed)
        )
    if not candidates:
        raise FlipError("smallest_flip: nothing to search; give directions, random directions or differentiable=True.")
    nearest = min(candidates, key=lambda flip: flip.distance)
    spent = candidates[1:] if found else candidates  # `combine` has counted the lines already
    return replace(nearest, evaluations=sum(flip.evaluations for flip in spent))
