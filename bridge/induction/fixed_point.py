"""The study of the fixed points: each one with its eigenvalues, and the paper's statements about them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.induction.claims import exact_number
from bridge.lowering import lower
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from symbolic.dynamics import FixedPoint, Flow
from symbolic.induction import fixed_point as theory
from symbolic.induction.losses import AS_PRINTED
from symbolic.induction.training import L, g_star, h_star, v_star
from symbolic.statements import UsageError

STEP = 1e-5  # of the central differences
AGREE = 1e-6  # of the eigenvalues, in units of the largest
STILL = 1e-12  # a larger speed per unit of tau = t / (L-2) is not due to rounding
RATE = "stated.as_printed.rate"  # the check that a witness of the rate replays


class FixedPointCase(DirectCase):
    """One point of the grid. Numbers are exact rationals (a float is the binary rational it is)."""

    def __init__(self, *arguments: Any, **settings: Any):
        super().__init__(*arguments, **settings)
        alpha, w_star = (sp.Rational(self.params[name]) for name in ("alpha", "w_star"))
        self.w_star, self.g_star, self.h_star = w_star, alpha / (1 + alpha), 1 / (1 + alpha)
        self.optima = {v_star: w_star**2, h_star: self.h_star, g_star: self.g_star, theory.SHARE: 2 * w_star}
        self.length = int(self.params["L"])
        self._functions: dict[Flow, Any] = {}

    def rows(self, budget: Budget) -> list[Row]:
        found = [*theory.head_points(), *theory.gram_points()]
        return [
            self._stated(),
            self._as_printed(),
            *self._counts(),
            self._minimiser(),
            *(self._eigenvalues(each) for each in found),
        ]

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name != RATE:
            return super().replay_check(name, inputs)
        given = {key: value.flatten().tolist() for key, value in inputs.items()}
        if set(given) != {"u"} or len(given["u"]) != 1:
            raise UsageError(f"{self.result.id}: a witness of '{name}' takes one u")
        return self._rate(exact_number(given["u"][0]))

    # The stated point.

    def _stated(self) -> Row:
        """The stated point is among the fixed points, each of which SymPy has put into its flow; and numbers rest."""
        known = {each.name: each.point for each in (*theory.head_points(), *theory.gram_points())}
        points = [known[name] for name in ("minimiser", "gram_end") if name in known]
        found = len(points) == 2
        speed = max((float(abs(self._field(point)(self._numbers(point))).max()) for point in points), default=0.0)
        moves = speed > STILL
        verdict = Verdict.PROVED if found and not moves else Verdict.UNDECIDED
        remark = "" if found else "the stated point is not among those found"
        remark = f"the flow, evaluated there, moves at {plain(speed)}" if moves else remark
        return self._row("stated", printed=0.0, derived=0.0, measured=speed, verdicts=(verdict, verdict), remark=remark)

    def _as_printed(self) -> Row:
        row = self._rate(sp.Integer(0))
        row.witness = self._witness(RATE, {"u": [0.0]}, abs(row.derived or 0.0), 0.0)
        return row

    def _rate(self, u_at: sp.Rational) -> Row:
        """dg/dt at (u, g*) with the network's sums as printed; u = e^-p has to be 0, the stated point."""
        if u_at != 0:
            raise UsageError(f"{self.result.id}: the stated point has p = +oo, that is u = 0, not u = {u_at}")
        rate = theory.rate_as_printed().subs(self.optima)
        flow = theory.regular(theory.gram_flow_at_end(AS_PRINTED))
        measured = self._lowered(flow)(np.array([0.0, float(self.g_star)]))[1]
        return self._row(
            "stated.as_printed",
            printed=0.0,
            derived=float(rate),
            measured=float(measured),
            verdicts=(Verdict.VIOLATED if rate != 0 else Verdict.PROVED, Verdict.PROVED),
        )

    def _minimiser(self) -> Row:
        proof = theory.minimiser_is_global()
        return self._row("minimiser", printed=0.0, derived=0.0, verdicts=(Verdict.PROVED,) * 2, remark=proof)

    # Whether it is the only one.

    def _counts(self) -> list[Row]:
        """One fixed point with w > 0, where the flow from (12) stays, and those of either sign of w."""
        positive, plane = len(theory.positive_points()), len(theory.plane_points())
        complete = f"complete, since {theory.head_is_complete()}; at finite p: {theory.gram_is_complete()}"
        return [
            self._row(
                "unique",
                printed=1.0,
                derived=float(positive),
                verdicts=(Verdict.PROVED if positive == 1 else Verdict.VIOLATED, Verdict.PROVED),
                remark=f"{theory.sign_is_kept()}; {complete}",
            ),
            direct_row(self, self.result.quantity("plane"), {"derived": Verdict.PROVED}, derived=float(plane)),
        ]

    # Eigenvalues.

    def _eigenvalues(self, found: theory.Found) -> Row:
        per_time = self.length - 2 if found.slowed else 1
        exact = sorted((self._number(each) / per_time for each in found.point.eigenvalues), reverse=True)
        seen = sorted(np.linalg.eigvals(self._jacobian(found.point)).real / per_time, reverse=True)
        apart = max(abs(a - b) for a, b in zip(exact, seen, strict=True))
        agree = apart <= AGREE * max(map(abs, exact))
        signs = found.inertia
        words = [
            f"eigenvalues {', '.join(map(plain, exact))} at {found.words}: {found.stability}",
            f"proved for all parameters: {signs.positive} positive, {signs.zero} zero, {signs.negative} negative",
            found.nearby,
            "" if agree else f"those of a numeric Jacobian differ by up to {plain(apart)}",
        ]
        return direct_row(
            self,
            theory.EIGENVALUES[found.name],
            {"derived": Verdict.PROVED if agree else Verdict.UNDECIDED},
            derived=exact[0],
            measured=float(seen[0]),
            remark="; ".join(filter(None, words)),
        )

    def _jacobian(self, point: FixedPoint) -> np.ndarray:
        """By central differences of the lowered field, of fourth order: the field is steep near 2 w^2 = 1."""
        field, at = self._field(point), self._numbers(point)

        def across(step: np.ndarray) -> np.ndarray:
            change: np.ndarray = (field(at + step) - field(at - step)) / (2 * STEP)
            return change

        steps = STEP * np.eye(len(at))
        return np.stack([(4 * across(step) - across(2 * step) / 2) / 3 for step in steps], axis=1)

    def _numbers(self, point: FixedPoint) -> np.ndarray:
        return np.array([self._number(point.at[coordinate]) for coordinate in point.flow.state])

    def _field(self, point: FixedPoint) -> Any:
        return self._lowered(point.flow)

    def _lowered(self, flow: Flow) -> Any:
        if flow not in self._functions:
            self._functions[flow] = self._lower(flow)
        return self._functions[flow]

    def _lower(self, flow: Flow) -> Any:
        rates = [rate.subs({**self.optima, **self._length_of(rate)}) for rate in flow.field]
        functions = [lower(rate, "numpy", args=flow.state) for rate in rates]
        return lambda at: np.array([float(function(*at)) for function in functions])

    def _length_of(self, rate: sp.Expr) -> dict[sp.Symbol, int]:
        """The value of its letter for the length: L, or L - 5."""
        return {
            symbol: self.length - 5 if symbol != L else self.length for symbol in rate.free_symbols & theory.LENGTHS
        }

    def _number(self, expression: sp.Expr) -> float:
        number = float(sp.N(expression.subs(self.optima), 30))
        if not math.isfinite(number):
            raise UsageError(f"{self.result.id}: {expression} is not finite at these parameters")
        return number

    # Rows.

    def _row(self, name: str, *, verdicts: tuple[Verdict, Verdict], **fields: Any) -> Row:
        return direct_row(
            self, self.result.quantity(name), dict(zip(("printed", "derived"), verdicts, strict=True)), **fields
        )

    def _witness(self, name: str, inputs: dict[str, Any], value: float, printed: float) -> Witness:
        return Witness(
            result=self.result.id,
            quantity=name,
            params=self.full_params,
            inputs=inputs,
            error_lower=value,
            bounds={"printed": printed},
        )


class FixedPointStudy(Study):
    """The fixed points of stage II at one point of the grid."""

    result = theory.FIXED_POINT
    main_quantity = "unique"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> FixedPointCase:
        return FixedPointCase(self.result, self.resolved(params), dtype=dtype, device=device)
