"""Rows as draws of a law: what is fitted stands in parameters and weights of the theorem, and what is refused."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.theorems.check import Check, Sides
from bridge.theorems.data import Table
from bridge.theorems.record import NamedTable, Verdict
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.statements.result import Kind, Quantifier, Quantity
from symbolic.words.errors import UsageError

n, d = sp.symbols("n d", integer=True, positive=True)
size = sp.Symbol("size", positive=True)
ROWS = np.random.default_rng(3).normal(size=(8, 2))


def fitted(n: int, data: Table, seed: int) -> dict[str, Any]:
    chosen = np.random.default_rng(seed).permutation(len(data.features))[: int(n)]
    return {"size": float(np.linalg.norm(data.features, axis=1).max()), "x": data.features[chosen]}


def mean_of(data: Table, x: torch.Tensor) -> NamedTable:
    return NamedTable(title=data.source, columns=["mean"], rows=[[float(x.mean())]])


SAMPLE = bs.sources.Sample(
    "n", "d", fitted=("size",), usual=5, dimensions=2, longest=8, implied=fitted, tables=(mean_of,), defaults={}
)
NORM = Quantity(
    "norm", "q", "norm of the mean", "2-norm", "all rows", Kind.UPPER, Quantifier.FOR_ALL,
    Derivation((Step("norm", Norm.TWO, "own", size),)), scopes=(),
)  # fmt: skip
OWN: dict[str, Any] = {
    "parameters": {size: 1.0, n: 3, d: 1},
    "weights": {"x": lambda n, d, seed: torch.full((n, d), 0.5 / (1 + seed), dtype=torch.float64)},
    "sources": [SAMPLE],
}
CHECK = Check(NORM, lambda x: Sides(float(torch.linalg.vector_norm(x.mean(0)))))
THEOREM = bs.theorem("own.mean", checks=[CHECK], **OWN)


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "own.csv"
    file.write_text("\n".join(["name,a,b", *(f"row,{a!r},{b!r}" for a, b in ROWS.tolist())]))
    return str(file)


def test_what_is_fitted_stands_in_parameters_and_weights(path: str) -> None:
    comparison = bs.compare(THEOREM, csv=path, features="a,b", seed=2)
    (row,), (table,) = comparison.rows, comparison.tables
    chosen = ROWS[np.random.default_rng(2).permutation(8)[:5]]
    assert row.params == {"size": pytest.approx(np.linalg.norm(ROWS, axis=1).max()), "n": 5, "d": 2}
    assert row.measured == pytest.approx(np.linalg.norm(chosen.mean(0)))
    assert row.verdict["derived"] is Verdict.KEPT
    assert (table.title, table.rows) == (path, [[pytest.approx(chosen.mean())]])
    assert comparison.environment["inputs"] == f"table {path} (features a, b)"
    assert f"inputs table {path} (features a, b)" in str(comparison)
    assert bs.compare(THEOREM).rows[0].measured == pytest.approx(0.5)
    assert "inputs" not in str(bs.compare(THEOREM)).splitlines()[-1]


def test_examples_are_so_many_rows(path: str) -> None:
    found = bs.compare(THEOREM, csv=path, features="b", n=(2, 8)).rows
    assert [(row.params["n"], row.params["d"]) for row in found] == [(2, 1), (8, 1)]
    assert found[1].measured == pytest.approx(abs(ROWS[:, 1].mean()))


def test_a_longer_table_is_drawn_from(path: str) -> None:
    shorter = bs.theorem("own.mean", checks=[CHECK], **{**OWN, "sources": [replace(SAMPLE, longest=4)]})
    (table,) = bs.compare(shorter, csv=path, features="a,b", n=4).tables
    assert table.title == f"{path} (4 of its 8 rows)"
    means = [rows.mean() for rows in map(np.array, itertools.combinations(ROWS, 4))]
    assert np.abs(np.array(means) - table.rows[0][0]).min() < 1e-12
    with pytest.raises(UsageError, match=r"n = 5, but .* has 8 rows; take 1 to 4"):
        bs.compare(shorter, csv=path, features="a,b", n=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "a,b", "d": 1}, "own.mean: d = 1 for .*own.csv with a, b; leave d out"),
        ({"features": "a", "n": 9}, "n = 9, but .* has 8 rows; take 1 to 8"),
        ({"features": "a", "size": 2.0}, "own.mean: size is fitted to .*own.csv; leave it out"),
        ({"target": "b", "features": "a"}, "own.mean: --target b, but nothing is predicted; leave it out, and take"),
        ({"target": "b", "features": []}, r"--features: \[\] leaves a name out"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(options: Any, message: str, path: str) -> None:
    with pytest.raises(UsageError, match=message):
        bs.compare(THEOREM, csv=path, **options)


def test_too_many_columns_are_named(path: str, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"own\.mean: 10 columns of diabetes; take 1 to 2 of them by --features: age, sex"
    ):
        bs.compare(THEOREM, data="diabetes")
    alone = tmp_path / "alone.csv"
    alone.write_text("y\n1\n2\n4\n")
    with pytest.raises(UsageError, match=r"own\.mean: 0 columns of .*alone\.csv; take 1 to 2"):
        bs.compare(THEOREM, csv=str(alone), target="y")


def test_a_theorem_with_inputs_has_no_sample() -> None:
    with pytest.raises(
        UsageError, match=r"own\.mean: a Sample makes no prompt, but the theorem has inputs; leave one out"
    ):
        bs.theorem("own.mean", checks=[CHECK], inputs={"z": bs.domains.Box(1)}, **OWN)
