"""Figure 2 as a theorem: its run, what the caption and the text state about it, and the figure itself."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import flint
import numpy as np
import sympy as sp

from bridge.judging.judge import relation
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Check, Sides, as_ball, within
from bridge.theorems.parts import AtPoint, Knobs
from bridge.theorems.record import Record, Verdict
from bridge.theorems.theorem import Theorem
from bridge.topics.induction.figure2_runs import PHASE_TIMES, reached, trajectory_of, unreached
from bridge.topics.induction.head_limits import outside_26
from bridge.topics.induction.phase_regime import too_short, too_wide
from bridge.topics.induction.trajectory import TwoLayerTrajectory
from bridge.topics.induction.trends import HeadStart
from symbolic.statements.result import Quantity
from symbolic.topics.induction import figure2 as theory
from symbolic.topics.induction import signs
from symbolic.topics.induction import training as letters
from symbolic.words.errors import UsageError

OF_THE_HEAD = ("plateau", "plateau.loss", "overshoot")  # claims that do not depend on L and rest on (26)
POINT = ("L", "alpha", "w_star", "sigma_init")
RUN = 1e-9  # relative accuracy of a run


# What the run shows.


def seen_in(trajectory: TwoLayerTrajectory) -> dict[str, float]:
    """The measured values of the claims, by name; without those that need a time that the run does not reach."""
    times = reached(trajectory)
    first, observed, second, third = (times.get(name) for name in PHASE_TIMES)
    found = {**times, "phases": float(1 + _ends_in_order(times)), "overshoot": _overshoot(trajectory)}
    if observed is not None:
        found["left"] = _left(trajectory, observed)
    if first is not None:
        found["first"] = _left(trajectory, first)
    if second is not None:
        w = float(trajectory.at([second]).w[0])
        found |= {"plateau": w / trajectory.w_star, "growth": w / trajectory.sigma_init}
    if first is not None and second is not None:
        found["separation"] = second / first
    if observed is not None and second is not None and third is not None:
        found["plateau.share"] = (second - observed) / (third - observed)
    return found


def _ends_in_order(times: Mapping[str, float]) -> int:
    ends = [times.get(name, math.inf) for name in ("T_I", "T_II", "T_III")]
    return sum(a < b for a, b in zip([0.0, *ends], ends, strict=False))


def _left(trajectory: TwoLayerTrajectory, time: float) -> float:
    """The share of L_IH2 that is left at a time."""
    start, then = trajectory.at([0.0, time]).log_L_IH2
    return math.exp(float(then - start))


def _overshoot(trajectory: TwoLayerTrajectory) -> float:
    """The largest h/h*: at its only turn, which lies between T_o and the end."""
    head = trajectory.head
    taus = np.linspace(float(head.tau_o or 0.0), head.end, 20_000)
    return float(head.at(taus)[1].max() / head.h_star)


# What is claimed. The theorem is one of limits: a point outside of its regime refutes nothing, nor does one inside.


def claim(quantity: Quantity) -> Check:
    def sides(trajectory: TwoLayerTrajectory, seen: Mapping[str, float]) -> Sides:
        if quantity.name == "plateau.loss":  # a number of w* alone, known in balls
            return _judged(quantity, trajectory, _at(theory.LEFT_BY_PLATEAU, trajectory), proved=("printed", "derived"))
        value = seen.get(quantity.name)
        if value is None:
            return Sides(remark=unreached(trajectory))
        more = OWN.get(quantity.name, lambda _: {})(trajectory)
        return Sides(measured=value) if quantity.printed is None else _judged(quantity, trajectory, value, **more)

    return Check(quantity, sides)


def _judged(
    quantity: Quantity,
    trajectory: TwoLayerTrajectory,
    value: Any,
    *,
    accuracy: float = 0.0,
    remark: str = "",
    **more: Any,
) -> Sides:
    """The value beside its bound where that is kept, alone where it is not. `accuracy`: of the run, relative."""
    assert quantity.printed is not None  # of those that are judged
    if relation(quantity.kind, as_ball(value), _at(quantity.printed.bound, trajectory)) is Verdict.KEPT:
        run = {"measured": value} if accuracy else {}
        return Sides(within(value, accuracy * value) if accuracy else value, remark=remark, **run, **more)
    reason = beyond(quantity.name, trajectory)
    words = "" if reason else "not so here, but the theorem's 'sufficiently large' gives no size"
    more["proved"] = tuple(tier for tier in more.get("proved", ()) if tier != "printed")
    return Sides(measured=float(value), outside=reason, remark="; ".join(filter(None, [words, remark])), **more)


def _at(formula: sp.Expr, trajectory: TwoLayerTrajectory) -> flint.arb:
    """The formula at the point of the run."""
    values = {getattr(letters, name): getattr(trajectory, name) for name in POINT}
    return evaluate_ball(formula, {**values, signs.speed: letters.FLOWS[trajectory.flow].speed})


def _on_plateau(trajectory: TwoLayerTrajectory) -> dict[str, Any]:
    early = trajectory.sigma_init >= float(letters.LEARNT) * trajectory.w_star
    alone = _at(theory.LEFT_BY_PLATEAU, trajectory) < as_ball(letters.KEPT)
    words = ("`w` starts above `0.01 w*` here" * early, "`T_II` is reached by the overshoot of `h` alone" * bool(alone))
    return {"remark": "; ".join(filter(None, words))}


OWN: Mapping[str, Callable[[TwoLayerTrajectory], dict[str, Any]]] = {
    "overshoot": lambda _: {"proved": ("derived",), "accuracy": RUN},  # R(w*), where the quantity has it: see `stated`
    "plateau": _on_plateau,
}


def beyond(name: str, trajectory: TwoLayerTrajectory) -> str:
    """Which explicit condition of the proof that the claim rests on this point fails."""
    if name in OF_THE_HEAD and (reason := outside_26(trajectory.w_star)):
        return reason
    point = {each: getattr(trajectory, each) for each in POINT} | {"L": int(trajectory.L)}
    return (too_wide if name in OF_THE_HEAD else too_short)(point)


def figure(comparison: Record) -> Any:
    """The run of the comparison drawn. Raises UsageError for several runs."""
    from bridge.topics.induction.figure2_plot import draw_dynamics

    points = {repr(row.params) for row in comparison}
    if len(points) != 1:
        raise UsageError(
            f"{theory.FIGURE2.id}: the figure shows one run, and the comparison has {len(points)} points; "
            f"give each parameter one value"
        )
    return draw_dynamics(comparison, comparison.rows[0].params)


def stated(L: int, alpha: float, w_star: float, sigma_init: float, flow: str) -> tuple[Quantity, ...]:
    """The quantities, without R(w*) from a start that is too large for its proof."""
    letters.check_flow(flow, theory.FIGURE2.id)
    small = HeadStart(L, alpha, w_star, sigma_init, flow).small_enough
    quantities = theory.FIGURE2.quantities
    return tuple(each if small or each.name != "overshoot" else replace(each, derive=None) for each in quantities)


BUILT: Mapping[str, Callable[..., Any]] = {"trajectory": trajectory_of, "seen": seen_in}
FIGURE2 = Theorem(
    theory.FIGURE2,
    main="plateau",
    built=BUILT,
    at_point=AtPoint(quantities=stated),
    checks=tuple(map(claim, theory.FIGURE2.quantities)),
    knobs=Knobs(fixed=("flow",)),
    figure=figure,
)
