"""Seeded random parameters inside the hypotheses of a result, many of them at the ends of what these allow.

`corner_parameters(theorem, rng)` is a walk: from the defaults, one parameter after the other moves to a proposal, or as
far towards it as the hypotheses and the run allow. Every point of the walk meets both, so that the last one does.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp

from bridge.instances.instance import Instance
from bridge.instances.point import cost_of
from bridge.judging.judged import settings_used
from bridge.limits.accepted import DTYPES
from bridge.limits.refusals import explained
from bridge.limits.run import Run
from bridge.theorems.theorem import Theorem
from symbolic.statements.parameters import Hypothesis, Parameter
from symbolic.words.errors import UsageError
from tests.corners.texts import text_values

SHORT = Run(samples=8, attack=5, restarts=2, seed=0)
SECONDS, BYTES = 4.0, 2.0**29  # of a point, as the theorem estimates them; several times what it takes
HALVINGS = 40  # of the way to the end of what is allowed
FARTHEST = 1e12  # factor from the default of a real number
NEAR, FAR = 10.0, 1e4
GROWTH = 4  # of a size from its default, at most
SMALL = 12  # a size that is allowed whatever its default
# Whole numbers that only formulas have: nothing is built of that size.
FREE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "machines.sample_complexity": ("p", "n", "w", "d", "A"),
        "induction.fixed_point": ("L",),
        "induction.balance": ("L",),
        "induction.trends": ("L",),
        "looped.gradient_descent": ("bits",),
    }
)
SHORT_TRAINING = {"d": 3, "N": 8, "width": 16, "heads": 2, "layers": 3, "steps": 3, "batch": 16, "prompts": 64}
# Sizes of which nothing estimates the cost, and which make a point long.
LARGEST: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "icgd.softmax": {"d": 2, "n": 4, "D": 16},
        "icgd.softmax_step": {"N": 3, "K": 8, "n": 8, "L": 4},
        "universal.barron": {"d": 4, "M": 6},
        "universal.covering": {"d": 3, "functions": 4, "places": 5},
        "universal.proximal": {"L": 41, "N": 16, "n": 8},
        "universal.lasso": {"N": 1024, "n": 32},
        "universal.risk": {"N": 256, "n": 32, "L": 21},
        "machines.turing_margin": {"T": 4},
        "icgd.diffusion": {"L": 16, "N": 3, "K": 8, "n": 64, "M": 32, "relus": 256, "d": 3},
        "icgd.pretraining": {**SHORT_TRAINING, "K": 4, "n": 8},
        "looped.training": {**SHORT_TRAINING, "q": 3, "states": 3, "T": 4},
        "looped.translation": {**SHORT_TRAINING, "words": 64, "length": 16, "T": 4},
        "induction.vanilla": {"L": 32, "d": 8},
        "induction.ngram": {"L": 32, "d": 4, "n": 5, "H": 8},
        "induction.general": {"L": 32, "d": 4, "M": 64},
        "induction.patches": {"L": 10, "d": 2, "n": 4, "H": 6, "M": 64, "K": 64},
        "induction.first_stage": {"L": 100},
        "induction.losses": {"L": 100},
        "induction.karamata": {"L": 200},
    }
)
LEAST: Mapping[str, int] = MappingProxyType({"relus": 3, "relus_r1": 3})  # which no hypothesis states
AUTOMATIC = 0.7  # how often such a parameter is left to be computed
PLACES = ("least", "largest", "near", "far", "round", "another's", "default")
WEIGHTS = (0.22, 0.13, 0.2, 0.15, 0.1, 0.1, 0.1)


def corner_parameters(theorem: Theorem, rng: np.random.Generator) -> dict[str, Any]:
    """Parameters that meet the hypotheses, at a cost of a few seconds at most: one moved, a few, or all of them."""
    corners = Corners.of(theorem)
    count = len(corners.moved)
    several = int(rng.choice([min(1, count), min(3, count), count])) if count else 0
    chosen = rng.permutation(count)[:several]
    point = corners.start(rng)
    for sweep in range(2):  # an end may depend on what moves later
        for place in chosen:
            parameter = corners.moved[place]
            if sweep == 0 or rng.random() < 0.5:
                point = corners.moved_to(point, parameter, corners.proposal(point, parameter, rng))
    return point


def end_of(theorem: Theorem, index: int, rng: np.random.Generator) -> dict[str, Any]:
    """The defaults but for one parameter, at the least, the largest, or another value: all ends in turn, by `index`."""
    corners = Corners.of(theorem)
    point = corners.start(rng)
    if not corners.moved:
        return point
    parameter = corners.moved[index // 2 % len(corners.moved)]
    place = ("least", "largest")[index % 2]
    return corners.moved_to(point, parameter, corners.proposal(point, parameter, rng, place))


def corner_point(theorem: Theorem, seed: int, index: int) -> dict[str, Any]:
    """The point of that number, the same for the same seed: ends of single parameters and random points in turn."""
    rng = np.random.default_rng([seed, index])
    return corner_parameters(theorem, rng) if index % 2 else end_of(theorem, seed + index // 2, rng)


def corner_settings(theorem: Theorem, params: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Settings of a short run of any format, of those that its rows depend on. Raises UsageError."""
    dtype = str(rng.choice(DTYPES)) if rng.random() < 0.5 else DTYPES[0]
    with explained(f"compare {theorem.id}", [params]):
        instance = Instance.of(theorem, dict(params))
    given: dict[str, Any] = {"samples": SHORT.samples, "attack": SHORT.attack, "restarts": SHORT.restarts}
    given |= {"seed": int(rng.integers(1000)), "dtype": dtype}
    used = settings_used(instance)
    idle = () if "attack" in used and instance.inputs.attacked else ("attack", "restarts")
    return {name: value for name, value in given.items() if name in used and name not in idle}


