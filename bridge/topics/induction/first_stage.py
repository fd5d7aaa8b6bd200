"""Stage I as a theorem: what is printed beside what is derived and summed directly; signs certified; p~ in time."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import flint
import sympy as sp
from torch import Tensor

from bridge.judging.exact_claims import exact_check, point_words, refuting_point, sides_of_claim
from bridge.limits.cost import PRODUCT, Cost, Work
from bridge.lowering.ball_values import as_exact
from bridge.questions.certify import Outcome, Status, prove
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.numbers import plain, plain_apart, value_words
from bridge.theorems.parts import AtPoint
from bridge.theorems.theorem import Theorem
from bridge.topics.induction.stage_one import AGREE, END, StageOne
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.result import Quantity
from symbolic.topics.induction import first_stage as theory
from symbolic.topics.induction import first_stage_signs as signs
from symbolic.topics.induction.first_stage_claims import CLAIMS, PRINTED_FACTOR, RIGHT_FACTOR
from symbolic.topics.induction.training import L as LENGTH
from symbolic.topics.induction.training import g_star

CHECKED, MOST_TERMS = 6, 18  # n of the exact checks of q': by covariances, by coefficients
LONG = {"L": 1000, "alpha": 0.05, "sigma_init": 0.01}  # an input and a target at which (12) does not let p~ grow
MOST_BOXES = 1000  # for one proof; the signs take 18
PRINTED, DERIVED, BOTH = ("printed",), ("derived",), ("printed", "derived")


# Formulas at p~ = g_0 = sigma_init. A printed one is judged by them where exact arithmetic refutes it too, at a point
# of small rationals: then no constant, and no rounding, is to blame.


def formula(name: str) -> Callable[..., Sides]:
    def sides(stage: StageOne, inputs: Mapping[str, Tensor]) -> Sides:
        """The numbers at the run's parameters; `inputs` is the exact point."""
        exact = sides_of_claim(CLAIMS[name], inputs)
        measured, accuracy = stage.by_definition[name]
        derived, printed = stage.number(DERIVATIONS[name]), stage.number(printed_bound(name))
        agree = abs(derived - measured) <= accuracy
        differ = "" if agree else "derived {1}, but summed directly {0}".format(*plain_apart(measured, derived))
        return Sides(
            within(measured, accuracy) if exact.found != exact.printed else None,
            measured=measured,
            printed=flint.arb(printed),
            derived=derived,
            proved=DERIVED,
            remark="; ".join(filter(None, [differ, not_evaluated(stage, printed), exact.remark])),
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
    too_long = f"the printed double sum has `{stage.terms}^2` terms, more than are summed here"
    return too_long if stage.too_long else "the printed number is outside the range of float64"


def factor() -> Sides:
    """The printed factor is < 0, as printed; that of the right derivative is not."""
    point, wrong = PRINTED_FACTOR.refutation(), RIGHT_FACTOR.refutation()
    if point is not None:
        return Sides(PRINTED_FACTOR.sides(point)[0], remark=f"above 0 at {point_words(point)}")
    proved = theory.printed_factor_is_negative()
    words = ["its numerator rises with `tau` and is `< 0` at `tau = s - 1`" if proved else "at small rationals"]
    if wrong is not None:
        words.append(f"that of the right `q'` is `{RIGHT_FACTOR.sides(wrong)[0]} > 0` at {point_words(wrong)}")
    return Sides(proved=PRINTED if proved else (), computed=() if proved else PRINTED, remark="; ".join(words))


# Signs.


@lru_cache(maxsize=8)
def proof(inequality_of: Callable[[int], Inequality], length: int) -> Outcome:
    """The outcome of `prove` for that inequality at that L."""
    return prove(inequality_of(length), seconds=math.inf, most_boxes=MOST_BOXES)


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
        f"`q' <= 0` is checked by exact coefficients at `L = {min(stage.terms, MOST_TERMS) + 2}`, and the "
        f"covariances against it at `L = {CHECKED + 2}`; for every `L` the proof is in writing: `q' = 2 sum_s "
        "Cov_s(c_tau, tau)`, `c_tau` falls with `tau` (softmax derivative, Chebyshev)"
    )


def sign_of_slope(stage: StageOne) -> Sides:
    slope = stage.number(theory.SLOPE)
    return Sides(slope, derived=0, proved=BOTH if falls(stage) else (), remark=slope_words(stage))


