"""What a claim of Theorem 5.5 (wang2024) is, the paper's regime, and the ways along which claims are tested."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bridge.export.layout import value_words
from bridge.export.numbers import plain
from bridge.induction.theta import Direction, Point
from symbolic.induction import phases
from symbolic.induction.phase_statement import PHASES
from symbolic.induction.phases import limit_along
from symbolic.induction.training import L, alpha, sigma_init, t, w_star

small = sp.Symbol("small", positive=True)
Reason = Callable[[Point], str]  # "" if there is none


def _nothing(_: Point) -> str:
    return ""


@dataclass(frozen=True)
class Claim:
    """One Theta (or O, or Omega): how the quantity is measured, derived and printed at a point, and where.

    `choice` tells claims of one quantity apart. A `pointwise` claim needs a point of the parameters only; for others
    each direction gives the times.
    """

    quantity: str
    measure: Callable[[Point], float | None]
    derive: Callable[[Point], float]
    express: Callable[[Point], float]
    directions: tuple[Direction, ...]
    above: bool = True  # whether the expression is claimed as an upper bound,
    below: bool = True  # and as a lower bound
    pointwise: bool = True
    remark: str = ""
    choice: str = ""
    not_applicable: Reason = _nothing  # why the derived formula does not hold at a point
    outside: Reason = _nothing  # why a point is not in the paper's regime

    def derived(self, point: Point) -> float | None:
        return None if self.not_applicable(point) else self.derive(point)

    def where(self, direction: str) -> str:
        return f"{self.choice}, {direction}" if self.choice else direction


def bound(name: str) -> sp.Expr:
    printed = PHASES.quantity(name).printed
    assert printed is not None  # every quantity of PHASES has one
    return printed.bound


def decay() -> sp.Expr:
    """The printed exponent of head_rate."""
    return sp.expand_log(-sp.log(bound("head_rate")), force=True)


def at_numbers(expression: sp.Expr) -> Callable[[Point], float]:
    def express(point: Point) -> float:
        letters = (L, alpha, w_star, sigma_init, t)
        return float(expression.subs({letter: point[letter.name] for letter in letters if letter.name in point}))

    return express


def printed_at(name: str) -> Callable[[Point], float]:
    return at_numbers(bound(name))


def limit_of(formula: sp.Expr, path: dict[sp.Symbol, Any]) -> float:
    found = limit_along(formula, path, small)
    if not found.is_real:  # oo, or a formula outside of its range
        return math.inf if found == sp.oo else math.nan
    return float(found)


def varied(point: Point, **changes: list[Any]) -> tuple[Point, ...]:
    """The point with several of its entries replaced, all lists of the same length."""
    return tuple({**point, **dict(zip(changes, row, strict=True))} for row in zip(*changes.values(), strict=True))


def exact(point: Point) -> dict[sp.Symbol, sp.Expr]:
    """The point's parameters for SymPy."""
    letters = {L: "L", alpha: "alpha", w_star: "w_star", sigma_init: "sigma_init"}
    return {symbol: sp.nsimplify(point[name], rational=True) for symbol, name in letters.items()}


# -- the paper's regime ------------------------------------------------------------------------------------------------


def _letters_at(point: Point) -> str:
    return f"L = {value_words(point['L'])}, sigma_init = {value_words(point['sigma_init'])}"


def too_short(point: Point) -> str:
    """Which explicit condition of C.1 on L a point fails."""
    for condition in phases.LONG_ENOUGH:
        left = at_numbers(condition.lhs)(point)
        if not left < condition.rhs:
            needed = f"{str(condition.lhs).replace('**', '^')} < {plain(float(condition.rhs))}"
            return (
                f"hypothesis L = Omega(1/sigma_init) is not met: C.1 Part I needs {needed}; here the left side is "
                f"{plain(left)}, at {_letters_at(point)}"
            )
    return ""


def too_wide(point: Point) -> str:
    """Whether a point fails C.2's explicit condition on w*."""
    left, right = at_numbers(phases.MODERATE.lhs)(point), phases.MODERATE.rhs
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


# -- the ways of the head's parameters ---------------------------------------------------------------------------------

SIGMAS = [1e-2, 1e-5, 1e-8]
LENGTHS = [10**3, 10**5, 10**7]
MIXED = [1.0, 5.0, 25.0]
WEAKER = [0.4, 0.1, 0.05]
OF_TOP = sp.Rational(1, 10**6)  # sigma_init / h* where alpha* goes to oo


@dataclass(frozen=True)
class Way:
    """A direction of the parameters of the head: its points, and the same as a path by `small`."""

    words: str
    points: tuple[Point, ...]
    path: dict[sp.Symbol, Any]


def as_long(sigmas: list[float]) -> list[int]:
    """The lengths at which L sigma_init is that of Figure 2."""
    return [int(float(phases.REACH) / s) + 2 for s in sigmas]


def smaller(point: Point) -> Way:
    return Way(
        "sigma_init -> 0 with (L-2) sigma_init = 10",
        varied(point, sigma_init=SIGMAS, L=as_long(SIGMAS)),
        {**exact(point), sigma_init: small, L: 2 + phases.REACH / small},
    )


def longer(point: Point) -> Way:
    return Way("L -> oo", varied(point, L=LENGTHS), {**exact(point), L: 2 + 1 / small})


def mixed(point: Point) -> Way:
    starts = [float(OF_TOP) / (1 + each) for each in MIXED]
    path = {**exact(point), alpha: 1 / small, sigma_init: OF_TOP * small / (1 + small)}
    return Way("alpha* -> oo with sigma_init = 1e-6 h*", varied(point, alpha=MIXED, sigma_init=starts), path)


def weaker(point: Point, power: int = 4) -> Way:
    starts = [w**power for w in WEAKER]
    return Way(
        f"w* -> 0 with sigma_init = w*^{power}, (L-2) sigma_init = 10",
        varied(point, w_star=WEAKER, sigma_init=starts, L=as_long(starts)),
        {**exact(point), w_star: small, sigma_init: small**power, L: 2 + phases.REACH / small**power},
    )
