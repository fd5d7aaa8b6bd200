"""Bounds with sums and products: whole numbers stay whole, recursions are run, and what takes too long is refused."""

from fractions import Fraction
from math import prod
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.lowering import Terms, TooManyTermsError, at_most_terms, lower
from bridge.lowering.ball_values import MOST_TERMS, evaluate_ball
from bridge.questions.solve import SEARCH_TERMS, solve
from symbolic.derivations.evaluation import decimal
from symbolic.words.errors import UsageError

eps = sp.Symbol("eps", positive=True)
N, d = sp.symbols("N d", integer=True, positive=True)
j, m = sp.symbols("j m", integer=True, nonnegative=True)
UNITS = bs.rules.given("x", dim=d, size=1)
HARMONIC = sp.Sum(1 / (j + 1), (j, 0, N - 1))
FACTORS = sp.Product(1 + 1 / (j + 1) ** 2, (j, 0, N - 1))
RUN = bs.rules.accumulate(UNITS, "output", factor=1 + 1 / (j + 1), offset=eps / (j + 1), depth=N, size=9, index=j)


def run_of(n: int) -> Fraction:
    error = Fraction(0)
    for place in range(n):
        error = (1 + Fraction(1, place + 1)) * error + Fraction(1, place + 1)
    return error


BOUNDS = {
    "sum": (
        bs.rules.given("output", dim=d, size=1, error=eps * HARMONIC),
        lambda n: sum(Fraction(1, k + 1) for k in range(n)),
    ),
    "product": (
        bs.rules.given("output", dim=d, size=1, error=eps * FACTORS),
        lambda n: prod(1 + Fraction(1, (k + 1) ** 2) for k in range(n)),
    ),
    "recursion": (RUN, run_of),
}


def own(value: Any, **printed: Any) -> bs.Theorem:
    """x against x + eps / 16, which every bound here covers."""
    return bs.theorem(
        "own-sums",
        value,
        parameters={eps: 2.0**-7, N: 6, d: 3},
        inputs={"x": bs.domains.Box(d)},
        network=lambda x, eps: x + eps / 16,
        reference=lambda x: x,
        printed=printed,
    )


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_and_its_slack_are_exact(name: str) -> None:
    value, exact = BOUNDS[name]
    rows = bs.compare(own(value, output=value.error), samples=2, attack=0, N=(1, 6, 300)).rows
    for row, count in zip(rows, (1, 6, 300), strict=True):
        bound = float(exact(count) / 128)
        assert row.derived == pytest.approx(bound, rel=1e-15)
        assert row.printed == pytest.approx(bound, rel=1e-15)
        assert row.slack["output"] == pytest.approx(bound * 16 * 128, rel=1e-12)


@pytest.mark.parametrize("name", BOUNDS)
def test_a_claim_on_such_a_bound_is_judged(name: str) -> None:
    value, _ = BOUNDS[name]
    (row,) = bs.compare(own(value), samples=2, attack=0, claim=["output <= eps*N"]).rows
    assert row.verdict["claimed"] == "kept"


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath", "arb"])
@pytest.mark.parametrize("count", [1, 2, 40, 300])
def test_every_backend_runs_it(name: str, backend: str, count: int) -> None:
    value, exact = BOUNDS[name]
    like = torch.tensor(1.0, dtype=torch.float64) if backend == "torch" else 1
    for whole in (count, like * count):
        found = lower(value.error, backend, args=[eps, N])(like, whole)
        assert float(found) == pytest.approx(float(exact(count)), rel=1e-13)


@pytest.mark.parametrize("count", [0, 1, 3, 400])
@pytest.mark.parametrize("kind", [int, float, sp.Integer, sp.Float, Fraction])
def test_a_limit_is_the_whole_number_that_it_is(kind: Any, count: int) -> None:
    total = sp.Sum(sp.Rational(1, 8) * (j + 1) ** 2 + m / 7, (j, 0, N - 1))
    exact = Fraction(count * (count + 1) * (2 * count + 1), 48) + Fraction(5 * count, 7)
    assert abs(decimal(total, {N: kind(count), m: 5}) - float(exact)) <= 1e-13 * float(exact)
    with pytest.raises(ValueError, match=r"whole numbers, got 2\.5"):
        decimal(total, {N: 3.5, m: 5})


def test_limits_that_are_reversed_follow_sympy() -> None:
    for expression in (sp.Sum(j + 2, (j, 4, N)), sp.Product(j + 2, (j, 4, N))):
        for last in (3, 2, 1, 0):
            assert decimal(expression, {N: last}) == pytest.approx(float(expression.subs(N, last).doit()))


def test_a_recursion_takes_as_many_terms_as_it_has_steps() -> None:
    spent = Terms(10**6, "")
    with at_most_terms(spent):
        evaluate_ball(RUN.error, {eps: 1, N: 3000})
    assert spent.spent == 3000


def test_a_formula_of_too_many_terms_is_refused_at_once() -> None:
    spent = Terms(2 * MOST_TERMS, "")
    with at_most_terms(spent), pytest.raises(UsageError, match=r"more than 4,000,000 terms in all; lower their limits"):
        evaluate_ball(HARMONIC, {N: 2**60})
    assert spent.spent == 0


NESTED = sp.Sum(1 / ((j + 1) * (m + 1)), (m, 0, j), (j, 0, N - 1))


@pytest.mark.parametrize("tier", ["derived", "printed", "instance"])
@pytest.mark.parametrize(
    "bound", [HARMONIC, FACTORS, RUN.error / eps, NESTED], ids=["sum", "product", "recursion", "double"]
)
def test_a_search_ends(bound: sp.Expr, tier: str) -> None:
    theorem = own(bs.rules.given("output", dim=d, size=1, error=eps * bound), output=eps * bound)
    with at_most_terms(Terms(2 * SEARCH_TERMS, "the budget of a search")) as spent:
        solution = solve(theorem, for_="N", error=0.02, tier=tier)
    assert solution.bound <= 0.02
    assert spent.spent > 0
    if solution.bound < 0.0199 and bound is not FACTORS:
        assert evaluate_ball(eps * bound, {eps: Fraction(1, 128), N: solution.value + 1}) > 0.02


def test_what_a_search_does_not_run_is_said() -> None:
    theorem = own(bs.rules.given("output", dim=d, size=1, error=eps * NESTED))
    with pytest.raises(
        UsageError, match="the bound takes more than 3,000,000 terms and layers, which `solve` does not"
    ):
        solve(theorem, for_="error", N=10**6)
    falling = own(bs.rules.given("output", dim=d, size=1, error=1 / HARMONIC))
    with pytest.raises(UsageError, match=r"least bound found is .*; above that: the bound takes more than 100,000"):
        solve(falling, for_="N", error=0.01)


def test_the_budget_of_a_search_is_that_of_all_its_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.questions.solve.SEARCH_TERMS", 5000)
    falling = own(bs.rules.given("output", dim=d, size=1, error=1 / HARMONIC))
    with pytest.raises(UsageError, match="the search has run 3,000,000 terms and layers, all that it may"):
        solve(falling, for_="N", error=0.01)


def test_layers_that_are_run_count_too() -> None:
    with at_most_terms(Terms(5, "five")), pytest.raises(TooManyTermsError, match="five"):
        bs.steps("examples/own_theorem.py", N=6)
