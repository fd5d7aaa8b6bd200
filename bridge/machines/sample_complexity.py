"""The study of sample complexity: explicit bounds beside small classes that are known exactly, and what they refute."""

import math
from collections.abc import Mapping
from fractions import Fraction
from math import comb
from typing import Any

import flint
import sympy as sp

from bridge.budget import Budget
from bridge.export.layout import value_words
from bridge.export.numbers import DIGITS
from bridge.record import Flag, Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from bridge.verdicts import float64_above
from numeric.balls import float_below
from numeric.machines import complexities as exact
from symbolic.machines import sample_complexity as theory
from symbolic.statements import Order, UsageError

TWO_TARGETS, FLOOR, ONE_PARAMETER = "minimiser.two_targets", "cover.floor", "rademacher.one_parameter"
INSIDE = "printed: the number inside O, whose constant is unspecified"
SMALL_BALLS = ((2, 0.25), (3, 0.4))  # dimension and radius: packings in the unit ball
AVERAGES = ((2, 1), (2, 4), (3, 4))  # dimension and vertices averaged; the first is sharp
FINE = 12  # parts of a unit on the grid of the small balls
TWICE = 2  # the probability of the two targets' error over what Definition 2.2 allows
FEW = 16  # samples of the row with one parameter
COUNTED = 2**40  # samples up to which float64 counts the small classes well enough to judge by
NOT_COUNTED = "the class is counted up to n = 2^40"
SLACK = 1e-9  # relative: what rounding may add to the number of a class


