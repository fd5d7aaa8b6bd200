"""Signs under hypotheses: of products by their factors, of linear expressions by multipliers; no other is granted."""

import itertools
import random

import pytest
import sympy as sp

from symbolic.calculus import add, apply_function, given
from symbolic.derivations.granting import granted
from symbolic.derivations.implied_signs import hypotheses_that_imply, sign_under
from symbolic.derivations.obligations import Obligation

a, b, eta, X, c = sp.symbols("a b eta X c", positive=True)
r, s = sp.symbols("r s", real=True)
n = sp.Symbol("n", integer=True, positive=True)
free = sp.Symbol("free")  # not even real

IMPLIED = [
    (sp.Ge(X * b * eta / (1 - a), 0), [a + eta < 1]),
    (sp.Le(0, X * b * eta / (1 - a)), [a + eta <= 1]),  # eta > 0, so 1 - a > 0
    (sp.Gt(X / (1 - a), 0), [a <= b, b < 1]),
    (sp.Ge(X / (1 - a) - X, 0), [a < 1]),
    (sp.Gt(1 - a**2, 0), [a < 1]),
    (sp.Ge((1 - a) * (1 - b), 0), [a > 1, b > 1]),
    (sp.Ge((r - 1) ** 3, 0), [r >= 1]),
    (sp.Gt(1 / (r - s), 0), [sp.And(r > 2 * s, s > 0)]),
    (sp.Ge(r, 0), [sp.Eq(r, a - b), a >= b]),
    (sp.Ge(2 * n - 3, 0), [n >= 2]),
    (sp.Gt(n * (n + r - 1), 0), [r > 0]),  # n >= 1
    (sp.Lt(a / 3, sp.Float(0.5)), [a < sp.Rational(3, 2)]),
]
NOT_IMPLIED = [
    (sp.Ge(X * b * eta / (1 - a), 0), []),
    (sp.Ge(X * b * eta / (1 - a), 0), [a + eta > 1]),
    (sp.Ge(X * b * eta / (1 - a), 0), [a - eta < 1]),
    (sp.Ge(X * b * r / (1 - a), 0), [a + eta < 1]),
    (sp.Ge(X / (1 - a), 0), [a <= 1]),  # a pole
    (sp.Ge((a**2 - 3 * a + 2) / (1 - a), 0), [a < 2]),  # the factor that cancels may be 0
    (sp.Gt(X / (1 - a), 0), [a <= b, b <= 1]),
    (sp.Gt(1 - a, 0), [a <= 1]),
    (sp.Ge((1 - a) * (1 - b), 0), [a > 1, b < 1]),
    (sp.Ge((r - 1) ** 3, 0), [r >= 0]),
    (sp.Ge(r ** sp.Rational(1, 3), 0), [r <= 0]),
    (sp.Ge(free * (1 - a), 0), [a < 1]),
    (sp.Ge(2 * n - 3, 0), [n >= 1]),
    (sp.Eq(a, 1), [a >= 1]),
]


@pytest.mark.parametrize(("condition", "hypotheses"), IMPLIED, ids=str)
def test_what_follows_is_granted_by_hypotheses_that_are_all_needed(
    condition: sp.Basic, hypotheses: list[sp.Basic]
) -> None:
    used = hypotheses_that_imply(condition, hypotheses)
    assert used is not None
    assert set(used) == set(hypotheses)
    for kept in itertools.combinations(hypotheses, len(hypotheses) - 1):
        assert hypotheses_that_imply(condition, kept) is None


@pytest.mark.parametrize(("condition", "hypotheses"), NOT_IMPLIED, ids=str)
def test_what_does_not_follow_stays_open(condition: sp.Basic, hypotheses: list[sp.Basic]) -> None:
    assert hypotheses_that_imply(condition, hypotheses) is None


LETTERS = (a, b, r, s)
COEFFICIENTS = (-2, -1, sp.Rational(-1, 2), 0, 1, 2)
VALUES = [sp.Rational(p, 4) for p in range(-12, 13)]


def linear(draw: random.Random) -> sp.Expr:
    return sp.Add(*(draw.choice(COEFFICIENTS) * x for x in LETTERS), draw.choice((-1, 0, 1)))


def wanted_of(draw: random.Random, gaps: list[sp.Expr]) -> sp.Expr:
    """A combination of gaps, beside what may spoil it; or a product or quotient of two such."""

    def one() -> sp.Expr:
        return draw.choice((-1, 1)) * (draw.choice(gaps) + draw.choice((0, 1)) * draw.choice(gaps)) + draw.choice(
            (0, 0, a, b, a * b, -a, linear(draw))
        )

    return one() * draw.choice((1, one(), 1 / one(), one() ** 2))


def point(draw: random.Random) -> dict[sp.Symbol, sp.Rational]:
    return {x: abs(draw.choice(VALUES)) + sp.Rational(1, 4) if x.is_positive else draw.choice(VALUES) for x in LETTERS}


# A claimed sign holds at every point that meets the hypotheses; one that is claimed strictly is not 0 there.
def test_a_claimed_sign_holds_at_random_points() -> None:
    draw, claimed = random.Random(0), 0
    for _ in range(40):
        gaps = [linear(draw) for _ in range(draw.choice((1, 2, 3)))]
        given_here = tuple(draw.choice((sp.Ge, sp.Gt))(gap, 0) for gap in gaps)
        wanted = wanted_of(draw, gaps)
        found = sign_under(wanted, given_here)
        meets = [at for at in (point(draw) for _ in range(25)) if all(each.subs(at) == sp.true for each in given_here)]
        claimed += found is not None and bool(meets)
        for at in meets if found is not None else ():
            value = wanted.subs(at)
            assert value.is_finite, (wanted, given_here, at)
            assert found.side * value > 0 or (value == 0 and not found.strict), (wanted, given_here, at)
    assert claimed >= 10


def test_an_obligation_is_discharged_by_the_hypotheses_named() -> None:
    owed = Obligation("the size is not negative", sp.Ge(X * b * eta / (1 - a), 0))
    for hypotheses, words in (
        ([a + eta < 1], "hypothesis a + eta < 1"),
        ([b > 2, a <= c, c < 1], "hypotheses a <= c and c < 1"),
    ):
        done = granted(owed, hypotheses)
        assert (done.open, done.granted, str(done.discharged_by)) == (False, True, words)
    assert granted(owed, [a + eta > 1]) == owed
    assert granted(owed, []) == owed


def test_a_derivation_is_unconditional_under_the_hypotheses_that_give_a_sign() -> None:
    x, z = given("x", dim=1, size=1), given("z", dim=1, size=1)
    y = apply_function(x, "f(x)", eps=X * b * eta / (1 - a), lipschitz=1, size=1, function="f")
    derivation = add(y, z, name="sum").derivation
    assert derivation.conditional
    assert not derivation.under([a + eta < 1]).conditional
    assert derivation.under([a + eta > 1]).conditional
