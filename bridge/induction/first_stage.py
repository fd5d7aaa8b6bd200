"""The study of stage I: printed beside derived beside the loss summed directly; signs certified; p~ followed in time.

n = L - 2 is the number of terms. Nothing but the printed double sums takes more than O(n log n).
"""

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from bridge.balls import as_exact
from bridge.budget import Budget
from bridge.certify import Outcome, Status, prove
from bridge.cost import Cost
from bridge.export.layout import value_words
from bridge.export.numbers import plain
from bridge.induction.claims import apart, boxes, claim_row, point_words, replayed_claim
from bridge.lowering import lower
from bridge.record import Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.balls import working_precision
from numeric.induction import first_stage as direct
from symbolic.induction import first_stage as theory
from symbolic.induction.first_stage_claims import CLAIMS, PRINTED_FACTOR, RIGHT_FACTOR
from symbolic.induction.training import L, g_star
from symbolic.inequalities import Inequality
from symbolic.statements import UsageError

END = 1e8  # of the run
GRID = 200  # values of p~ at which signs are measured
BITS = 128
CHECKED, MOST_TERMS = 6, 18  # n of the exact checks of q': by covariances, by coefficients
LONG = {"L": 1000, "alpha": 0.05, "sigma_init": 0.01}  # an input and a target at which (12) does not let p~ grow
AGREE = 1e-6  # relative, of a derived number and the same by the definition
LONGEST_PRINTED = 1000  # n up to which the printed double sums, n^2 terms, are evaluated
MOST_BOXES = 1000  # for one proof; the signs take 18
MANY_TERMS = 20_000_000  # n times values of p~ at which signs are measured, at most
_SUMS = sp.symbols("q slope_of_q slope_as_printed q_as_printed")
VERDICTS = {Status.PROVED: Verdict.PROVED, Status.REFUTED: Verdict.VIOLATED, Status.UNDECIDED: Verdict.UNDECIDED}


@lru_cache(maxsize=1)
def _lowered_sums() -> Any:
    return lower(sp.Matrix([theory.SLOPE_PRINTED, theory.Q_PRINTED]), "numpy", args=(L, theory.p_tilde))


@lru_cache(maxsize=8)
def proof(inequality_of: Any, length: int) -> Outcome:
    """The outcome of `prove` for that inequality at that L."""
    inequality: Inequality = inequality_of(length)
    return prove(inequality, seconds=math.inf, most_boxes=MOST_BOXES)


# q = sum of C_tau^2 / D^2 with D = Z_1 ... Z_n and C_tau = D/Z_tau + u C_{tau+1}; D^3 dq/du = D P' - 2 D' P.
def slope_numerator(terms: int) -> flint.fmpz_poly:
    """D^3 dq/du, a polynomial in u: without negative coefficients q' = -u dq/du <= 0 for every u >= 0."""
    x = flint.fmpz_poly([0, 1])
    Z = [flint.fmpz_poly([1] * m) for m in range(1, terms + 1)]
    D, C, P = math.prod(Z, start=flint.fmpz_poly([1])), flint.fmpz_poly([0]), flint.fmpz_poly([0])
    for z in reversed(Z):
        C = D // z + x * C
        P += C * C
    return D * P.derivative() - 2 * D.derivative() * P


@lru_cache(maxsize=4)
def slope_is_negative(terms: int) -> bool:
    """Whether q' <= 0 by the exact coefficients, and the covariances of the general argument give the same q'."""
    by_covariance = theory.covariance_form(CHECKED).subs(theory.u, sp.Rational(2, 3))
    c, dc = theory.mixtures(CHECKED, sp.Rational(2, 3))
    same = by_covariance == sum(a * b for a, b in zip(c, dc, strict=True))
    return same and all(coefficient >= 0 for coefficient in slope_numerator(terms).coeffs())


