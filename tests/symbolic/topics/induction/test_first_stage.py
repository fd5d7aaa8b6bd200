"""Stage I: the flow against sums written out, the covariance argument step by step, the floors."""

import itertools
import math
import random

import pytest
import sympy as sp

from symbolic.topics.induction import first_stage as theory
from symbolic.topics.induction import first_stage_signs as signs
from symbolic.topics.induction.first_stage_claims import CLAIMS, PRINTED_FACTOR, RIGHT_FACTOR, exactly
from symbolic.topics.induction.training import g_star
from symbolic.words.errors import UsageError


def weights(terms: int, u: sp.Rational) -> list[list[sp.Rational]]:
    """pi_s(tau), row s = 2 .. L-1, each written out as a softmax."""
    powers = [[u ** (s - tau) if tau <= s else sp.Integer(0) for tau in range(terms)] for s in range(terms)]
    return [[entry / sum(row) for entry in row] for row in powers]


def written_out(terms: int, u: sp.Rational, g_0: sp.Rational, optimum: sp.Rational) -> sp.Rational:
    columns = list(zip(*weights(terms, u), strict=True))
    coefficients = [g_0 * sum(column) / terms for column in columns]
    coefficients[-1] -= optimum
    return sum(each**2 for each in coefficients) / 2


@pytest.mark.parametrize("u", [sp.Rational(1, 2), sp.Rational(3, 4)], ids=["half", "three_quarters"])
def test_the_loss_is_half_the_square_of_the_coefficients(u: sp.Rational) -> None:
    g_0, optimum = sp.Rational(1, 8), sp.Rational(1, 2)
    point = {"u": (u,), "g_0": (g_0,), "g_star": (optimum,)}
    assert exactly(theory.LOSS, point) == written_out(3, u, g_0, optimum)


@pytest.mark.parametrize("terms", [2, 3, 5])
def test_the_rate_in_u_is_the_derivative_of_the_loss(terms: int) -> None:
    g_0, optimum, x = sp.Rational(1, 8), sp.Rational(1, 2), theory.u
    by_hand = x * sp.diff(written_out(terms, x, g_0, optimum), x)  # dp~/dt = -dL/dp~ = u dL/du
    share = theory.rate_share(terms).subs(theory.gamma, g_0 / optimum) * x * g_0 * optimum / terms
    for at in (sp.Rational(1, 3), sp.Rational(9, 10), sp.Integer(1)):
        assert sp.simplify((by_hand - share).subs(x, at)) == 0


def test_the_flow_in_sums_is_the_rate_in_u() -> None:
    rate = theory.FLOW.rate(theory.p_tilde)
    values = {
        theory.L: 5,
        theory.p_tilde: sp.Float("0.3", 30),
        theory.g_0: sp.Rational(1, 8),
        g_star: sp.Rational(1, 2),
    }
    u = sp.exp(-values[theory.p_tilde])
    share = theory.rate_share(3, u, sp.Rational(1, 4)) * u / 16 / 3
    known = rate.xreplace({theory.SLOPE: -2 * u * sum(a * b for a, b in zip(*theory.mixtures(3, u), strict=True))})
    assert abs(known.subs(values) - share) < 1e-20


@pytest.mark.parametrize("terms", [2, 3, 6, 9])
def test_every_step_of_the_covariance_argument(terms: int) -> None:
    u = sp.Rational(3, 5)
    pi = weights(terms, u)
    c = [sum(column) for column in zip(*pi, strict=True)]
    slope = -2 * u * sum(a * b for a, b in zip(*theory.mixtures(terms, u), strict=True))
    assert c == theory.mixtures(terms, u)[0]

    def covariance(row: list[sp.Rational]) -> sp.Rational:
        mean = sum(place * weight for place, weight in enumerate(row))
        return sum(weight * value * (place - mean) for place, (weight, value) in enumerate(zip(row, c, strict=True)))

    assert slope == 2 * sum(map(covariance, pi))
    falls = [(a - b) / u for a, b in itertools.pairwise(c)]
    assert falls == [fall.subs(theory.u, u) for fall in theory.falls(terms)]
    assert min(falls) > 0
    assert theory.covariance_form(terms).subs(theory.u, u) == -slope / (2 * u)


def test_the_covariance_form_notices_a_wrong_term() -> None:
    u = sp.Rational(3, 5)
    form = theory.covariance_form(4) - theory.falls(4)[1] / 1000
    slope = sum(a * b for a, b in zip(*theory.mixtures(4, u), strict=True))
    assert form.subs(theory.u, u) != slope


@pytest.mark.parametrize("terms", [2, 3, 7, 20, 100])
def test_the_floor_of_the_rate_and_its_equality(terms: int) -> None:
    share = sp.Rational(terms - 1, 2 * terms)
    assert theory.SHARE_FLOOR.subs(theory.L, terms + 2) == share
    assert theory.rate_share(terms, sp.Integer(1), sp.Integer(0)) == share
    assert min(theory.excess_coefficients(terms)) > 0
    x = sp.Rational(2, 3)
    excess = sum(c * x**k for k, c in enumerate(theory.excess_coefficients(terms)))
    Z = theory.normalisers(terms, x)[-1]
    assert theory.rate_share(terms, x, sp.Integer(0)) - share == (1 - x) * excess / (2 * terms * Z**2)


