"""Stage I as a theorem: printed beside derived beside the loss summed directly; signs certified; p~ followed in time.

n = L - 2 is the number of terms. Nothing but the printed double sums takes more than O(n log n).
"""

import math
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from torch import Tensor

from bridge.balls import as_exact
from bridge.budget import Budget
from bridge.certify import Outcome, Status, prove
from bridge.check import Check, Sides, within
from bridge.cost import Cost
from bridge.export.layout import value_words
from bridge.export.numbers import plain
from bridge.induction.claims import apart, boxes, exact_number, point_words
from bridge.lowering import lower
from bridge.theorem import Theorem
from numeric.balls import working_precision
from numeric.induction import first_stage as direct
from symbolic.induction import first_stage as theory
from symbolic.induction.first_stage_claims import CLAIMS, PRINTED_FACTOR, RIGHT_FACTOR
from symbolic.induction.training import L as LENGTH
from symbolic.induction.training import g_star
from symbolic.inequalities import Inequality
from symbolic.statements import UsageError

ID = theory.FIRST_STAGE.id
END = 1e8  # of the run
GRID = 200  # values of p~ at which signs are measured
BITS = 128
CHECKED, MOST_TERMS = 6, 18  # n of the exact checks of q': by covariances, by coefficients
LONG = {"L": 1000, "alpha": 0.05, "sigma_init": 0.01}  # an input and a target at which (12) does not let p~ grow
AGREE = 1e-6  # relative, of a derived number and the same by the definition
LONGEST_PRINTED = 1000  # n up to which the printed double sums, n^2 terms, are evaluated
MOST_BOXES = 1000  # for one proof; the signs take 18
MANY_TERMS = 20_000_000  # n times values of p~ at which signs are measured, at most
PRINTED, DERIVED, BOTH = ("printed",), ("derived",), ("printed", "derived")
_SUMS = sp.symbols("q slope_of_q slope_as_printed q_as_printed")


@lru_cache(maxsize=1)
def _lowered_sums() -> Any:
    return lower(sp.Matrix([theory.SLOPE_PRINTED, theory.Q_PRINTED]), "numpy", args=(LENGTH, theory.p_tilde))


