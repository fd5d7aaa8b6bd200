"""The first half of an attack on an error with kinks: it climbs a smooth stand-in, and the rest starts around its best.

Shapes: R restarts of each cell, R items of each.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance

NEARBY = 3e-3  # relative size of the noise around the best point of the envelope, where the rest of an attack starts
FIRST_STEP, SECOND_STEP = 0.5, 0.05  # first step of an attack, and of that rest, relative to the inputs

Climb = Callable[[Sequence[Any]], Sequence[Batch]]  # from cells to the best point of each


def starts_around(cells: Sequence[tuple[Instance, Any]], climb: Climb, restarts: int, seed: int) -> list[Batch]:
    """For each cell starts around the best point of the envelope, which is climbed once for each quantity of each."""
    first: dict[tuple[Instance, str], Any] = {}
    for instance, goal in cells:
        first.setdefault((instance, goal.quantity.name), (instance, goal))
    best = dict(zip(first, climb(list(first.values())), strict=True))
    near = {key: _around(key[0], point, restarts, seed) for key, point in best.items()}
    return [near[instance, goal.quantity.name] for instance, goal in cells]


def _around(instance: Instance, best: Batch, restarts: int, seed: int) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    moved = {}
    for name, value in best.items():
        noise = torch.randn((restarts, *value.shape), generator=generator, dtype=torch.float64, device="cpu")
        noise[0] = 0.0
        moved[name] = value + NEARBY * noise.to(value.device)
    return instance.inputs.project(moved)