class SampleComplexityCase(DirectCase):
    """One point: alpha, p, gamma, eps, n, delta and the sizes of the networks."""

    def rows(self, budget: Budget) -> list[Row]:
        rows = [
            self._proposition(),
            *self._vertices(),
            *self._cover(),
            self._floor(1.1),
            self._rademacher(),
            self._one_parameter(FEW),
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

    def number(self, expression: sp.Expr, more: Mapping[sp.Symbol, Any] | None = None) -> float | None:
        """The expression at this point, rounded up; None beyond the range of float64 and where `poly` is left open."""
        if expression.has(theory.poly):
            return None
        return float64_above(self.ball(expression, {theory.rho_mean: self.params["gamma"], **(more or {})}))

    def derived_number(self, name: str, more: Mapping[sp.Symbol, Any] | None = None) -> float | None:
        return self.number(self.result.quantity(name).closed_form, more)

    def printed_number(self, name: str, more: Mapping[sp.Symbol, Any] | None = None) -> float | None:
        quantity = self.result.quantity(name)
        return None if quantity.printed is None else self.number(quantity.printed.bound, more)

    @staticmethod
    def elsewhere(**point: int | float) -> dict[str, Any]:
        """For `row`: a row that stands at a point of its own, which its remark names, and not on the grid."""
        return {"params": {}, "at": ", ".join(f"{name} = {value_words(value)}" for name, value in point.items())}

    def row(
        self, name: str, measured: float | None, remark: str, more: Mapping[sp.Symbol, Any] | None = None, **own: Any
    ) -> Row:
        """A row: the derived tier stands against one class, known exactly; a printed order has no constant to judge.

        A printed formula that leaves a polynomial open has no number, and nothing to judge either.
        """
        quantity = self.result.quantity(name)
        printed, derived = self.printed_number(name, more), self.derived_number(name, more)
        verdict = {"derived": _against(measured, derived)}
        inside = False
        if quantity.printed is not None and not quantity.printed.bound.has(theory.poly):
            inside = quantity.printed.order is Order.O
            verdict["printed"] = Verdict.UNDECIDED if inside else _against(measured, printed)
        left_open = inside and printed is not None and "verdict" not in own
        judged_apart, at = own.pop("verdict", {}), own.pop("at", "")
        exceeded = [tier for tier in verdict.keys() - judged_apart.keys() if verdict[tier] is Verdict.VIOLATED]
        more_than = f"more than what is {' and '.join(sorted(exceeded))}" if exceeded else ""
        said = "; ".join(filter(None, [f"at {at}" if at else "", remark, INSIDE if left_open else "", more_than]))
        return direct_row(
            self, quantity, {**verdict, **judged_apart}, printed=printed, derived=derived, measured=measured,
            remark=said, **own,
        )  # fmt: skip

    def _flag(self, row: Row) -> None:
        """An error rate above 1, and a Rademacher complexity of losses in [0, 1] above 1/2, say nothing."""
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
        said = f"two functions whose minimiser errs so with probability {delta:g}, exactly"
        return self.row(
            "proposition", error if fits else None, said if fits else "none: Rad of two functions exceeds eps"
        )

    def _vertices(self) -> list[Row]:
        rows = []
        for p, k in AVERAGES:
            seen = exact.farthest(exact.l1_grid(p, FINE), exact.vertex_averages(p, k))
            more = {theory.alpha: 1, theory.p: p, theory.k: k}
            point = self.elsewhere(alpha=1.0, p=p, k=k)
            rows.append(self.row("vertices", seen, f"a grid of step 1/{FINE} and all averages", more, **point))
        return rows

    def _cover(self) -> list[Row]:
        p, alpha, radius = self.params["p"], self.params["alpha"], self.params["gamma"] * self.params["eps"]
        apart = alpha / math.sqrt(2) > radius
        said = "the vertices +-alpha e_j are more than 2 gamma eps apart: no fewer balls than vertices"
        rows = [self.row("cover", math.log(2 * p) if apart else None, said if apart else "")]
        for dimension, small in SMALL_BALLS:
            more = {theory.alpha: 1, theory.p: dimension, theory.gamma: 1, theory.eps: small}
            seen = math.log(exact.packing(exact.l1_grid(dimension, FINE), small))
            point = self.elsewhere(alpha=1.0, p=dimension, gamma=1.0, eps=small)
            rows.append(self.row("cover", seen, "a packing, which no cover can beat", more, **point))
        return rows

    def _rademacher(self) -> Row:
        if self.params["n"] > COUNTED:
            return self.row("rademacher", None, NOT_COUNTED)
        q = max(1, min(self.params["p"], math.floor(self.ratio)))
        seen = exact.cube_complexity(q, self.params["n"], min(1.0, self.ratio))
        said = (
            f"one class: the margins at {q} equally likely inputs are coordinates of theta, its complexity by formula"
        )
        return self.row("rademacher", seen, said)

    def _samples(self, name: str) -> Row:
        """Fewer samples than any rule needs: two targets that differ at one input of mass a little above eps."""
        eps, delta = self.params["eps"], self.params["delta"]
        useful = 2 * delta < 1 and self.ratio >= 1 and (2 * eps < 1 or name != "samples")
        fewest = math.floor(float_below(self.ball(theory.FEWEST))) if useful else None
        said = (
            "measured: up to so many samples, any rule exceeds that error with probability delta or more for one of "
            "two targets, which differ at one input: no smaller number would be enough"
        )
        return self.row(name, None if fewest is None else float(fewest), said if useful else "")

    def _margins(self) -> Row:
        """theta is right, with margin gamma, but for one input, which n samples miss with probability delta."""
        missed = -math.expm1(math.log(self.params["delta"]) / self.params["n"]) if self.ratio >= 1 else None
        return self.row("margins", missed, "one input that the sample misses with probability delta" if missed else "")

    # What the paper states and a point refutes.

    def _witnessed(self, row: Row, name: str, inputs: dict[str, list[float]], error: float, bound: float) -> Row:
        if Verdict.VIOLATED in row.verdict.values():
            row.witness = Witness(
                result=self.result.id,
                quantity=name,
                params=self.full_params,
                inputs=inputs,
                error_lower=error,
                bounds={"printed": bound},
            )
        return row

    def _minimiser(self) -> Row:
        eps, n = self.params["eps"], self.params["n"]
        most = -math.expm1(math.log(2 * TWICE * float(theory.DEFINITION)) / n)
        return self._two_targets(eps, min(most, 0.5, 1.0 - eps), n)  # 1.0 - eps is exact where it is the least

    def _two_targets(self, eps: float, eta: float, n: int) -> Row:
        chance = self.ball(theory.TWO_TARGETS_CHANCE, {theory.eta: eta, theory.n: n})
        refuted = bool(chance > _rational(theory.DEFINITION))
        said = (
            f"two targets that differ at an input of mass eta = {eta:.3g}: for one of them the error of any rule is "
            f"eps + eta with probability {float(chance):.3g} or more, and Definition 2.2 allows {theory.DEFINITION}"
        )
        more = {theory.eps: eps, theory.n: n}
        error = float(Fraction(eps) + Fraction(eta))
        if f"{error:.{DIGITS}g}" == f"{eps:.{DIGITS}g}":
            said += f"; the excess, eta, does not show in {DIGITS} digits: it falls like 1/n"
        verdict = {"printed": Verdict.VIOLATED if refuted else Verdict.UNDECIDED}
        if self.ratio < 1:
            return self.row("minimiser", None, "alpha < gamma: no two targets in the ball", more)
        derived = self.derived_number("minimiser", more)
        if derived is not None and error > derived and not chance > flint.arb(self.params["delta"]):
            verdict["derived"] = Verdict.UNDECIDED  # so seldom the derived bound may be exceeded
        row = self.row("minimiser", error, said, more, verdict=verdict)
        return self._witnessed(row, TWO_TARGETS, {"eps": [eps], "eta": [eta], "n": [float(n)]}, error, eps)

    def _floor(self, ratio: float) -> Row:
        """p = 2 and alpha = ratio gamma eps, where the floor is 0: one ball would have to be enough."""
        more = {theory.alpha: ratio, theory.p: 2, theory.gamma: 1, theory.eps: 1}
        printed = self.ball(theory.PRINTED_COVER, more)
        refuted = printed == 0 and ratio > 1
        said = (
            "the floor is 0, and so is every multiple of it, but alpha e_1 and -alpha e_1 are more than two radii apart"
        )
        row = self.row(
            "cover", math.log(2), said, more, **self.elsewhere(alpha=ratio, p=2, gamma=1.0, eps=1.0),
            verdict={"printed": Verdict.VIOLATED if refuted else Verdict.UNDECIDED},
        )  # fmt: skip
        return self._witnessed(row, FLOOR, {"ratio": [ratio]}, math.log(2), 0.0)

    def _one_parameter(self, n: int) -> Row:
        """p = 1: log p = 0, but theta in {0, alpha} has losses 1 and 0 at one input."""
        m = (n + 1) // 2
        seen = Fraction(2 * m * comb(2 * m, m), 4**m) / (2 * n)  # E |xi_1 + ... + xi_n| / (2n)
        more = {theory.alpha: 1, theory.p: 1, theory.gamma: 1, theory.n: n}
        row = self.row(
            "rademacher", float(seen), "log p = 0 for p = 1, and so is every multiple; log(2p) is meant", more,
            **self.elsewhere(alpha=1.0, p=1, gamma=1.0, n=n),
            verdict={"printed": Verdict.VIOLATED if seen > 0 else Verdict.UNDECIDED},
        )  # fmt: skip
        return self._witnessed(row, ONE_PARAMETER, {"n": [float(n)]}, float(seen), 0.0)

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        wanted = {TWO_TARGETS: ("eps", "eta", "n"), FLOOR: ("ratio",), ONE_PARAMETER: ("n",)}.get(name)
        if wanted is None:
            return super().replay_check(name, inputs)
        if set(inputs) != set(wanted) or any(value.numel() != 1 for value in inputs.values()):
            raise UsageError(f"{self.result.id}: '{name}' takes one number each for {', '.join(wanted)}")
        point = {key: float(value) for key, value in inputs.items()}
        if name == FLOOR:
            if not 0 < point["ratio"] < math.inf:
                raise UsageError(f"{self.result.id}: '{name}' needs a positive ratio, not {point['ratio']}")
            return self._floor(point["ratio"])
        n = self.result.number("n", point["n"])
        if n < 1 or (name == ONE_PARAMETER and n > 1000):
            raise UsageError(
                f"{self.result.id}: '{name}' needs n >= 1{' and n <= 1000' if name == ONE_PARAMETER else ''}"
            )
        if name == ONE_PARAMETER:
            return self._one_parameter(int(n))
        if not (0 < point["eps"] < 1 and point["eta"] > 0 and Fraction(point["eps"]) + Fraction(point["eta"]) <= 1):
            raise UsageError(f"{self.result.id}: '{name}' needs masses eps, eta > 0 of sum at most 1")
        return self._two_targets(point["eps"], point["eta"], int(n))


def _rational(number: sp.Rational) -> flint.arb:
    return flint.arb(flint.fmpq(int(number.p), int(number.q)))


def _against(measured: float | None, bound: float | None) -> Verdict:
    """What one class, known exactly, says of a bound: beyond SLACK it refutes it."""
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
