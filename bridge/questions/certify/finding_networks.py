"""Networks of ReLUs bounded by linear programs: cut where the bound rests on a relaxation, multipliers made rational.

Each neuron that may be on or off is relaxed to the triangle between its graph and its chord. The dual solution of the
program in floats is rounded, and counts if `leftover` is >= 0 with it in exact arithmetic.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from bridge.questions.certify.goals import ProofGoal
from bridge.questions.certify.networks import (
    UNIT,
    Combination,
    Multipliers,
    NetworkLetters,
    NetworkRegion,
    NotANetworkError,
    leftover,
)
from bridge.questions.certify.step_neurons import ByNeurons, Cut, condition_of
from bridge.questions.certify.steps import ByLinear, ProofStep

DENOMINATORS = (1 << 10, 1 << 30)
SIMPLE = (1, 12, 10_000)  # where the bound is 0 or close to it
CLOSE = 1e-6  # of a bound to 0
MOST_NODES = 10_000

PENALTY = 100.0  # for what is below 0, beside the influence of all letters

Check = Callable[[], None]
Tree = list[Cut | Multipliers]


@dataclass(frozen=True)
class _Row:
    """Coefficients of the letters and a constant: a sum that is >= 0. `scale` makes its multiplier the stored one.

    `height` is that of the triangle, for the row of a chord.
    """

    place: int
    row: Any
    scale: float = 1.0
    height: float = 0.0


def network_steps(goal: ProofGoal, check: Check) -> Iterator[ProofStep]:
    """The step that proves a network >= 0, linear if it has no neurons; none if a part is found on which it is not."""
    if goal.expression in goal.where:
        yield ByLinear(((goal.where.index(goal.expression), sp.Integer(1)),))
    letters = NetworkLetters(goal.symbols)
    try:
        f = letters.combination(goal.expression)
    except NotANetworkError:
        return
    conditions = [condition_of(letters, each) for each in goal.where]
    tree = _NetworkSearch(goal, f, letters.neurons, conditions, check).tree()
    if tree is None:
        return
    if letters.neurons:
        yield ByNeurons(tuple(tuple(sorted(z.items())) for z in letters.neurons), tuple(tree))
    elif isinstance(tree[0], tuple):
        yield ByLinear(tuple((k, sp.Rational(a.numerator, a.denominator)) for k, a, _ in tree[0]))


class _NetworkSearch:
    """One linear program for each part of the box; `size` letters: coordinates, then neurons."""

    def __init__(
        self,
        goal: ProofGoal,
        f: Combination,
        neurons: list[Combination],
        conditions: list[Combination],
        check: Check,
    ) -> None:
        self.box, self.f, self.neurons, self.conditions, self.check = goal.box, f, neurons, conditions, check
        self.start, self.size = len(goal.box), len(goal.box) + len(neurons)
        self.penalty = PENALTY * (1 + sum(self._influence()))

    def _influence(self) -> list[float]:
        """At most how much f changes with each letter."""
        found = [abs(float(self.f.get(i, 0))) for i in range(self.size)]
        for k in reversed(range(len(self.neurons))):
            for i, a in self.neurons[k].items():
                if i != UNIT:
                    found[i] += found[self.start + k] * abs(float(a))
        return found

    def tree(self) -> Tree | None:
        waiting: list[dict[int, int]] = [{}]
        found: Tree = []
        while waiting:
            self.check()
            phases = waiting.pop()
            node = self._node(phases)
            if node is None or len(found) == MOST_NODES:
                return None
            found.append(node)
            if isinstance(node, int):
                waiting += [{**phases, node: -1}, {**phases, node: 1}]
        return found

    # The lower bound rests on the chord of a neuron by its multiplier times the height of the triangle, -l u/(u - l).
    def _node(self, phases: Mapping[int, int]) -> Cut | Multipliers | None:
        """Multipliers that prove this part, or the neuron on which its bound rests most; None if neither is found."""
        region = NetworkRegion.of(self.box, self.neurons, phases)
        if region is None:
            return ()
        rows = self._rows(region)
        value, duals = self._solved(region, rows)
        for most in (*(SIMPLE if value < CLOSE else ()), *DENOMINATORS) if value > -CLOSE else ():
            multipliers = _rounded(duals, rows, most)
            least = leftover(self.f, self.neurons, self.conditions, region, multipliers)
            if least is not None and least >= 0:
                return multipliers
        rests = [(row.height * (dual + CLOSE), row.place) for dual, row in zip(duals, rows, strict=True) if row.height]
        return max(rests)[1] if rests else None

    def _rows(self, region: NetworkRegion) -> list[_Row]:
        """What is >= 0 on the region: h - z and the chord of each neuron, and the conditions."""
        found = []
        for k, z in enumerate(self.neurons):
            low, high = map(float, region.inner[k])
            row = -self._row(z)
            row[self.start + k] += 1.0
            found.append(_Row(k, row))
            if low >= 0:
                found.append(_Row(k, -row, -1.0))
            elif high > 0:
                chord = -high * row
                chord[self.start + k] += low
                chord[-1] -= high * low
                found.append(_Row(k, chord / (high - low), 1 / (high - low), -low * high / (high - low)))
        for k, condition in enumerate(self.conditions):
            if size := max((abs(float(a)) for i, a in condition.items() if i != UNIT), default=0.0):
                found.append(_Row(len(self.neurons) + k, self._row(condition) / size, 1 / size))
        return found

    def _row(self, combination: Combination) -> Any:
        """Coefficients, the constant last."""
        row = np.zeros(self.size + 1)
        for i, a in combination.items():
            row[i] = float(a)
        return row

    # min f + M s where each row is >= -s. A part may be empty without the ranges showing it: the least s is then > 0,
    # and the multipliers bring f above 0 by M s.
    def _solved(self, region: NetworkRegion, rows: list[_Row]) -> tuple[float, Any]:
        """The least value of the relaxed network, and a multiplier for each row."""
        from scipy.optimize import linprog  # takes a quarter of a second, which few runs need

        if not rows:
            return 0.0, np.zeros(0)
        f = self._row(self.f)
        table = np.array([each.row for each in rows])
        ranges = [(float(a), float(b)) for a, b in region.ranges]
        found = linprog(
            np.append(f[:-1], self.penalty),
            A_ub=np.hstack([-table[:, :-1], -np.ones((len(rows), 1))]),
            b_ub=table[:, -1],
            bounds=[*ranges, (0, None)],
            method="highs",
        )
        if found.status != 0:
            return -np.inf, np.zeros(len(rows))
        return float(found.fun + f[-1]), np.maximum(-found.ineqlin.marginals, 0.0)


def _rounded(duals: Any, rows: list[_Row], most: int) -> Multipliers:
    """The multipliers of each neuron and condition, with this denominator or less."""
    found: dict[int, list[Fraction]] = {}
    for dual, row in zip(duals, rows, strict=True):
        if dual:
            entry = found.setdefault(row.place, [Fraction(0), Fraction(0)])
            exact = Fraction(float(dual) * row.scale)
            rounded = exact.limit_denominator(most) if most in SIMPLE else Fraction(round(exact * most), most)
            entry[row.height > 0] += rounded
    return tuple((k, a, b) for k, (a, b) in sorted(found.items()) if a or b)
