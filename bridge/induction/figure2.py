"""The study of Figure 2: its run, what the caption and the text say of it, and the figure itself."""

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bridge.budget import Budget
from bridge.induction.trajectory import Trajectory, run
from bridge.induction.trends import proofs_hold
from bridge.record import Comparison, Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from symbolic.induction import figure2 as theory
from symbolic.induction import signs
from symbolic.induction.training import sigma_init
from symbolic.statements import Kind, Quantity, UsageError

SLACK = 1e-8  # relative: beyond it a float run is taken to exceed a bound
RUN = ".run"  # a witness of this name is the whole run
PROVED = {"derived": Verdict.PROVED}
BEYOND = 10  # the figure ends at this many T_III


class Figure2Case(DirectCase):
    """The run at one point. Raises UsageError where it does not reach T_III."""

    def __init__(self, params: Mapping[str, Any], *, dtype: str, device: str) -> None:
        super().__init__(theory.FIGURE2, params, dtype=dtype, device=device)
        self.values |= {signs.speed: signs.FLOWS[params["flow"]][1]}

    @cached_property
    def trajectory(self) -> Trajectory:
        return trajectory_of(self.params, str(self.params["flow"]))

    @cached_property
    def times(self) -> dict[str, float]:
        return phase_times(self.trajectory)

    @cached_property
    def measured(self) -> dict[str, float]:
        """What the claims speak of, by name."""
        at = self.trajectory.at
        first, ends = self.times["T_I"], [self.times[name] for name in ("T_I", "T_II", "T_III")]
        w_star = float(self.params["w_star"])
        seen = (0.0, first, self.times["T_o"], self.times["T_II"])
        start, learnt, observed, plateau = (at([time]) for time in seen)
        w = float(plateau.w[0])
        emergence = self.times["T_III"] - self.times["T_o"]
        return {
            **self.times,
            "left": math.exp(float(observed.log_L_IH2[0] - start.log_L_IH2[0])),
            "first": math.exp(float(learnt.log_L_IH2[0] - start.log_L_IH2[0])),
            "phases": float(1 + sum(a < b for a, b in zip([0.0, *ends], ends, strict=False))),
            "separation": self.times["T_II"] / first,
            "plateau": w / w_star,
            "plateau.share": (self.times["T_II"] - self.times["T_o"]) / emergence,
            "plateau.loss": float(self.ball(theory.LEFT_BY_PLATEAU)),
            "growth": w / float(self.params["sigma_init"]),
            "overshoot": self._overshoot(),
        }

    def _overshoot(self) -> float:
        """The largest h/h*: at its only turn, which lies between T_o and the end."""
        head, h_star = self.trajectory.head, 1 / (1 + float(self.params["alpha"]))
        taus = np.linspace(float(head.tau_o or 0.0), head.end, 20_000)
        return float(head.at(taus)[1].max() / h_star)

    def rows(self, budget: Budget) -> list[Row]:
        return [self._row(quantity) for quantity in self.result.quantities]

    def _row(self, quantity: Quantity) -> Row:
        measured = self.measured[quantity.name]
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
            remark=self._said(quantity),
            witness=self._witness(quantity, printed, measured) if judged is Verdict.VIOLATED else None,
        )

    def _witness(self, quantity: Quantity, printed: float, measured: float) -> Witness:
        """The run itself: it is made again from the parameters."""
        return Witness(
            result=self.result.id,
            quantity=f"{quantity.name}{RUN}",
            params=self.full_params,
            inputs={},
            error_lower=measured,
            bounds={"printed": printed},
        )

    def replay_finding(self, name: str, inputs: Inputs) -> Row:
        stated = name.removesuffix(RUN)
        if stated == name or stated not in {quantity.name for quantity in self.result.quantities}:
            return super().replay_finding(name, inputs)
        self.check_inputs(inputs)
        return self._row(self.result.quantity(stated))

    def _overshoot_above(self) -> float | None:
        """R(w*), where the proofs by signs speak."""
        small = self.ball(sigma_init) <= self.ball(signs.SIGMA_STAR)
        return float(self.ball(signs.R_TURN)) if small and proofs_hold() else None

    def _verdict(self, quantity: Quantity, printed: float, measured: float) -> Verdict:
        slack = SLACK * max(1.0, abs(printed))
        above, below = measured >= printed - slack, measured <= printed + slack
        kept = {Kind.LOWER: above, Kind.UPPER: below}.get(quantity.kind, above and below)
        exact = quantity.name == "plateau.loss"  # a number of w* alone, known in balls
        return Verdict.VIOLATED if not kept else Verdict.PROVED if exact else Verdict.KEPT

    def _said(self, quantity: Quantity) -> str:
        if quantity.name != "plateau":
            return ""
        early = float(self.params["sigma_init"]) >= float(theory.LEARNT) * float(self.params["w_star"])
        alone = self.measured["plateau.loss"] < float(theory.KEPT)
        return "; ".join(
            said
            for said, so in (("w starts above 0.01 w* here", early), ("T_II comes by the overshoot of h alone", alone))
            if so
        )


def phase_times(trajectory: Trajectory) -> dict[str, float]:
    found = {name: getattr(trajectory, name) for name in ("T_I", "T_o", "T_II", "T_III")}
    missing = [name for name, time in found.items() if time is None]
    if missing:
        raise UsageError(f"induction.figure2: {', '.join(missing)} is not reached by t = {trajectory.end:g}")
    return found


@lru_cache(maxsize=16)
def _run(L: int, alpha: float, w_star: float, sigma_init: float, flow: str) -> Trajectory:
    """Long enough for T_III, by the growth of log w at the plateau; then cut to BEYOND times T_III."""
    slowest = signs.FLOWS[flow][1] * w_star**2 / (1 + alpha) ** 2
    taus = 40 + (40 + 3 * math.log(1 / sigma_init)) / slowest
    long = run(L, alpha, w_star, sigma_init, flow=flow, end=taus * (L - 2))
    return long if long.T_III is None else run(L, alpha, w_star, sigma_init, flow=flow, end=BEYOND * long.T_III)


def trajectory_of(params: Mapping[str, Any], flow: str) -> Trajectory:
    return _run(int(params["L"]), *(float(params[name]) for name in ("alpha", "w_star", "sigma_init")), flow)


class Figure2Study(Study):
    """Figure 2, at its own parameters by default."""

    result = theory.FIGURE2
    main_quantity = "plateau"
    fixed = ("flow",)

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> Figure2Case:
        known = {p.name: params.get(p.name, p.default) for p in self.result.parameters}
        numbers = {n: self.result.number(n, x) for n, x in known.items() if self.result.parameter(n).symbol is not None}
        if known["flow"] not in signs.FLOWS:
            raise UsageError(
                f"{self.result.id}: flow = {known['flow']!r} is not known; choose one of {', '.join(signs.FLOWS)}"
            )
        self.result.check(numbers)
        return Figure2Case({**numbers, "flow": known["flow"]}, dtype=dtype, device=device)

    def figure(self, comparison: Comparison) -> Any:
        from bridge.export.dynamics_plot import draw_dynamics

        points = {repr(row.params) for row in comparison}
        if len(points) != 1:
            raise UsageError(
                f"{self.result.id}: the figure shows one run, and the comparison has {len(points)} points; "
                f"give each parameter one value"
            )
        return draw_dynamics(comparison, comparison.rows[0].params)
