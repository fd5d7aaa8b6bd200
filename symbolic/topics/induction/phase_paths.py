"""Paths of the parameters along which the orders of Theorem 5.5 (wang2024) are tested."""

from collections.abc import Callable

import sympy as sp

from symbolic.statements.paths import Letters, ParameterPath, Point, small
from symbolic.topics.induction.phases_derivation import REACH, long_enough, tau
from symbolic.topics.induction.training import L, alpha, sigma_init, t, w_star


def at_time(time: Callable[[str], sp.Expr]) -> Letters:
    """A path's further letters: tau, by the flow, and t."""

    def letters(point: Point) -> dict[sp.Symbol, sp.Expr]:
        then = time(point["flow"])
        return {tau: then, t: then * (L - 2)}

    return letters


SIGMAS = (1e-2, 1e-5, 1e-8)
LENGTHS = (10**3, 10**5, 10**7)
ALPHAS = (1.0, 5.0, 25.0)
OF_TOP = sp.Rational(1, 10**6)  # sigma_init / h* where alpha* goes to oo

HERE = ParameterPath("", {}, (1.0,))
SMALLER = ParameterPath(
    "`sigma_init -> 0` with `(L-2) sigma_init = 10`", {sigma_init: small, L: 2 + REACH / small}, SIGMAS
)
SHORT = ParameterPath("`sigma_init -> 0` with `L` fixed", {sigma_init: small}, SIGMAS)
LONG = ParameterPath("`sigma_init -> 0`, `L` as C.1 Part I asks", {sigma_init: small, L: long_enough(small)}, SIGMAS)
LONGER = ParameterPath("`L -> oo`", {L: 1 / small}, tuple(1 / length for length in LENGTHS))
FAR = ParameterPath(
    "`alpha* -> oo` at `L = 1e+07`", {alpha: 1 / small}, tuple(1 / x for x in ALPHAS), {"L": LENGTHS[-1]}
)
MIXED = ParameterPath(
    "`alpha* -> oo` with `sigma_init = 1e-6 h*`",
    {alpha: 1 / small, sigma_init: OF_TOP * small / (1 + small)},
    tuple(1 / x for x in ALPHAS),
)
WEAKER = ParameterPath(
    "`w* -> 0` with `sigma_init = w*^4`, `(L-2) sigma_init = 10`",
    {w_star: small, sigma_init: small**4, L: 2 + REACH / small**4},
    (0.4, 0.1, 0.05),
)
LATER = ParameterPath("`t -> oo`", {t: 1 / small}, (1e-4, 1e-6, 1e-8))
BOTH = ParameterPath(
    "`L = alpha* -> oo` at `t = 1e+07`",
    {alpha: 1 / small, L: 1 / small},
    tuple(1 / n for n in (10, 30, 100)),
    {"t": 1e7},
)
