"""The study of Theorem 5.5 (wang2024): the phase times of a run, their leading constants, a verdict on each Theta."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bridge.budget import Budget
from bridge.induction.phase_claims import Claim, claims_at
from bridge.induction.phase_runs import head_left, head_left_derived, length_needed
from bridge.induction.theta import Direction, Point, confirmed, judged, sampled, told
from bridge.record import Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Study
from symbolic.induction import coordinates, phases
from symbolic.induction.phases import PHASES
from symbolic.statements import Quantity, UsageError


class PhasesCase(DirectCase):
    """One point, with either flow."""

    def rows(self, budget: Budget) -> list[Row]:
        point = {name: self.params[name] for name in ("L", "alpha", "w_star", "sigma_init")}
        claims = claims_at(point, str(self.params["flow"]))
        rows = []
        for claim in claims:
            rows += [self._at_the_point(claim, point)] if claim.timeless else []
            rows += self._along(claim)
        return [*rows, *self._head_at_T_I(point)]

    def _quantity(self, name: str, construction: str) -> Quantity:
        return replace(self.result.quantity(name), construction=construction)

    def _at_the_point(self, claim: Claim, point: Point) -> Row:
        (sample,) = sampled(Direction("", (point,), math.nan), claim.measure, claim.derive, claim.express)
        quantity = self._quantity(claim.quantity, "at this point")
        if sample.measured is None:
            why = "not reached: the start is no small one here (h > h* or w > w*), and the phases are others"
            return direct_row(self, quantity, {"derived": Verdict.OUTSIDE}, printed=sample.expression, remark=why)
        verdict = Verdict.CONSISTENT if confirmed(sample) else Verdict.UNDECIDED
        return direct_row(
            self,
            quantity,
            {"derived": verdict},
            printed=sample.expression,
            derived=sample.derived,
            measured=sample.measured,
            remark="; ".join(filter(None, [claim.remark, "a Theta says nothing at one point"])),
        )

    def _along(self, claim: Claim) -> list[Row]:
        rows = []
        for direction in claim.directions:
            samples = sampled(direction, claim.measure, claim.derive, claim.express)
            last = samples[-1]
            verdict = judged(samples, direction.limit, above=claim.above, below=claim.below)
            rows.append(
                direct_row(
                    self,
                    self._quantity(claim.quantity, direction.name),
                    {"printed": verdict, "derived": Verdict.CONSISTENT if confirmed(last) else Verdict.UNDECIDED},
                    printed=last.expression,
                    derived=last.derived,
                    measured=last.measured,
                    remark="; ".join(
                        filter(None, [told(samples, direction.limit), "" if claim.timeless else claim.remark])
                    ),
                    params={**self.params, **last.point},
                )
            )
        return rows

    def _head_at_T_I(self, point: Point) -> list[Row]:
        """L_IH2(T_I) >= 0.99 L_IH2(0): at the very point, and as L grows (the theorem's L >> 1)."""
        flow, threshold = str(self.params["flow"]), float(phases.KEPT)
        longer = [{**point, "L": length} for length in (10**3, 10**5, 10**7)]
        left = [head_left(at, flow) for at in longer]
        needed = f"by the derived formula 0.99 is left from L = {length_needed(point):.3g} on"
        along = Verdict.CONSISTENT if left[-1] >= threshold else Verdict.UNDECIDED
        told_along = f"left at L = 1e3, 1e5, 1e7: {' '.join(f'{x:.4g}' for x in left)}, derived limit 1; {needed}"
        here = head_left(point, flow)
        at_the_point = Verdict.KEPT if here >= threshold else Verdict.VIOLATED
        return [
            self._left_row("at this point", point, here, at_the_point, needed),
            self._left_row("L -> oo", longer[-1], left[-1], along, told_along),
        ]

    def _left_row(self, where: str, point: Point, left: float, verdict: Verdict, remark: str) -> Row:
        return direct_row(
            self,
            self._quantity("T_I.head", where),
            {"printed": verdict},
            printed=float(phases.KEPT),
            derived=head_left_derived(point),
            measured=left,
            remark=remark,
            params={**self.params, **point},
        )


class PhasesStudy(Study):
    """Theorem 5.5: see `PhasesCase`."""

    def __init__(self) -> None:
        self.result = PHASES
        self.main_quantity = "T_III"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> PhasesCase:
        self.result.check_names(params)
        given = {parameter.name: params.get(parameter.name, parameter.default) for parameter in self.result.parameters}
        flow = given.pop("flow")
        if flow not in coordinates.FLOWS:
            raise UsageError(
                f"{self.result.id}: flow = {flow!r} is not known; choose {' or '.join(coordinates.FLOWS)}."
            )
        resolved = {name: self.result.number(name, value) for name, value in given.items()}
        self.result.check(resolved)
        return PhasesCase(self.result, {**resolved, "flow": flow}, dtype=dtype, device=device)