@dataclass(frozen=True)
class Corners:
    """A theorem whose parameters move inside its hypotheses."""

    theorem: Theorem
    moved: tuple[Parameter, ...]
    conditions: Mapping[str, tuple["Condition", ...]] = field(repr=False)  # by the name of each parameter in them

    @classmethod
    def of(cls, theorem: Theorem) -> "Corners":
        parameters = theorem.statement.parameters
        conditions = [Condition(each) for each in theorem.statement.hypotheses]
        by_name = {p.name: tuple(c for c in conditions if p.name in c.names) for p in parameters}
        return cls(theorem, tuple(parameters), by_name)

    def start(self, rng: np.random.Generator) -> dict[str, Any]:
        """The defaults, one of those that are a grid. A parameter that others imply is left to them."""
        parameters = self.theorem.statement.parameters
        defaults = {p.name: _one_of(p.default, rng) for p in parameters if p.name not in self.theorem.knobs.implied}
        return {name: min(x, self._largest(name)) if name in self._limits else x for name, x in defaults.items()}

    @property
    def _limits(self) -> Mapping[str, int]:
        return LARGEST.get(self.theorem.id, {})

    def _largest(self, name: str) -> float:
        """What no proposal exceeds, for the sake of time."""
        searched = self.theorem.knobs.searched.get(name, (None, None))[1]
        return min(self._limits.get(name, math.inf), math.inf if searched is None else searched)

    def proposal(
        self, point: Mapping[str, Any], parameter: Parameter, rng: np.random.Generator, place: str = ""
    ) -> Any:
        """A value, whether or not it is allowed."""
        if parameter.symbol is None:
            values = text_values(self.theorem.id, parameter.name, point, rng)
            return values[int(rng.integers(len(values)))]
        if parameter.name in self.theorem.knobs.automatic and rng.random() < AUTOMATIC:
            return 0
        place = place or str(rng.choice(PLACES, p=WEIGHTS))
        default = float(_one_of(parameter.default, rng)) or 1.0
        return self._whole(parameter, default, place, point, rng) if parameter.integer else (
            self._real(parameter, default, place, point, rng)
        )  # fmt: skip

    def _whole(
        self, parameter: Parameter, default: float, place: str, point: Mapping[str, Any], rng: np.random.Generator
    ) -> int:
        free = parameter.name in FREE.get(self.theorem.id, ())
        largest = default * FARTHEST if free else max(GROWTH * default, SMALL)
        largest = min(largest, self._largest(parameter.name))
        values = {
            "least": lambda: LEAST.get(parameter.name, 0),
            "largest": lambda: largest,
            "round": lambda: int(rng.integers(1, 4)),
            "another's": lambda: self._another(point, parameter, rng),
            "default": lambda: default,
        }
        chosen = values.get(place, lambda: math.exp(rng.uniform(0, math.log(largest))))()
        return int(max(min(chosen, largest), LEAST.get(parameter.name, 0)))

    def _real(
        self, parameter: Parameter, default: float, place: str, point: Mapping[str, Any], rng: np.random.Generator
    ) -> float:
        least = self.theorem.knobs.searched.get(parameter.name, (None, None))[0]
        widths = {"near": NEAR, "far": FAR}
        values = {
            "least": lambda: default / FARTHEST if rng.random() < 0.7 else 0.0,
            "largest": lambda: default * FARTHEST,
            "round": lambda: float(rng.choice([0.5, 1.0, 2.0])),
            "another's": lambda: float(self._another(point, parameter, rng)),
            "default": lambda: default,
        }
        scattered = lambda: default * widths[place] ** rng.uniform(-1, 1)  # noqa: E731 - one of the values
        chosen = values.get(place, scattered)()
        return min(max(chosen, -math.inf if least is None else least), self._largest(parameter.name))

    def _another(self, point: Mapping[str, Any], parameter: Parameter, rng: np.random.Generator) -> float:
        """The value of another number: equal letters are corners of formulas with differences and ratios."""
        others = [x for name, x in point.items() if name != parameter.name and isinstance(x, int | float)]
        return float(others[int(rng.integers(len(others)))]) if others else 1.0

    def moved_to(self, point: Mapping[str, Any], parameter: Parameter, proposal: Any) -> dict[str, Any]:
        """The point with the parameter at the proposal, or as near to it as is allowed."""
        name = parameter.name
        if self.allowed({**point, name: proposal}, name):
            return {**point, name: proposal}
        if parameter.symbol is None or name not in point:
            return dict(point)
        for near in (proposal - 1, proposal + 1) if parameter.integer else ():  # where only odd numbers are allowed
            if self.allowed({**point, name: near}, name):
                return {**point, name: near}
        end = _end(point[name], proposal, lambda value: self.allowed({**point, name: value}, name), parameter.integer)
        return {**point, name: end}

    def allowed(self, point: Mapping[str, Any], name: str) -> bool:
        """Whether the point meets the hypotheses on that parameter, and the run."""
        if not all(condition.holds(point) for condition in self.conditions[name]):
            return False
        try:
            cost = cost_of(self.theorem, point, SHORT)
        except UsageError:
            return False
        return cost.seconds <= SECONDS and cost.bytes <= BYTES


