"""The all-layer margin and its ramp loss: the proofs, and runs on networks whose margin is certified."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
import torch

from bridge.limits.run import Run
from bridge.lowering.formula import evaluate
from bridge.lowering.least_value import Enclosure
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.numbers import plain
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.topics.machines.intervals import interval_words
from bridge.topics.machines.small_networks import TIGHT, LinearNetwork, ProductNetwork, SmallNetwork, Theta, TwoLayers
from bridge.topics.tools.margins import beside_flip, flip_distance
from numeric.tools.flips import coordinate_lines
from numeric.topics.machines import toy
from symbolic.topics.machines import approximation as theory

STATED = theory.APPROXIMATION
TIED_VALUES = (3, -1)  # of two keys that tie: their mean has another sign than the second one
ACCURACY = 1e-9  # of a ratio: rounding of float64
ROUNDING = 4 * 2.0**-52  # of a difference of two losses
LARGEST, STEPS = 1.5, 40  # of the attack: its largest distance, in margins; its steps at most
LOOSE = 1e-4  # of the squared margins of many networks, see `small_networks.TIGHT`
PAIRS = 12  # of random parameters for each network, at most
DERIVED = ("derived",)
CASES = "by cases on the three pieces of (2.2)"


@dataclass(frozen=True)
class Member:
    """One member of a family: whether it predicts 1, and its margin."""

    theta: Theta
    right: bool
    margin: Enclosure

    @property
    def loss(self) -> float:
        """The 0-1 loss for the label 1."""
        return 0.0 if self.right else 1.0


@dataclass(frozen=True)
class MemberPair:
    """Two members of one family; `chosen` if the second lies on the way from the first to its nearest flip."""

    first: Member
    second: Member
    chosen: bool

    @cached_property
    def distance(self) -> float:
        first, second = self.first.theta, self.second.theta
        return float(sum(((first[name] - second[name]) ** 2).sum() for name in first)) ** 0.5

    # The margins are known to an interval each: a lower bound of their difference.
    @cached_property
    def apart(self) -> float:
        one, other = self.first.margin, self.second.margin
        return max(one.lower - other.upper, other.lower - one.upper, 0.0)


def networks(seed: int, tight: float = TIGHT) -> list[SmallNetwork]:
    """One of each family; `tight` is how closely the margins without a closed form are enclosed."""
    rng = np.random.default_rng(seed)
    return [LinearNetwork(rng), ProductNetwork(rng), TwoLayers(rng, 1, tight), TwoLayers(rng, 2, tight)]


@lru_cache(maxsize=4)
def pairs(gamma: float, samples: int, seed: int) -> list[MemberPair]:
    """Random pairs of each family, and pairs on the way to the nearest flip, where the bounds are attained."""
    rng = np.random.default_rng([seed, 1])
    found: list[MemberPair] = []
    for network in networks(seed, LOOSE):
        drawn = [member(network, network.draw(rng)) for _ in range(2 * min(samples, PAIRS))]
        found += [MemberPair(*both, chosen=False) for both in zip(drawn[::2], drawn[1::2], strict=True)]
        found += towards_flip(network, gamma)
    return found


def towards_flip(network: SmallNetwork, gamma: float) -> Iterator[MemberPair]:
    start, (margin, change) = member(network, network.theta), network.margin(network.theta)
    yield MemberPair(start, member(network, moved(network.theta, change, 0.5)), chosen=True)
    # Inside the ramp: margins of r and r/2, r at most gamma.
    share = min(gamma / margin.upper, 1.0)
    near = [member(network, moved(network.theta, change, 1 - share / part)) for part in (1, 2)]
    yield MemberPair(near[0], near[1], chosen=True)


def member(network: SmallNetwork, theta: Theta) -> Member:
    return Member(theta, network.at(theta) > 0, network.margin(theta)[0])


def moved(theta: Theta, change: Theta, share: float) -> Theta:
    return {name: part + share * change[name] for name, part in theta.items()}


def members(of: list[MemberPair]) -> list[Member]:
    return list(chain.from_iterable((each.first, each.second) for each in of))


# rho.


def bounded(measured: float, remark: str) -> Sides:
    enclosed = within(measured, ACCURACY * max(1.0, measured))
    return Sides(enclosed, measured=measured, proved=DERIVED, remark=remark)


def lipschitz(gamma: float, samples: int, seed: int) -> Sides:
    found = pairs(gamma, samples, seed)
    by_chance = max((each.apart / each.distance for each in found if not each.chosen), default=None)
    attained = max(each.apart / each.distance for each in found if each.chosen)
    chance = "" if by_chance is None else f"at most {plain(by_chance)} over random pairs, "
    remark = f"{chance}{plain(attained)} on the way to the nearest flip, where it is an equality; {len(found)} pairs"
    return bounded(max(by_chance or 0.0, attained), f"distance to a set; {remark}")


def positive(gamma: float, samples: int, seed: int) -> Sides:
    seen = members(pairs(gamma, samples, seed))
    wrong = sum((each.margin.lower > 0) != each.right for each in seen)
    count = f"{len(seen)} networks, {sum(each.right for each in seen)} right"
    return Sides(wrong, proved=DERIVED, remark=f"the wrong predictions form a closed set; {count}")


# At the tie the output is the mean of the values; for every score below 0 it is the second one.
def tie() -> Sides:
    """Hard max over two keys, of scores (s, 0) with parameter s: right at s = 0, wrong at every s < 0."""
    at_tie, below = (attended(score) for score in (0.0, float(np.nextafter(0.0, -np.inf))))
    jumps = at_tie > 0 >= below
    outside = (
        f"no minimum in (2.1), whose infimum is 0: scores `(s, 0)`, values {TIED_VALUES}, `F = "
        f"{plain(at_tie)}` at `s = 0` and {plain(below)} at every `s < 0`"
    )
    return Sides(measured=float(jumps), outside=outside if jumps else "")


def attended(score: float) -> float:
    scores = torch.tensor([[score, 0.0]], dtype=torch.float64, device="cpu")
    return float(toy.hard_max(scores, torch.tensor(TIED_VALUES, dtype=torch.float64, device="cpu"))[0])


# The ramp loss.


def ramp_loss(gamma: float) -> Callable[[float], float]:
    """Of a margin."""
    return lambda margin: float(evaluate(theory.RAMP, {theory.gamma: gamma, theory.rho: margin}))


def ramp(gamma: float, samples: int, seed: int) -> Sides:
    loss, seen = ramp_loss(gamma), members(pairs(gamma, samples, seed))
    return bounded(max(each.loss - loss(each.margin.upper) for each in seen), CASES)


def ramp_indicator(gamma: float, samples: int, seed: int) -> Sides:
    """The ramp loss minus the indicator of a margin below gamma, at either end of the margin."""
    loss, seen = ramp_loss(gamma), members(pairs(gamma, samples, seed))
    ends = chain.from_iterable((each.margin.lower, each.margin.upper) for each in seen)
    return bounded(max(loss(end) - float(end < gamma) for end in ends), CASES)


def ramp_lipschitz(gamma: float, samples: int, seed: int) -> Sides:
    found = pairs(gamma, samples, seed)
    ratios = [ramp_apart(gamma, each) / each.distance for each in found]
    chosen = max(ratio for ratio, pair in zip(ratios, found, strict=True) if pair.chosen)
    remark = f"`1/gamma` times the constant of `rho`; {plain(chosen)} inside the ramp, on the way to the nearest flip"
    return bounded(max(ratios), remark)


def ramp_apart(gamma: float, pair: MemberPair) -> float:
    """A lower bound of the difference of the ramp losses, which decrease in the margin."""
    loss, margins = ramp_loss(gamma), (pair.first.margin, pair.second.margin)
    high, low = ([loss(getattr(each, end)) for each in margins] for end in ("lower", "upper"))
    return max(low[0] - high[1] - ROUNDING, low[1] - high[0] - ROUNDING, 0.0)


# Margins.


def margin(place: int) -> Callable[..., Sides]:
    """Of one of the networks, enclosed, beside the nearest flip that an attack finds."""

    def sides(seed: int, attack: int, restarts: int) -> Sides:
        network = networks(seed)[place]
        sure, _ = network.margin(network.theta)
        remark = f"in {interval_words(sure.lower, sure.upper)}, both ends proved, {sure.boxes} boxes"
        run = Run(0, min(attack, STEPS), restarts, seed)
        theta, largest = network.theta, LARGEST * network.at(network.theta)
        flip = flip_distance(network.output, theta, coordinate_lines(theta), run, largest=largest)
        known = Sides(derived=sure.lower, proved=DERIVED, remark=remark)
        return beside_flip(known, flip, f"attack: {restarts} restarts, seed {seed}")

    return sides


def margins() -> NamedTable:
    """The networks whose margins are shown, at seed 0."""
    rows: list[list[str | int | float | None]] = []
    for network in networks(0):
        sure, _ = network.margin(network.theta)
        count = sum(part.numel() for part in network.theta.values())
        rows.append([network.name, count, network.at(network.theta), sure.lower, sure.upper])
    return NamedTable(title="Margins, seed 0", columns=["network", "parameters", "F", "lower", "upper"], rows=rows)


SIDES: Mapping[str, Callable[..., Sides]] = {
    "lipschitz": lipschitz,
    "positive": positive,
    "positive.hard_max": tie,
    "ramp": ramp,
    "ramp.indicator": ramp_indicator,
    "ramp.lipschitz": ramp_lipschitz,
    **{f"margin.{name}": margin(place) for place, name in enumerate(("linear", "product", "relu_1", "relu_2"))},
}
APPROXIMATION = Theorem(
    STATED,
    main="lipschitz",
    checks=checks_of(STATED, SIDES),
    tables=(margins,),
)
