"""Tables as sources of small theorems: predictions in the units of the target, parameters of the data, refusals."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from boundsmith.sources import Prediction
from bridge.limits.cost import Cost, Work
from bridge.theorems.record import NamedTable, Row, Verdict
from symbolic.words.errors import UsageError

eps, size = sp.symbols("eps size", positive=True)
n, d = sp.symbols("n d", integer=True, positive=True)

ROWS = np.random.default_rng(5).normal(size=(9, 3))
ROWS[-1] = [0.1, 0.2, 5.0]


def step(x: Any, y: Any, gain: Any) -> Any:
    """The prediction for the last row after one gradient step from 0."""
    return gain * (x[-1] @ (x[:-1].mT @ y)) / len(y)


def prompt(data: Any) -> dict[str, Any]:
    return {"x": np.concatenate([data.x, data.x_query[None]]), "y": data.y[:, 0]}


PREDICTIONS = (
    bs.sources.Prediction("network", "one step by the network", lambda network: network["prediction"]),
    bs.sources.Prediction("exact", "one exact step", lambda reference: reference["prediction"]),
    bs.sources.Prediction(
        "least_squares", "least squares", lambda x, y: x[-1] @ torch.linalg.lstsq(x[:-1], y).solution
    ),
)


def tabular(**changes: Any) -> Any:
    return bs.sources.Tabular("n", "d", ("size", 1.0), prompt, **{"predictions": PREDICTIONS, **changes})


def theorem(source: Any = None, **changes: Any) -> bs.Theorem:
    arguments: dict[str, Any] = {
        "parameters": {eps: 0.25, size: 1.0, n: 4, d: 2},
        "inputs": {"x": bs.domains.Rows(n + 1, bs.domains.Ball(d, radius=size)), "y": bs.domains.Box(n)},
        "network": lambda x, y, eps: step(x, y, 1 + eps),
        "reference": lambda x, y: step(x, y, torch.ones((), dtype=torch.float64)),
        "sources": (tabular() if source is None else source,),
    }
    bound = bs.rules.given("prediction", dim=1, size=size**2, error=eps * size**2)
    return bs.theorem("one-step", bound, **{**arguments, **changes})


@pytest.fixture
def path(tmp_path: Path) -> str:
    return written(tmp_path, ROWS)


def written(folder: Path, rows: np.ndarray) -> str:
    file = folder / "own.csv"
    file.write_text("\n".join(["a,b,y", *(",".join(map(repr, row)) for row in rows.tolist())]))
    return str(file)


def compared(theorem: bs.Theorem, path: str, **options: Any) -> dict[Any, Row]:
    found = bs.compare(theorem, csv=path, target="y", **options)
    return {row.quantity if row.scope is None else (row.quantity, row.scope): row for row in found}


def by_hand() -> dict[str, float]:
    """Predictions in the units of y, from the raw numbers."""
    x = (ROWS[:, :2] - ROWS[:-1, :2].mean(0)) / ROWS[:-1, :2].std(0)
    x /= np.linalg.norm(x[:-1], axis=1).max()
    mean = ROWS[:-1, 2].mean()
    y = ROWS[:-1, 2] - mean
    exact = x[-1] @ (x[:-1].T @ y) / 8
    squares = x[-1] @ np.linalg.lstsq(x[:-1], y, rcond=None)[0]
    return {"network": mean + 1.25 * exact, "exact": mean + exact, "least_squares": mean + squares, "mean": mean}


def test_predictions_and_their_errors_are_in_units_of_the_target(path: str) -> None:
    found = compared(theorem(), path)
    expected = by_hand()
    assert found["prediction.target"].measured == pytest.approx(5.0)
    for name, value in expected.items():
        assert found[f"prediction.{name}"].measured == pytest.approx(value, rel=1e-9)
        assert found[f"prediction.{name}.error"].measured == pytest.approx(abs(value - 5.0), rel=1e-9)
    apart = abs(expected["network"] - expected["exact"])
    assert found["prediction.difference"].measured == pytest.approx(apart, rel=1e-9)
    assert found["prediction.network"].norm == "units of the target"
    assert "with the 8 rows before it as prompt" in found["prediction.network"].domain


def test_the_bound_is_judged_at_the_rows_and_not_attacked(path: str) -> None:
    comparison = bs.compare(theorem(), csv=path, target="y")
    (row,) = (row for row in comparison if row.scope == "network")
    assert (row.verdict["derived"], row.samples, row.attacked) == (Verdict.KEPT, 1, None)
    assert (comparison.params["n"], comparison.params["d"]) == (8, 2)
    assert comparison.environment["inputs"] == f"table {path}"
    with pytest.raises(UsageError, match=r"table .* is measured as it is and not attacked; leave out attack = 3"):
        bs.compare(theorem(), csv=path, target="y", attack=3)
    with pytest.raises(UsageError, match="samples = 2 has no effect on any row"):
        bs.compare(theorem(), csv=path, target="y", samples=2)


def test_fewer_rows_are_those_at_the_start(path: str) -> None:
    found = compared(theorem(), path, n=6)
    assert found["prediction.target"].measured == pytest.approx(ROWS[6, 2])


def test_a_source_without_predictions_has_no_rows_of_them(path: str) -> None:
    assert list(compared(theorem(tabular(predictions=())), path)) == [("prediction", "network")]


def test_parameters_suit_a_table_and_follow_from_it(path: str) -> None:
    def suggested(given: Any, data: Any) -> dict[str, float]:
        return {"eps": len(data.x) / 100}

    found = compared(theorem(tabular(suggested=suggested, defaults={"size": 2.0})), path)["prediction.target"].params
    assert (found["eps"], found["size"]) == (0.08, 2.0)
    assert compared(theorem(tabular(suggested=suggested)), path, eps=0.5)["prediction.target"].params["eps"] == 0.5
    implied = tabular(implied=lambda given, data, n: {"eps": n * float(data.unit)})
    assert compared(theorem(implied), path)["prediction.target"].params["eps"] > 0


def test_functions_share_what_is_built_once_and_tables_stand_under_the_rows(path: str) -> None:
    made = []

    def fit(x: Any, y: Any, params: Any, seed: int, dtype: str, device: str) -> Any:
        made.append((params["n"], seed, dtype, device))
        return torch.linalg.lstsq(x[:-1], y).solution

    def table(fit: Any, letters: Any, data: Any) -> NamedTable:
        assert letters == {}
        return NamedTable(title=data.source, columns=["w"], rows=[[each] for each in fit.tolist()])

    shared = bs.sources.Prediction(
        "fit", "least squares", lambda fit, x: bs.sources.Predicted(x[-1] @ fit, "shared", "as it is")
    )
    source = tabular(built={"fit": fit}, predictions=(*PREDICTIONS, shared), tables=(table, lambda: None))
    comparison = bs.compare(theorem(source), csv=path, target="y", seed=3)
    assert made == [(8, 3, "float64", "cpu")]
    assert [(each.title, len(each.rows)) for each in comparison.tables] == [(path, 2)]
    rows = {row.quantity: row for row in comparison}
    assert rows["prediction.fit"].measured == rows["prediction.least_squares"].measured
    assert (rows["prediction.fit"].flags, rows["prediction.fit"].remark) == ({"measured": ["shared"]}, "as it is")


def test_several_prompts_are_drawn_where_the_prompt_counts(path: str) -> None:
    def several(count: int, data: Any, n: int) -> dict[str, Any]:
        scale = torch.arange(1, count + 1, dtype=torch.float64)[:, None] / 3
        one = {name: torch.as_tensor(each) for name, each in prompt(data).items()}
        return {"x": one["x"].expand(count, n + 1, 2), "y": scale * one["y"]}

    counted = bs.sources.Tabular("n", "d", (1.0, 1.0), several, prompts=3, predictions=PREDICTIONS[:1])
    found = compared(theorem(counted), path, samples=10)
    assert found["prediction", "network"].samples == 3
    alone = compared(theorem(counted), path, samples=1)
    assert alone["prediction", "network"].measured < found["prediction", "network"].measured
    assert alone["prediction.network"].measured == found["prediction.network"].measured


def test_the_theorem_may_be_another_one_at_a_table(path: str) -> None:
    unknown = tabular(outside="nobody knows the law of {source}")
    row = compared(theorem(unknown), path)["prediction", "network"]
    assert set(row.verdict.values()) == {Verdict.OUTSIDE}
    assert row.remark == f"nobody knows the law of {path}"
    quiet = theorem(tabular(instead=lambda stated: replace(stated, reference=lambda x, y, eps: step(x, y, 1 + eps))))
    assert compared(quiet, path)["prediction", "network"].measured == 0


def test_bounds_that_cover_the_rounding_need_no_balls(path: str) -> None:
    found = compared(theorem(tabular(covers_rounding=True)), path)
    row = found["prediction", "network"]
    assert (row.exact, row.rounding) == (None, 0.0)
    assert "the bound covers the rounding of the run" in row.remark


FAR = np.vstack([ROWS[:-1], [[60.0, 0.0, 1.0]]])


def test_a_query_beyond_the_ball_is_refused_or_remarked(tmp_path: Path) -> None:
    path = written(tmp_path, FAR)
    with pytest.raises(UsageError, match=r"the query of .* > B_x = 1: outside the hypotheses; .* another n"):
        compared(theorem(), path)
    with pytest.raises(UsageError, match=r"own.csv does not meet the hypotheses: x: row 8"):
        compared(theorem(tabular(far=True)), path)

    def inside(data: Any) -> dict[str, Any]:
        return {**prompt(data), "x": np.concatenate([data.x, 0 * data.x_query[None]])}

    noted = bs.sources.Prediction(
        "network", "the network", lambda network: network["prediction"], far="not at the query"
    )
    found = compared(theorem(bs.sources.Tabular("n", "d", (1.0, 1.0), inside, far=True, predictions=(noted,))), path)
    assert found["prediction.network"].flags == {"measured": ["query outside B_x"]}
    assert found["prediction.network"].remark.endswith("outside; not at the query")
    assert found["prediction.target"].remark.endswith("> B_x = 1: outside")


def require_small(data: Any) -> None:
    raise UsageError(f"{data.source} is not small")


def takes_long(n: int) -> Work:
    return Work(before=Cost(0.0, 1e9 * n))


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"d": 3}, "d = 3 for the 2 columns of .*; leave d out"),
        ({}, {"n": 9}, "n = 9, but .* has 9 rows with the query; take n = 2 to 8"),
        ({"spanning": True}, {"n": 1}, "take n = 2 to 8"),
        ({"float64": True}, {"dtype": "float32"}, "tables are read in float64 on the cpu; leave out dtype and device"),
        ({"work": takes_long}, {}, "compare one-step at .*, n = 8: would take about .*; lower them"),
        ({"require": require_small}, {}, "own.csv is not small"),
        ({}, {"size": -1.0}, "size = -1.0 does not meet|must be positive"),
        ({"predictions": (Prediction("p", "p", lambda: 1 / 0),)}, {}, "function of its tables raised ZeroDivision"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_does_not_fit_is_refused(changes: Any, options: Any, message: str, path: str) -> None:
    with pytest.raises(UsageError, match=message):
        compared(theorem(tabular(**changes)), path, **options)


def test_a_theorem_without_sources_takes_neither_tables_nor_texts(path: str) -> None:
    plain = theorem(sources=())
    with pytest.raises(UsageError, match="one-step takes no --data and no --csv"):
        compared(plain, path)
    with pytest.raises(UsageError, match="one-step takes no --text"):
        bs.compare(plain, text=path)
    with pytest.raises(UsageError, match="one-step takes no lags: it does not read a table as a series"):
        compared(theorem(), path, lags=2)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ((tabular(), bs.sources.Series("n", "d", 2)), "several sources read a table; give one"),
        ((tabular(defaults={"N": 3}),), "its tables name N, which is not a parameter"),
        (
            (tabular(predictions=(bs.sources.Prediction("p", "p", lambda row: row),)),),
            "the prediction p at tables takes row, which is not a parameter",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_source_that_names_what_there_is_not_is_refused(sources: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        theorem(sources=sources)
