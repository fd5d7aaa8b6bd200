"""The study of Theorem 5.5 (wang2024): the phase times of a run, their leading constants, a verdict on each Theta."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp

from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.induction import phase_times as times
from bridge.induction.phase_claims import claims_at
from bridge.induction.phase_runs import head_left, head_left_derived, length_needed
from bridge.induction.phase_ways import LENGTHS, Claim, too_short
from bridge.induction.theta import Direction, Point, confirmed, describe, judged, sampled
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from symbolic.induction import phases
from symbolic.induction.phase_statement import M_INVERSE, M_INVERSE_PRINTED, PHASES
from symbolic.induction.phases import p
from symbolic.induction.training import check_flow
from symbolic.statements import Quantity


class PhasesCase(DirectCase):
    """One point, with either flow."""

    def rows(self, budget: Budget) -> list[Row]:
        point = self._point()
        rows = [self._inverse()]
        for claim in claims_at(point, str(self.params["flow"])):
            rows += [self._at_the_point(claim, point)] if claim.pointwise else []
            rows += [self._along(claim, direction) for direction in claim.directions]
        return [*rows, *self._head_at_T_I(point)]

    def _inverse(self) -> Row:
        """1/M(p) as C.1 expands it, against 1/M(p), in balls."""
        at = {p: sp.Rational(*float(self.params["sigma_init"]).as_integer_ratio())}
        printed, derived = (self.ball(each.subs(at)) for each in (M_INVERSE_PRINTED, M_INVERSE))
        apart = bool(printed - derived > 0) or bool(derived - printed > 0)
        witness = Witness(
            result=self.result.id,
            quantity="M.inverse",
            params=self.full_params,
            inputs={},
            error_lower=float(derived),
            bounds={"printed": float(printed)},
        )
        return direct_row(
            self,
            self.result.quantity("M.inverse"),
            {"printed": Verdict.VIOLATED if apart else Verdict.UNDECIDED, "derived": Verdict.PROVED},
            printed=float(printed),
            derived=float(derived),
            measured=float(derived),
            witness=witness if apart else None,
        )

    def _quantity(self, name: str, construction: str) -> Quantity:
        return replace(self.result.quantity(name), construction=construction)

    def _at_the_point(self, claim: Claim, point: Point) -> Row:
        (sample,) = sampled(Direction("", (point,), math.nan), claim.measure, claim.derived, claim.express)
        quantity = self._quantity(claim.quantity, claim.where("at this point"))
        if sample.measured is None:
            why = "hypothesis of a small start is not met: h > h* or w > w* at the start, so that the phases differ"
            return direct_row(self, quantity, {"derived": Verdict.OUTSIDE}, printed=sample.expression, remark=why)
        verdict = Verdict.CONSISTENT if confirmed(sample) else Verdict.UNDECIDED
        return direct_row(
            self,
            quantity,
            {} if sample.derived is None else {"derived": verdict},
            printed=sample.expression,
            derived=sample.derived,
            measured=sample.measured,
            remark="; ".join(
                filter(None, [claim.remark, claim.not_applicable(point), "a Theta cannot be judged at one point"])
            ),
        )

    def _along(self, claim: Claim, direction: Direction) -> Row:
        samples = sampled(direction, claim.measure, claim.derived, claim.express)
        last = samples[-1]
        verdict = judged(samples, direction.limit, above=claim.above, below=claim.below)
        beyond = direction.outside or (claim.outside(last.point) if verdict is Verdict.VIOLATED else "")
        if beyond:
            verdict = Verdict.OUTSIDE
        found, where = describe(samples, direction.limit), claim.where(direction.name)
        remarks = [beyond, found, claim.not_applicable(last.point), "" if claim.pointwise else claim.remark]
        confirms = Verdict.CONSISTENT if confirmed(last) else Verdict.UNDECIDED
        return direct_row(
            self,
            self._quantity(claim.quantity, where),
            {"printed": verdict, **({} if last.derived is None else {"derived": confirms})},
            printed=last.expression,
            derived=last.derived,
            measured=last.measured,
            remark="; ".join(filter(None, remarks)),
            params={**self.params, **last.point},
            witness=self._witness(claim.quantity, where, last.measured, last.expression, verdict),
        )

    def _witness(
        self, quantity: str, where: str, measured: float | None, printed: float, verdict: Verdict
    ) -> Witness | None:
        """Of a violated row: its name and parameters, from which the runs along that direction are made again."""
        if verdict is not Verdict.VIOLATED:
            return None
        return Witness(
            result=self.result.id,
            quantity=_named(quantity, where),
            params=self.full_params,
            inputs={},
            error_lower=measured or 0.0,
            bounds={"printed": printed},
        )

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        """The runs along one direction again, from scratch."""
        self.check_inputs(inputs)
        if name == "M.inverse":
            return self._inverse()
        point = self._point()
        for claim in claims_at(point, str(self.params["flow"])):
            for direction in claim.directions:
                if name == _named(claim.quantity, claim.where(direction.name)):
                    return self._along(claim, direction)
        again = {_named(row.quantity, row.construction): row for row in self._head_at_T_I(point)}
        return again[name] if name in again else super().replay_check(name, inputs)

    def _point(self) -> Point:
        return {name: self.params[name] for name in ("L", "alpha", "w_star", "sigma_init")}

    def _head_at_T_I(self, point: Point) -> list[Row]:
        """L_IH2(T_I) >= 0.99 L_IH2(0): at this point, and as L grows (the theorem's L >> 1)."""
        flow, threshold = str(self.params["flow"]), float(phases.KEPT)
        longer = [{**point, "L": length} for length in LENGTHS]
        left = [head_left(at, flow) for at in longer]
        no_formula = times.gram_start(longer[-1]) or times.head_start(point)
        needed = no_formula or f"by the derived formula at least 0.99 is left for L >= {plain(length_needed(point))}"
        along = Verdict.CONSISTENT if left[-1] >= threshold else Verdict.UNDECIDED
        shares = f"left at L = 1e3, 1e5, 1e7: {' '.join(map(plain, left))}, derived limit 1; {needed}"
        here = head_left(point, flow)
        at_the_point, why = self._kept_at(point, here)
        return [
            self._left_row("at this point", point, here, at_the_point, "; ".join(filter(None, [why, needed]))),
            self._left_row("L -> oo", longer[-1], left[-1], along, shares),
        ]

    @staticmethod
    def _kept_at(point: Point, left: float) -> tuple[Verdict, str]:
        """The theorem's L >> 1 names no length: at one point it is kept or not, and never refuted."""
        if left >= float(phases.KEPT):
            return Verdict.KEPT, ""
        beyond = too_short(point)
        if beyond:
            return Verdict.OUTSIDE, beyond
        return Verdict.UNDECIDED, "less than 0.99 is left here, but the theorem's L >> 1 names no length"

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
            witness=self._witness("T_I.head", where, left, float(phases.KEPT), verdict),
        )


def _named(quantity: str, where: str) -> str:
    return f"{quantity} ({where})"


class PhasesStudy(Study):
    """Theorem 5.5: see `PhasesCase`."""

    def __init__(self) -> None:
        self.result = PHASES
        self.main_quantity = "T_III"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> PhasesCase:
        resolved = self.resolved(params)
        check_flow(resolved["flow"], self.result.id)
        return PhasesCase(self.result, resolved, dtype=dtype, device=device)