def _one_of(default: Any, rng: np.random.Generator) -> Any:
    return default[int(rng.integers(len(default)))] if isinstance(default, tuple) else default


def _end(allowed: Any, wanted: Any, holds: Callable[[Any], bool], integer: bool) -> Any:
    """The last value on the way from one that is allowed to one that is not, in halvings: of the ratio, if possible."""
    for _ in range(HALVINGS):
        between = _between(allowed, wanted, integer)
        if between in (allowed, wanted):
            break
        allowed, wanted = (between, wanted) if holds(between) else (allowed, between)
    return allowed


def _between(one: Any, other: Any, integer: bool) -> Any:
    if integer:
        return (int(one) + int(other)) // 2
    return math.sqrt(one * other) if one * other > 0 else (one + other) / 2


@dataclass(frozen=True)
class Condition:
    """A hypothesis, as a function of numbers that SymPy is not needed for."""

    hypothesis: Hypothesis

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(letter.name for letter in self.hypothesis.condition.free_symbols))

    @cached_property
    def _function(self) -> Callable[..., Any]:
        letters = {letter.name: letter for letter in self.hypothesis.condition.free_symbols}
        return sp.lambdify([letters[name] for name in self.names], self.hypothesis.condition, "math")  # type: ignore[no-any-return]

    def holds(self, point: Mapping[str, Any]) -> bool:
        """True where the point leaves out a letter: what implies it has to meet the hypothesis."""
        if any(point.get(name) is None for name in self.names):
            return True
        try:
            quickly = bool(self._function(*(point[name] for name in self.names)))
        except (ArithmeticError, ValueError):
            quickly = False
        return quickly and self.hypothesis.complaint(point) is None
