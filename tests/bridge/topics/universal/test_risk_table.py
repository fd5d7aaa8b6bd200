"""Theorem 1 on tables: scores over splits, scikit-learn's Lasso, units, refused tables and queries."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bridge.export.comparison import Comparison
from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from bridge.theorems.tables import diabetes
from bridge.topics.universal import risk_splits
from bridge.topics.universal.prompts import learner
from numeric.topics.universal.risk import with_idle
from symbolic import UsageError
from tests.bridge.csv_files import written

pytest.importorskip("sklearn")
FAST = {"n": 48, "L": 101}
AT = {"N": 20, "L": 3, "tau": 8.0, "lam": 0.01, "tau_1": 1.0, "tau_2": 1.0}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(risk_splits, "SPLITS", 3)
        return compare("universal.risk", data="diabetes")


@pytest.mark.long
def test_the_transformer_predicts_held_out_rows(comparison: Comparison) -> None:
    (table,) = comparison.tables
    scores = {row[0]: row[1] for row in table.rows}
    assert 0.3 < scores["transformer"] < scores["least squares"] < 0.5
    assert "3 random splits" in table.title


# Objective and values at the examples are unique.
@pytest.mark.long
def test_the_limit_is_as_good_as_scikit_learns(comparison: Comparison) -> None:
    title = comparison.tables[0].title
    within = [float(each) for each in re.findall(r"within ([0-9.e-]+)", title)]
    assert len(within) == 2
    assert within[0] < 1e-9
    assert within[1] < 1e-6
    assert "not unique" not in title
    assert "phi^T rho of the run whose query is the first of them" in title


def test_predictions_of_two_minimisers_may_differ() -> None:
    said = risk_splits.limit([(1e-15, 1e-12, 1e-14), (1e-13, 1e-11, 0.25)])
    assert said[1:] == ["their predictions differ by up to 0.2, as the minimiser is not unique"]
    assert "is not unique" not in risk_splits.limit([(1e-4, 0.1, 0.25)])[1]


class Worse(risk_splits.LassoFit):
    @property
    def exact(self) -> torch.Tensor:
        return 0 * self.of.features(self.x)[0]


def test_the_objective_tells_a_worse_vector() -> None:
    x = torch.rand(20, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64) / 2
    setting = replace(learner(with_idle(torch.tensor([[0.1, 0, 0, 1, 0]], dtype=torch.float64)), AT), L=3)
    at = (setting, x, x[:, 0], x[:3])
    assert max(risk_splits.LassoFit(*at).apart) < 1e-6
    assert min(Worse(*at).apart) > 1e-3


def test_predictions_are_in_units_of_the_table(comparison: Comparison) -> None:
    found = {row.quantity: row.measured for row in comparison}
    target = diabetes().targets[-1, 0]
    assert found["prediction.target"] == pytest.approx(target)
    for name in ("network", "rho", "lasso", "least_squares"):
        assert 20 < found[f"prediction.{name}"] < 350
        assert found[f"prediction.{name}.error"] == pytest.approx(abs(found[f"prediction.{name}"] - target))
    assert found["prediction.network"] == pytest.approx(found["prediction.rho"], abs=1e-4)


def test_nothing_is_promised_for_an_unknown_function(comparison: Comparison) -> None:
    (row,) = (each for each in comparison if each.quantity == "risk")
    assert set(row.verdict.values()) == {Verdict.OUTSIDE}
    assert "f and the noise of diabetes are unknown" in row.remark


@pytest.mark.long
def test_a_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(risk_splits, "SPLITS", 2)
    x = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    x[-1] = 0.1
    path = written(tmp_path, "a,b,y", np.column_stack([x, 5 + 3 * x[:, 0] - x[:, 1]]))
    found = compare("universal.risk", csv=path, target="y", **FAST)
    assert found.tables[0].rows[0][1] > 0.5
    assert found.tables[0].rows[2][1] == pytest.approx(1)


# Each of these rows is among the held-out ones of some splits, and not of others.
@pytest.mark.long
@pytest.mark.parametrize("constant", ["feature", "held-out targets"])
def test_splits_without_a_score_are_skipped(constant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(risk_splits, "SPLITS", 6)
    x, rare = np.random.default_rng(0).uniform(-1, 1, 30), np.zeros(30)
    rare[[21] if constant == "feature" else [21, 5]] = 1.0
    header, columns = ("a,b,y", [x, rare, x]) if constant == "feature" else ("a,y", [x, rare])
    path = written(tmp_path, header, np.column_stack(columns))
    (table,) = compare("universal.risk", csv=path, target="y", **FAST).tables
    title = table.title
    assert all(np.isfinite(each) for row in table.rows for each in row[1:])
    count = int(re.search(r"(\d) splits were skipped, as a column is \(nearly\) constant", title)[1])
    assert 0 < count < 6
    assert f"R^2 on the held-out rows of {6 - count} random splits" in title


@pytest.mark.long
def test_a_table_none_of_whose_splits_has_a_score_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(risk_splits, "SPLITS", 4)
    path = written(tmp_path, "a,y", [[x, x] for x in (0.1, 0.5, -0.3, 0.2)])  # one held-out row
    with pytest.raises(UsageError, match=r"none of 4 random splits of .* has a score, as .*; give more rows"):
        compare("universal.risk", csv=path, target="y", **FAST)


@pytest.mark.long
def test_refused_tables() -> None:
    with pytest.raises(UsageError, match="lambda exceeds the noise level"):
        compare("universal.risk", data="diabetes", sigma=0.5, **FAST)
    with pytest.raises(UsageError, match="read in float64"):
        compare("universal.risk", data="diabetes", dtype="float32", **FAST)
