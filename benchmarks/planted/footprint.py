"""What the readings of a program say, as numbers, and how another reading differs from them."""

from typing import Any

import numpy as np

from numeric.balls import working_precision
from tests.bridge.readings.checking import BITS, Balls

SIDES = ("exact", "emulated")
Footprint = list[dict[tuple[str, str], Any]]


def footprint(balls: Balls) -> Footprint:
    """What the values, the two enclosures and the bounds say at each step, as float arrays."""
    found = []
    with working_precision(BITS):
        values = balls.values.items()
        sides = {(step, side): getattr(each, side).midpoint() for step, each in values for side in SIDES}
        for reading in (balls.prompt, balls.local):
            numbers: dict[tuple[str, str], Any] = dict(sides)
            for step in balls.derivation.steps:
                bound = reading.bound(step.name)
                numbers[step.name, "bound"] = np.array(np.inf) if bound is None else bound.midpoint()
                if step.name in reading.steps:
                    error = reading.steps[step.name].error
                    parts = {part: getattr(error, part).midpoint() for part in ("centre", "radius", "one", "two")}
                    numbers |= {(step.name, part): value for part, value in parts.items()}
            found.append(numbers)
    return found


# All errors that were allowed are allowed: each coordinate's interval contains the former one, each ball around the
# new centre the one around the former. Of a step without an enclosure its bound says all.
def change(before: Footprint, now: Footprint) -> str:
    """ "same", "wider" (whatever was allowed is allowed) or "other"."""
    changes = {_wider(old, new) for old, new in zip(before, now, strict=True)}
    return "other" if "other" in changes else "wider" if "wider" in changes else "same"


def _wider(old: dict[tuple[str, str], Any], new: dict[tuple[str, str], Any]) -> str:
    if new.keys() - old.keys() or any(part in (*SIDES, "bound") for _, part in old.keys() - new.keys()):
        return "other"
    if not all(np.array_equal(old[key], new[key]) for key in old if key[1] in SIDES):
        return "other"
    found = "same" if old.keys() == new.keys() else "wider"
    for step, part in (key for key in new if key[1] not in (*SIDES, "centre")):
        gain = _gain(old, new, step, part)
        tiny = 1e-9 * (1 + np.nan_to_num(abs(old[step, part]), posinf=0.0))
        if (gain < -tiny).any():
            return "other"
        found = "wider" if (gain > tiny).any() else found
    return found


def _gain(old: dict[tuple[str, str], Any], new: dict[tuple[str, str], Any], step: str, part: str) -> Any:
    """By how much more is allowed than is needed to contain what was."""
    moved = abs(new[step, "centre"] - old[step, "centre"]) if part != "bound" else np.zeros(1)
    apart = {"one": moved.sum(-1), "two": np.sqrt((moved**2).sum(-1)), "bound": 0.0}.get(part, moved)
    both = np.isinf(old[step, part]) & np.isinf(new[step, part])
    return np.where(both, 0.0, new[step, part] - apart) - np.where(both, 0.0, old[step, part])
