"""The study of sample complexity: explicit bounds beside small classes that are known exactly."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp

from bridge.budget import Budget
from bridge.export.layout import value_words
from bridge.export.numbers import plain
from bridge.record import Flag, Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Study
from bridge.verdicts import float64_above
from numeric.balls import float_below
from numeric.machines import complexities as exact
from symbolic.machines import sample_complexity as theory
from symbolic.statements import Order, Printed, UsageError

INSIDE = "printed: the number inside O, whose constant is unspecified"
NO_LOGARITHM = "printed: log p = 0 at p = 1, and the order is read for p >= 2"
NO_FLOOR = "printed: the floor is 0 here, and the order is read where it is at least 1"
SMALL_BALLS = ((2, 0.25), (3, 0.4))  # dimension and radius: packings in the unit ball
AVERAGES = ((2, 1), (2, 4), (3, 4))  # dimension and vertices averaged; the first is sharp
FINE = 12  # parts of a unit on the grid of the small balls
COUNTED = 2**40  # samples up to which float64 counts the small classes well enough to judge by
NOT_COUNTED = "the class is counted up to n = 2^40"
SLACK = 1e-9  # relative: rounding of the number of a class

Point = Mapping[sp.Symbol, Any]  # values of letters in place of the case's own


class SampleComplexityCase(DirectCase):
    """One point: alpha, p, gamma, eps, n, delta and the sizes of the networks."""

    def rows(self, budget: Budget) -> list[Row]:
        rows = [
            self._proposition(),
            *self._vertices(),
            *self._cover(),
            self._rademacher(),
            self._minimiser(),
            self._samples("samples"),
            self._samples("circuits"),
            self._samples("turing"),
            self._margins(),
        ]
        for row in rows:
            self._flag(row)
        return rows

    # Numbers.

    @property
    def ratio(self) -> float:
        return float(self.params["alpha"]) / float(self.params["gamma"])

    def number(self, expression: sp.Expr, more: Point | None = None) -> float | None:
        """The expression at this point, rounded up; None beyond the range of float64 and where `poly` is left open."""
        if expression.has(theory.poly):
            return None
        return float64_above(self.ball(expression, {theory.rho_mean: self.params["gamma"], **(more or {})}))

    def derived_number(self, name: str, more: Point | None = None) -> float | None:
        return self.number(self.result.quantity(name).closed_form, more)

    def printed_number(self, name: str, more: Point | None = None) -> float | None:
        quantity = self.result.quantity(name)
        return None if quantity.printed is None else self.number(quantity.printed.bound, more)

    def row(self, name: str, measured: float | None, remark: str, more: Point | None = None, *, at: str = "") -> Row:
        """A row: the derived tier against one class, known exactly; a printed order has no constant to judge.

        A printed formula that leaves a polynomial open has no number and no verdict. `at` names a point that is not the
        case's own: that of `more`.
        """
        quantity = self.result.quantity(name)
        printed, derived = self.printed_number(name, more), self.derived_number(name, more)
        verdict = {"derived": _against(measured, derived)}
        remarks = [remark]
        if quantity.printed is not None and not quantity.printed.bound.has(theory.poly):
            verdict["printed"], why = self._printed_verdict(quantity.printed, printed, measured, more or {})
            remarks.append(why)
        exceeded = [tier for tier in verdict if verdict[tier] is Verdict.VIOLATED]
        remarks.append(f"measured is above the {' and the '.join(sorted(exceeded))} bound" if exceeded else "")
        return direct_row(
            self, replace(quantity, construction=at), verdict, printed=printed, derived=derived, measured=measured,
            remark="; ".join(filter(None, remarks)), params={} if at else None,
        )  # fmt: skip

    def _printed_verdict(
        self, printed: Printed, number: float | None, measured: float | None, more: Point
    ) -> tuple[Verdict, str]:
        """With its reason; an order is outside its range where its logarithm or its floor is 0."""
        if printed.order is not Order.O:
            return _against(measured, number), ""
        if printed.bound.has(sp.log(theory.p)) and more.get(theory.p, self.params["p"]) == 1:
            return Verdict.OUTSIDE, NO_LOGARITHM
        if number == 0 and printed.bound.has(sp.floor):
            return Verdict.OUTSIDE, NO_FLOOR
        return Verdict.UNDECIDED, INSIDE if number is not None else ""

    def _flag(self, row: Row) -> None:
        """A bound of an error rate above 1, or of a Rademacher complexity of losses in [0, 1] above 1/2, is vacuous."""
        most = {"a probability": 1.0, "a mean over samples and signs": 0.5}.get(row.norm, math.inf)
        tiers = {"printed": row.printed, "derived": row.derived}
        row.flags = {t: [Flag.VACUOUS.value] for t, number in tiers.items() if number is not None and number > most}

    # Rows.

    def _proposition(self) -> Row:
        """Two functions: one of constant surrogate loss eps, one wrong with a probability that a sample underrates."""
        eps, n, delta = (self.params[name] for name in ("eps", "n", "delta"))
        if n > COUNTED:
            return self.row("proposition", None, NOT_COUNTED)
        error = exact.missed_error(eps, n, delta)
        if error is None:
            return self.row("proposition", None, "float64 does not hold the two functions")
        fits = exact.pair_complexity_above(eps, error, n) <= eps
        remark = f"measured: two functions whose minimiser has this error with probability {plain(delta)}, exactly"
        return self.row(
            "proposition", error if fits else None, remark if fits else "not measured: Rad of two functions exceeds eps"
        )

    def _vertices(self) -> list[Row]:
        rows = []
        for p, k in AVERAGES:
            seen = exact.farthest(exact.l1_grid(p, FINE), exact.vertex_averages(p, k))
            more = {theory.alpha: 1, theory.p: p, theory.k: k}
            remark = f"measured: on a grid of step 1/{FINE}, over all averages"
            rows.append(self.row("vertices", seen, remark, more, at=_point(alpha=1.0, p=p, k=k)))
        return rows

    def _cover(self) -> list[Row]:
        p, alpha, radius = self.params["p"], self.params["alpha"], self.params["gamma"] * self.params["eps"]
        apart = alpha / math.sqrt(2) > radius
        remark = (
            "measured: the vertices +-alpha e_j are more than 2 gamma eps apart, so that each needs a ball of its own"
        )
        rows = [self.row("cover", math.log(2 * p) if apart else None, remark if apart else "")]
        for dimension, small in SMALL_BALLS:
            more = {theory.alpha: 1, theory.p: dimension, theory.gamma: 1, theory.eps: small}
            seen = math.log(exact.packing(exact.l1_grid(dimension, FINE), small))
            point = _point(alpha=1.0, p=dimension, gamma=1.0, eps=small)
            rows.append(self.row("cover", seen, "measured: a packing, a lower bound of every cover", more, at=point))
        return rows

    def _rademacher(self) -> Row:
        if self.params["n"] > COUNTED:
            return self.row("rademacher", None, NOT_COUNTED)
        q = max(1, min(self.params["p"], math.floor(self.ratio)))
        seen = exact.cube_complexity(q, self.params["n"], min(1.0, self.ratio))
        remark = f"measured: the class whose margins at {q} equally likely inputs are coordinates of theta, by formula"
        return self.row("rademacher", seen, remark)

    def _samples(self, name: str) -> Row:
        """Too few samples for any rule: two targets that differ at one input of mass a little above eps."""
        eps, delta = self.params["eps"], self.params["delta"]
        useful = 2 * delta < 1 and self.ratio >= 1 and (2 * eps < 1 or name != "samples")
        fewest = math.floor(float_below(self.ball(theory.FEWEST))) if useful else None
        remark = (
            "measured: with at most this many samples, any rule exceeds that error with probability delta or more for "
            "one of two targets, which differ at one input"
        )
        return self.row(name, None if fewest is None else float(fewest), remark if useful else "")

    def _margins(self) -> Row:
        """theta is right, with margin gamma, but for one input, which n samples miss with probability delta."""
        missed = -math.expm1(math.log(self.params["delta"]) / self.params["n"]) if self.ratio >= 1 else None
        remark = "measured: one input that the sample misses with probability delta"
        return self.row("margins", missed, remark if missed else "")

    def _minimiser(self) -> Row:
        """Two targets that differ at an input of mass eta, which n samples miss with probability 2 delta."""
        eps, n, delta = (self.params[name] for name in ("eps", "n", "delta"))
        if self.ratio < 1 or 2 * delta >= 1:
            why = "alpha < gamma: no two targets in the ball" if self.ratio < 1 else "no row for delta >= 1/2"
            return self.row("minimiser", None, why)
        eta = min(-math.expm1(math.log(2 * delta) / n), 1 - eps)
        remark = (
            f"measured: for one of two targets that differ at an input of mass eta = {plain(eta)}, the error of any "
            "rule is eps + eta with probability delta or more"
        )
        return self.row("minimiser", eps + eta, remark)


def _point(**values: int | float) -> str:
    return ", ".join(f"{name} = {value_words(value)}" for name, value in values.items())


def _against(measured: float | None, bound: float | None) -> Verdict:
    """The verdict of one class, known exactly, on a bound: beyond SLACK it refutes it."""
    if measured is None or bound is None:
        return Verdict.UNDECIDED
    if measured <= bound:
        return Verdict.KEPT
    return Verdict.VIOLATED if measured > bound * (1 + SLACK) else Verdict.UNDECIDED


class SampleComplexityStudy(Study):
    """Appendix A at one point of the grid."""

    result = theory.SAMPLE_COMPLEXITY
    main_quantity = "samples"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> SampleComplexityCase:
        values = self.resolved(params)
        alpha, gamma = values["alpha"], values["gamma"]
        if not math.isfinite(alpha / gamma):
            raise UsageError(f"{self.result.id}: alpha / gamma = {alpha:g} / {gamma:g} is beyond float64")
        return SampleComplexityCase(self.result, values, dtype=dtype, device=device)
