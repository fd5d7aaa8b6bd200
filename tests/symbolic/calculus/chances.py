"""Random compositions of rule 13, each with a simulation of the draws that it is about, and wrong rules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp
from scipy.stats import binom

from symbolic import calculus
from symbolic.calculus import Approximated, Derivation, Event, given
from symbolic.calculus.shares import with_shares

Rules = Mapping[str, Callable[..., Any]]
LEVEL = 1e-6  # of the binomial test of one composition
NAMES = ("sample_mean", "union_bound", "cover", "within_budget", "add", "concatenate")
BUDGETS = (0.001, 0.02, 0.3, 0.74)  # 0.74: two signs are equal half of the time, beside a share of 0.736


@dataclass(frozen=True)
class Part:
    """Means of `count` draws, `members` of them in R^dim, that move with a parameter within `radius` of the nearest.

    `kind`: signs, coins that show heads with a probability of 0.1, or normal noise; of half width (or sigma) `spread`.
    """

    name: str
    kind: str
    count: int
    dim: int
    members: int
    spread: float
    radius: float
    slope: float

    @classmethod
    def of(cls, name: str, draw: np.random.Generator) -> "Part":
        return cls(
            name,
            str(draw.choice(["signs", "coins", "noise"])),
            int(draw.choice([1, 2, 3, 30])),
            int(draw.choice([1, 1, 3])),
            int(draw.choice([1, 1, 7, 100])),
            float(draw.choice([0.5, 2.0])),
            float(draw.choice([0.0, 0.0, 0.5])),
            float(draw.choice([0.1, 10.0])),
        )

    @classmethod
    def two_signs(cls, name: str, draw: np.random.Generator) -> "Part":
        """The sharpest one for large shares."""
        return replace(cls.of(name, draw), kind="signs", count=2, dim=1, members=1, radius=0.0)

    @classmethod
    def crowded(cls, name: str, draw: np.random.Generator) -> "Part":
        """One that needs its members to be counted."""
        return replace(cls.of(name, draw), kind="noise", dim=1, members=300, slope=0.1)

    def derived(self, rules: Rules) -> Approximated:
        noise = {"sub_gaussian": self.spread} if self.kind == "noise" else {}
        size = 0 if noise else 2 * self.spread
        radius = {} if noise else {"radius": self.spread}
        one = given(f"one {self.name}", dim=self.dim, size=size, **radius)
        mean = rules["sample_mean"](one, self.name, count=self.count, event=Event(self.name, "draws"), **noise)
        name, members = f"all {self.name}", self.members
        if self.radius == 0:
            return rules["union_bound"](mean, name, members=members)
        moves = {"lipschitz": self.slope, "exact_lipschitz": 0}
        return rules["cover"](mean, name, members=members, radius=self.radius, **moves)

    def errors(self, draw: np.random.Generator, draws: int) -> np.ndarray:
        """(draws): the largest error of the members, where a sign of each draw says how it moves with the parameter."""
        shape = (draws, self.members, self.dim)
        if self.kind == "noise":
            means = draw.normal(scale=self.spread / np.sqrt(self.count), size=shape)
        else:
            heads = 0.5 if self.kind == "signs" else 0.1
            means = 2 * self.spread * (draw.binomial(self.count, heads, shape) / self.count - heads)
        moved = np.abs(2 * draw.binomial(self.count, 0.5, draws) / self.count - 1)
        return np.abs(means).max((1, 2)) + self.slope * self.radius * moved


@dataclass(frozen=True)
class Composition:
    """A conclusion within its budget, and the parts that it adds up or sets side by side."""

    value: Approximated
    delta: float
    parts: tuple[Part, ...]
    coefficients: tuple[float, ...] = ()  # of a sum; none for a concatenation

    @classmethod
    def of(cls, draw: np.random.Generator, rules: Rules | None = None) -> "Composition":
        rules = rules or library()
        part = draw.choice([Part.of, Part.of, Part.of, Part.two_signs, Part.crowded])
        several = 2 if part == Part.crowded else 5
        parts = tuple(part(f"part {place}", draw) for place in range(draw.integers(1, several)))
        values = [part.derived(rules) for part in parts]
        coefficients = tuple(draw.choice([-1.0, 0.5, 2.0], len(parts)).tolist()) if draw.random() < 0.5 else ()
        if len({part.dim for part in parts}) > 1:
            coefficients = ()
        joined = (
            rules["add"](*values, name="joined", coefficients=coefficients)
            if coefficients
            else rules["concatenate"](*values, name="joined")
        )
        delta = float(draw.choice(BUDGETS))
        return cls(rules["within_budget"](joined, "error", delta=delta), delta, parts, coefficients)

    @property
    def bound(self) -> float:
        return float(self.value.error)

    def errors(self, draw: np.random.Generator, draws: int) -> np.ndarray:
        """(draws): what the error may be, where each part has the member and the sign that are worst."""
        found = np.stack([part.errors(draw, draws) for part in self.parts])
        if not self.coefficients:
            return found.max(0)
        return np.abs(self.coefficients) @ found


def rejected(composition: Composition, draw: np.random.Generator, draws: int) -> bool:
    """Whether the draws fail significantly more often than the budget says."""
    failures = int((composition.errors(draw, draws) > composition.bound * (1 + 1e-9)).sum())
    return bool(binom.sf(failures - 1, draws, composition.delta) < LEVEL)


# Wrong rules.


def library() -> dict[str, Callable[..., Any]]:
    return {name: getattr(calculus, name) for name in NAMES}


def with_last(value: Approximated, **changes: Any) -> Approximated:
    *earlier, last = value.derivation.steps
    return replace(value, derivation=Derivation((*earlier, replace(last, **changes))))


def _half_exponent(*arguments: Any, **named: Any) -> Approximated:
    """exp(-n t^2 / sigma^2) for exp(-n t^2 / (2 sigma^2))."""
    return _scaled(calculus.sample_mean(*arguments, **named), sp.sqrt(sp.Rational(1, 2)))


def _half_width(*arguments: Any, **named: Any) -> Approximated:
    """The width of the range for a quarter of it."""
    return _scaled(calculus.sample_mean(*arguments, **named), sp.Rational(1, 2))


def _scaled(value: Approximated, factor: sp.Expr) -> Approximated:
    return with_last(value, local=value.derivation.steps[-1].local * factor)


def _uncounted(*arguments: Any, **named: Any) -> Approximated:
    """A union bound that takes one share for all of the members."""
    return with_last(calculus.union_bound(*arguments, **named), members=sp.Integer(1))


def _cover_uncounted(*arguments: Any, **named: Any) -> Approximated:
    return with_last(calculus.cover(*arguments, **named), members=sp.Integer(1))


def _without_distance(*arguments: Any, **named: Any) -> Approximated:
    """A cover whose members stand for the class without their distance to it."""
    return calculus.cover(*arguments, **{**named, "lipschitz": 0})


def _whole_to_each(x: Approximated, name: str, *, delta: float) -> Approximated:
    """A budget that each event spends by itself."""
    return with_shares(x, {event.share: delta / event.count for event in x.events})


def _first_alone(*values: Approximated, **named: Any) -> Approximated:
    """A sum that forgets the errors of all but the first."""
    return with_last(calculus.add(*values, **named), local=values[0].error_symbol)


FAULTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "half the exponent": ("sample_mean", _half_exponent),
    "half the width": ("sample_mean", _half_width),
    "members not counted": ("union_bound", _uncounted),
    "members of a cover not counted": ("cover", _cover_uncounted),
    "no distance to the cover": ("cover", _without_distance),
    "the whole budget to each event": ("within_budget", _whole_to_each),
    "a term forgotten": ("add", _first_alone),
}


def faulty(fault: str) -> Rules:
    name, wrong = FAULTS[fault]
    return library() | {name: wrong}
