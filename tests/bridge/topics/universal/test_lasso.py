"""Lemmas 2 and 6 end to end: failures over draws, bounds at a prompt."""

import pytest

from bridge.export.comparison import Comparison
from bridge.questions.compare import compare
from bridge.questions.solve import solve
from bridge.theorems.record import Verdict
from bridge.topics.universal import lasso
from numeric.topics.universal.lasso import duality_gap

SMALL = {"n": 16, "samples": 40}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare("universal.lasso", **SMALL)


@pytest.mark.long
def test_no_bound_fails_more_often_than_stated(comparison: Comparison) -> None:
    assert [row.quantity for row in comparison] == ["noise", "deviation", "excess", "norm", "risk"]
    for row in comparison:
        assert (row.seeds, row.verdict) == (40, {"derived": Verdict.KEPT})
        assert row.failures <= 8  # a share of 1/20
        assert row.measured <= row.derived
    noise = next(row for row in comparison if row.quantity == "noise")
    assert noise.derived < 2 * noise.measured
    assert noise.derived < 5 * noise.median


def test_bounds_at_a_prompt_lie_between_the_truth_and_those_beforehand(comparison: Comparison) -> None:
    (table,) = comparison.tables
    for _, *numbers in table.rows:
        for measured, here, beforehand in (numbers[:3], numbers[3:]):
            assert measured <= here
            assert beforehand is None or here <= beforehand
    risks = [row[5] for row in table.rows]
    assert risks == sorted(risks, reverse=True)
    trivial = float((lasso.pool(16, 2, 16.0, 1.0).f ** 2).mean())
    assert risks[-1] < 0.6 * trivial


def test_a_solution_is_as_good_as_stated() -> None:
    known = lasso.pool(16, 2, 16.0, 1.0)
    found = lasso.solution(256, 0.1, 0.05, 1e-4, 16, 2, 16.0, 1.0, 3)
    chosen = lasso.picked(256, 3)
    y = known.f[chosen] + lasso.noise(256, 0.1, 3)
    assert duality_gap(known.phi[chosen], y, found, 0.05) <= 1e-4


def test_the_examples_that_a_risk_needs_are_solved_for() -> None:
    found = solve("universal.lasso", for_="N", error=0.5).value
    params = {"n": 32, "lam": 0.05, "sigma": 0.1, "delta": 0.05, "N": found, "eps_opt": 1e-4}
    assert lasso.beforehand(lasso.pool(32, 2, 16.0, 1.0), params)["risk"] <= 0.5


@pytest.mark.parametrize("sigma", [0.0, 1e-12])
def test_a_bound_of_noise_that_is_nearly_0_is_judged_exactly(sigma: float) -> None:
    rows = {row.quantity: row for row in compare("universal.lasso", sigma=sigma, N=16, n=4, samples=5)}
    assert rows["noise"].measured <= rows["noise"].derived <= 10 * sigma
    assert all(row.verdict == {"derived": Verdict.KEPT} for row in rows.values())
