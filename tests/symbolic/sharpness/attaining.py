"""A rule in a pair of norms: the error of explicit vectors in units of the bound, and the pairs that it accepts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from symbolic.calculus import Approximated, DerivationError, Norm, given
from tests.symbolic.cases.case import promised, shown
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.vectors import supporting, units

NORMS = tuple(Norm)


@dataclass(frozen=True)
class Limit:
    """A bound of 0, which is attained: how close the premises come to where it no longer holds."""

    found: Realised
    ratio: float


Build = Callable[..., Realised | Limit]


@dataclass(frozen=True)
class Attaining:
    """Cases of equality of a rule: `build` takes the norms of the premises, then the target, and raises if refused.

    `premises`: how many norms of premises the rule takes apart from each other. `target`: whether the caller names the
    norm of the conclusion; else the conclusion has it. `variant` says what of the rule this is about.
    """

    rule: str
    case: str
    build: Build
    premises: int = 1
    target: bool = False
    variant: str = ""

    def rows(self) -> Iterator["Attained"]:
        for norms in product(NORMS, repeat=self.premises + self.target):
            try:
                found = self.build(*norms)
            except DerivationError as error:
                if "norm" not in str(error):
                    raise
                continue
            name = f"{self.rule}, {self.variant}" if self.variant else self.rule
            yield Attained(name, norms[: self.premises], *_measured(found), self.case)


def _measured(found: Realised | Limit) -> tuple[Norm, float]:
    """The norm of the conclusion, and the ratio."""
    if isinstance(found, Limit):
        promise = promised(found.found, "error")
        assert promise.bound == promise.truth == 0
        return found.found.value.norm, found.ratio
    return found.value.norm, float(np.max(promised(found, "error").ratio))


@dataclass(frozen=True)
class Attained:
    """The largest known ratio of error to bound, and where it is found."""

    rule: str
    source: tuple[Norm, ...]
    target: Norm
    ratio: float
    case: str

    def __str__(self) -> str:
        source = " x ".join(self.source) or "-"
        return f"{self.rule:36} {source:>9} {self.target:>4}  {self.ratio:>11.4f}  {self.case}"


def attained(table: tuple[Attaining, ...]) -> list[Attained]:
    return [row for each in table for row in each.rows()]


# --- vectors ---------------------------------------------------------------------------------------------------------

DIM = 3


def direction(norm: Norm, dim: int = DIM) -> np.ndarray:
    """A unit vector of that norm, all of whose coordinates are positive and different."""
    return units(np.arange(1.0, dim + 1), norm)


def functional(norm: Norm, dim: int = DIM) -> np.ndarray:
    """Of dual norm 1, it takes `direction` to 1."""
    return supporting(direction(norm, dim), norm)


def along(norm: Norm, size: float, error: float, name: str = "x", dim: int = DIM) -> Approximated:
    """Of a multiple of `direction`, off in that direction."""
    return given(name, dim=dim, norm=norm, size=size, error=error)


def shown_along(result: Approximated, exact: float, near: float, dim: int = DIM) -> Realised:
    """The conclusion beside multiples of the direction of its norm."""
    unit = direction(result.norm, dim)
    return shown(result, exact * unit, near * unit, result.norm)
