"""Ways of the parameters along which the orders of Theorem 5.5 (wang2024) are tested: paths, and points on them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from symbolic.induction.phases_derivation import REACH, limit_along, long_enough
from symbolic.induction.training import L, alpha, sigma_init, t, w_star

small = sp.Symbol("small", positive=True)
Point = Mapping[str, Any]  # L, alpha, w_star, sigma_init, flow; tau and t, where a quantity depends on time
LETTERS = (L, alpha, w_star, sigma_init, t)


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

    def limit(self, formula: sp.Expr, point: Point, letters: Mapping[sp.Symbol, Any]) -> sp.Expr:
        """That of the formula along the way, at other letters of these values; nan for one outside of its range."""
        here = {**point, **self.fixed}
        exact = {x: sp.nsimplify(here[x.name], rational=True) for x in LETTERS if x.name in here}
        return limit_of(formula, {**exact, **self.path, **letters})

    def over(self, words: str, **changes: Any) -> "Way":
        """The same way with more words, and other fields."""
        return replace(self, words=f"{self.words}{words}", **changes)


def _at(letter: sp.Symbol, way: sp.Expr, at: float) -> float | int:
    found = float(way.subs(small, at))
    return int(found) if letter.is_integer else found


def limit_of(formula: sp.Expr, path: Mapping[sp.Symbol, Any]) -> sp.Expr:
    """As a number, oo, or nan for a formula outside of its range."""
    found = limit_along(formula, path, small)
    return found if found == sp.oo else sp.Float(float(found)) if found.is_real else sp.nan


SIGMAS = (1e-2, 1e-5, 1e-8)
LENGTHS = (10**3, 10**5, 10**7)
ALPHAS = (1.0, 5.0, 25.0)
OF_TOP = sp.Rational(1, 10**6)  # sigma_init / h* where alpha* goes to oo

HERE = Way("", {}, (math.nan,))
SMALLER = Way("`sigma_init -> 0` with `(L-2) sigma_init = 10`", {sigma_init: small, L: 2 + REACH / small}, SIGMAS)
SHORT = Way("`sigma_init -> 0` with `L` fixed", {sigma_init: small}, SIGMAS)
LONG = Way("`sigma_init -> 0`, `L` as C.1 Part I asks", {sigma_init: small, L: long_enough(small)}, SIGMAS)
LONGER = Way("`L -> oo`", {L: 1 / small}, tuple(1 / length for length in LENGTHS))
FAR = Way("`alpha* -> oo` at `L = 1e+07`", {alpha: 1 / small}, tuple(1 / x for x in ALPHAS), {"L": LENGTHS[-1]})
MIXED = Way(
    "`alpha* -> oo` with `sigma_init = 1e-6 h*`",
    {alpha: 1 / small, sigma_init: OF_TOP * small / (1 + small)},
    tuple(1 / x for x in ALPHAS),
)
WEAKER = Way(
    "`w* -> 0` with `sigma_init = w*^4`, `(L-2) sigma_init = 10`",
    {w_star: small, sigma_init: small**4, L: 2 + REACH / small**4},
    (0.4, 0.1, 0.05),
)
LATER = Way("`t -> oo`", {t: 1 / small}, (1e-4, 1e-6, 1e-8))
BOTH = Way(
    "`L = alpha* -> oo` at `t = 1e+07`",
    {alpha: 1 / small, L: 1 / small},
    tuple(1 / n for n in (10, 30, 100)),
    {"t": 1e7},
)
