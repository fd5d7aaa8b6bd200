"""The study of Figure 2: its run, what the caption and the text state about it, and the figure itself."""

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.induction.head_limits import outside_26
from bridge.induction.phase_times import gram_time
from bridge.induction.phase_ways import too_short, too_wide
from bridge.induction.trajectory import Trajectory, run
from bridge.induction.trends import proofs_hold
from bridge.record import Comparison, Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Study
from symbolic.induction import figure2 as theory
from symbolic.induction import signs
from symbolic.induction.training import FLOWS, check_flow, sigma_init
from symbolic.statements import Kind, Quantity, UsageError

SLACK = 1e-8  # relative: beyond it a float run is taken to exceed a bound
PROVED = {"derived": Verdict.PROVED}
BEYOND = 10  # the figure ends at this many T_III, or T_I if that is later
PHASE_TIMES = ("T_I", "T_o", "T_II", "T_III")
OF_THE_HEAD = ("plateau", "plateau.loss", "overshoot")  # claims that do not depend on L and rest on (26)


class Figure2Case(DirectCase):
    """The run at one point; what it does not reach is undecided."""

    def __init__(self, params: Mapping[str, Any], *, dtype: str, device: str) -> None:
        super().__init__(theory.FIGURE2, params, dtype=dtype, device=device)
        self.values |= {signs.speed: FLOWS[params["flow"]].speed}

    @cached_property
    def trajectory(self) -> Trajectory:
        return trajectory_of(self.params, str(self.params["flow"]))

    @cached_property
    def times(self) -> dict[str, float]:
        """Those that the run reaches."""
        return reached(self.trajectory)

    @cached_property
    def measured(self) -> dict[str, float]:
        """The measured values of the claims, by name; without those that need a time that the run does not reach."""
        found = {
            **self.times,
            "phases": float(1 + self._ends_in_order()),
            "plateau.loss": float(self.ball(theory.LEFT_BY_PLATEAU)),
            "overshoot": self._overshoot(),
        }
        first, observed, second, third = (self.times.get(name) for name in PHASE_TIMES)
        if observed is not None:
            found["left"] = self._left(observed)
        if first is not None:
            found["first"] = self._left(first)
        if second is not None:
            w = float(self.trajectory.at([second]).w[0])
            found |= {"plateau": w / float(self.params["w_star"]), "growth": w / float(self.params["sigma_init"])}
        if first is not None and second is not None:
            found["separation"] = second / first
        if observed is not None and second is not None and third is not None:
            found["plateau.share"] = (second - observed) / (third - observed)
        return found

    def _ends_in_order(self) -> int:
        ends = [self.times.get(name, math.inf) for name in ("T_I", "T_II", "T_III")]
        return sum(a < b for a, b in zip([0.0, *ends], ends, strict=False))

    def _left(self, time: float) -> float:
        """The share of L_IH2 that is left at a time."""
        start, then = self.trajectory.at([0.0, time]).log_L_IH2
        return math.exp(float(then - start))

    def _overshoot(self) -> float:
        """The largest h/h*: at its only turn, which lies between T_o and the end."""
        head, h_star = self.trajectory.head, 1 / (1 + float(self.params["alpha"]))
        taus = np.linspace(float(head.tau_o or 0.0), head.end, 20_000)
        return float(head.at(taus)[1].max() / h_star)

    def rows(self, budget: Budget) -> list[Row]:
        return [self._row(quantity) for quantity in self.result.quantities]

    def _row(self, quantity: Quantity) -> Row:
        measured = self.measured.get(quantity.name)
        if measured is None:
            return self._unreached(quantity)
        if quantity.printed is None:
            return direct_row(self, quantity, {}, measured=measured)
        derived = self._overshoot_above() if quantity.name == "overshoot" else None
        printed = float(self.ball(quantity.printed.bound))
        judged = self._verdict(quantity, printed, measured)
        return direct_row(
            self,
            quantity,
            {"printed": judged, **({} if derived is None else PROVED)},
            printed=printed,
            measured=measured,
            derived=derived,
            remark="; ".join(filter(None, [self._reason(quantity, judged), self._remark(quantity)])),
        )

    def _unreached(self, quantity: Quantity) -> Row:
        missing = ", ".join(name for name in PHASE_TIMES if name not in self.times)
        why = f"{missing} is not reached by t = {plain(self.trajectory.end)}"
        printed = None if quantity.printed is None else float(self.ball(quantity.printed.bound))
        verdict = {} if printed is None else {"printed": Verdict.UNDECIDED}
        return direct_row(self, quantity, verdict, printed=printed, remark=why)

    def _point(self) -> dict[str, Any]:
        return {name: self.params[name] for name in ("L", "alpha", "w_star", "sigma_init")}

    def _beyond(self, quantity: Quantity) -> str:
        """Which explicit condition of the proof that the claim rests on this point fails."""
        if quantity.name in OF_THE_HEAD and (reason := outside_26(float(self.params["w_star"]))):
            return reason
        return (too_wide if quantity.name in OF_THE_HEAD else too_short)(self._point())

    def _reason(self, quantity: Quantity, judged: Verdict) -> str:
        return {
            Verdict.OUTSIDE: self._beyond(quantity),
            Verdict.UNDECIDED: "not so here, but the theorem's 'sufficiently large' gives no size",
        }.get(judged, "")

    def _overshoot_above(self) -> float | None:
        """R(w*), where the proofs by signs apply."""
        small = self.ball(sigma_init) <= self.ball(signs.SIGMA_STAR)
        return float(self.ball(signs.R_TURN)) if small and proofs_hold() else None

    def _verdict(self, quantity: Quantity, printed: float, measured: float) -> Verdict:
        slack = SLACK * max(1.0, abs(printed))
        above, below = measured >= printed - slack, measured <= printed + slack
        kept = {Kind.LOWER: above, Kind.UPPER: below}.get(quantity.kind, above and below)
        exact = quantity.name == "plateau.loss"  # a number of w* alone, known in balls
        return self._not_kept(quantity) if not kept else Verdict.PROVED if exact else Verdict.KEPT

    def _not_kept(self, quantity: Quantity) -> Verdict:
        """The theorem is one of limits: a point outside of its regime refutes nothing, nor does one inside alone."""
        return Verdict.OUTSIDE if self._beyond(quantity) else Verdict.UNDECIDED

    def _remark(self, quantity: Quantity) -> str:
        if quantity.name != "plateau":
            return ""
        early = float(self.params["sigma_init"]) >= float(theory.LEARNT) * float(self.params["w_star"])
        alone = self.measured["plateau.loss"] < float(theory.KEPT)
        return "; ".join(
            words
            for words, holds in (
                ("w starts above 0.01 w* here", early),
                ("T_II is reached by the overshoot of h alone", alone),
            )
            if holds
        )