def test_no_larger_floor_holds() -> None:
    nearly = theory.rate_share(20, 1 - 1e-9, 1e-9, 1.0)
    assert float(theory.SHARE_FLOOR.subs(theory.L, 22)) < nearly < 1.001 * float(theory.SHARE_FLOOR.subs(theory.L, 22))


def test_the_printed_last_factor_is_negative_and_the_right_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert theory.printed_factor_is_negative()
    assert PRINTED_FACTOR.refutation() is None
    assert RIGHT_FACTOR.refutation() == {"s": (3,), "tau": (2,), "u": (sp.Rational(1, 2),)}
    monkeypatch.setattr(theory, "LAST_FACTOR_PRINTED", theory.LAST_FACTOR)
    assert not theory.printed_factor_is_negative()


@pytest.mark.parametrize("terms", [2, 3, 9])
def test_the_excess_is_that_of_the_polynomials(terms: int) -> None:
    z = sp.Poly([1] * terms, theory.u)
    F = sp.Poly(theory.excess_coefficients(terms)[::-1], theory.u)
    assert 2 * terms * z.diff(theory.u) - (terms - 1) * z**2 == F * sp.Poly(1 - theory.u, theory.u)


def test_a_claim_that_is_true_is_not_refuted() -> None:
    draw = random.Random(0)
    repaired = CLAIMS["rate"]
    for _ in range(3):
        point = {
            "u": (sp.Rational(draw.randint(1, 15), 16),),
            "g_0": (sp.Rational(1, 8),),
            "g_star": (sp.Rational(1, 2),),
        }
        ours, printed = repaired.sides(point)
        assert 2 * ours == printed  # the whole difference is the factor 2


@pytest.mark.parametrize("terms", [2, 3, 7, 20])
@pytest.mark.parametrize("start", [sp.Rational(1, 10), sp.Rational(9, 10), sp.Integer(1)], ids=str)
def test_the_floor_of_the_share_from_a_small_start(terms: int, start: sp.Rational) -> None:
    """Each step of the argument above START_FLOOR, at a p(0) with e^-p(0) = start."""
    for u in (sp.Rational(1, 10), sp.Rational(3, 5), sp.Rational(99, 100), sp.Integer(1)):
        c, dc = theory.mixtures(terms, u, start)
        weights_sum = theory.normalisers(terms, start)[-1]
        assert max(c) <= sp.harmonic(terms)
        mixed = sum(a * b for a, b in zip(c, dc, strict=True)) / weights_sum
        assert abs(mixed) <= (terms - 1) * max(c)
        for ratio in (sp.Rational(1, 1000), sp.Rational(1, 2)):
            floor = theory.START_FLOOR.subs({theory.L: terms + 2, theory.gamma: ratio})
            assert theory.rate_share(terms, u, ratio, start) >= floor


def test_the_floor_is_positive_below_its_limit_only() -> None:
    limit = theory.START_LIMIT.subs({theory.L: 30, g_star: 1})
    floor = theory.START_FLOOR.subs(theory.L, 30)
    assert floor.subs(theory.gamma, limit * sp.Rational(99, 100)) > 0 > floor.subs(theory.gamma, limit * 2)
    assert sp.simplify(floor.subs(theory.gamma, limit)) == 0


def test_a_claim_is_read_in_the_unit_of_time_of_its_rate() -> None:
    """The printed lower bound, against the printed rate: false at L = 5 and a small start, whatever the unit."""
    u, g_0, optimum = sp.Rational(15, 16), sp.Rational(1, 1024), sp.Rational(1, 2)
    point = {"u": (u,), "g_0": (g_0,), "g_star": (optimum,)}
    printed_rate = exactly(theory.RATE_PRINTED, point)
    assert 2 * exactly(theory.RATE_FLOOR, point) < printed_rate < exactly(theory.RATE_BOUND_PRINTED, point)


def test_the_limit_grows_without_bound() -> None:
    values = {theory.L: 10, theory.sigma_init: 0.01, theory.g_0: 0.01, g_star: 0.5}
    ends = [float(theory.LIMIT_FLOOR.subs({**values, theory.t: 10.0**k})) for k in (0, 6, 12, 18)]
    assert ends == sorted(ends)
    assert ends[-1] - ends[-2] == pytest.approx(6 * math.log(10), rel=1e-3)


def test_stated_inequalities_say_what_they_cover() -> None:
    names = [each.name for each in signs.stated_inequalities(1000)]
    assert names == ["sign[L=8]", "start[L=8]", "floor[L=40]"]
    with pytest.raises(UsageError, match=r"L = 4 came.*L >= 5"):
        signs.stated_inequalities(4)
