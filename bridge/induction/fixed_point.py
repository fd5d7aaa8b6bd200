"""The study of the fixed points: each one with its eigenvalues, and what the paper says of them as witnesses."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from bridge.balls import as_exact, evaluate_ball
from bridge.budget import Budget
from bridge.lowering import lower
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from symbolic.dynamics import FixedPoint, Flow
from symbolic.induction import fixed_point as theory
from symbolic.induction.losses import AS_PRINTED
from symbolic.induction.training import HEAD_FLOW, HEAD_FLOW_FULL, L, g_star, h, h_star, psi, v_star, w, w_K, w_Q
from symbolic.statements import UsageError

STEP = 1e-5  # of the central differences
AGREE = 1e-6  # of the eigenvalues, in units of the largest
STILL = 1e-12  # a speed per unit of tau = t / (L-2) beyond this is none of rounding
SADDLE, MIRROR, CURVE, RATE = "unique.saddle", "unique.mirror", "unique.curve", "stated.as_printed.rate"


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
            self._unique(),
            self._minimiser(),
            *(self._eigenvalues(each) for each in found),
            *self.checks(budget),
        ]

    def checks(self, budget: Budget) -> list[Row]:
        return [self._mirror(-self.w_star), self._curve(2 * self.w_star, self.w_star / 2)]

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        checks = {
            SADDLE: (("w", 1), ("h", 2)),
            MIRROR: (("w", 1),),
            CURVE: (("w_Q", 1), ("w_K", 1)),
            RATE: (("u", 1),),
        }
        if name not in checks:
            return super().replay_check(name, inputs)
        given = {key: [sp.Rational(float(x)) for x in value.flatten()] for key, value in inputs.items()}
        if {key: len(value) for key, value in given.items()} != dict(checks[name]):
            wanted = ", ".join(f"{count} of {key}" for key, count in checks[name])
            raise UsageError(f"{self.result.id}: a witness of '{name}' takes {wanted}")
        numbers = [number for key, _ in checks[name] for number in given[key]]
        found: dict[str, Callable[..., Row]] = {
            SADDLE: self._saddle,
            MIRROR: self._mirror,
            CURVE: self._curve,
            RATE: self._rate,
        }
        return found[name](*numbers)

    # The stated point.

    def _stated(self) -> Row:
        """The stated point is among the fixed points, each of which SymPy has put into its flow; and numbers rest."""
        known = {each.name: each.point for each in (*theory.head_points(), *theory.gram_points())}
        points = [known[name] for name in ("minimiser", "gram_end") if name in known]
        found = len(points) == 2
        speed = max((float(abs(self._field(point)(self._numbers(point))).max()) for point in points), default=0.0)
        moves = speed > STILL
        verdict = Verdict.PROVED if found and not moves else Verdict.UNDECIDED
        said = "" if found else "the stated point is none of those found"
        said = f"the flow, evaluated there, moves at {speed:.3g}" if moves else said
        return self._row("stated", printed=0.0, derived=0.0, measured=speed, verdicts=(verdict, verdict), remark=said)

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

    def _unique(self) -> Row:
        plateau = float(sp.N((self.h_star * psi(self.w_star**2)), 30))
        around = [plateau * (1 - 1e-15), plateau * (1 + 1e-15)]
        row = self._saddle(sp.Integer(0), *map(sp.Rational, around))
        row.witness = self._witness(SADDLE, {"w": [0.0], "h": around}, float(self._count), 1.0)
        return row

    @property
    def _count(self) -> int:
        return sum(each.point.flow is theory.HEAD for each in theory.head_points())

    def _saddle(self, w_at: sp.Rational, low: sp.Rational, high: sp.Rational) -> Row:
        """w at rest at w_at for every h, and dh/dt of two signs at the ends of [low, high]: it is 0 in between."""
        at = {**self.optima, w: w_at}
        still = sp.simplify(HEAD_FLOW.rate(w).subs(at, simultaneous=True)) == 0
        lower_end, upper_end = (self._ball(HEAD_FLOW.rate(h), {w: w_at, h: end}) for end in (low, high))
        rests = bool(still and low < high and lower_end > 0 and upper_end < 0)
        return self._another(rests and abs(w_at) != self.w_star, f"another one in w = {w_at}, {_interval(low, high)}")

    def _mirror(self, w_at: sp.Rational) -> Row:
        rests = self._rests(HEAD_FLOW, {w: w_at, h: self.h_star})
        row = self._another(rests and w_at != self.w_star, f"another one is (w, h) = ({float(w_at):g}, h*)", MIRROR)
        row.witness = self._witness(MIRROR, {"w": [float(w_at)]}, float(self._count), 1.0)
        return row

    def _curve(self, q_at: sp.Rational, k_at: sp.Rational) -> Row:
        rests = self._rests(HEAD_FLOW_FULL, {w_Q: q_at, w_K: k_at, h: self.h_star})
        where = f"another one is (w_Q, w_K, h) = ({float(q_at):g}, {float(k_at):g}, h*), and so is all of w_Q w_K = v*"
        row = self._another(rests and (q_at, k_at) != (self.w_star, self.w_star), where, CURVE)
        row.witness = self._witness(CURVE, {"w_Q": [float(q_at)], "w_K": [float(k_at)]}, float(self._count), 1.0)
        return row

    def _rests(self, flow: Flow, at: Mapping[sp.Symbol, sp.Rational]) -> bool:
        """Whether the field is exactly 0 at rational coordinates."""
        values = {**self.optima, **at, L: self.length}
        return all(sp.simplify(rate.subs(values, simultaneous=True)) == 0 for rate in flow.field)

    def _another(self, found: bool, where: str, name: str = "unique") -> Row:
        complete = f"complete, since {theory.head_is_complete()}; at finite p there is none, since "
        remark = where if found else "the flow does not rest there, or the point is the stated one"
        remark += f"; {complete}{theory.gram_is_complete()}" if name == "unique" else ""
        quantity = replace(self.result.quantity("unique"), name=name)
        printed = Verdict.VIOLATED if found else Verdict.UNDECIDED
        return direct_row(
            self,
            quantity,
            {"printed": printed, "derived": Verdict.PROVED},
            printed=1.0,
            derived=float(self._count),
            remark=remark,
        )

    # Eigenvalues.

    def _eigenvalues(self, found: theory.Found) -> Row:
        per_time = self.length - 2 if found.slowed else 1
        exact = sorted((self._number(each) / per_time for each in found.point.eigenvalues), reverse=True)
        seen = sorted(np.linalg.eigvals(self._jacobian(found.point)).real / per_time, reverse=True)
        apart = max(abs(a - b) for a, b in zip(exact, seen, strict=True))
        agree = apart <= AGREE * max(map(abs, exact))
        signs = found.inertia
        words = [
            f"eigenvalues {', '.join(f'{each:.6g}' for each in exact)} at {found.words}: {found.stability}",
            f"signs proved for all parameters: {signs.positive} > 0, {signs.zero} = 0, {signs.negative} < 0",
            found.nearby,
            "" if agree else f"a numeric Jacobian has others, up to {apart:.3g} apart",
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
        """What length means in it: L, or how far it is beyond 5."""
        return {
            symbol: self.length - 5 if symbol != L else self.length for symbol in rate.free_symbols & theory.LENGTHS
        }

    def _number(self, expression: sp.Expr) -> float:
        number = float(sp.N(expression.subs(self.optima), 30))
        if not math.isfinite(number):
            raise UsageError(f"{self.result.id}: {expression} is not finite at these parameters")
        return number

    def _ball(self, expression: sp.Expr, at: Mapping[sp.Symbol, Any]) -> Any:
        values = {**self.optima, L: self.length, **at}
        used = {s: as_exact(sp.Rational(x)) for s, x in values.items() if s in expression.free_symbols}
        return evaluate_ball(expression, used)

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


def _interval(low: sp.Rational, high: sp.Rational) -> str:
    return f"{float(low):.17g} < h < {float(high):.17g}"


class FixedPointStudy(Study):
    """The fixed points of stage II at one point of the grid."""

    result = theory.FIXED_POINT
    main_quantity = "unique"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> FixedPointCase:
        return FixedPointCase(self.result, self.resolved(params), dtype=dtype, device=device)
