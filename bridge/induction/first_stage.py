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
from bridge.induction.claims import PREFIX, claim_row, point_words, replayed_claim
from bridge.lowering import lower
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.balls import float_below, working_precision
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
STARTS = ("start", "start.long")  # refuted by balls at one p~
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
    """What `prove` says of that inequality at that L."""
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
        said = [] if meets else [f"the definition, summed directly, gives {measured:.6g} and not the derived number"]
        if math.isnan(printed):
            said.append("the printed double sum has n^2 terms, too many" if self.too_long else "printed: beyond floats")
        return claim_row(
            self,
            CLAIMS[name],
            printed=printed,
            derived=derived,
            measured=measured,
            verdict={"derived": Verdict.PROVED if meets else Verdict.VIOLATED},
            remark="; ".join(said),
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
            right = f"the factor of the right derivative is {value} > 0 at {point_words(wrong)}: that argument fails"
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
            f"the code checks q' <= 0 by exact coefficients at L = {terms + 2}, the covariances against it at "
            f"L = {CHECKED + 2}; that they give it for every L is argued in writing (softmax derivative, Chebyshev)"
        )
        covered = f"{checked}; the floor's coefficients are checked at this L; without any of it {_said(raw)}"
        slope, least = self._sums[_SUMS[1]], self.least_share(0.0, 0.0)[1]
        rate = self.number(theory.FLOW.rate(theory.p_tilde))
        bound = self.number(theory.RATE_BOUND_PRINTED)
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
            claim_row(
                self,
                CLAIMS["rate.lower"],
                printed=bound,
                derived=self.number(theory.RATE_FLOOR),
                measured=rate,
                verdict={
                    "derived": floor if rate >= self.number(theory.RATE_FLOOR) * (1 - AGREE) else Verdict.VIOLATED
                },
            ),
            claim_row(self, CLAIMS["rate.lower.twice"], printed=bound, measured=2 * rate),
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
            verdict, said = Verdict.VIOLATED, "the run ends below what is derived"
        elif proved is Verdict.PROVED:
            verdict, said = proved, "Lemma 5.3 holds for p(0) = 0, by the floor of the rate"
        else:
            verdict, said = proved, "the floor of the rate is not proved here"
        return direct_row(
            self,
            self.result.quantity("limit"),
            {"derived": verdict},
            derived=floor,
            measured=reached,
            remark=f"at t = {END:g}; {said}",
        )

    # The start of (12).

    def _starts(self) -> list[Row]:
        place, least = self.least_share(self.sigma, self.sigma)
        short = proof(theory.start_inequality, min(self.terms + 2, theory.LONGEST_SIGN))
        if least > 0:
            start = direct_row(
                self, self.result.quantity("start"), {"printed": Verdict.KEPT}, printed=0.0, measured=least
            )
        else:
            start = self._start("start", self.params, place)
        return [
            start,
            direct_row(
                self,
                self.result.quantity("start.short"),
                {"derived": VERDICTS[short.status]},
                derived=0.0,
                remark=_said(short),
            ),
            self._start("start.long", {**self.params, **LONG}, LONG["sigma_init"]),
        ]

    def _start(self, name: str, params: Mapping[str, Any], p: float) -> Row:
        """(12) at p~ = p >= sigma_init and these parameters, by balls; violated where dp~/dt is surely negative."""
        if p < params["sigma_init"]:
            raise UsageError(
                f"{self.result.id}: '{name}' is about p~ from the start sigma_init = {params['sigma_init']:g} up; "
                f"p_tilde = {p:g} came"
            )
        share = share_ball(params, p)
        verdict = Verdict.VIOLATED if share < 0 else Verdict.KEPT if share > 0 else Verdict.UNDECIDED
        optimum = params["alpha"] / (1 + params["alpha"])
        named = ", ".join(f"{key} = {params[key]:g}" for key in LONG)
        remark = f"by balls, at p~ = {p:g} with {named} (so p(0) = g_0 = sigma_init)"
        if params["sigma_init"] > optimum:  # (12) starts small: g_0 already beyond what it is to learn is not that
            verdict = Verdict.OUTSIDE
            remark += f"; sigma_init << 1 does not hold: it exceeds g* = {optimum:.4g}"
        witness = None
        if verdict is Verdict.VIOLATED:
            witness = Witness(
                result=self.result.id,
                quantity=PREFIX + name,
                params=dict(params),
                inputs={"p_tilde": [p]},
                error_lower=float_below(-share),
                bounds={"printed": 0.0},
            )
        return direct_row(
            self,
            self.result.quantity(name),
            {"printed": verdict},
            printed=0.0,
            measured=float(share.mid()),
            remark=remark,
            witness=witness,
            params=None if name == "start" else {},
        )

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        known = name.removeprefix(PREFIX)
        if known not in STARTS:
            return replayed_claim(self, CLAIMS, name, inputs)
        values = inputs["p_tilde"].flatten().tolist() if set(inputs) == {"p_tilde"} else []
        if len(values) != 1 or not math.isfinite(values[0]):
            raise UsageError(f"{self.result.id}: '{name}' takes one finite number p_tilde")
        return self._start(known, self.params, float(values[0]))


def share_ball(params: Mapping[str, Any], p: float) -> flint.arb:
    """The share at p~ = p and p(0) = g_0 = sigma_init, enclosed."""
    with working_precision(BITS):
        exact = (as_exact(params[name]) for name in ("sigma_init", "alpha"))
        sigma, alpha = (flint.arb(flint.fmpq(number.numerator, number.denominator)) for number in exact)
        decay, start = (-flint.arb(p)).exp(), (-sigma).exp()
        return flint.arb(theory.rate_share(int(params["L"]) - 2, decay, sigma * (1 + alpha) / alpha, start))


def _said(outcome: Outcome) -> str:
    words = f"{outcome.inequality.name} {outcome.status.value}"
    return f"{words} on {outcome.boxes} boxes" if outcome.status is Status.PROVED else words


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