def sign_of_rate(stage: StageOne) -> Sides:
    least = stage.least_share(0.0, 0.0)[1]
    raw = proof(signs.sign_inequality, min(stage.terms + 2, signs.LONGEST_SIGN))
    return Sides(
        within(least, AGREE * abs(least)),
        measured=least,
        proved=BOTH if has_floor(stage) else (),
        remark=f"{slope_words(stage)}; the floor's coefficients are checked at this `L`; without these, {raw.words}",
    )


def lower_rate(stage: StageOne) -> Sides:
    """The bounds on the printed rate at the start; the printed one judged wherever p~ can come from there."""
    rate = 2 * stage.number(DERIVATIONS["rate"])
    place, least = stage.least_share(0.0, stage.sigma)  # the printed bound is a share of 1
    above = flint.arb(least) - 1 if least >= 1 else stage.share_ball(place, start=0.0) - 1
    product = plain(stage.sigma * (stage.terms + 2))
    short = f"`L sigma_init = {product}` is not large, as Appendix C assumes: `L = Omega(1/sigma_init)`"
    return Sides(
        within(rate, AGREE * abs(rate)) if above >= 0 else None,
        measured=rate,
        letters=stage.letters,
        proved=DERIVED if has_floor(stage) else (),
        outside=short if above < 0 else "",
        remark=f"least ratio to the printed bound on a grid of `p~`: {plain(least)} at `p~ = {plain(place)}`",
    )


# Time.


def limit(stage: StageOne) -> Sides:
    proved, reached = has_floor(stage), stage.run()
    why = (
        "Lemma 5.3 holds for `p(0) = 0`, by the floor of the rate"
        if proved
        else "the floor of the rate is not proved here"
    )
    return Sides(
        within(reached, AGREE * max(1.0, abs(reached))),
        measured=reached,
        letters={**stage.letters, theory.t: as_exact(END)},
        proved=DERIVED if proved else (),
        remark=f"at `t = {plain(END)}`; {why}",
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


def largest_start(L: int, optimum: float) -> float:
    """The sigma_init below which the share is proved to be positive."""
    return float(theory.START_LIMIT.subs({LENGTH: L, g_star: optimum}))


def stated(L: int, alpha: float, sigma_init: float) -> tuple[Quantity, ...]:
    """The quantities, without the floor of the share from a start that is too large for it to say anything."""
    small = sigma_init < largest_start(L, alpha / (1 + alpha))
    quantities = theory.FIRST_STAGE.quantities
    return tuple(each if small or each.name != "start" else replace(each, derive=None) for each in quantities)


def from_start(stage: StageOne, p: float, share: flint.arb) -> Sides:
    small = largest_start(stage.terms + 2, stage.optimum)
    named = {"L": stage.terms + 2, "alpha": stage.alpha, "sigma_init": stage.sigma}
    where = ", ".join(f"`{key} = {value_words(value)}`" for key, value in named.items())
    proved = stage.sigma < small
    words = "" if proved or share < 0 else "on a grid of `p~`"
    limit_words = f"proved for {theory.START_CONDITION}: below {plain(small)}"
    return Sides(
        share,
        measured=float(share.mid()),
        letters=stage.letters,
        proved=BOTH if proved else (),
        outside=f"`sigma_init` is not small enough for {where}: `dp~/dt < 0` at `p~ = {plain(p)}`" if share < 0 else "",
        remark="; ".join(filter(None, [words, limit_words])),
    )


def short_start(stage: StageOne) -> Sides:
    short = proof(signs.start_inequality, min(stage.terms + 2, signs.LONGEST_SIGN))
    return Sides(derived=0, proved=DERIVED if short.status is Status.PROVED else (), remark=short.words)


SIDES: Mapping[str, Callable[..., Sides]] = {
    "q.factor": factor,
    "q.sign": sign_of_slope,
    "rate.lower": lower_rate,
    "sign": sign_of_rate,
    "limit": limit,
    "start": start,
    "start.short": short_start,
    "start.long": long_start,
}
FIRST_STAGE = Theorem(
    theory.FIRST_STAGE,
    main="rate",
    built={"stage": StageOne},
    at_point=AtPoint(quantities=stated),
    checks=(
        *checks_of(
            theory.FIRST_STAGE,
            {name: formula(name) for name in DERIVATIONS},
            {name: refuting_point(CLAIMS[name]) for name in DERIVATIONS},
        ),
        exact_check(theory.FIRST_STAGE.quantity("softmax"), CLAIMS["softmax"]),
        *checks_of(theory.FIRST_STAGE, SIDES, {"start.long": {name: [value] for name, value in LONG.items()}}),
    ),
    work=lambda L: Work(before=Cost(320 * L, 1e4 * PRODUCT * L)),  # a few dozen copies are held at once
    inequalities=signs.stated_inequalities,
)
