"""Changes of the parameters along given lines, and in the planes of two of them, that turn a prediction.

Directions and changes name the tensors that they move; a tensor left out keeps its own value, so that a caller need
not copy the others.

Shapes: P perturbed copies in one evaluation.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Change = Mapping[str, Tensor]  # moved tensors only, by name
Flips = Callable[
    [dict[str, Tensor]], Tensor
]  # moved tensors, each (P, *shape) -> (P,) bool: was the prediction turned?

CUTS = 6  # scales at which a bracket is cut in one round
SMALLEST = 1e-200  # in floats a flip at a smaller scale is a flip at 0


class FlipError(ValueError):
    """Directions, parameters or scales do not fit together."""


@dataclass(frozen=True, eq=False)
class Flip:
    """A change of the parameters that turned the prediction; `distance` is infinite when none was found.

    `distance` is the joint 2-norm of `delta`, `direction` names the way it was found, `evaluations` counts the
    perturbed networks that were run on the way.
    """

    distance: float
    delta: dict[str, Tensor]
    direction: str
    evaluations: int

    @property
    def found(self) -> bool:
        return math.isfinite(self.distance)


def nothing(evaluations: int) -> Flip:
    """No change that turns the prediction was found."""
    return Flip(math.inf, {}, "none", evaluations)


def norm(change: Change) -> float:
    """The joint 2-norm of all entries."""
    return math.sqrt(sum(float(part.double().square().sum()) for part in change.values()))


def unit(change: Change) -> dict[str, Tensor]:
    """The same direction with joint 2-norm 1."""
    size = norm(change)
    if not (math.isfinite(size) and size > 0):
        raise FlipError(f"unit: a direction of norm {size}; give one that is finite and not zero.")
    return {name: part / size for name, part in change.items()}


def scaled(change: Change, factor: float) -> dict[str, Tensor]:
    return {name: factor * part for name, part in change.items()}


@dataclass
class Probe:
    """Runs perturbed networks, at most `batch` in one call, and counts them."""

    flips: Flips
    parameters: Change
    batch: int
    evaluations: int = 0

    def turned(self, changes: Sequence[Change]) -> list[bool]:
        """Whether each change turns the prediction; changes that move the same tensors are run together."""
        answers = [False] * len(changes)
        for names, places in _by_tensors(changes).items():
            for start in range(0, len(places), self.batch):
                chunk = places[start : start + self.batch]
                moved = {
                    name: torch.stack([self.parameters[name] + changes[place][name] for place in chunk])
                    for name in names
                }  # (P, *shape)
                for place, answer in zip(chunk, self.flips(moved).tolist(), strict=True):
                    answers[place] = bool(answer)
                self.evaluations += len(chunk)
        return answers

    def confirmed(self, change: Change, direction: str) -> Flip:
        """The change as an answer: run once more, as it will be reported."""
        if not self.turned([change])[0]:
            return nothing(self.evaluations)
        return Flip(norm(change), dict(change), direction, self.evaluations)


def _by_tensors(changes: Sequence[Change]) -> dict[tuple[str, ...], list[int]]:
    places: dict[tuple[str, ...], list[int]] = {}
    for place, change in enumerate(changes):
        places.setdefault(tuple(sorted(change)), []).append(place)
    return places


def along(
    flips: Flips,
    parameters: Change,
    directions: Mapping[str, Change],
    *,
    largest: float,
    smallest: float | None = None,
    points: int = 14,
    precision: float = 1e-3,
    batch: int = 256,
) -> Flip:
    """The smallest change found along the given lines: see `along_each`."""
    found = along_each(
        flips,
        parameters,
        directions,
        largest=largest,
        smallest=smallest,
        points=points,
        precision=precision,
        batch=batch,
    )
    return found[0]


def along_each(
    flips: Flips,
    parameters: Change,
    directions: Mapping[str, Change],
    *,
    largest: float,
    smallest: float | None = None,
    points: int = 14,
    precision: float = 1e-3,
    batch: int = 256,
    keep: int = 1,
    signs: tuple[int, ...] = (1, -1),
) -> list[Flip]:
    """At least one flip, nearest first: the lines through theta on which the prediction turns soonest.

    Args:
        flips, parameters: the network; its tensors at theta.
        directions: by name, of joint norm 1 each, followed in both directions, or in those of `signs`.
        largest, smallest: the scales searched (default smallest: largest / 10^4), `points` of them in a geometric
            grid. A prediction may turn and turn back: the smallest scale *of the grid* that turns it is refined by
            bisection down to a ratio 1 + `precision` between a scale that turns it and one that does not.
        keep: the grid is climbed until so many lines have turned.
    Returns:
        a single flip of infinite distance when no scale on the grid turned anything.
    """
    probe, lines = Probe(flips, parameters, batch), _lines(parameters, directions, signs)
    brackets: dict[str, tuple[float, float]] = {}  # line -> (a scale that does not turn it, one that does)
    below = 0.0
    for scale in _grid(largest, smallest, points):
        waiting = [name for name in lines if name not in brackets]
        for name, turned in zip(waiting, probe.turned([scaled(lines[name], scale) for name in waiting]), strict=True):
            if turned:
                brackets[name] = (below, scale)
        below = scale
        if len(brackets) >= min(keep, len(lines)):
            break
    _bisect(probe, lines, brackets, precision, keep)
    nearest = sorted(brackets, key=lambda name: brackets[name][1])[:keep]
    found = [probe.confirmed(scaled(lines[name], brackets[name][1]), name) for name in nearest]
    return [flip for flip in found if flip.found] or [nothing(probe.evaluations)]


def _lines(
    parameters: Change, directions: Mapping[str, Change], signs: tuple[int, ...]
) -> dict[str, dict[str, Tensor]]:
    """Every direction with these signs, after a check of their tensors and their norm."""
    lines: dict[str, dict[str, Tensor]] = {}
    for name, direction in directions.items():
        unknown = sorted(set(direction) - set(parameters))
        if unknown:
            raise FlipError(f"along: the direction {name!r} moves {unknown}, which are not parameters.")
        if abs(norm(direction) - 1) > 1e-6:
            raise FlipError(f"along: the direction {name!r} has norm {norm(direction)}; pass it through `unit`.")
        lines |= {f"{'+' if sign > 0 else '-'}{name}": scaled(direction, float(sign)) for sign in signs}
    return lines


def _grid(largest: float, smallest: float | None, points: int) -> list[float]:
    smallest = largest * 1e-4 if smallest is None else smallest
    if not (0 < smallest <= largest < math.inf and points >= 1):
        raise FlipError(f"along: scales from {smallest} to {largest} in {points} points; give 0 < smallest <= largest.")
    if points == 1:
        return [largest]
    return [smallest * (largest / smallest) ** (k / (points - 1)) for k in range(points)]


def _bisect(
    probe: Probe, lines: Mapping[str, Change], brackets: dict[str, tuple[float, float]], precision: float, keep: int
) -> None:
    """Narrows the brackets that can still be among the `keep` nearest, all of them in one run a round."""
    while True:
        bar = sorted(high for _, high in brackets.values())[:keep]
        wide = [name for name, (low, high) in brackets.items() if low < bar[-1] and high > low * (1 + precision)]
        cuts = [(name, scale) for name in wide for scale in _inside(*brackets[name])]
        if not cuts:
            return
        turned = dict(zip(cuts, probe.turned([scaled(lines[name], scale) for name, scale in cuts]), strict=True))
        for name in wide:
            low, high = brackets[name]
            scales = [low, *_inside(low, high), high]
            first = next(k for k, scale in enumerate(scales) if scale == high or turned.get((name, scale), False))
            brackets[name] = (scales[first - 1], scales[first])


def _inside(low: float, high: float) -> list[float]:
    """Scales that cut a bracket, fast where it starts at 0; none where floats leave no room."""
    if low == 0:
        return [high / 8**k for k in range(CUTS, 0, -1) if high / 8**k > SMALLEST]
    return [scale for k in range(1, CUTS + 1) if low < (scale := low * (high / low) ** (k / (CUTS + 1))) < high]


def combine(
    flips: Flips,
    parameters: Change,
    found: Sequence[Flip],
    *,
    angles: int = 7,
    precision: float = 1e-3,
    batch: int = 256,
) -> Flip:
    """Smaller flips in the planes through the nearest flip and each of the others, one after the other.

    In each plane `angles` directions on either side are searched at once; the best of them joins the next plane.
    """
    best, evaluations = found[0], sum(flip.evaluations for flip in found[:1])
    for other in found[1:]:
        if not (best.found and other.found):
            continue
        plane = _plane(best, other, angles)
        if not plane:
            continue
        flip = along(
            flips, parameters, plane, largest=best.distance, smallest=best.distance / 2, points=5,
            precision=precision, batch=batch,
        )  # fmt: skip
        evaluations += flip.evaluations
        best = flip if flip.distance < best.distance else best
    return Flip(best.distance, best.delta, best.direction, evaluations)


def _plane(first: Flip, second: Flip, angles: int) -> dict[str, dict[str, Tensor]]:
    """Directions cos(phi) u + sin(phi) v on both sides of u = the first flip's own, v = the second's."""
    u, v = unit(first.delta), unit(second.delta)
    plane = {}
    for step in range(1, angles + 1):
        phi = math.pi / 2 * step / (angles + 1)
        for sign in (1, -1):
            mixed = sum_of(scaled(u, math.cos(phi)), scaled(v, sign * math.sin(phi)))
            if norm(mixed) > 1e-6:
                side = "+" if sign > 0 else "-"
                plane[f"({first.direction} {side} {math.tan(phi):.2g} {second.direction})"] = unit(mixed)
    return plane


def sum_of(first: Change, second: Change) -> dict[str, Tensor]:
    """The sum of two changes; a tensor that only one of them moves is moved by that one."""
    total = dict(first)
    for name, part in second.items():
        total[name] = total[name] + part if name in total else part
    return total


def random_lines(parameters: Change, number: int, seed: int) -> dict[str, dict[str, Tensor]]:
    """Directions that move all parameters, normal in every entry."""
    generator = torch.Generator().manual_seed(seed)

    def normal(part: Tensor) -> Tensor:
        return torch.randn(part.shape, generator=generator, dtype=torch.float64, device="cpu").to(part)

    return {f"random {k}": unit({name: normal(part) for name, part in parameters.items()}) for k in range(number)}


def coordinate_lines(parameters: Change) -> dict[str, dict[str, Tensor]]:
    """One direction for each single parameter; for small networks."""
    lines = {}
    for name, part in parameters.items():
        for place in range(part.numel()):
            line = torch.zeros_like(part)
            line.view(-1)[place] = 1.0
            lines[f"{name}[{place}]"] = {name: line}
    return lines
