"""The paper's regime, and the ways of the parameters along which the orders of Theorem 5.5 (wang2024) are tested."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from bridge.export.layout import value_words
from bridge.export.numbers import plain
from symbolic.induction import phases
from symbolic.induction.training import L, alpha, check_flow, sigma_init, t, w_star

small = sp.Symbol("small", positive=True)
Point = Mapping[str, Any]  # L, alpha, w_star, sigma_init, flow; tau and t, where a quantity depends on time
LETTERS = (L, alpha, w_star, sigma_init, t)


def known_flow(id: str) -> Callable[[dict[str, Any], int], dict[str, Any]]:
    """What resolves the parameters of a result. Raises UsageError for a flow that there is not."""

    def resolve(params: dict[str, Any], seed: int) -> dict[str, Any]:
        check_flow(params.get("flow", "true"), id)
        return params

    return resolve


def number(expression: sp.Expr, point: Point) -> float:
    return float(expression.subs({letter: point[letter.name] for letter in LETTERS if letter.name in point}))


# -- the paper's regime ------------------------------------------------------------------------------------------------


def _letters_at(point: Point) -> str:
    return f"L = {value_words(point['L'])}, sigma_init = {value_words(point['sigma_init'])}"


def too_short(point: Point) -> str:
    """Which explicit condition of C.1 on L a point fails."""
    for condition in phases.LONG_ENOUGH:
        left = number(condition.lhs, point)
        if not left < condition.rhs:
            needed = f"{str(condition.lhs).replace('**', '^')} < {plain(float(condition.rhs))}"
            return (
                f"hypothesis L = Omega(1/sigma_init) is not met: C.1 Part I needs {needed}; here the left side is "
                f"{plain(left)}, at {_letters_at(point)}"
            )
    return ""


def too_wide(point: Point) -> str:
    """Whether a point fails C.2's explicit condition on w*."""
    left, right = number(phases.MODERATE.lhs, point), phases.MODERATE.rhs
    if left <= right:
        return ""
    return f"hypothesis w* = O(1) of C.2 is not met: C.2 needs v* <= {plain(float(right))}; here v* = {plain(left)}"


def no_plateau(point: Point) -> str:
    """Whether a point is outside of the regime of the head: L sigma_init as in Figure 2 at least, v* as in C.2."""
    reach = (point["L"] - 2) * point["sigma_init"]
    if reach < 0.9 * phases.REACH:
        return (
            f"hypothesis L = Omega(1/sigma_init) is not met: here (L-2) sigma_init is only {plain(reach)}, at "
            f"{_letters_at(point)}"
        )
    return too_wide(point)


# -- the ways ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """A path of the parameters by `small` -> 0, and the values of `small` at which it is run, the last one farthest.

    `fixed` replaces parameters all along. `tau` is the time of a quantity that depends on it, by the flow. `outside`
    says why the statement does not cover the way, if it does not.
    """

    words: str
    path: Mapping[sp.Symbol, sp.Expr]
    smalls: tuple[float, ...]
    fixed: Mapping[str, int | float] = field(default_factory=dict)
    tau: Callable[[str], sp.Expr] | None = None
    outside: str = ""

    def points(self, point: Point) -> list[dict[str, Any]]:
        here = {**point, **self.fixed}
        return [{**here, **{x.name: _at(x, way, s) for x, way in self.path.items()}} for s in self.smalls]

    def symbolic(self, point: Point) -> dict[sp.Symbol, sp.Expr]:
        here = {**point, **self.fixed}
        exact = {x: sp.nsimplify(here[x.name], rational=True) for x in LETTERS if x.name in here}
        return {**exact, **self.path}

    def over(self, words: str, **changes: Any) -> "Way":
        """The same way with more words, and other fields."""
        return replace(self, words=f"{self.words}{words}", **changes)


def _at(letter: sp.Symbol, way: sp.Expr, at: float) -> float | int:
    found = float(way.subs(small, at))
    return int(found) if letter.is_integer else found


def limit_of(formula: sp.Expr, path: Mapping[sp.Symbol, Any]) -> sp.Expr:
    """The limit of a formula along a path; nan for a formula outside of its range."""
    found = phases.limit_along(formula, path, small)
    return found if found == sp.oo else sp.Float(float(found)) if found.is_real else sp.nan


SIGMAS = (1e-2, 1e-5, 1e-8)
LENGTHS = (10**3, 10**5, 10**7)
OF_TOP = sp.Rational(1, 10**6)  # sigma_init / h* where alpha* goes to oo


def weaker(power: int = 4) -> Way:
    words = f"w* -> 0 with sigma_init = w*^{power}, (L-2) sigma_init = 10"
    path = {w_star: small, sigma_init: small**power, L: 2 + phases.REACH / small**power}
    return Way(words, path, (0.4, 0.1, 0.05))


HERE = Way("", {}, (math.nan,))
SMALLER = Way("sigma_init -> 0 with (L-2) sigma_init = 10", {sigma_init: small, L: 2 + phases.REACH / small}, SIGMAS)
SHORT = Way("sigma_init -> 0 with L fixed", {sigma_init: small}, SIGMAS)
LONG = Way("sigma_init -> 0, L as C.1 Part I asks", {sigma_init: small, L: phases.long_enough(small)}, SIGMAS)
LONGER = Way("L -> oo", {L: 1 / small}, tuple(1 / length for length in LENGTHS))
MIXED = Way(
    "alpha* -> oo with sigma_init = 1e-6 h*",
    {alpha: 1 / small, sigma_init: OF_TOP * small / (1 + small)},
    (1.0, 1 / 5, 1 / 25),
)
WEAKER = weaker()
LATER = Way("t -> oo", {t: 1 / small}, (1e-4, 1e-6, 1e-8))