def reached(trajectory: Trajectory) -> dict[str, float]:
    """The phase times that the run reaches."""
    found = {name: getattr(trajectory, name) for name in PHASE_TIMES}
    return {name: time for name, time in found.items() if time is not None}


def phase_times(trajectory: Trajectory) -> dict[str, float]:
    """All of them. Raises UsageError for one that is not reached."""
    found = reached(trajectory)
    missing = [name for name in PHASE_TIMES if name not in found]
    if missing:
        raise UsageError(f"induction.figure2: {', '.join(missing)} is not reached by t = {plain(trajectory.end)}")
    return found


@lru_cache(maxsize=16)
def _run(L: int, alpha: float, w_star: float, sigma_init: float, flow: str) -> Trajectory:
    """Long enough for T_I and T_III, by their formulas; then cut to BEYOND times the later one.

    T_III by the growth of log w at the plateau, T_I by the orbit out of the saddle (0, 0).
    """
    slowest = FLOWS[flow].speed * w_star**2 / (1 + alpha) ** 2
    taus = 40 + (40 + 3 * math.log(1 / sigma_init)) / slowest
    gram = 2 * gram_time({"L": L, "alpha": alpha, "sigma_init": sigma_init, "w_star": w_star}, "loss") + 100
    long = run(L, alpha, w_star, sigma_init, flow=flow, end=max(taus * (L - 2), gram))
    if long.T_I is None or long.T_III is None:
        return long
    return run(L, alpha, w_star, sigma_init, flow=flow, end=BEYOND * max(long.T_I, long.T_III))


def trajectory_of(params: Mapping[str, Any], flow: str) -> Trajectory:
    return _run(int(params["L"]), *(float(params[name]) for name in ("alpha", "w_star", "sigma_init")), flow)


class Figure2Study(Study):
    """Figure 2, at its own parameters by default."""

    result = theory.FIGURE2
    main_quantity = "plateau"
    fixed = ("flow",)

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> Figure2Case:
        resolved = self.resolved(params)
        check_flow(resolved["flow"], self.result.id)
        return Figure2Case(resolved, dtype=dtype, device=device)

    def figure(self, comparison: Comparison) -> Any:
        from bridge.export.dynamics_plot import draw_dynamics

        points = {repr(row.params) for row in comparison}
        if len(points) != 1:
            raise UsageError(
                f"{self.result.id}: the figure shows one run, and the comparison has {len(points)} points; "
                f"give each parameter one value"
            )
        return draw_dynamics(comparison, comparison.rows[0].params)
