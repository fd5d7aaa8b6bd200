"""looped.newton end to end: labels, floors predicted before a run, a table, and refusals."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bridge.instances.instance import Instance
from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from bridge.theorems.registry import find_theorem
from bridge.topics.looped import newton_tables as tables
from bridge.topics.looped.newton import resolve
from numeric.networks.network import Network
from numeric.topics.looped import newton as numeric
from symbolic import UsageError
from symbolic.calculus.heads import Second
from symbolic.topics.looped import newton_derivation as theory
from symbolic.topics.looped.newton import SECONDS
from symbolic.topics.looped.newton_derivation import derive_labels
from tests.bridge.csv_files import written

SMALL = {"N": 4, "d": 2, "T": 2, "samples": 8, "attack": 4, "restarts": 2}
IDS = [str(second) for second in SECONDS]


def test_labels_are_copied_up_to_what_positions_leak() -> None:
    """N + 1 pairs, of which signs with m digits differ in one digit at log2(N + 1) others."""
    X, y, x = tables.directions(7, 2, 1.0)
    y, tau = torch.ones_like(y), 2.0
    taps = Network(numeric.transformer(7, 2, 1, 1.0, 1e-3, 30.0, tau, "constant")).run(numeric.tokens(X, y, x)[None])
    error = float((taps["labels"][0, :-2, 0] - 1).abs().max())
    bound = derive_labels().error.subs({theory.N: 7, theory.B: 1, theory.tau: tau})
    assert 0.01 * float(bound) < error < float(bound)


def test_matrices_reach_the_condition_number_and_no_further() -> None:
    instance = Instance.of(find_theorem("looped.newton"), {"N": 3, "d": 2, "kappa": 9.0})
    wide = {
        "X": torch.tensor([[[7.0, 0], [0, 1e-9], [0, 0]]], dtype=torch.float64),
        "y": torch.zeros(1, 3, dtype=torch.float64),
        "x": torch.zeros(1, 2, dtype=torch.float64),
    }
    assert torch.linalg.svdvals(instance.inputs.project(wide)["X"])[0].tolist() == pytest.approx([1, 1 / 3], rel=1e-12)


@pytest.mark.parametrize("second", IDS)
def test_each_format_has_its_own_c_and_C(second: str) -> None:
    knobs = [resolve({"second": second}, 0, dtype) for dtype in ("float64", "float32", "bfloat16")]
    assert [each["C"] for each in knobs] == [40.0, 20.0, 9.0]
    for one, other in pairwise(each["c"] for each in knobs):
        assert other > 30 * one


# Floors.


@pytest.mark.long
@pytest.mark.parametrize(("N", "d", "dtype"), [(8, 3, "float64"), (60, 5, "float64"), (40, 4, "float32")])
def test_floors_are_predicted_within_a_factor_of_10(N: int, d: int, dtype: str) -> None:
    rows = tables.floors(N, d, dtype).rows
    assert len(rows) == 18
    for condition, second, regime, _, predicted, measured in rows:
        assert 0.1 < predicted / measured < 10, (condition, second, regime)


@pytest.mark.parametrize("second", SECONDS, ids=IDS)
@pytest.mark.parametrize("condition", [1.0, 472.0])
def test_the_c_chosen_beforehand_is_nearly_the_best(second: Second, condition: float) -> None:
    prompt = tables.directions(40, 4, condition)
    chosen = tables.recommended(second, "float64", N=40, d=4, T=tables.LOOPS, kappa=condition)

    def error(c: float) -> float:
        return tables.LoopErrors.of(*prompt, tables.LOOPS, 1.0, c, chosen["C"], second, "float64").errors[-1]

    scan = [error(chosen["c"] * 4.0**power) for power in range(-5, 6)]
    assert error(chosen["c"]) < 4 * min(scan)


# Tables.


@pytest.fixture(scope="module")
def diabetes() -> Any:
    return compare("looped.newton", data="diabetes")


@pytest.mark.long
def test_the_prediction_on_diabetes_is_that_of_newton(diabetes: Any) -> None:
    rows = {row.quantity: row for row in diabetes if row.quantity.startswith("prediction.")}
    assert rows["prediction.difference"].measured < 1e-4
    assert rows["prediction.exact"].measured == pytest.approx(rows["prediction.least_squares"].measured, rel=1e-9)
    assert rows["prediction.network"].measured == pytest.approx(rows["prediction.exact"].measured, abs=1e-3)


@pytest.mark.long
def test_each_loop_on_diabetes_is_within_its_bounds(diabetes: Any) -> None:
    (table,) = diabetes.tables
    assert len(table.rows) == 30
    for _, measured, derived, instance in table.rows:
        assert measured <= instance <= derived
    loops = np.array(table.rows, dtype=float)
    assert (loops[:, 3] <= 200 * loops[:, 1]).all()
    assert loops[-1, 3] <= 30 * loops[-1, 1]
    growth = loops[17, 1:] / loops[7, 1:]  # from the 8th loop to the 18th, at which the least eigenvalue is reached
    assert growth[1] == pytest.approx(growth[0], rel=0.7)
    floor = float(table.title.rpartition(": ")[2])
    assert 0.1 < floor / loops[-1, 1] < 10


def table_file(folder: Path, *, copied: float | None) -> str:
    """Twelve rows of three columns and a target; `copied`: the third is the second up to that."""
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(12, 4, generator=generator, dtype=torch.float64)
    if copied is not None:
        values[:, 2] = values[:, 1] + copied * values[:, 2]
    return written(folder, "a,b,c,y", values.tolist())


@pytest.mark.long
def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    path = table_file(tmp_path, copied=None)
    rows = {row.quantity: row for row in compare("looped.newton", csv=path, target="y", second="opposite")}
    assert rows["prediction.difference"].measured < 1e-7
    assert rows["prediction.network"].measured == pytest.approx(rows["prediction.least_squares"].measured, abs=1e-5)


@pytest.mark.parametrize("copied", [0.0, 1e-5])
def test_a_nearly_singular_table_is_refused_with_its_eigenvalue(tmp_path: Path, copied: float) -> None:
    path = table_file(tmp_path, copied=copied)
    with pytest.raises(UsageError, match=r"S = X\^T X of .* is nearly singular for float64: its least eigenvalue is "):
        compare("looped.newton", csv=path, target="y")


def test_a_table_needs_as_many_examples_as_columns(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"N = 2, but .* take N = 3 to 11"):
        compare("looped.newton", csv=table_file(tmp_path, copied=None), target="y", N=2)
    few = written(tmp_path, "a,b,c,y", [[1, 2, 3, 4], [2, 1, 0, 1], [0, 1, 5, 2]])
    with pytest.raises(UsageError, match=r"N = 2, but .*own.csv has 3 rows with the query; give 4 rows at least"):
        compare("looped.newton", csv=few, target="y")


@pytest.mark.long
def test_a_nearly_singular_matrix_is_not_representable() -> None:
    found = compare("looped.newton", **SMALL, kappa=1e8)
    (m,) = (row for row in found if row.quantity == "m" and row.scope == "network")
    assert set(m.verdict.values()) == {Verdict.NOT_REPRESENTABLE}
    assert "for S with the least eigenvalue 1/kappa = 1e-08 its floor is" in m.remark


def test_rows_that_cancel_to_leading_order_get_the_c_of_random_directions() -> None:
    half = torch.linspace(0.1, 1.0, 20, dtype=torch.float64)[:, None]
    symmetric, one_sided = torch.cat([half, -half]), torch.cat([half, half])
    found, other = (tables.best_c(X / X.norm(), Second.CONSTANT, 30, 44.0, "float64") for X in (symmetric, one_sided))
    assert found < 1e-4
    assert other < 1e-4
    assert tables.predicted(symmetric / symmetric.norm(), Second.CONSTANT, 30, found, 44.0, "float64") < 1e-5
