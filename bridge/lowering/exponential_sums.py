"""Sums of exponentials beside the indicator of a lag: coefficients and distances in balls, and which rates are best."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.lowering import lower
from numeric.balls import Arb, BallArray, float_above, working_precision
from numeric.networks.exponential_heads import mixed_averages
from symbolic.calculus import exponential_sums as theory
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

BITS = 1024
NEGLIGIBLE, LONGEST = 1e-20, 10_000  # of a tail: what is left out of it, relatively; entries
RANGE = (-345.0, -1e-3)  # of log rho, where rates are searched
HALVINGS, SPARE = 64, 16
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class ExponentialSums:
    """sum_h c_h r_h^(t-1), t = 1, 2, ..., with the rates r_h = exp(-slope_h), for each lag i = 1, ..., H.

    Heads of attention that see earlier tokens by their distance alone, softmax over -slope_h (t - 1), average with
    these rates: the sum of their averages with the weights c_h/(1 - r_h) is the token at lag i, up to `distance(i)` in
    the sup norm for tokens in [-1, 1], at every token that has one.

    Raises UsageError for slopes that are not positive and finite, or coincide.
    """

    slopes: tuple[float, ...]

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "slopes", tuple(map(float, self.slopes)))
        if not self.slopes or not all(0 < slope < math.inf for slope in self.slopes):
            raise UsageError(f"ExponentialSums: got the slopes {list(self.slopes)}; give positive finite numbers")
        if len(set(self.slopes)) < len(self.slopes):
            raise UsageError(f"ExponentialSums: two of the slopes {list(self.slopes)} coincide; give each head its own")

    @classmethod
    def of_rates(cls, rates: Sequence[float]) -> "ExponentialSums":
        """With the slopes -log r_h, rounded. Raises UsageError for rates that coincide or are not in (0, 1)."""
        if not all(0 < rate < 1 for rate in rates):
            raise UsageError(f"ExponentialSums: got the rates {list(rates)}; give numbers above 0 and below 1")
        slopes = [-math.log(rate) for rate in rates]
        if len(set(slopes)) < len(slopes):
            raise UsageError(f"ExponentialSums: two of the rates {list(rates)} coincide; give each head its own")
        return cls(tuple(slopes))

    @classmethod
    def spread(cls, heads: int, largest: float) -> "ExponentialSums":
        """With `heads` rates up to `largest`, the best ones for their distance (symbolic/calculus)."""
        if heads < 1 or not 0 < largest < 1:
            raise UsageError(f"ExponentialSums: got {heads} heads and the largest rate {largest}; give one head at "
                             f"least, and a rate above 0 and below 1")  # fmt: skip
        at = {theory.H: heads, theory.rho: largest}
        with working_precision(BITS):
            rates = (evaluate_ball(theory.RATE, {**at, theory.h: place}, bits=BITS) for place in range(heads))
            return cls(tuple(float(-rate.log()) for rate in rates))

    @property
    def heads(self) -> int:
        return len(self.slopes)

    @cached_property
    def rates(self) -> tuple[Arb, ...]:
        with working_precision(BITS):
            return tuple((-flint.arb(slope)).exp() for slope in self.slopes)

    def coefficients(self, lag: int) -> tuple[Arb, ...]:
        """c_h: the sum is 1 at t = lag, 0 at the other t <= H."""
        return _coefficients(self, self._checked(lag))

    def combined(self, lag: int) -> tuple[Arb, ...]:
        """c_h/(1 - r_h), the weights of what the heads average."""
        return self._of_each(theory.COMBINED, lag, self.coefficients(lag))

    def distance(self, lag: int) -> Arb:
        """The l1 norm of the sum of exponentials less the indicator of the lag."""
        with working_precision(BITS):
            return _lowered(theory.DISTANCE)(e=elementary_symmetric(self.rates), i=self._checked(lag))

    def largest_distance(self, lags: int) -> float:
        """Of the lags up to this one, rounded up; 0 for none."""
        return max((float_above(self.distance(lag)) for lag in range(1, lags + 1)), default=0.0)

    def tail(self, lag: int, relative: float) -> list[Arb]:
        """The sum at t = H + 1, H + 2, ..., up to where less than this share of the distance is left."""
        rates = self.rates
        with working_precision(BITS):
            count = self._tail_length(lag, relative)
            terms = [c * r**self.heads for c, r in zip(self.coefficients(lag), rates, strict=True)]
            found = []
            for _ in range(count):
                found.append(sum(terms, start=flint.arb(0)))
                terms = [term * r for term, r in zip(terms, rates, strict=True)]
            return found

    def gaps(self, lag: int, first: int, last: int) -> np.ndarray:
        """What tokens s = first .. last, s > lag, weigh earlier tokens with, less the indicator: (last-first+1, last).

        The sum of exponentials at t > H, folded modulo s - 1; column t is for token t = 1, 2, ...
        """
        found = np.zeros((last - first + 1, last))
        tail = self.tail(lag, NEGLIGIBLE) if self._tail_length(lag, NEGLIGIBLE) <= LONGEST else None
        entries = None if tail is None else np.array([0.0] * self.heads + [float(each) for each in tail])
        for s in range(first, last + 1):
            if entries is None:
                folded = np.array([float(each) for each in self._wrapped(lag, s - 1)])
            else:
                folded = np.pad(entries, (0, -len(entries) % (s - 1))).reshape(-1, s - 1).sum(0)
            found[s - first, : s - 1] = folded[::-1]  # by lag
        return found

    # In floats the averages lose what cancels in their sum, which is no error of the network of real numbers: that
    # writes the token at the lag and what the tail of the sum of exponentials adds.
    def written(self, x: Any, lags: int, first: int) -> Any:
        """What the heads write for the lags 1 .. `lags` beside the tokens first .. L of x (L, d), first > lags.

        (L-first+1, lags d); tensors or balls.
        """
        if isinstance(x, BallArray):
            slopes, weights = map(flint.arb, self.slopes), [self.combined(lag) for lag in range(1, lags + 1)]
            return mixed_averages(x, list(slopes), weights)[first - 1 :]
        exact = torch.cat([x[first - 1 - lag : x.shape[0] - lag] for lag in range(1, lags + 1)], dim=-1)
        return exact + torch.cat(tuple(_tails(self, lags, first, x.shape[0]).to(x) @ x), dim=-1)

    def _tail_length(self, lag: int, relative: float) -> int:
        with working_precision(BITS):
            share = float((relative * self.distance(lag) / self.size(lag)).log())
            slowest = float(max(map(float, self.rates)))
        return max(1, math.ceil(share / math.log(slowest)) - self.heads) if slowest < 1 else LONGEST + 1

    def _wrapped(self, lag: int, count: int) -> list[Arb]:
        """The same by geometric sums, for a long tail."""
        with working_precision(BITS):
            terms = [c / (1 - r**count) for c, r in zip(self.coefficients(lag), self.rates, strict=True)]
            found = []
            for t in range(1, count + 1):
                found.append(sum(terms, start=flint.arb(-int(t == lag))))
                terms = [term * r for term, r in zip(terms, self.rates, strict=True)]
            return found

    def size(self, lag: int) -> Arb:
        """sum_h |c_h/(1 - r_h)|."""
        with working_precision(BITS):
            return sum(map(abs, self.combined(lag)), start=flint.arb(0))

    def loss(self, lag: int) -> Arb:
        """What rounding adds for tokens in [-1, 1], in units of the numbers of a run, to first order."""
        with working_precision(BITS):
            return sum(self._of_each(theory.LOSS, lag, self.combined(lag), H=self.heads), start=flint.arb(0))

    def bits(self, lag: int, accuracy: float) -> int:
        """Of numbers of which rounding adds at most `accuracy`."""
        if not 0 < accuracy < math.inf:
            raise UsageError(f"ExponentialSums.bits: got the accuracy {accuracy}; give a positive finite number")
        return max(1, math.ceil(math.log2(float_above(self.loss(lag)) / accuracy)))

    def _of_each(self, formula: sp.Expr, lag: int, weights: Sequence[Arb], **known: int) -> tuple[Arb, ...]:
        with working_precision(BITS):
            pairs = zip(weights, self.rates, strict=True)
            return tuple(_lowered(formula)(c=weight, r=rate, **known) for weight, rate in pairs)

    def _checked(self, lag: int) -> int:
        if not 1 <= lag <= self.heads:
            raise UsageError(
                f"ExponentialSums: got lag {lag} of {self.heads} heads; a lag takes as many heads, and with fewer "
                f"every choice of coefficients has a distance of at least {theory.LEAST_DISTANCE}"
            )
        return lag


def elementary_symmetric(numbers: Sequence[Any]) -> list[Any]:
    """e_0 = 1, e_1, ..., of as many numbers."""
    found = [numbers[0] * 0 + 1] if numbers else [flint.arb(1)]
    for number in numbers:
        found = [found[0], *(e + number * below for e, below in zip([*found[1:], 0], found, strict=True))]
    return found


@lru_cache(maxsize=4096)
def _coefficients(sums: ExponentialSums, lag: int) -> tuple[Arb, ...]:
    rates, found = sums.rates, []
    with working_precision(BITS):
        for place, rate in enumerate(rates):
            others = [*rates[:place], *rates[place + 1 :]]
            e_h = elementary_symmetric(others)
            found.append(_lowered(theory.COEFFICIENT)(e_h=e_h, q=others, i=lag, r=rate) if others else flint.arb(1))
    return tuple(found)


@lru_cache(maxsize=8)
def _tails(sums: ExponentialSums, lags: int, first: int, last: int) -> torch.Tensor:
    """(lags, last-first+1, last)."""
    return torch.from_numpy(np.stack([sums.gaps(lag, first, last) for lag in range(1, lags + 1)]))


@lru_cache(maxsize=16)
def _lowered(formula: sp.Expr) -> Any:
    arrays = {str(base) for base in formula.atoms(sp.IndexedBase)}
    names = {each.name for each in formula.free_symbols if each.is_Symbol} | arrays
    return lower(formula, "arb", args=sorted(names - {"H"} if arrays else names), bits=BITS)  # arrays tell H


def best_rates(
    heads: int, lag: int, *, error: float | None = None, most: float | None = None, unit: float = 0.0
) -> ExponentialSums:
    """Rates for all lags up to `lag`, of which the last one errs most, in a family of one largest rate.

    With `most`: the least distance of those whose sum over h of |c_h/(1 - r_h)| is at most that. With `unit`, that of a
    format (2^-53 in float64): the least distance plus what rounding the averages adds. With `error` alone: the least
    coefficients of those within that distance. Raises UsageError where `most` lies below what the rates can do, and
    where a distance above `error` is left, and says which.
    """
    given = {"error": error, "most": most, "unit": unit or None}
    if unknown := [f"{name} = {x}" for name, x in given.items() if x is not None and not 0 < x < math.inf]:
        raise UsageError(f"best_rates: got {', '.join(unknown)}; give positive finite numbers")
    if all(x is None for x in given.values()):
        raise UsageError("best_rates: got no bound; give error=, most= or unit=")

    def at(point: float) -> ExponentialSums:
        return ExponentialSums.spread(heads, math.exp(point))

    if most is None and not unit:
        assert error is not None  # one of the three is given
        smallest = _least(lambda point: float(at(point).size(lag)), *RANGE)
        largest = _last(lambda point: float_above(at(point).distance(lag)) <= error, RANGE[0], smallest)
        return _within(at(largest), lag, error)
    if unit:
        lowest = _last(lambda point: float(at(point).distance(lag)) <= unit / SPARE, *RANGE)  # below it nothing is won
        best = at(_least(lambda point: float(at(point).distance(lag) + unit * at(point).size(lag)), lowest, RANGE[1]))
        if most is None or float_above(best.size(lag)) <= most:
            return _within(best, lag, error)
    assert most is not None  # a unit alone has returned
    smallest = _least(lambda point: float(at(point).size(lag)), *RANGE)
    if float_above(at(smallest).size(lag)) > most:
        raise UsageError(
            f"best_rates: {heads} heads at lag {lag} take coefficients of {float(at(smallest).size(lag)):.6g} in all, "
            f"above {most:.6g}; give more heads, or larger coefficients"
        )
    point = _last(lambda negative: float_above(at(-negative).size(lag)) <= most, -smallest, -RANGE[0])
    return _within(at(-point), lag, error)


def _within(sums: ExponentialSums, lag: int, error: float | None) -> ExponentialSums:
    left = float_above(sums.distance(lag))
    if error is not None and left > error:
        raise UsageError(
            f"best_rates: with coefficients of {float(sums.size(lag)):.6g} in all, {sums.heads} heads leave an error "
            f"of {left:.6g} at lag {lag}, above {error:.6g}; give more heads, larger coefficients or a larger error"
        )
    return sums


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest point at which it holds, of those below which it does; `low` where there is none."""
    if holds(high):
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _least(value: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that falls and then rises is least: golden section."""
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [value(point) for point in inner]
    for _ in range(HALVINGS):
        if values[0] <= values[1]:
            high, inner, values = inner[1], [0.0, inner[0]], [0.0, values[0]]
            inner[0] = high - GOLDEN * (high - low)
            values[0] = value(inner[0])
        else:
            low, inner, values = inner[0], [inner[1], 0.0], [values[1], 0.0]
            inner[1] = low + GOLDEN * (high - low)
            values[1] = value(inner[1])
    return (low + high) / 2
