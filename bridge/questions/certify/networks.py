"""Networks of ReLUs: functions that are affine in the coordinates and in neurons h = max(z, 0), in exact arithmetic.

Abs(u) is 2 max(u, 0) - u, Max(u, v) is v + max(u - v, 0), Min(u, v) is u - max(u - v, 0): every function of these and
of sums and rational multiples is such a network.

A combination is a dictionary of coefficients: of the coordinates by their places, of the neurons by the places that
follow, in order, and of the number 1 at UNIT. A neuron is the combination z, which has neurons before it only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp

from bridge.questions.certify.scalars import Box

UNIT = -1
Combination = Mapping[int, Fraction]
Range = tuple[Fraction, Fraction]
Multipliers = tuple[tuple[int, Fraction, Fraction], ...]


class NotANetworkError(ValueError):
    """The expression is not affine in coordinates and neurons, or has a neuron that is not among the known ones."""


@dataclass
class NetworkLetters:
    """Coordinates and neurons. With `fixed`, an expression may have no other neurons than those that are given."""

    symbols: Sequence[sp.Symbol]
    neurons: list[Combination] = field(default_factory=list)
    fixed: bool = False
    _known: dict[Any, Combination] = field(default_factory=dict)

    def combination(self, node: Any) -> Combination:
        """The expression in coordinates and neurons. Raises NotANetworkError."""
        if node not in self._known:
            self._known[node] = self._new(node)
        return self._known[node]

    def _new(self, node: Any) -> Combination:
        if node.is_Rational:
            return {UNIT: Fraction(int(node.p), int(node.q))} if node else {}
        if node in self.symbols:
            return {self.symbols.index(node): Fraction(1)}
        if node.is_Add:
            return added(*((Fraction(1), self.combination(part)) for part in node.args))
        if node.is_Mul and node.args[0].is_Rational and len(node.args) == 2:
            c = Fraction(int(node.args[0].p), int(node.args[0].q))
            return added((c, self.combination(node.args[1])))
        if isinstance(node, sp.Abs):
            u = self.combination(node.args[0])
            return self._larger(u, added((Fraction(-1), u)))
        if isinstance(node, sp.Max | sp.Min):
            sign = Fraction(1 if isinstance(node, sp.Max) else -1)
            first, *others = (added((sign, self.combination(part))) for part in node.args)
            for other in others:
                first = self._larger(first, other)
            return added((sign, first))
        raise NotANetworkError(f"{node} is neither affine nor a kink")

    def _larger(self, u: Combination, v: Combination) -> Combination:
        """max(u, v) = v + max(u - v, 0) = u + max(v - u, 0), by the neuron that there is, at any positive scale."""
        one, minus = Fraction(1), Fraction(-1)
        apart = added((one, u), (minus, v))
        if apart.keys() <= {UNIT}:
            return u if apart.get(UNIT, 0) > 0 else v
        if (found := self._neuron(apart)) is not None:
            return added((one, v), found)
        if (found := self._neuron(added((minus, apart)))) is not None:
            return added((one, u), found)
        if self.fixed:
            raise NotANetworkError("a kink is not among the neurons")
        self.neurons.append(apart)
        return added((one, v), (one, {len(self.symbols) + len(self.neurons) - 1: one}))

    def _neuron(self, z: Combination) -> tuple[Fraction, Combination] | None:
        """c > 0 and the neuron h with c h = max(z, 0)."""
        for k, known in enumerate(self.neurons):
            if known.keys() == z.keys():
                c = next(z[i] / known[i] for i in z)
                if c > 0 and all(z[i] == c * known[i] for i in z):
                    return c, {len(self.symbols) + k: Fraction(1)}
        return None


def neurons_in(expression: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> int:
    """How many neurons a network has; 0 for what is no network."""
    letters = NetworkLetters(symbols)
    try:
        letters.combination(expression)
    except NotANetworkError:
        return 0
    return len(letters.neurons)


def added(*parts: tuple[Fraction, Combination]) -> Combination:
    """The sum of multiples."""
    found: dict[int, Fraction] = {}
    for c, combination in parts:
        for i, a in combination.items():
            found[i] = found.get(i, Fraction(0)) + c * a
    return {i: a for i, a in found.items() if a}


def least(combination: Combination, ranges: Sequence[Range]) -> Fraction:
    """The minimum of a combination of letters that lie in these ranges."""
    return sum(
        (a if i == UNIT else a * ranges[i][0 if a > 0 else 1] for i, a in combination.items()), start=Fraction(0)
    )


@dataclass(frozen=True)
class NetworkRegion:
    """The part of a box on which some neurons are on (z >= 0) or off (z <= 0): `phases` has 1 or -1 for these.

    `inner` are ranges of the z there, `ranges` those of the coordinates and neurons.
    """

    inner: tuple[Range, ...]
    ranges: tuple[Range, ...]

    @classmethod
    def of(cls, box: Box, neurons: Sequence[Combination], phases: Mapping[int, int]) -> "NetworkRegion | None":
        """None where interval arithmetic shows that it is empty."""
        inner, ranges, zero = [], list(box), Fraction(0)
        for k, z in enumerate(neurons):
            low, high = least(z, ranges), -least(added((Fraction(-1), z)), ranges)
            low = max(low, zero) if phases.get(k) == 1 else low
            high = min(high, zero) if phases.get(k) == -1 else high
            if low > high:
                return None
            inner.append((low, high))
            ranges.append((max(low, zero), max(high, zero)))
        return cls(tuple(inner), tuple(ranges))

    def is_open(self, k: int) -> bool:
        """Whether z of the neuron may have both signs."""
        return self.inner[k][0] < 0 < self.inner[k][1]


# On the part of the box where l <= z <= u the neuron h = max(z, 0) has h - z >= 0, and h - z = 0 for l >= 0. For
# l < 0 < u it is convex in z and so below its chord: u (z - l) - (u - l) h >= 0. Multiples of these, and of conditions,
# are taken off f, and what is left is least where each letter is at an end of its range: any multipliers with the
# right signs give a valid lower bound of f, however they were found.
def leftover(
    f: Combination,
    neurons: Sequence[Combination],
    conditions: Sequence[Combination],
    region: NetworkRegion,
    multipliers: Multipliers,
) -> Fraction | None:
    """A lower bound of f on the region; None for multipliers of a wrong sign or place.

    (k, a, b) is a times h - z and b times the chord's row for neuron k; beyond the neurons, a times a condition.
    """
    parts, start = [(Fraction(1), f)], len(region.ranges) - len(neurons)
    for k, a, b in multipliers:
        if not 0 <= k < len(neurons) + len(conditions) or b < 0:
            return None
        if k >= len(neurons):
            if a < 0 or b or not conditions[k - len(neurons)]:
                return None
            parts.append((-a, conditions[k - len(neurons)]))
            continue
        low, high = region.inner[k]
        if (a < 0 and low < 0) or (b and not region.is_open(k)):
            return None
        h = {start + k: Fraction(1)}
        parts += [(b * (high - low) - a, h), (a - b * high, neurons[k]), (b * high * low, {UNIT: Fraction(1)})]
    return least(added(*parts), region.ranges)
