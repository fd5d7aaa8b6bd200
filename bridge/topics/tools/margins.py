"""All-layer margins as checks: what is known of one, beside the nearest flip that an attack finds."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from torch import Tensor

from bridge.limits.run import Run
from bridge.lowering.ball_values import exact_ball
from bridge.theorems.check import Sides, as_ball, at_most
from numeric.balls import float_above
from numeric.tools.flips import completed, smallest_flip
from symbolic.derivations.exact_numbers import as_number, as_positive_float
from symbolic.words.errors import UsageError

Parameters = dict[str, Tensor]
ACCURACY = 1e-9  # relative: of a distance in floats


def flip_distance(
    output: Callable[[Parameters], Tensor],
    parameters: Parameters,
    directions: Mapping[str, Parameters],
    run: Run,
    *,
    largest: float,
) -> float | None:
    """The smallest 2-norm of a change of all parameters that was found to flip the prediction: the margin is no larger.

    `output` takes every parameter, each (P, *shape), and gives P signed outputs. `directions` are lines that an attack
    shall try, `largest` is how far it goes along them (see `smallest_flip`); of the run count restarts, steps and
    seed. None without steps or restarts, and where no flip is found. Raises FlipError where the output is not positive,
    UsageError for parameters or directions that are not tensors by name and for a `largest` that is not positive.
    """
    if not isinstance(run, Run):
        raise UsageError(f"flip_distance: run = {run!r:.80}; give a Run")
    largest = as_positive_float("flip_distance", "largest", largest)
    _require_tensors("parameters", parameters)
    if not isinstance(directions, Mapping):
        raise UsageError(f"flip_distance: directions = {directions!r:.80}; give tensors by name, by name of the line")
    for name, line in directions.items():
        _require_tensors(f"directions[{name!r}]", line)
    if not (run.attack and run.restarts):
        return None
    found = smallest_flip(
        completed(output, parameters), parameters, directions, largest=largest, seed=run.seed,
        restarts=run.restarts, steps=run.attack,
    )  # fmt: skip
    return found.distance if found.found else None


def beside_flip(sides: Sides, flip: float | None, effort: str) -> Sides:
    """The sides of an all-layer margin with the distance of a flip, which the margin does not exceed.

    A smaller distance may be known: `sides.found`. `effort` says in words what the attack was; no flip means that there
    was none, and then nothing is found. Raises UsageError for a flip that is not a finite number >= 0.
    """
    if not isinstance(sides, Sides):
        raise UsageError(f"beside_flip: sides = {sides!r:.80}; give Sides")
    if flip is None:
        return replace(sides, found=None, remark=f"{sides.remark}; not attacked")
    distance = as_number("beside_flip", "flip", flip)
    if distance.is_negative:
        raise UsageError(f"beside_flip: flip = {flip}; give a distance >= 0")
    flip = float_above(exact_ball(distance))
    least = flip if sides.found is None else min(flip, float_above(as_ball(sides.found)))
    return replace(sides, found=at_most(least, ACCURACY), measured=flip, remark=f"{sides.remark}; {effort}")


def _require_tensors(name: str, given: object) -> None:
    if not isinstance(given, Mapping) or not given or not all(isinstance(each, Tensor) for each in given.values()):
        raise UsageError(f"flip_distance: {name} = {given!r:.80}; give tensors by name")
