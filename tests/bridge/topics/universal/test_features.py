"""Lemma 1 end to end: failures over draws, the slope, one set of features for three classes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

from bridge.questions.compare import compare
from bridge.questions.solve import solve
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem import Theorem
from bridge.topics.universal.features import FEATURES, network, points, reference, represented
from bridge.topics.universal.members import family_of, known_family, ratio_of
from numeric.topics.universal.features import Family, draw_features, errors
from symbolic import UsageError
from symbolic.topics.universal import barron_derivation as barron


def features(theorem: Theorem | str = "universal.features", **params: Any) -> list[Row]:
    return [row for row in compare(theorem, **params) if row.quantity == "features"]


@pytest.mark.long
@pytest.mark.parametrize("d", [2, 3])
def test_the_median_falls_like_one_over_the_root_and_the_bound_is_below_eight_of_it(d: int) -> None:
    rows = features(d=d, n=(64, 512, 4096), samples=40)
    fitted = np.polyfit(np.log([row.params["n"] for row in rows]), np.log([row.median for row in rows]), 1)[0]
    assert -0.55 < fitted < -0.45
    for row in rows:
        assert (row.failures, row.seeds, row.verdict["derived"]) == (0, 40, Verdict.KEPT)
        assert 2 * row.median < row.derived < 8 * row.median


def test_a_bound_that_fails_too_often_is_found_out() -> None:
    def worse(points: Any, features: Any, members_of: Family, tau: Any) -> Any:
        exact = reference(points, members_of)
        return exact + (network(points, features, members_of, tau) - exact) / 0.12

    stated = replace(FEATURES.statement, id="own.worse")
    (row,) = features(replace(FEATURES, statement=stated, network=worse, tables=()), n=1024, samples=60)
    assert row.failures > 50
    assert row.verdict["derived"] is Verdict.VIOLATED


@pytest.mark.long
def test_one_set_of_features_serves_three_classes() -> None:
    comparison = compare("universal.features", family="union", n=1024, samples=20)
    (row,) = (row for row in comparison if row.quantity == "features")
    (table,) = comparison.tables
    assert [each[0] for each in table.rows] == ["bumps", "ridges", "linear"]
    assert all(0 < each[2] < row.derived for each in table.rows)
    assert all(each[5] >= 0.9 * each[4] for each in table.rows)  # attacked, from some of the points


def test_the_weights_are_below_the_printed_norm() -> None:
    rows = [row for row in compare("universal.features", samples=4) if row.quantity == "one_norm"]
    assert all(row.measured < row.derived < row.printed for row in rows)
    assert {verdict for row in rows for verdict in row.verdict.values()} == {Verdict.PROVED}


# The law of large numbers: what Lambda and rho_f make is f, for each class. A wrong phase or mass would stay off.
@pytest.mark.parametrize("d", [1, 2])
def test_many_features_are_the_function(d: int) -> None:
    family = known_family("union", d, 3, 0.5, 3.0)
    x = torch.nn.functional.normalize(torch.randn(40, d, dtype=torch.float64)) * torch.rand(40, 1, dtype=torch.float64)
    many = torch.stack([errors_of(family, x, seed) for seed in range(8)])
    assert many.mean((0, 1)).max() < 0.015 * family.mass


def errors_of(family: Any, x: torch.Tensor, seed: int) -> torch.Tensor:
    return errors(family, draw_features(family, 20_000, seed), x, 64.0)


@pytest.mark.long
def test_n_is_solved_for() -> None:
    found = solve("universal.features", for_="n", error=0.5)
    assert features(n=found.value, samples=2)[0].derived <= 0.5 < features(n=found.value - 1, samples=2)[0].derived


def test_a_point_outside_the_ball_is_named() -> None:
    family = family_of(barron.BarronClass(2, 1, sp.exp(-barron.r)), [])
    assert torch.equal(represented("own", family).weights["points"](), points(2))
    with pytest.raises(UsageError, match=r"row 1 of the points has the norm 1\.25, outside the unit ball"):
        represented("own", family, at=torch.tensor([[0.5, 0.5], [1.0, 0.75]], dtype=torch.float64))
    with pytest.raises(UsageError, match=r"row 0 of the points has the norm 1\.0000000001, outside the unit ball"):
        represented("own", family, at=torch.tensor([[1 + 1e-10, 0.0]], dtype=torch.float64))


def test_a_point_of_the_sphere_is_inside_the_ball_however_it_is_rounded() -> None:
    family = family_of(barron.BarronClass(2, 1, sp.exp(-barron.r)), [])
    sphere = torch.tensor([[1 + 2.0**-52, 0.0], [0.6, 0.8]], dtype=torch.float64)
    assert torch.equal(represented("own", family, at=sphere).weights["points"](), sphere)


@pytest.mark.parametrize("family", ["bumps", "union"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_network_runs_in_every_format(family: str, dtype: str) -> None:
    (row,) = features(family=family, dtype=dtype, n=64, samples=2, bumps=2)
    assert row.verdict["derived"] is Verdict.KEPT


@pytest.mark.parametrize("others", [("3.3",), ("0.7",), ("3.3", "0.7")])
def test_shares_of_the_spectrum_are_right_where_floats_of_both_densities_are_0(others: tuple[str, ...]) -> None:
    """At widths that are floats, exact as rationals of long numerators: exp(-(w r)^2/2) over the largest of several."""
    widths = [sp.Rational(1.0021600040779528), *(sp.Rational(float(each)) for each in others)]
    first, *rest = (sp.exp(-((width * barron.r) ** 2) / 2) for width in widths)
    found = sp.log(ratio_of(first, sp.Max(*rest)).subs(barron.r, sp.Integer(1000)))
    steepest = min(widths[1:])
    assert float(found) == pytest.approx(float(steepest**2 - widths[0] ** 2) * 5e5, rel=1e-9)


@pytest.mark.parametrize("family", ["bumps", "union"])
def test_draws_that_overflow_are_judged_exactly_and_counted(family: str) -> None:
    (row,) = features(family=family, tau=6.4e13, n=256, eps=1e-4, dtype="float16", samples=4, seed=985)
    assert row.verdict == {"derived": Verdict.KEPT}
    assert row.median is None
    assert "draws have no finite error in float16: each is judged by an exact run" in row.remark
