"""Series as sources: what is held out, errors in the units of the series, and refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.theorems.record import Row
from bridge.theorems.sources import ScaledSeries
from symbolic.words.errors import UsageError

n, q = sp.symbols("n q", integer=True, positive=True)
eps = sp.Symbol("eps", positive=True)
VALUES = 3.0 + np.cos(np.arange(12.0))


def last(data: ScaledSeries) -> torch.Tensor:
    """The value before, 0 at the first time."""
    return torch.cat([0 * data.x[:1], data.x[:-1]])


PREDICTIONS = (
    bs.sources.Prediction("network", "the value before, and a little", lambda data: last(data) + 0.5),
    bs.sources.Prediction("exact", "the value before", last),
)
SERIES = bs.sources.Series("n", "q", 3, defaults={"q": 2}, predictions=PREDICTIONS)
THEOREM = bs.theorem(
    "persistence",
    bs.rules.given("out", dim=1, size=1, error=eps),
    parameters={eps: 0.5, n: 4, q: 1},
    hypotheses=[eps < 1],
    inputs={"x": bs.domains.Box(n)},
    network=lambda x, eps: x[-1:] + eps,
    reference=lambda x: x[-1:],
    sources=(SERIES,),
)


def written(folder: Path, times: Any = None, header: str = "t,y", **columns: Any) -> str:
    file = folder / "series.csv"
    rows = np.column_stack([np.arange(12) if times is None else times, VALUES, *columns.values()])
    file.write_text("\n".join([header, *(",".join(map(repr, row)) for row in rows.tolist())]))
    return str(file)


def compared(path: str, **options: Any) -> dict[str, Row]:
    return {row.quantity: row for row in bs.compare(THEOREM, csv=path, target="y", **options)}


def test_the_last_values_are_predicted_in_units_of_the_series(tmp_path: Path) -> None:
    found = compared(written(tmp_path))
    assert list(found) == ["prediction.network.error", "prediction.exact.error", "prediction.difference"]
    missed = np.abs(VALUES[9:] - VALUES[8:-1]).mean()
    assert found["prediction.exact.error"].measured == pytest.approx(missed)
    unit = np.abs(VALUES[:9] - VALUES[:9].mean()).max()
    assert found["prediction.difference"].measured == pytest.approx(unit / 2)
    row = found["prediction.network.error"]
    assert (row.params["n"], row.params["q"], row.norm) == (8, 2, "units of the series")
    assert "the last 3 values of" in row.domain
    assert "from the 2 before it" in row.domain
    assert compared(written(tmp_path), lags=3)["prediction.difference"].params["q"] == 3


def test_values_alone_are_at_equal_steps(tmp_path: Path) -> None:
    path = written(tmp_path, times=np.arange(12) ** 2)
    found = {row.quantity: row.measured for row in bs.compare(THEOREM, csv=path, features="y")}
    assert found == {name: row.measured for name, row in compared(written(tmp_path)).items()}
    alone = tmp_path / "alone.csv"
    alone.write_text("y\n" + "\n".join(map(repr, VALUES.tolist())))
    for target in (None, "y"):
        assert {row.quantity: row.measured for row in bs.compare(THEOREM, csv=str(alone), target=target)} == found


def test_the_examples_have_mean_0_and_are_at_most_1() -> None:
    data = ScaledSeries.of(torch.as_tensor(VALUES, dtype=torch.float64), 8)
    assert float(data.x[:9].mean()) == pytest.approx(0, abs=1e-12)
    assert float(data.x[:9].abs().max()) == pytest.approx(1)
    torch.testing.assert_close(data.centre + data.unit * data.x, torch.as_tensor(VALUES, dtype=torch.float64))
    assert data.mean_error(data.x) == 0


def test_hypotheses_of_the_bounds_do_not_matter(tmp_path: Path) -> None:
    assert compared(written(tmp_path), eps=2.0)["prediction.exact.error"].params["eps"] == 2.0


def test_a_constant_series_is_refused() -> None:
    with pytest.raises(UsageError, match="the series is constant over its first 11 values"):
        ScaledSeries.of(
            torch.cat([torch.full((11,), 0.1, dtype=torch.float64), torch.rand(5, dtype=torch.float64)]), 10
        )


@pytest.mark.parametrize(
    ("columns", "options", "why"),
    [
        (
            {"times": np.delete(np.arange(13), 5)},
            {},
            "gaps in time: t goes from 4 to 6, .* steps are 1; .* values by --features",
        ),
        ({"times": -np.arange(12)}, {}, "gaps in time"),
        (
            {"header": "t,y,other", "other": VALUES[::-1] ** 2},
            {},
            "one column of times .*, but there are t, other; name the one by --features",
        ),
        ({}, {"lags": 0}, "q = 0 lags for n = 8 values before those held out; take 1 to 7"),
        ({}, {"lags": 8}, "q = 8 lags for n = 8"),
        ({}, {"n": 11}, "n = 11, but the last time of .* is 11; take 2 to 10"),
        ({}, {"lags": 2, "q": 2}, "lags = 2 is the parameter q, which is given too"),
        ({}, {"attack": 2}, "attack = 2 has no effect on any row"),
    ],
    ids=str,
)
def test_series_that_cannot_be_fitted_are_refused(tmp_path: Path, columns: Any, options: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        compared(written(tmp_path, **columns), **options)


def test_lags_go_with_a_series() -> None:
    with pytest.raises(UsageError, match="lags = 3 goes with a series"):
        bs.compare(THEOREM, lags=3)
