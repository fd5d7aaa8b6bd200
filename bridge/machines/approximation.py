"""The study of the all-layer margin and its ramp loss: the proofs, and runs on networks whose margin is certified."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.balls import as_exact, evaluate_ball
from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.lowering import lower
from bridge.machines.enclosures import interval_words
from bridge.machines.exact_margin import Enclosure
from bridge.machines.small_networks import TIGHT, Linear, Product, SmallNetwork, Theta, TwoLayers
from bridge.record import NamedTable, Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Study
from numeric.balls import float_above
from numeric.flips import coordinate_lines, smallest_flip
from numeric.machines import toy
from symbolic.machines import approximation as theory
from symbolic.machines.approximation import gamma, rho

TIED_VALUES = (3, -1)  # of two keys that tie: their mean has another sign than the second one
SLACK = 1e-9  # of a ratio: rounding of float64
LARGEST, STEPS = 1.5, 40  # of the attack: its largest distance, in margins; its steps at most
LOOSE = 1e-4  # of the squared margins of many networks, see `small_networks.TIGHT`
PAIRS = 12  # of random parameters for each network, at most


@dataclass(frozen=True)
class Run:
    """One member of a family: whether it predicts 1, and its margin."""

    theta: Theta
    right: bool
    margin: Enclosure

    @property
    def loss(self) -> float:
        """The 0-1 loss for the label 1."""
        return 0.0 if self.right else 1.0


@dataclass(frozen=True)
class Pair:
    """Two members of one family; `chosen` if the second lies on the way from the first to its nearest flip."""

    first: Run
    second: Run
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


class ApproximationCase(DirectCase):
    """One ramp, on four networks drawn by the seed."""

    uses = frozenset({"samples", "seed", "attack", "restarts"})

    def rows(self, budget: Budget) -> list[Row]:
        pairs = self.pairs(budget.samples, budget.seed)
        return [
            self._lipschitz(pairs),
            self._positive(pairs),
            self._tie(),
            self._ramp("ramp", theory.ramp_gap(), max(run.loss - self._least_ramp(run) for run in _runs(pairs))),
            self._ramp("ramp.indicator", theory.ramp_excess(), max(map(self._excess, _runs(pairs)))),
            self._ramp_lipschitz(pairs),
            *(self._margin(network, budget) for network in self.networks(budget.seed)),
        ]

    # Runs.

    def networks(self, seed: int, tight: float = TIGHT) -> list[SmallNetwork]:
        """One of each family; `tight` is how closely the margins without a closed form are enclosed."""
        rng = np.random.default_rng(seed)
        return [Linear(rng), Product(rng), TwoLayers(rng, 1, tight), TwoLayers(rng, 2, tight)]

    def pairs(self, samples: int, seed: int) -> list[Pair]:
        """Random pairs of each family, and pairs on the way to the nearest flip, where the bounds are attained."""
        rng = np.random.default_rng([seed, 1])
        count = min(samples, PAIRS)
        found: list[Pair] = []
        for network in self.networks(seed, LOOSE):
            drawn = [_run(network, network.draw(rng)) for _ in range(2 * count)]
            found += [Pair(*both, chosen=False) for both in zip(drawn[::2], drawn[1::2], strict=True)]
            found += self._chosen(network)
        return found

    def _chosen(self, network: SmallNetwork) -> Iterator[Pair]:
        start, (margin, change) = _run(network, network.theta), network.margin(network.theta)
        yield Pair(start, _run(network, _moved(network.theta, change, 0.5)), chosen=True)
        # Inside the ramp: margins of r and r/2, r at most gamma.
        share = min(self.params["gamma"] / margin.upper, 1.0)
        near = [_run(network, _moved(network.theta, change, 1 - share / part)) for part in (1, 2)]
        yield Pair(near[0], near[1], chosen=True)

    # Rows: rho.

    def _lipschitz(self, pairs: list[Pair]) -> Row:
        by_chance = max((each.apart / each.distance for each in pairs if not each.chosen), default=None)
        attained = max(each.apart / each.distance for each in pairs if each.chosen)
        chance = "" if by_chance is None else f"at most {plain(by_chance)} over random pairs, "
        remark = (
            f"distance to a set; {chance}{plain(attained)} on the way to the nearest flip, where it is an equality; "
            f"{len(pairs)} pairs"
        )
        return self._upper_row("lipschitz", theory.LIPSCHITZ, max(by_chance or 0.0, attained), remark)

    def _positive(self, pairs: list[Pair]) -> Row:
        runs = _runs(pairs)
        wrong = sum((run.margin.lower > 0) != run.right for run in runs)
        verdict = Verdict.PROVED if wrong == 0 else Verdict.UNDECIDED
        return direct_row(
            self,
            self.result.quantity("positive"),
            {"printed": verdict, "derived": verdict},
            printed=0.0,
            derived=0.0,
            measured=float(wrong),
            remark=f"the wrong predictions form a closed set; {len(runs)} networks, {sum(r.right for r in runs)} right",
        )

    # At the tie the output is the mean of the values; for every score below 0 it is the second one.
    def _tie(self) -> Row:
        """Hard max over two keys, of scores (s, 0) with parameter s: right at s = 0, wrong at every s < 0."""
        at_tie, below = (self._attended(score) for score in (0.0, float(np.nextafter(0.0, -np.inf))))
        jumps = at_tie > 0 >= below
        return direct_row(
            self,
            self.result.quantity("positive.hard_max"),
            {"printed": Verdict.OUTSIDE if jumps else Verdict.UNDECIDED},
            printed=0.0,
            measured=float(jumps),
            remark=f"no minimum in (2.1), whose infimum is 0: scores (s, 0), values {TIED_VALUES}, F = {plain(at_tie)} "
            f"at s = 0 and {plain(below)} at every s < 0",
        )

    def _attended(self, score: float) -> float:
        scores = torch.tensor([[score, 0.0]], dtype=torch.float64)
        return float(toy.hard_max(scores, torch.tensor(TIED_VALUES, dtype=torch.float64))[0])

    # Rows: the ramp loss.

    @cached_property
    def _loss(self) -> Any:
        return lower(theory.RAMP.subs(gamma, sp.Rational(self.params["gamma"])), "numpy", args=(rho,))

    def _least_ramp(self, run: Run) -> float:
        return float(self._loss(run.margin.upper))

    def _excess(self, run: Run) -> float:
        """The ramp loss minus the indicator of a margin below gamma, at either end of the margin."""
        ends = (run.margin.lower, run.margin.upper)
        return max(float(self._loss(end)) - float(end < self.params["gamma"]) for end in ends)

    def _ramp(self, name: str, derived: sp.Expr, measured: float) -> Row:
        return self._upper_row(name, derived, measured, "by cases on the three pieces of (2.2)")

    def _ramp_lipschitz(self, pairs: list[Pair]) -> Row:
        ratios = [self._ramp_apart(each) / each.distance for each in pairs]
        chosen = max(ratio for ratio, pair in zip(ratios, pairs, strict=True) if pair.chosen)
        remark = f"1/gamma times the constant of rho; {plain(chosen)} inside the ramp, on the way to the nearest flip"
        return self._upper_row("ramp.lipschitz", theory.ramp_slope(), max(ratios), remark)

    def _ramp_apart(self, pair: Pair) -> float:
        """A lower bound of the difference of the ramp losses, which decrease in the margin."""
        high, low = ([float(self._loss(end)) for end in ends] for ends in (
            (pair.first.margin.lower, pair.second.margin.lower), (pair.first.margin.upper, pair.second.margin.upper)
        ))  # fmt: skip
        return max(low[0] - high[1], low[1] - high[0], 0.0)

    def _upper_row(self, name: str, derived: sp.Expr, measured: float, remark: str) -> Row:
        """An upper bound that is proved; undecided if a run contradicts the proof, or printed and derived differ."""
        quantity = self.result.quantity(name)
        assert quantity.printed is not None  # every quantity shown by this row has one
        bound = self._number(derived)
        kept = Verdict.PROVED if measured <= bound + SLACK * max(1.0, bound) else Verdict.UNDECIDED
        same = sp.simplify(quantity.printed.bound - derived) == 0
        return direct_row(
            self,
            quantity,
            {"printed": kept if same else Verdict.UNDECIDED, "derived": kept},
            printed=self._number(quantity.printed.bound),
            derived=bound,
            measured=measured,
            remark=remark,
        )

    def _number(self, formula: sp.Expr) -> float:
        values = {gamma: as_exact(self.params["gamma"])} if formula.has(gamma) else {}
        return float_above(evaluate_ball(formula, values))

    # Rows: margins.

    def _margin(self, network: SmallNetwork, budget: Budget) -> Row:
        sure, _ = network.margin(network.theta)
        found = _attacked(network, sure, budget)
        beaten = found is not None and found < sure.lower * (1 - SLACK)
        effort = "not attacked" if found is None else f"attack: {budget.restarts} restarts, seed {budget.seed}"
        return direct_row(
            self,
            self.result.quantity(f"margin.{network.name}"),
            {"derived": Verdict.UNDECIDED if beaten else Verdict.PROVED},
            derived=sure.lower,
            measured=found,
            remark=f"in {interval_words(sure.lower, sure.upper)}, both ends proved, {sure.boxes} boxes; {effort}",
        )

    def tables(self) -> list[NamedTable]:
        """The networks whose margins are shown, at seed 0."""
        rows: list[list[str | int | float | None]] = []
        for network in self.networks(0):
            sure, _ = network.margin(network.theta)
            count = sum(part.numel() for part in network.theta.values())
            rows.append([network.name, count, network.at(network.theta), sure.lower, sure.upper])
        return [
            NamedTable(title="Margins, seed 0", columns=["network", "parameters", "F", "lower", "upper"], rows=rows)
        ]


def _run(network: SmallNetwork, theta: Theta) -> Run:
    return Run(theta, network.at(theta) > 0, network.margin(theta)[0])


def _runs(pairs: list[Pair]) -> list[Run]:
    return list(itertools.chain.from_iterable((each.first, each.second) for each in pairs))


def _moved(theta: Theta, change: Theta, share: float) -> Theta:
    return {name: part + share * change[name] for name, part in theta.items()}


def _attacked(network: SmallNetwork, sure: Enclosure, budget: Budget) -> float | None:
    """The distance of the nearest flip found."""
    if not (budget.attack and budget.restarts):
        return None
    theta = network.theta

    def output(moved: Theta) -> Tensor:
        copies = next(iter(moved.values())).shape[0]
        kept = {name: part.expand(copies, *part.shape) for name, part in theta.items() if name not in moved}
        return network.output({**kept, **moved})

    found = smallest_flip(
        output, theta, coordinate_lines(theta), largest=LARGEST * network.at(theta), seed=budget.seed,
        restarts=budget.restarts, steps=min(budget.attack, STEPS),
    )  # fmt: skip
    return found.distance if found.found else None


class ApproximationStudy(Study):
    """Section 2.1 at one gamma."""

    result = theory.APPROXIMATION
    main_quantity = "lipschitz"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> ApproximationCase:
        return ApproximationCase(self.result, self.resolved(params), dtype=dtype, device=device)
