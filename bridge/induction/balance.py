"""The study of parameter balance: what is proved, beside runs of the flow from equal and from unequal starts."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from bridge.balls import as_exact, evaluate_ball
from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.induction.claims import apart
from bridge.lowering import lower
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from symbolic.induction import balance as theory
from symbolic.induction.training import HEAD_FLOW_FULL, HEAD_FLOW_PRINTED, OPTIMA, L, alpha, h, w, w_K, w_Q, w_star
from symbolic.statements import UsageError

RELATIVE, TIMES = 1e-10, 400  # of the run; its accuracy decides what drift means
DRIFT = 1e-6  # a larger drift is not due to rounding
POINT = "rate.point"  # the check that a witness of the rate replays
UNEQUAL = 3.0  # w_Q(0) / w_K(0)


class BalanceCase(DirectCase):
    """One point: the flow of (22) in (w_Q, w_K, h), in the time tau = t / (L-2), run until the head is learnt."""

    def rows(self, budget: Budget) -> list[Row]:
        return [*self._conserved(), self._others(), self._rate()]

    # Runs.

    def run(self, ratio: float) -> np.ndarray:
        """The states (3, TIMES) from w_Q(0) = ratio * w_K(0), w_Q w_K = sigma_init^2, h = sigma_init."""
        sigma = self.params["sigma_init"]
        start = np.array([sigma * math.sqrt(ratio), sigma / math.sqrt(ratio), sigma])
        solved = solve_ivp(
            lambda _, state: self._field(state),
            (0.0, self.end),
            start,
            method="LSODA",
            t_eval=np.linspace(0.0, self.end, TIMES),
            rtol=RELATIVE,
            atol=RELATIVE * start.min(),
        )
        if not solved.success:
            reached = max(solved.t, default=0.0)
            raise UsageError(f"{self.result.id}: the run stopped at tau = {reached:g}: {solved.message}")
        states: np.ndarray = solved.y
        return states

    @cached_property
    def end(self) -> float:
        """A time tau by which the head is learnt: w grows at least at the rate h*^2 v*, first from sigma_init."""
        slowest = self.params["w_star"] ** 2 / (1 + self.params["alpha"]) ** 2
        return (10.0 + math.log(1 / self.params["sigma_init"])) / slowest + 10.0

    @cached_property
    def _lowered(self) -> Any:
        rates = [rate.subs(OPTIMA) for rate in HEAD_FLOW_FULL.slowed(L - 2).field]
        return [lower(rate, "numpy", args=(w_Q, w_K, h, alpha, w_star)) for rate in rates]

    def _field(self, state: np.ndarray) -> np.ndarray:
        at = (*state, self.params["alpha"], self.params["w_star"])
        return np.array([float(rate(*at)) for rate in self._lowered])

    @property
    def outside(self) -> str:
        sigma = self.params["sigma_init"]
        return f"the loss is infinite at the start: 4 sigma_init^4 = {plain(4 * sigma**4)}" if 4 * sigma**4 >= 1 else ""

    # Rows.

    def _conserved(self) -> list[Row]:
        proof = theory.balance_of_any_loss() and theory.BALANCE_OF in theory.found_balance()
        every = (
            "proved for every loss in w_Q w_K and h, that of the true softmax too; found among all polynomials of "
            f"degree {theory.DEGREE} or less"
        )
        same = "w_Q = w_K is invariant under the flow"
        equal, unequal = (None if self.outside else self.run(ratio) for ratio in (1.0, UNEQUAL))
        return [
            self._kept("balance", proof, every, equal, lambda q, k: abs(q**2 - k**2).max()),
            self._kept("equal", proof and theory.diagonal_is_invariant(), same, equal, lambda q, k: abs(q - k).max()),
            self._kept("drift", proof, every, unequal, lambda q, k: np.ptp(q**2 - k**2)),
        ]

    def _kept(self, name: str, proof: bool, why: str, run: np.ndarray | None, size: Any) -> Row:
        """A quantity that is 0 by proof, and its size in a run."""
        measured = None if run is None else float(size(*run[:2]))
        strays = measured is not None and measured > DRIFT
        verdict = Verdict.PROVED if proof and not strays else Verdict.UNDECIDED
        remarks = [why] if proof else []
        remarks += [f"the run strays by more than its accuracy, {plain(DRIFT)}"] if strays else []
        remarks += [f"no run: {self.outside}"] if self.outside else []
        return direct_row(
            self,
            self.result.quantity(name),
            {"printed": verdict, "derived": verdict},
            printed=0.0,
            derived=0.0,
            measured=measured,
            remark="; ".join(remarks),
        )

    def _others(self) -> Row:
        found = len(theory.found_balance()) - 1
        how = "by the rank of the rates at random points in 60 digits"
        quantity = self.result.quantity("others")
        return direct_row(self, quantity, {"derived": Verdict.KEPT}, derived=float(found), remark=how)

    def _rate(self) -> Row:
        at = [self.params["w_star"] / 2, 1 / (1 + self.params["alpha"])]
        inputs = {"w": [at[0]], "h": [at[1]]}
        row = self._rate_at(at[0], at[1])
        row.witness = Witness(
            result=self.result.id,
            quantity=POINT,
            params=self.full_params,
            inputs=inputs,
            error_lower=2.0,
            bounds={"printed": 1.0},
        )
        return row

    def _rate_at(self, w_at: float, h_at: float) -> Row:
        """Printed and true rate at one exact point, enclosed; measured by a short run from there."""
        printed, true = (self._enclosed(rate, w_at, h_at) for rate in (HEAD_FLOW_PRINTED.rate(w), self._true_rate))
        ratio = printed / true
        refuted = not ratio.contains(1) and ratio.is_finite()
        proved = theory.rate_ratio() == 2 and ratio.contains(2)
        rates = apart(float(printed), float(true))
        return direct_row(
            self,
            self.result.quantity("rate"),
            {
                "printed": Verdict.VIOLATED if refuted else Verdict.UNDECIDED,
                "derived": Verdict.PROVED if proved else Verdict.UNDECIDED,
            },
            printed=1.0,
            derived=float(theory.rate_ratio()),
            measured=float(printed) / seen if (seen := self._measured_rate(w_at, h_at)) else None,
            remark=f"at w = {plain(w_at)}, h = {plain(h_at)}: printed {rates[0]}, by (12) {rates[1]}, per unit of t",
        )

    @property
    def _true_rate(self) -> Any:
        return HEAD_FLOW_FULL.rate(w_Q).subs({w_Q: w, w_K: w})

    def _enclosed(self, rate: Any, w_at: float, h_at: float) -> Any:
        exact = {**self.values, w: w_at, h: h_at}
        used = rate.subs(OPTIMA)
        return evaluate_ball(used, {s: as_exact(value) for s, value in exact.items() if s in used.free_symbols})

    def _measured_rate(self, w_at: float, h_at: float) -> float:
        """dw_Q/dt per unit of t from a run over a short time each way."""
        short = 1e-3
        ends = [
            solve_ivp(
                lambda _, state, sign=sign: sign * self._field(state),
                (0.0, short),
                np.array([w_at, w_at, h_at]),
                method="DOP853",
                rtol=1e-12,
                atol=1e-14,
            ).y[0, -1]
            for sign in (1.0, -1.0)
        ]
        return float((ends[0] - ends[1]) / (2 * short) / (self.params["L"] - 2))

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name != POINT:
            return super().replay_check(name, inputs)
        given = {key: value.flatten().tolist() for key, value in inputs.items()}
        if set(given) != {"w", "h"} or any(len(value) != 1 for value in given.values()):
            raise UsageError(f"{self.result.id}: '{POINT}' takes one w and one h")
        w_at, h_at = float(given["w"][0]), float(given["h"][0])
        if not (w_at > 0 and 4 * w_at**4 < 1 and h_at > 0):
            raise UsageError(
                f"{self.result.id}: '{POINT}' needs w > 0, 4 w^4 < 1 and h > 0, not w = {w_at}, h = {h_at}"
            )
        return self._rate_at(w_at, h_at)


class BalanceStudy(Study):
    """Lemma 5.4 at one point of the grid."""

    result = theory.BALANCE
    main_quantity = "balance"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> BalanceCase:
        return BalanceCase(self.result, self.resolved(params), dtype=dtype, device=device)
