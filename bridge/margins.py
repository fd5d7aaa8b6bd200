"""All-layer margins as checks: what is known of one, beside the nearest flip that an attack finds."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from torch import Tensor

from bridge.budget import Budget
from bridge.check import Sides, at_most
from numeric.flips import completed, smallest_flip

Parameters = dict[str, Tensor]
ACCURACY = 1e-9  # relative: of a distance in floats


def flip_distance(
    output: Callable[[Parameters], Tensor],
    parameters: Parameters,
    directions: Mapping[str, Parameters],
    budget: Budget,
    *,
    largest: float,
) -> float | None:
    """The smallest 2-norm of a change of all parameters that was found to flip the prediction: the margin is no larger.

    `output` takes every parameter, each (P, *shape), and gives P signed outputs. `directions` are lines that an attack
    shall try, `largest` is how far it goes along them (see `smallest_flip`); of the budget count restarts, steps and
    seed. None without steps or restarts, and where no flip is found. Raises FlipError where the output is not positive.
    """
    if not (budget.attack and budget.restarts):
        return None
    found = smallest_flip(
        completed(output, parameters), parameters, directions, largest=largest, seed=budget.seed,
        restarts=budget.restarts, steps=budget.attack,
    )  # fmt: skip
    return found.distance if found.found else None


def beside_flip(sides: Sides, flip: float | None, effort: str) -> Sides:
    """The sides of an all-layer margin with the distance of a flip, which the margin does not exceed.

    A smaller distance may be known: `sides.found`. `effort` says in words what the attack was; no flip means that there
    was none, and then nothing is found.
    """
    if flip is None:
        return replace(sides, found=None, remark=f"{sides.remark}; not attacked")
    least = flip if sides.found is None else min(flip, sides.found)
    return replace(sides, found=at_most(least, ACCURACY), measured=flip, remark=f"{sides.remark}; {effort}")
