"""Theorem 1 on tables: scores over splits, scikit-learn's Lasso, units, refused tables and queries."""

from pathlib import Path

import numpy as np
import pytest

from bridge import compare
from bridge.data import diabetes
from bridge.record import Comparison, Verdict
from bridge.universal import risk_data
from symbolic import UsageError

pytest.importorskip("sklearn")
FAST = {"n": 48, "L": 101}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(risk_data, "SPLITS", 3)
        return compare("universal.risk", data="diabetes")


def test_the_transformer_predicts_held_out_rows(comparison: Comparison) -> None:
    (table,) = comparison.tables
    scores = {row[0]: row[1] for row in table.rows}
    assert 0.3 < scores["transformer"] < scores["least squares"] < 0.5
    assert "3 random splits" in table.title


# The minimiser to which the blocks converge is scikit-learn's: to 1e-6 in predictions, at most.
def test_the_limit_is_scikit_learns(comparison: Comparison) -> None:
    within = float(comparison.tables[0].title.rpartition("within ")[2].split()[0])
    assert within < 1e-6


def test_predictions_are_in_units_of_the_table(comparison: Comparison) -> None:
    found = {row.quantity: row.measured for row in comparison}
    target = diabetes().targets[-1, 0]
    assert found["prediction.target"] == pytest.approx(target)
    for name in ("y_hat", "rho", "lasso", "least_squares"):
        assert 20 < found[f"prediction.{name}"] < 350
        assert found[f"prediction.{name}.error"] == pytest.approx(abs(found[f"prediction.{name}"] - target))
    assert found["prediction.y_hat"] == pytest.approx(found["prediction.rho"], abs=1e-4)


def test_nothing_is_promised_for_an_unknown_function(comparison: Comparison) -> None:
    (row,) = (each for each in comparison if each.quantity == "risk")
    assert set(row.verdict.values()) == {Verdict.OUTSIDE}
    assert "f and the noise of diabetes are unknown" in row.remark


def written(folder: Path, x: np.ndarray, y: np.ndarray) -> str:
    path = folder / "own.csv"
    rows = [",".join(map(repr, [*map(float, each), float(target)])) for each, target in zip(x, y, strict=True)]
    path.write_text("\n".join([",".join([*(f"x{k}" for k in range(x.shape[1])), "y"]), *rows]))
    return str(path)


def test_a_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(risk_data, "SPLITS", 2)
    x = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    x[-1] = 0.1
    path = written(tmp_path, x, 5 + 3 * x[:, 0] - x[:, 1])
    found = compare("universal.risk", csv=path, target="y", **FAST)
    assert found.tables[0].rows[0][1] > 0.5
    assert found.tables[0].rows[2][1] == pytest.approx(1)


def test_refused_tables(tmp_path: Path) -> None:
    x, y = np.random.default_rng(1).uniform(-1, 1, (30, 2)), np.arange(30.0)
    far = np.vstack([x[:-1], [[40.0, 40.0]]])
    with pytest.raises(
        UsageError, match=r"the query of .*, row 30, has the norm \d+.* after scaling by the prompt, outside"
    ):
        compare("universal.risk", csv=written(tmp_path, far, y), target="y", **FAST)
    constant = np.column_stack([x[:, 0], np.ones(30)])
    with pytest.raises(UsageError, match="column 'x1' is constant over the prompt"):
        compare("universal.risk", csv=written(tmp_path, constant, y), target="y", **FAST)
    with pytest.raises(UsageError, match="rows of numbers, but at least 3 are needed"):
        compare("universal.risk", csv=written(tmp_path, x[:1], y[:1]), target="y", **FAST)
    with pytest.raises(UsageError, match="features of d = 3 for the 10 columns of diabetes"):
        compare("universal.risk", data="diabetes", d=3, **FAST)
    with pytest.raises(UsageError, match="N = 442, but diabetes has 442 rows"):
        compare("universal.risk", data="diabetes", N=442, **FAST)
    with pytest.raises(UsageError, match="lambda exceeds the noise level"):
        compare("universal.risk", data="diabetes", sigma=0.5, **FAST)
    with pytest.raises(UsageError, match="read in float64"):
        compare("universal.risk", data="diabetes", dtype="float32", **FAST)
