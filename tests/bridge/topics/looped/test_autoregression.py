"""looped.autoregression: accuracy of the copies, positions, synthetic and real series, refusals."""

import numpy as np
import pytest
import torch

from bridge.questions.compare import compare
from bridge.topics.looped.autoregression import gap, layers, signs
from bridge.topics.looped.series import of_synthetic, synthetic
from symbolic.words.errors import UsageError
from tests.bridge.csv_files import written
from tests.bridge.defaults import default_run

ID = "looped.autoregression"


@pytest.mark.long
def test_lags_meet_the_accuracy_that_was_asked_for():
    copy, *_ = default_run(ID, samples=4, attack=3, restarts=2)
    assert copy.derived == pytest.approx(2.0**-40, rel=1e-6, abs=0)


def test_positions_have_the_gap_and_the_representation_does_not_expand():
    drawn = signs(30, 9, 0.5, 0, 3)
    assert drawn.shape[0] == 41
    assert 0.5 < float(gap(drawn)) <= 1
    matrices = layers(3, 2, 4, 3)
    assert matrices.shape == (4, 6, 6)
    assert 1 - 1e-9 < float(matrices.abs().sum(2).min()) <= float(matrices.abs().sum(2).max()) < 1


# Series.


@pytest.mark.long
def test_synthetic_series_of_every_order_are_fitted_as_by_least_squares():
    table = of_synthetic(seed=0)
    assert [row[0] for row in table.rows] == list(range(1, 10))
    for _, apart, network, descent, least_squares in table.rows:
        assert apart < 1e-4
        assert network == pytest.approx(descent, abs=1e-7)
        assert network == pytest.approx(least_squares, abs=1e-4)


def test_synthetic_coefficients_are_found_from_a_long_series():
    x = synthetic(2, 20_000, seed=1)
    lagged = torch.stack([x[1:-1], x[:-2]], 1)
    found = torch.linalg.lstsq(lagged, x[2:]).solution
    assert float(found.abs().sum()) == pytest.approx(0.6, abs=0.05)


VALUES = synthetic(2, 80, seed=5).tolist()


@pytest.fixture
def path(tmp_path):
    return written(tmp_path, "year,value", enumerate(VALUES, 1900))


def test_a_csv_is_fitted_by_its_lags(path):
    comparison = compare(ID, csv=path, target="value", lags=3, T=60)
    errors = {row.quantity: row.measured for row in comparison.rows}
    assert errors["prediction.difference"] < 1e-6
    assert errors["prediction.network.error"] == pytest.approx(errors["prediction.least_squares.error"], rel=1e-3)
    orders, coefficients = comparison.tables
    assert [row[0] for row in orders.rows] == [1, 2, 3]
    x = np.array(VALUES[:60])
    x = x - x.mean()
    lagged = np.stack([np.concatenate([np.zeros(lag), x[:-lag]]) for lag in (1, 2, 3)], 1)[1:]
    expected = np.linalg.lstsq(lagged, x[1:], rcond=None)[0]
    assert [row[3] for row in coefficients.rows] == pytest.approx(expected.tolist(), abs=1e-9)
    assert [row[1] for row in coefficients.rows] == pytest.approx(expected.tolist(), abs=1e-3)


def test_a_coarser_c_is_taken_as_it_is_given(path):
    fine, coarse = (compare(ID, csv=path, target="value", lags=1, T=20, **c) for c in ({}, {"c": 8.0}))
    missed = [{row.quantity: row.measured for row in each.rows}["prediction.difference"] for each in (fine, coarse)]
    assert missed[0] < 1e-6 < missed[1]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"T": 0}, "T = 0; take a loop at least"),
        ({"B": 0.5}, "B = 0.5, but the series, scaled by its first values, reaches 1"),
        ({"L": 2}, "leave out L and d"),
        ({"dtype": "float32"}, "read in float64"),
    ],
    ids=str,
)
def test_series_that_cannot_be_fitted_are_refused_in_words(path, options, why):
    with pytest.raises(UsageError, match=why):
        compare(ID, csv=path, target="value", **options)


def test_lags_go_with_a_series():
    with pytest.raises(UsageError, match="lags = 3 goes with a series"):
        compare(ID, lags=3)


def test_sunspots_are_predicted_as_by_least_squares():
    pytest.importorskip("statsmodels", reason="the bundled series is part of statsmodels")
    comparison = compare(ID, data="sunspots", lags=2, T=100)
    errors = {row.quantity: row.measured for row in comparison.rows}
    assert errors["prediction.network.error"] == pytest.approx(errors["prediction.least_squares.error"], abs=1e-3)
    assert errors["prediction.least_squares.error"] == pytest.approx(13.98, abs=0.01)
