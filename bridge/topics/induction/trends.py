"""C.2, Part I and II: the bounds (23) to (29) along the flow, and proofs of what holds for every start.

Letters: eta = h/h*, tau = t/(L-2); `speed` is 1 on the flow (12), 2 on the paper's.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import flint
import numpy as np
import sympy as sp
from torch import Tensor

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.formula import evaluate
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.numbers import plain
from bridge.theorems.parts import AtPoint, Knobs, Refuting
from bridge.theorems.theorem import Theorem
from bridge.topics.induction import head_limits
from bridge.topics.induction.head_limits import outside_26
from bridge.topics.induction.head_path import NOISE, SLACK, HeadPath, UnreachedError, head_path
from bridge.topics.induction.phase_regime import known_flow, too_wide
from symbolic.statements.result import Quantity
from symbolic.topics.induction import signs
from symbolic.topics.induction import trends as theory
from symbolic.topics.induction.head_limits import LIMITS, Limit
from symbolic.topics.induction.training import FLOWS, L, alpha, sigma_init, t, w_star

FROM_27 = ("w.rate.above", "T_half", "T_half.simple")  # (27) and what C.2 concludes from it

proofs_hold = cache(signs.proofs_hold)


@dataclass(frozen=True)
class HeadStart:
    """One start of the flow, and the run from there."""

    L: int
    alpha: float
    w_star: float
    sigma_init: float
    flow: str

    @property
    def path(self) -> HeadPath:
        """Raises UnreachedError where the flow cannot be followed."""
        return head_path(self.alpha, self.w_star, self.sigma_init, self.flow)

    @cached_property
    def letters(self) -> dict[sp.Symbol, Any]:
        numbers = (self.L, self.alpha, self.w_star, self.sigma_init, FLOWS[self.flow].speed)
        return dict(zip((L, alpha, w_star, sigma_init, signs.speed), numbers, strict=True))

    def ball(self, expression: sp.Expr, time: float = 0.0) -> flint.arb:
        return evaluate_ball(expression, {**self.letters, t: time})

    def of_time(self, expression: sp.Expr) -> Callable[[np.ndarray], np.ndarray]:
        """An expression as a function of tau, the parameters bound."""
        return lambda taus: np.asarray(evaluate(expression, {**self.letters, t: taus * (self.L - 2)}))

    @cached_property
    def small_enough(self) -> bool:
        """Whether sigma_init is at most sigma_star, up to which the proofs apply, and all their facts are proved."""
        return proofs_hold() and bool(self.ball(sigma_init) <= self.ball(signs.SIGMA_STAR))

    def too_large(self) -> str:
        """Why nothing is proved from this start; "" where it is small enough."""
        if self.small_enough:
            return ""
        start, limit = (plain(float(self.ball(each))) for each in (sigma_init, signs.SIGMA_STAR))
        return f"the proofs need `sigma_init <= sigma_star = {limit}`; here `sigma_init = {start}`"

    def w_at_optimum(self) -> float:
        """w/w* where h = h*, T_1^h; infinite if that is not reached."""
        if self.path.crosses is None:
            return math.inf
        gain = self.path.states(np.array([self.path.tau_1]))[0]
        return float(np.exp(gain[0] - self.path.way))

    def beyond(self, name: str) -> str:
        """Which condition that C.2 states for this bound the start fails; "" where it fails none."""
        if name == "h.overshoot" and (reason := outside_26(self.w_star)):
            return reason
        if name in FROM_27 and self.alpha < 1:
            return f"hypothesis `alpha* > 1` of C.1 is not met: here `alpha* = {plain(self.alpha)}`"
        if reason := too_wide({"w_star": self.w_star}) or self.too_large():
            return reason
        if (share := self.w_at_optimum()) > signs.LEAST:
            needed = f"C.2 needs `w <= 0.01 w*` at `T_1^h`; here `w = {plain(share)} w*`"
            return f"hypothesis `sigma_init << 1` of C.2 is not met: {needed}"
        if name == "T_half.simple" and 3 * math.log(self.sigma_init) > 4 * math.log(self.w_star / 2):
            return (
                "hypothesis `sigma_init << w*` of (28) is not met: "
                "(28) needs `log(1/sigma_init)/4 <= log(w*/(2 sigma_init))`"
            )
        return ""


# ---- Measured along the run: enclosures by what a float run may err by


def relative(number: float) -> flint.arb:
    return within(number, SLACK * abs(number))


def of_h(path: HeadPath, number: float) -> flint.arb:
    """A value of h/h*, relative to the size of h/h* - 1."""
    return within(number, SLACK * path.crest * path.v_star**2 + 1e-15)


def first_time(start: HeadStart) -> flint.arb:
    """T_1^h."""
    measured, unit = start.path.tau_1, start.L - 2
    return within(measured * unit, (SLACK * measured + NOISE) * unit)


def half_time(start: HeadStart) -> flint.arb:
    """T_1/2^w."""
    return relative(start.path.tau_half * (start.L - 2))


def ramp(start: HeadStart) -> flint.arb | str:
    """The least of h over (24), while w <= 0.01 w*; or why there is no such time."""
    path = start.path
    if start.sigma_init >= float(signs.LEAST) * start.w_star:
        return "hypothesis `w <= 0.01 w*` of (24) is not met at any `t`: `sigma_init > 0.01 w*`, and `w` increases"
    end = path.run.first(signs.W_SHARE - signs.LEAST) or path.run.end
    # (24) asks for h below its plateau, which is 10^-8 below psi(v*) h*: reached after the last time that counts
    plateau = sp.Symbol("plateau")
    height = {plateau: float(start.ball((theory.PLATEAU - 1) / w_star**4))}
    end = min(end, path.run.first(signs.rise - plateau, letters=height) or end)
    return relative(path.above(start.of_time(theory.H_RAMP), end))


def repaired_ramp(start: HeadStart) -> flint.arb:
    path = start.path
    far = path.run.first(2 * signs.W_SHARE**2 - 1)
    return relative(path.above(start.of_time(signs.ETA_BELOW), min(path.tau_1, far or math.inf)))


MEASURED: Mapping[str, Callable[[HeadStart], flint.arb | str]] = {
    "h.optimum": lambda start: of_h(start.path, float(start.path.late().min())),
    "w.optimum": lambda start: relative(float(np.exp(start.path.along[0].max() - start.path.way))),
    "w.growth": lambda start: within(start.path.least_growth(), SLACK * start.path.slowest),
    "h.turns": lambda start: flint.arb(start.path.turns()),
    "w.turn": lambda start: relative(start.path.at_turn()[0]),
    "w.turn.half": lambda start: relative(start.path.at_turn()[0] / start.w_star),
    "h.turn": lambda start: of_h(start.path, start.path.at_turn()[1]),
    "h.overshoot": lambda start: of_h(start.path, float(start.path.late().max())),
    "h.ramp": ramp,
    "h.ramp.repaired": repaired_ramp,
    "T_1": first_time,
    "T_1.simple": first_time,
    "w.rate.above": lambda start: relative(float(start.path.mean_growth[1].max())),
    "T_half": half_time,
    "T_half.simple": half_time,
    "w.rate.below": lambda start: relative(float(start.path.mean_growth[1].min())),
}


def claim_check(name: str, measure: Callable[[HeadStart], flint.arb | str]) -> Check:
    """A bound along the flow; what a run does not reach leaves it undecided."""

    def sides(start: HeadStart) -> Sides:
        try:
            found = measure(start)
            if isinstance(found, str):
                return Sides(outside=found)
            return Sides(
                found,
                measured=float(found.mid()),
                proved=("derived",) if start.small_enough else (),
                excuse=start.beyond(name),
                remark=since(start) if name == "w.rate.below" else start.too_large(),
            )
        except UnreachedError as error:
            return Sides(remark=str(error))

    return Check(theory.TRENDS.quantity(name), sides)


def since(start: HeadStart) -> str:
    """From when on (29) holds, if it ever does before T_1/2^w."""
    taus, growth = start.path.mean_growth
    short = taus[growth < float(start.ball(theory.RATE_PRINTED_BELOW))]
    end = f"`T_1/2^w = {plain(start.path.tau_half)} (L-2)`"
    if len(short) == len(taus):
        return f"(29) fails at every `t` before {end}"
    return f"(29) fails before `t = {plain(short[-1])} (L-2)` and holds from then until {end}" if len(short) else ""


# ---- Refuted from a small start, without a run


def limit_check(limit: Limit) -> Check:
    """A printed bound against the comparisons that enclose the flow while w <= 0.01 w*, in balls, at one time."""

    def sides(t: Tensor, start: HeadStart) -> Sides:
        at = t.item()
        decided = all(start.ball(each, at) > 0 for each in (limit.excess, signs.STILL_SMALL))
        where = f"at `t = {plain(at / (start.L - 2))} (L-2)`"
        return Sides(
            start.ball(limit.side, at) if decided else None,
            printed=start.ball(limit.printed, at),
            remark=where if decided else f"{where}: the comparisons do not decide here",
        )

    def time(start: HeadStart) -> dict[str, list[float]]:
        return {"t": [float(start.ball(limit.time))]}

    return Check(limit.quantity, sides, time, params=limit.params)


# ---- The theorem


def stated(L: int, alpha: float, w_star: float, sigma_init: float, flow: str) -> tuple[Quantity, ...]:
    """The quantities, without derived bounds from a start that is too large for their proofs."""
    small = HeadStart(L, alpha, w_star, sigma_init, flow).small_enough
    return tuple(each if small else replace(each, derive=None) for each in theory.QUANTITIES)


AT_OWN_PARAMETERS = (*map(limit_check, LIMITS), *head_limits.CHECKS)
TRENDS = Theorem(
    theory.TRENDS,
    main="h.overshoot",
    built={"start": HeadStart},
    at_point=AtPoint(letters=lambda flow: {signs.speed: FLOWS[flow].speed}, quantities=stated),
    knobs=Knobs(resolve=known_flow(theory.TRENDS.id), fixed=("flow",)),
    checks=(*(claim_check(name, measure) for name, measure in MEASURED.items()), *AT_OWN_PARAMETERS),
    inequalities=head_limits.inequalities,
    # Of (29) the limit comes first: a run shows the mean growth at its start, where it is nearly 0.
    refuting=Refuting(
        shown=(
            "w.rate.below.limit",
            *(each.name for each in theory.QUANTITIES if each.erratum is not None),
            *(check.name for check in AT_OWN_PARAMETERS if check.quantity.erratum is not None),
        )
    ),
)
