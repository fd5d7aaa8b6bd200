"""A law of Theorem 5.5 (wang2024): its letters by the parameters, and where its formula applies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import sympy as sp

from bridge.judging.laws import AsymptoticLaw
from symbolic.statements.paths import Point
from symbolic.topics.induction.phases_derivation import reach
from symbolic.topics.induction.training import OPTIMA, L, sigma_init

NO_SMALL_START = "no formula: `sigma_init` and `1/L` are not small enough here"
OTHER_PHASES = "hypothesis of a small start is not met: `h > h*` or `w > w*` at the start, so that the phases differ"
LETTERS = {**OPTIMA, reach: (L - 2) * sigma_init}  # C(X) = X (1 + o(1)) as X = (L-2) sigma_init -> oo


@dataclass(frozen=True)
class PhaseLaw(AsymptoticLaw):
    """`earliest` gives what the formula exceeds where it applies."""

    letters: Mapping[sp.Symbol, sp.Expr] = field(default_factory=lambda: LETTERS)
    unreached: str = OTHER_PHASES
    earliest: Callable[[Point], float] | None = None

    def no_formula(self, point: Point) -> str:
        reason = self.inapplicable(point)
        if reason or self.earliest is None:
            return reason
        return "" if self.derived(point) > self.earliest(point) else NO_SMALL_START