class FirstStageCase(DirectCase):
    """One point: p~ starts at sigma_init, g(0) is sigma_init, p(0) = 0 but in the rows `start`."""

    @property
    def terms(self) -> int:
        return int(self.params["L"]) - 2

    @property
    def sigma(self) -> float:
        return float(self.params["sigma_init"])

    @property
    def optimum(self) -> float:
        return float(self.params["alpha"] / (1 + self.params["alpha"]))

    @property
    def ratio(self) -> float:
        """gamma = g_0 / g*."""
        return self.sigma / self.optimum

    def rows(self, budget: Budget) -> list[Row]:
        return [*self._formulas(), *self._signs(), self._limit(), *self._starts()]

    # Formulas.

    @cached_property
    def _sums(self) -> dict[sp.Symbol, float]:
        decay = math.exp(-self.sigma)
        c, dc = (np.array(each) for each in theory.mixtures(self.terms, decay, 1.0))
        ours = [float(c @ c), float(-2 * decay * (c @ dc))]  # q and q' = -u dq/du
        printed = [math.nan] * 2
        if not self.too_long:
            with np.errstate(over="ignore", invalid="ignore"):  # e^(+p~(s-1-tau)) is beyond floats for long inputs
                printed = _lowered_sums()(self.terms + 2, self.sigma).ravel().tolist()
        return dict(zip(_SUMS, [*ours, *map(float, printed)], strict=True))

    @property
    def too_long(self) -> bool:
        return self.terms > LONGEST_PRINTED

    def number(self, formula: sp.Expr) -> float:
        """A formula of Appendix B at p~ = g_0 = sigma_init; its sums over tau are done once."""
        known = {theory.Q: _SUMS[0], theory.SLOPE: _SUMS[1], theory.SLOPE_PRINTED: _SUMS[2], theory.Q_PRINTED: _SUMS[3]}
        values = {
            **self._sums,
            L: self.terms + 2,
            theory.p_tilde: self.sigma,
            theory.g_0: self.sigma,
            g_star: self.optimum,
        }
        return float(formula.xreplace(known).evalf(subs=values))

    def _formulas(self) -> list[Row]:
        loss, rate = direct.direct_rate(self.sigma, self.sigma, self.optimum, self.terms)
        squares, slope = direct.direct_squares(self.sigma, self.terms)
        printed = {q.name: q.printed.bound for q in self.result.quantities if q.printed is not None}
        derived = {
            "loss": (theory.LOSS, loss),
            "q": (theory.Q, squares),
            "q.slope": (theory.SLOPE, slope),
            "rate": (theory.FLOW.rate(theory.p_tilde), rate),
        }
        # q' comes by a Fourier transform, whose rounding is relative to q and not to q'.
        rounding = {"q.slope": np.finfo(float).eps * self.terms * squares}
        rows = [
            self._formula(name, self.number(printed[name]), self.number(ours), measured, rounding.get(name, 0.0))
            for name, (ours, measured) in derived.items()
        ]
        return [*rows, claim_row(self, CLAIMS["softmax"]), self._factor()]

    def _formula(self, name: str, printed: float, derived: float, measured: float, rounding: float) -> Row:
        """Printed refuted by its claim; derived proved by SymPy, unless the definition summed directly contradicts."""
        meets = abs(derived - measured) <= AGREE * abs(measured) + rounding
        remarks = []
        if not meets:
            ours, direct_sum = apart(derived, measured)
            remarks.append(f"the definition, summed directly, gives {direct_sum}, not the derived {ours}")
        if math.isnan(printed):
            too_long = f"the printed double sum has {self.terms}^2 terms, more than are summed here"
            remarks.append(too_long if self.too_long else "the printed number is outside the range of float64")
        return claim_row(
            self,
            CLAIMS[name],
            printed=printed,
            derived=derived,
            measured=measured,
            verdict={"derived": Verdict.PROVED if meets else Verdict.VIOLATED},
            remark="; ".join(remarks),
        )

    def _factor(self) -> Row:
        """The printed factor is < 0, as printed; that of the right derivative is not."""
        point, wrong = PRINTED_FACTOR.refutation(), RIGHT_FACTOR.refutation()
        if point is not None:
            verdict, why = Verdict.VIOLATED, f"above 0 at {point_words(point)}"
        elif theory.printed_factor_is_negative():
            verdict, why = Verdict.PROVED, "its numerator rises with tau and is < 0 at tau = s - 1"
        else:
            verdict, why = Verdict.KEPT, "at small rationals"
        right = ""
        if wrong is not None:
            value = RIGHT_FACTOR.sides(wrong)[0]
            right = f"that of the right q' is {value} > 0 at {point_words(wrong)}"
        remark = "; ".join(filter(None, [why, right]))
        return direct_row(self, self.result.quantity("q.factor"), {"printed": verdict}, printed=0.0, remark=remark)

    # Signs.

    def least_share(self, start: float, lowest: float) -> tuple[float, float]:
        """Where dp~/dt over u g_0 g*/Z_n(r) is least on a grid of p~ from `lowest` up, and its value there."""
        count = max(20, min(GRID, MANY_TERMS // self.terms))
        p = np.concatenate([[lowest], lowest + np.geomspace(1e-3 / self.terms, 20.0, count)])
        shares = np.array([direct.rate_share(self.terms, math.exp(-x), self.ratio, math.exp(-start)) for x in p])
        return float(p[shares.argmin()]), float(shares.min())

    @cached_property
    def _premises(self) -> tuple[Verdict, Verdict]:
        """Of q' <= 0, and of that with the floor of the rate: proved, or undecided where a check of the code fails."""
        falls = slope_is_negative(min(self.terms, MOST_TERMS))
        floor = falls and min(theory.excess_coefficients(self.terms)) > 0
        verdicts = [Verdict.PROVED if holds else Verdict.UNDECIDED for holds in (falls, floor)]
        return verdicts[0], verdicts[1]

    def _signs(self) -> list[Row]:
        result, terms = self.result, min(self.terms, MOST_TERMS)
        falls, floor = self._premises
        raw = proof(theory.sign_inequality, min(self.terms + 2, theory.LONGEST_SIGN))
        share = float(theory.SHARE_FLOOR.subs(L, self.terms + 2))
        checked = (
            f"q' <= 0 is checked by exact coefficients at L = {terms + 2}, and the covariances against it at "
            f"L = {CHECKED + 2}; for every L the proof is in writing: q' = 2 sum_s Cov_s(c_tau, tau), c_tau falls with "
            "tau (softmax derivative, Chebyshev)"
        )
        covered = f"{checked}; the floor's coefficients are checked at this L; without these, {describe(raw)}"
        slope, least = self._sums[_SUMS[1]], self.least_share(0.0, 0.0)[1]
        return [
            direct_row(
                self,
                result.quantity("q.sign"),
                dict.fromkeys(("printed", "derived"), falls if slope <= 0 else Verdict.VIOLATED),
                printed=0.0,
                derived=0.0,
                measured=slope,
                remark=checked,
            ),
            self._lower(floor),
            direct_row(
                self,
                result.quantity("sign"),
                {
                    "printed": floor if least > 0 else Verdict.VIOLATED,
                    "derived": floor if least >= share * (1 - AGREE) else Verdict.VIOLATED,
                },
                printed=0.0,
                derived=share,
                measured=least,
                remark=covered,
            ),
        ]

    def _lower(self, floor: Verdict) -> Row:
        """The bounds on the printed rate at the start; the printed one judged wherever p~ can come from there."""
        rate, printed, derived = (
            2 * self.number(theory.FLOW.rate(theory.p_tilde)),
            self.number(theory.RATE_BOUND_PRINTED),
            2 * self.number(theory.RATE_FLOOR),
        )
        place, least = self.least_share(0.0, self.sigma)  # the printed bound is a share of 1
        above = least - 1 if least >= 1 else share_ball(self.params, place, start=0.0) - 1
        verdict = Verdict.KEPT if above >= 0 else Verdict.OUTSIDE if above < 0 else Verdict.UNDECIDED
        remark = f"least ratio to the printed bound on a grid of p~: {plain(least)} at p~ = {plain(place)}"
        if verdict is Verdict.OUTSIDE:
            product = plain(self.sigma * (self.terms + 2))
            remark += f"; L sigma_init = {product} is not large, as Appendix C assumes: L = Omega(1/sigma_init)"
        return direct_row(
            self,
            self.result.quantity("rate.lower"),
            {"printed": verdict, "derived": floor if rate >= derived * (1 - AGREE) else Verdict.VIOLATED},
            printed=printed,
            derived=derived,
            measured=rate,
            remark=remark,
        )

    # Time.

    def run(self, end: float = END) -> float:
        """p~ at time `end` from p~ = sigma_init, p(0) = 0, by a stiff solver."""
        scale = self.sigma * self.optimum / self.terms

        # e^p~ grows at scale times the share, which tends to 1: a tame field, where that of p~ itself is stiff.
        def field(_: float, y: np.ndarray) -> list[float]:
            return [scale * direct.rate_share(self.terms, 1 / float(y[0]), self.ratio, 1.0)]

        solved = solve_ivp(field, (0.0, end), [math.exp(self.sigma)], method="LSODA", rtol=1e-9, atol=1e-9)
        if not solved.success:
            raise UsageError(f"{self.result.id}: the run stopped at t = {solved.t[-1]:g}: {solved.message}")
        return math.log(float(solved.y[0, -1]))

    def _limit(self) -> Row:
        values = {L: self.terms + 2, theory.t: END, theory.sigma_init: self.sigma, theory.g_0: self.sigma}
        floor = float(theory.LIMIT_FLOOR.evalf(subs={**values, g_star: self.optimum}))
        reached, proved = self.run(), self._premises[1]
        below = reached < floor - AGREE * max(1.0, abs(floor))
        if below:
            verdict, remark = Verdict.VIOLATED, "the run ends below the derived bound"
        elif proved is Verdict.PROVED:
            verdict, remark = proved, "Lemma 5.3 holds for p(0) = 0, by the floor of the rate"
        else:
            verdict, remark = proved, "the floor of the rate is not proved here"
        return direct_row(
            self,
            self.result.quantity("limit"),
            {"derived": verdict},
            derived=floor,
            measured=reached,
            remark=f"at t = {plain(END)}; {remark}",
        )

    # The start of (12).

    def _starts(self) -> list[Row]:
        place, least = self.least_share(self.sigma, self.sigma)
        short = proof(theory.start_inequality, min(self.terms + 2, theory.LONGEST_SIGN))
        return [
            self._start("start", self.params, place, least),
            direct_row(
                self,
                self.result.quantity("start.short"),
                {"derived": VERDICTS[short.status]},
                derived=0.0,
                remark=describe(short),
            ),
            self._start("start.long", {**self.params, **LONG}, LONG["sigma_init"]),
        ]

    def _start(self, name: str, params: Mapping[str, Any], p: float, least: float = -math.inf) -> Row:
        """(12) at these parameters, at the p~ where a grid has the least share: enclosed where the floats have it < 0.

        (12) asks for a small start: where dp~/dt < 0, sigma_init is not small enough.
        """
        small = float(theory.START_LIMIT.subs({L: params["L"], g_star: params["alpha"] / (1 + params["alpha"])}))
        limit = f"proved for sigma_init < g*/(2n (1 + log n)) = {plain(small)}, n = L-2"
        share = flint.arb(least) if least > 0 else share_ball(params, p, start=params["sigma_init"])
        named = ", ".join(f"{key} = {value_words(params[key])}" for key in LONG)
        if params["sigma_init"] < small:
            verdict, remark = Verdict.PROVED, limit
        elif share > 0:
            verdict, remark = Verdict.KEPT, f"on a grid of p~; {limit}"
        elif share < 0:
            verdict = Verdict.OUTSIDE
            remark = f"sigma_init is not small enough for {named}: dp~/dt < 0 at p~ = {plain(p)}; {limit}"
        else:
            verdict, remark = Verdict.UNDECIDED, limit
        return direct_row(
            self,
            self.result.quantity(name),
            {"printed": verdict},
            printed=0.0,
            measured=float(share.mid()),
            remark=remark,
            params=None if name == "start" else {},
        )

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        return replayed_claim(self, CLAIMS, name, inputs)


def share_ball(params: Mapping[str, Any], p: float, start: float) -> flint.arb:
    """The share at p~ = p, g_0 = sigma_init and p(0) = start, enclosed."""
    with working_precision(BITS):
        exact = (as_exact(value) for value in (params["sigma_init"], params["alpha"], start))
        sigma, alpha, begin = (flint.arb(flint.fmpq(number.numerator, number.denominator)) for number in exact)
        decay = (-flint.arb(p)).exp()
        return flint.arb(theory.rate_share(int(params["L"]) - 2, decay, sigma * (1 + alpha) / alpha, (-begin).exp()))


def describe(outcome: Outcome) -> str:
    words = f"{outcome.inequality.name} {outcome.status.value}"
    return f"{words} on {boxes(outcome.boxes)}" if outcome.status is Status.PROVED else words


class FirstStageStudy(Study):
    """Lemma 5.3 and its proof in Appendix B."""

    def __init__(self) -> None:
        self.result = theory.FIRST_STAGE
        self.main_quantity = "rate"

    def cost(self, sizes: Mapping[str, float], budget: Budget | None) -> Cost:
        """Sums of L terms, of which a few dozen copies are held at once."""
        return Cost(320 * sizes["L"], 1e-5 * sizes["L"])

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> FirstStageCase:
        return FirstStageCase(self.result, self.resolved(params), dtype=dtype, device=device)
