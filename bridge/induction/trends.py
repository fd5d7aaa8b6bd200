"""The study of C.2, Part I and II: the bounds (23) to (29) along the flow, and proofs of what holds for every start.

Letters: eta = h/h*, tau = t/(L-2); `speed` is 1 on the flow (12), 2 on the paper's.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp

from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.induction.head_limits import limit_quantity, limit_row, outside_26, scaling_row, threshold_row, time_of
from bridge.induction.head_path import NOISE, SLACK, HeadPath, UnreachedError
from bridge.induction.phase_ways import too_wide
from bridge.lowering import lower
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.integration_error import IntegrationError
from symbolic.induction import head_limits, signs
from symbolic.induction import trends as theory
from symbolic.induction.training import FLOWS, check_flow, sigma_init, t, w_star
from symbolic.statements import Kind, Quantity

FROM_27 = ("w.rate.above", "T_half", "T_half.simple")  # (27) and what C.2 concludes from it
RUN = ".run"  # a witness of this name is the whole run, made again from the parameters


@dataclass(frozen=True)
class Unmeasured:
    """Why a claim is not measured here: it does not apply (outside), or the run cannot show it (undecided)."""

    reason: str
    verdict: Verdict = Verdict.OUTSIDE


proofs_hold = cache(signs.proofs_hold)


@lru_cache(maxsize=64)
def _path(alpha: float, w_star: float, sigma_init: float, flow: str) -> HeadPath | UnreachedError:
    try:
        return HeadPath({"alpha": alpha, "w_star": w_star, "sigma_init": sigma_init, "flow": flow})
    except IntegrationError as error:
        return UnreachedError(str(error))


class TrendsCase(DirectCase):
    """(P1.1) to (29) along one flow."""

    def __init__(self, params: Mapping[str, Any], *, dtype: str, device: str) -> None:
        super().__init__(theory.TRENDS, params, dtype=dtype, device=device)
        self.values |= {signs.speed: FLOWS[params["flow"]].speed}
        self.tau_unit = float(params["L"]) - 2

    @cached_property
    def path(self) -> HeadPath:
        """Raises UnreachedError where the flow cannot be followed."""
        found = _path(*(self.params[name] for name in ("alpha", "w_star", "sigma_init")), str(self.params["flow"]))
        if isinstance(found, UnreachedError):
            raise found
        return found

    @cached_property
    def small_enough(self) -> bool:
        """Whether sigma_init is at most sigma_star, up to which the proofs apply, and all their facts are proved."""
        return proofs_hold() and bool(self.ball(sigma_init) <= self.ball(signs.SIGMA_STAR))

    def rows(self, budget: Budget) -> list[Row]:
        return [self.claim_row(quantity) for quantity in self.result.quantities]

    # Measured along the run, by the name of the claim.

    def measure(self, name: str) -> float | Unmeasured:
        try:
            return self._measured(name)
        except UnreachedError as error:
            return Unmeasured(str(error), Verdict.UNDECIDED)

    def _measured(self, name: str) -> float | Unmeasured:
        path = self.path
        found: dict[str, Callable[[], float | Unmeasured]] = {
            "h.optimum": lambda: float(path.late().min()),
            "w.optimum": lambda: float(np.exp(path.along[0].max() - path.way)),
            "w.growth": path.least_growth,
            "h.turns": lambda: float(path.turns()),
            "w.turn": lambda: path.at_turn()[0],
            "w.turn.half": lambda: path.at_turn()[0] / path.w_star,
            "h.turn": lambda: path.at_turn()[1],
            "h.overshoot": lambda: float(path.late().max()),
            "h.ramp": self._ramp,
            "h.ramp.repaired": self._repaired_ramp,
            "T_1": lambda: path.tau_1 * self.tau_unit,
            "T_1.simple": lambda: path.tau_1 * self.tau_unit,
            "w.rate.above": lambda: float(path.mean_growth[1].max()),
            "T_half": lambda: path.tau_half * self.tau_unit,
            "T_half.simple": lambda: path.tau_half * self.tau_unit,
            "w.rate.below": lambda: float(path.mean_growth[1].min()),
        }
        return found[name]()

    def _ramp(self) -> float | Unmeasured:
        path = self.path
        small = math.log(float(signs.LEAST)) + path.way
        if small <= 0:
            return Unmeasured(
                "hypothesis w <= 0.01 w* of (24) is not met at any t: sigma_init > 0.01 w*, and w increases"
            )
        end = path.first(lambda gain, _: gain - small) or path.run.end
        # (24) asks for h below its plateau, which is 10^-8 below psi(v*) h*: reached after the last time that counts
        plateau = float(self.ball((theory.PLATEAU - 1) / w_star**4))
        return path.above(self._of_time(theory.H_RAMP), min(end, path.first(lambda _, rise: rise - plateau) or end))

    def _repaired_ramp(self) -> float:
        path = self.path
        far = path.first(lambda gain, _: gain - path.way + math.log(2) / 2)
        return path.above(self._of_time(signs.ETA_BELOW), min(path.tau_1, far or math.inf))

    def _of_time(self, expression: sp.Expr) -> Callable[[np.ndarray], np.ndarray]:
        """An expression as a function of tau, the parameters bound."""
        symbols = tuple(self.values)
        function = lower(expression, args=(t, *symbols))
        numbers = [float(self.values[symbol]) for symbol in symbols]
        return lambda taus: np.asarray(function(taus * self.tau_unit, *numbers))

    # Judged.

    def claim_row(self, quantity: Quantity) -> Row:
        measured = self.measure(quantity.name)
        bounds = self.bounds(quantity)
        if isinstance(measured, Unmeasured):
            verdict = dict.fromkeys(bounds, measured.verdict)
            printed, derived = bounds.get("printed"), bounds.get("derived")
            return direct_row(self, quantity, verdict, printed=printed, derived=derived, remark=measured.reason)
        verdict = {tier: self.verdict(quantity, tier, bound, measured) for tier, bound in bounds.items()}
        violated = Verdict.VIOLATED in verdict.values()
        return direct_row(
            self,
            quantity,
            verdict,
            printed=bounds.get("printed"),
            derived=bounds.get("derived"),
            measured=measured,
            witness=self._witness(quantity, measured, bounds) if violated else None,
            remark="; ".join(filter(None, [self._condition(quantity, verdict.get("printed")), self._since(quantity)])),
        )

    def _condition(self, quantity: Quantity, printed: Verdict | None) -> str:
        """Why the printed bound is not judged, or nothing is derived."""
        if printed is Verdict.OUTSIDE:
            return self.beyond(quantity)
        return "" if self.small_enough else self._too_large_a_start()

    def _too_large_a_start(self) -> str:
        start, limit = (plain(float(self.ball(each))) for each in (sigma_init, signs.SIGMA_STAR))
        return f"the proofs need sigma_init <= sigma_star = {limit}; here sigma_init = {start}"

    def beyond(self, quantity: Quantity) -> str:
        """Which condition that C.2 states for this bound the point fails; "" where it fails none."""
        star, sigma = float(self.params["w_star"]), float(self.params["sigma_init"])
        if quantity.name == "h.overshoot" and (reason := outside_26(star)):
            return reason
        if quantity.name in FROM_27 and self.params["alpha"] < 1:
            return f"hypothesis alpha* > 1 of C.1 is not met: here alpha* = {plain(float(self.params['alpha']))}"
        if reason := too_wide(self.params):
            return reason
        if not self.small_enough:
            return self._too_large_a_start()
        if self._w_at_optimum() > signs.LEAST:
            share = plain(self._w_at_optimum())
            return f"hypothesis sigma_init << 1 of C.2 is not met: C.2 needs w <= 0.01 w* at T_1^h; here w = {share} w*"
        if quantity.name == "T_half.simple" and 3 * math.log(sigma) > 4 * math.log(star / 2):
            return (
                "hypothesis sigma_init << w* of (28) is not met: "
                "(28) needs log(1/sigma_init)/4 <= log(w*/(2 sigma_init))"
            )
        return ""

    def _w_at_optimum(self) -> float:
        """w/w* where h = h*, T_1^h."""
        gain = self.path.states(np.array([self.path.tau_1]))[0]
        return float(np.exp(gain[0] - self.path.way))

    def _since(self, quantity: Quantity) -> str:
        """From when on (29) holds, if it ever does before T_1/2^w."""
        if quantity.name != "w.rate.below" or quantity.printed is None:
            return ""
        taus, growth = self.path.mean_growth
        short = taus[growth < float(self.ball(quantity.printed.bound))]
        end = f"T_1/2^w = {plain(self.path.tau_half)} (L-2)"
        if len(short) == len(taus):
            return f"(29) fails at every t before {end}"
        return f"(29) fails before t = {plain(short[-1])} (L-2) and holds from then until {end}" if len(short) else ""

    def bounds(self, quantity: Quantity) -> dict[str, float]:
        found = {}
        if quantity.printed is not None:
            found["printed"] = float(self.ball(quantity.printed.bound))
        if quantity.closed_form is not None and self.small_enough:
            found["derived"] = float(self.ball(quantity.closed_form))
        return found

    def verdict(self, quantity: Quantity, tier: str, bound: float, measured: float) -> Verdict:
        kept = _kept(quantity.kind, bound, measured, self._slack(quantity, bound))
        proved = tier == "derived" or ("derived" in self.bounds(quantity) and self._implied(quantity))
        if proved and not kept:
            raise RuntimeError(f"{quantity.name} = {measured} is proved to keep {bound}, and does not at {self.params}")
        if proved or kept:
            return Verdict.PROVED if proved else Verdict.KEPT
        return Verdict.OUTSIDE if self.beyond(quantity) else Verdict.VIOLATED

    def _slack(self, quantity: Quantity, bound: float) -> float:
        """What a float run may err by: relative to the size of what is judged, h/h* - 1 where a claim is about that."""
        name = quantity.name
        if name in ("h.optimum", "h.turn", "h.overshoot"):
            return SLACK * self.path.crest * self.path.v_star**2 + 1e-15
        if name == "w.growth":
            return SLACK * self.path.slowest
        return SLACK * abs(bound) + (self.tau_unit * NOISE if name.startswith("T_1") else 0.0)

    def _implied(self, quantity: Quantity) -> bool:
        """Whether the derived bound, which is proved, is at least as strong as the printed one."""
        assert quantity.printed is not None
        derived, printed = quantity.closed_form, quantity.printed.bound
        if derived == printed:
            return True
        excess = self.ball(derived - printed)
        return bool(excess > 0 if quantity.kind is Kind.LOWER else excess < 0)

    def _witness(self, quantity: Quantity, measured: float, bounds: dict[str, float]) -> Witness:
        return Witness(
            result=self.result.id,
            quantity=f"{quantity.name}{RUN}",
            params=self.full_params,
            inputs={},
            error_lower=measured,
            bounds=bounds,
        )

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        limits = {limit.name: limit for limit in head_limits.LIMITS}
        if name in limits:
            return limit_row(self, limits[name], time_of(inputs))
        if name in head_limits.CLAIMS:
            return threshold_row(self, name)
        stated = name.removesuffix(RUN)
        if stated == name or stated not in {quantity.name for quantity in self.result.quantities}:
            return super().replay_check(name, inputs)
        self.check_inputs(inputs)
        return self.claim_row(self.result.quantity(stated))


def _kept(kind: Kind, bound: float, measured: float, slack: float) -> bool:
    if kind is Kind.EXACT:
        return abs(measured - bound) <= slack
    return measured >= bound - slack if kind is Kind.LOWER else measured <= bound + slack


class TrendsStudy(Study):
    """C.2 Part I and II: see `TrendsCase`."""

    result = theory.TRENDS
    main_quantity = "h.overshoot"
    fixed = ("flow",)

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> TrendsCase:
        resolved = self.resolved(params)
        check_flow(resolved["flow"], self.result.id)
        return TrendsCase(resolved, dtype=dtype, device=device)

    def refutable(self) -> tuple[Quantity, ...]:
        """Of (29) the limit comes first: a run shows the mean growth at its start, where it is nearly 0."""
        of_checks = (*map(limit_quantity, head_limits.LIMITS), *map(head_limits.threshold_quantity, head_limits.CLAIMS))
        found = (*super().refutable(), *(quantity for quantity in of_checks if quantity.erratum is not None))
        return tuple(sorted(found, key=lambda quantity: quantity.name != "w.rate.below.limit"))

    def checks(self) -> list[Row]:
        rows = []
        for limit in head_limits.LIMITS:
            case = self.case(limit.params, seed=0, dtype="float64", device="cpu")
            rows.append(limit_row(case, limit, float(case.ball(limit.time))))
        defaults = self.case({"flow": "true"}, seed=0, dtype="float64", device="cpu")
        return [*rows, scaling_row(defaults)] + [threshold_row(defaults, claim) for claim in head_limits.CLAIMS]