class StageOne:
    """Stage I at one point: p~ starts at sigma_init, g(0) is sigma_init, p(0) = 0 but in the rows `start`."""

    def __init__(self, L: int, alpha: float, sigma_init: float) -> None:
        self.terms, self.alpha, self.sigma = L - 2, alpha, sigma_init
        self.optimum = alpha / (1 + alpha)

    @property
    def letters(self) -> dict[sp.Symbol, Any]:
        """p~, g_0 and g* at the start, as formulas have them."""
        alpha = as_exact(self.alpha)
        return {theory.p_tilde: self.sigma, theory.g_0: self.sigma, g_star: alpha / (1 + alpha)}

    @property
    def too_long(self) -> bool:
        return self.terms > LONGEST_PRINTED

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

    def number(self, formula: sp.Expr) -> float:
        """A formula of Appendix B at p~ = g_0 = sigma_init; its sums over tau are done once."""
        known = {theory.Q: _SUMS[0], theory.SLOPE: _SUMS[1], theory.SLOPE_PRINTED: _SUMS[2], theory.Q_PRINTED: _SUMS[3]}
        at = {theory.p_tilde: self.sigma, theory.g_0: self.sigma, g_star: self.optimum, LENGTH: self.terms + 2}
        return float(formula.xreplace(known).evalf(subs={**self._sums, **at}))

    @cached_property
    def by_definition(self) -> dict[str, tuple[float, float]]:
        """Each summed directly, and its accuracy: q' comes by a Fourier transform, which rounds relative to q."""
        loss, rate = direct.direct_rate(self.sigma, self.sigma, self.optimum, self.terms)
        squares, slope = direct.direct_squares(self.sigma, self.terms)
        rounding = np.finfo(float).eps * self.terms * squares
        found = {"loss": (loss, 0.0), "q": (squares, 0.0), "q.slope": (slope, rounding), "rate": (rate, 0.0)}
        return {name: (number, AGREE * abs(number) + more) for name, (number, more) in found.items()}

    def least_share(self, start: float, lowest: float) -> tuple[float, float]:
        """Where dp~/dt over u g_0 g*/Z_n(r) is least on a grid of p~ from `lowest` up, and its value there."""
        count = max(20, min(GRID, MANY_TERMS // self.terms))
        p = np.concatenate([[lowest], lowest + np.geomspace(1e-3 / self.terms, 20.0, count)])
        ratio = self.sigma / self.optimum
        shares = np.array([direct.rate_share(self.terms, math.exp(-x), ratio, math.exp(-start)) for x in p])
        return float(p[shares.argmin()]), float(shares.min())

    def share_ball(self, p: float, start: float) -> flint.arb:
        """The share at p~ = p, g_0 = sigma_init and p(0) = start, enclosed."""
        with working_precision(BITS):
            exact = (as_exact(value) for value in (self.sigma, self.alpha, start))
            sigma, alpha, begin = (flint.arb(flint.fmpq(number.numerator, number.denominator)) for number in exact)
            decay = (-flint.arb(p)).exp()
            return flint.arb(theory.rate_share(self.terms, decay, sigma * (1 + alpha) / alpha, (-begin).exp()))

    def run(self, end: float = END) -> float:
        """p~ at time `end` from p~ = sigma_init, p(0) = 0, by a stiff solver."""
        scale, ratio = self.sigma * self.optimum / self.terms, self.sigma / self.optimum

        # e^p~ grows at scale times the share, which tends to 1: a tame field, where that of p~ itself is stiff.
        def field(_: float, y: np.ndarray) -> list[float]:
            return [scale * direct.rate_share(self.terms, 1 / float(y[0]), ratio, 1.0)]

        solved = solve_ivp(field, (0.0, end), [math.exp(self.sigma)], method="LSODA", rtol=1e-9, atol=1e-9)
        if not solved.success:
            raise UsageError(f"{ID}: the run stopped at t = {solved.t[-1]:g}: {solved.message}")
        return math.log(float(solved.y[0, -1]))


# Formulas at p~ = g_0 = sigma_init. A printed one is judged by them where exact arithmetic refutes it too, at a point
# of small rationals: then no constant, and no rounding, is to blame.


def formula(name: str) -> Callable[..., Sides]:
    def sides(stage: StageOne, inputs: Mapping[str, Tensor]) -> Sides:
        """The numbers at the run's parameters; `inputs` is the exact point."""
        left, right, words = exact_sides(name, inputs)
        measured, accuracy = stage.by_definition[name]
        derived, printed = stage.number(DERIVATIONS[name]), stage.number(printed_bound(name))
        agree = abs(derived - measured) <= accuracy
        differ = "" if agree else "derived {1}, but summed directly {0}".format(*apart(measured, derived))
        return Sides(
            within(measured, accuracy) if left != right else None,
            measured=measured,
            printed=flint.arb(printed),
            derived=derived,
            proved=DERIVED,
            remark="; ".join(filter(None, [differ, not_evaluated(stage, printed), words])),
        )

    return sides


DERIVATIONS = {
    "loss": theory.LOSS,
    "q": theory.Q,
    "q.slope": theory.SLOPE,
    "rate": theory.FLOW.rate(theory.p_tilde),
}


def printed_bound(name: str) -> sp.Expr:
    printed = theory.FIRST_STAGE.quantity(name).printed
    assert printed is not None  # of those that are asked for
    return printed.bound


def not_evaluated(stage: StageOne, printed: float) -> str:
    """Why there is no printed number, if so."""
    if not math.isnan(printed):
        return ""
    too_long = f"the printed double sum has {stage.terms}^2 terms, more than are summed here"
    return too_long if stage.too_long else "the printed number is outside the range of float64"


def refuting_point(name: str) -> dict[str, list[float]]:
    """The first point of the claim's grid that refutes it, else the first of all."""
    point = CLAIMS[name].refutation() or next(CLAIMS[name].points())
    return {letter: [float(value) for value in values] for letter, values in point.items()}


def exact_sides(name: str, inputs: Mapping[str, Tensor]) -> tuple[sp.Rational, sp.Rational, str]:
    """Both sides of the claim at this point, and in words. Raises UsageError for a point that misses its premises."""
    claim = CLAIMS[name]
    point = {letter: tuple(map(exact_number, values.flatten().tolist())) for letter, values in inputs.items()}
    wrong = claim.premises(point)
    if wrong:
        raise UsageError(f"{ID}: '{name}' is not judged at these numbers: {'; '.join(wrong)}")
    left, right = claim.sides(point)
    where = f"{claim.setting}, {point_words(point)}"
    return left, right, f"at {where}: left side {left}, right side {right}, stated as left = right"


def softmax(inputs: Mapping[str, Tensor]) -> Sides:
    """The sum of the printed weights beside 1."""
    left, right, words = exact_sides("softmax", inputs)
    return Sides(left, printed=right, remark=words)


def factor() -> Sides:
    """The printed factor is < 0, as printed; that of the right derivative is not."""
    point, wrong = PRINTED_FACTOR.refutation(), RIGHT_FACTOR.refutation()
    if point is not None:
        return Sides(PRINTED_FACTOR.sides(point)[0], remark=f"above 0 at {point_words(point)}")
    proved = theory.printed_factor_is_negative()
    words = ["its numerator rises with tau and is < 0 at tau = s - 1" if proved else "at small rationals"]
    if wrong is not None:
        words.append(f"that of the right q' is {RIGHT_FACTOR.sides(wrong)[0]} > 0 at {point_words(wrong)}")
    return Sides(proved=PRINTED if proved else (), computed=() if proved else PRINTED, remark="; ".join(words))


# Signs.


@lru_cache(maxsize=8)
def proof(inequality_of: Callable[[int], Inequality], length: int) -> Outcome:
    """The outcome of `prove` for that inequality at that L."""
    return prove(inequality_of(length), seconds=math.inf, most_boxes=MOST_BOXES)


def describe(outcome: Outcome) -> str:
    words = f"{outcome.inequality.name} {outcome.status.value}"
    return f"{words} on {boxes(outcome.boxes)}" if outcome.status is Status.PROVED else words


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


def falls(stage: StageOne) -> bool:
    """Whether the checks of q' <= 0 hold."""
    return slope_is_negative(min(stage.terms, MOST_TERMS))


def has_floor(stage: StageOne) -> bool:
    """Whether those of the floor of the rate hold, which rests on q' <= 0."""
    return falls(stage) and min(theory.excess_coefficients(stage.terms)) > 0


def slope_words(stage: StageOne) -> str:
    return (
        f"q' <= 0 is checked by exact coefficients at L = {min(stage.terms, MOST_TERMS) + 2}, and the covariances "
        f"against it at L = {CHECKED + 2}; for every L the proof is in writing: q' = 2 sum_s Cov_s(c_tau, tau), c_tau "
        "falls with tau (softmax derivative, Chebyshev)"
    )


def sign_of_slope(stage: StageOne) -> Sides:
    slope = stage.number(theory.SLOPE)
    return Sides(slope, derived=0, proved=BOTH if falls(stage) else (), remark=slope_words(stage))


def sign_of_rate(stage: StageOne) -> Sides:
    least = stage.least_share(0.0, 0.0)[1]
    raw = proof(theory.sign_inequality, min(stage.terms + 2, theory.LONGEST_SIGN))
    return Sides(
        within(least, AGREE * abs(least)),
        measured=least,
        proved=BOTH if has_floor(stage) else (),
        remark=f"{slope_words(stage)}; the floor's coefficients are checked at this L; without these, {describe(raw)}",
    )


def lower_rate(stage: StageOne) -> Sides:
    """The bounds on the printed rate at the start; the printed one judged wherever p~ can come from there."""
    rate = 2 * stage.number(DERIVATIONS["rate"])
    place, least = stage.least_share(0.0, stage.sigma)  # the printed bound is a share of 1
    above = flint.arb(least) - 1 if least >= 1 else stage.share_ball(place, start=0.0) - 1
    product = plain(stage.sigma * (stage.terms + 2))
    short = f"L sigma_init = {product} is not large, as Appendix C assumes: L = Omega(1/sigma_init)"
    return Sides(
        within(rate, AGREE * abs(rate)) if above >= 0 else None,
        measured=rate,
        letters=stage.letters,
        proved=DERIVED if has_floor(stage) else (),
        outside=short if above < 0 else "",
        remark=f"least ratio to the printed bound on a grid of p~: {plain(least)} at p~ = {plain(place)}",
    )


# Time.


def limit(stage: StageOne) -> Sides:
    proved, reached = has_floor(stage), stage.run()
    why = (
        "Lemma 5.3 holds for p(0) = 0, by the floor of the rate"
        if proved
        else "the floor of the rate is not proved here"
    )
    return Sides(
        within(reached, AGREE * max(1.0, abs(reached))),
        measured=reached,
        letters={**stage.letters, theory.t: as_exact(END)},
        proved=DERIVED if proved else (),
        remark=f"at t = {plain(END)}; {why}",
    )


# The start of (12), which asks for a small one: where dp~/dt < 0, sigma_init is not small enough.


def start(L: int, alpha: float, sigma_init: float) -> Sides:
    """At the p~ where a grid has the least share: enclosed where the floats have it < 0."""
    stage = StageOne(L, alpha, sigma_init)
    place, least = stage.least_share(sigma_init, sigma_init)
    return from_start(stage, place, flint.arb(least) if least > 0 else stage.share_ball(place, start=sigma_init))


def long_start(L: int, alpha: float, sigma_init: float) -> Sides:
    stage = StageOne(L, alpha, sigma_init)
    return from_start(stage, sigma_init, stage.share_ball(sigma_init, start=sigma_init))


def from_start(stage: StageOne, p: float, share: flint.arb) -> Sides:
    small = float(theory.START_LIMIT.subs({LENGTH: stage.terms + 2, g_star: stage.optimum}))
    named = {"L": stage.terms + 2, "alpha": stage.alpha, "sigma_init": stage.sigma}
    where = ", ".join(f"{key} = {value_words(value)}" for key, value in named.items())
    proved = stage.sigma < small
    words = "" if proved or share < 0 else "on a grid of p~"
    limit_words = f"proved for sigma_init < g*/(2n (1 + log n)) = {plain(small)}, n = L-2"
    return Sides(
        share,
        measured=float(share.mid()),
        proved=PRINTED if proved else (),
        outside=f"sigma_init is not small enough for {where}: dp~/dt < 0 at p~ = {plain(p)}" if share < 0 else "",
        remark="; ".join(filter(None, [words, limit_words])),
    )


def short_start(stage: StageOne) -> Sides:
    short = proof(theory.start_inequality, min(stage.terms + 2, theory.LONGEST_SIGN))
    return Sides(derived=0, proved=DERIVED if short.status is Status.PROVED else (), remark=describe(short))


def cost(sizes: Mapping[str, float], budget: Budget | None) -> Cost:
    """Sums of L terms, of which a few dozen copies are held at once."""
    return Cost(320 * sizes["L"], 1e-5 * sizes["L"])


CHECKS: Mapping[str, tuple[Any, ...]] = {
    **{name: (formula(name), refuting_point(name)) for name in ("loss", "q", "q.slope", "rate")},
    "softmax": (softmax, refuting_point("softmax")),
    "q.factor": (factor,),
    "q.sign": (sign_of_slope,),
    "rate.lower": (lower_rate,),
    "sign": (sign_of_rate,),
    "limit": (limit,),
    "start": (start,),
    "start.short": (short_start,),
    "start.long": (long_start, {name: [value] for name, value in LONG.items()}),
}
FIRST_STAGE = Theorem(
    theory.FIRST_STAGE,
    main="rate",
    built={"stage": StageOne},
    checks=tuple(Check(theory.FIRST_STAGE.quantity(name), *how) for name, how in CHECKS.items()),
    cost=cost,
)
