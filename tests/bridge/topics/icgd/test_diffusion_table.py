"""Scores of mixtures that are fitted to tables: the bounds are those of the fitted mixture, and words say so."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bridge.cli import main
from bridge.instances.instance import Instance
from bridge.instances.real import real_instance
from bridge.judging.judged import rows_at
from bridge.limits.run import Run
from bridge.questions.compare import Comparison, compare
from bridge.theorems.record import Row, Verdict
from bridge.theorems.tables import load_table
from bridge.topics.icgd.diffusion import DIFFUSION
from bridge.topics.tools.fitted_mixtures import fitted_mixture
from symbolic.words.errors import UsageError

ID = "icgd.diffusion"
SMALL = {"L": 12, "K": 6, "n": 40, "M": 40, "relus": 64}
TABLES = ["bmi", "bmi,bp"]


@cache
def compared(features: str, **params: Any) -> Comparison:
    return compare(ID, data="diabetes", features=features, **{**SMALL, **params})


def variation(record: Comparison) -> Row:
    return next(each for each in record.rows if each.quantity == "total_variation")


def instance(features: str) -> Instance:
    defaults = {each.name: each.default for each in DIFFUSION.statement.parameters}
    point = {**defaults, **SMALL, "d": features.count(",") + 1}
    return real_instance(DIFFUSION, point, load_table("diabetes", None, None, features), Run())


@pytest.mark.parametrize("features", TABLES)
def test_the_bounds_are_those_of_the_same_mixture_given_by_parameters(features: str) -> None:
    found = instance(features)
    drawn = {name: found.known[name].tolist() for name in ("means", "draws", "start")}
    rows, others = (
        list(rows_at(each, Run())) for each in (found, Instance.of(DIFFUSION, {**found.point.params, **drawn}))
    )
    assert len(rows) == len(others) == 9
    for row, other in zip(rows, others, strict=True):
        numbers = [(each.quantity, each.derived, each.measured, each.remark, each.verdict) for each in (row, other)]
        assert numbers[0] == numbers[1]


@pytest.mark.parametrize("features", TABLES)
def test_the_examples_start_at_rows(features: str) -> None:
    known = instance(features).known
    mixture, learner, draws = known["mixture"], known["learner"], known["draws"]
    points = fitted_mixture(load_table("diabetes", None, None, features), 3, 0).points  # same numbers, another table
    start = mixture.drawn(draws[:, 0], draws[:, 2 : 2 + points.shape[1]])
    assert float((points[:, None] - start).abs().amax(-1).min(0).values.max()) < 1e-12
    a = torch.exp(-learner.t)[:, None]
    noise = draws[:, 2 + points.shape[1] :]
    torch.testing.assert_close(learner.x, a * start + torch.sqrt(1 - a * a) * noise)


def test_words_say_of_what_the_bound_is() -> None:
    record = compared("bmi")
    row = variation(record)
    assert row.domain.startswith("the mixture that is fitted to the rows of the table")
    assert "p_(T_0) is the law of the fitted mixture after that time of noise, not that of the rows" in row.meaning
    assert record.environment["inputs"] == "table diabetes (features bmi)"
    title = record.tables[-1].title
    assert "one covariance to the 442 rows of diabetes, standardised columns bmi; the last is that of the" in title
    assert [each[0] for each in record.tables[-1].rows] == [1, 2, 3]
    assert "says nothing of how far the mixture is from the law of the rows" in str(DIFFUSION.statement.remarks)
    assert "not that of the rows" not in variation(compare(ID, **SMALL)).meaning


def test_a_seed_gives_one_record_and_another_seed_another() -> None:
    first, again = compared("bmi"), compare(ID, data="diabetes", features="bmi", **SMALL)
    assert first.rows == again.rows
    assert first.tables == again.tables
    other = compared("bmi", seed=1)
    assert variation(other).measured != variation(first).measured
    assert variation(other).params["s"] == pytest.approx(variation(first).params["s"], rel=1e-3)


def test_as_many_components_are_fitted_as_there_are_weights() -> None:
    record = compared("bmi", weights="1")
    assert (variation(record).params["weights"], variation(record).params["s"]) == (
        "1.0000",
        pytest.approx(1, abs=1e-5),
    )
    assert variation(record).params["s"] <= 1
    weights = variation(compared("bmi", weights="1/2,1/2")).params["weights"]
    assert [float(each) for each in weights.split(",")] == pytest.approx([0.747, 0.253], abs=0.02)


def test_a_file_without_a_target_is_read(tmp_path: Path) -> None:
    rows = np.random.default_rng(2).normal(size=(60, 1)) + np.repeat([[0.0], [9.0]], 30, 0)
    path = tmp_path / "own.csv"
    path.write_text("\n".join(["name,a", *(f"row,{each!r}" for each in rows[:, 0].tolist())]))
    row = variation(compare(ID, csv=str(path), features="a", weights="1/2,1/2", **SMALL))
    assert row.params["weights"] == "0.5000, 0.5000"
    assert row.params["s"] < 0.3
    assert row.verdict["derived"] is Verdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize(
    ("features", "targets", "most"), [("bmi", "scores", 0.12), ("bmi,bp", "scores", 0.21), ("bmi", "denoising", 0.16)]
)
def test_at_the_defaults_scores_of_patients_are_learnt(features: str, targets: str, most: float) -> None:
    row = variation(compare(ID, data="diabetes", features=features, targets=targets))
    assert row.derived is not None
    assert row.measured is not None
    assert 0 < row.measured <= row.derived <= most


LINES = "name,a,b,c\nx,1,5,2\ny,2,5,\nz,4,5,3\n"
REFUSED = [
    (("--features", "a", "--set", "weights=1/4,1/4,1/4,1/4"), "has 3 rows for 4 components; give fewer weights"),
    (("--features", "a", "--set", "n=9"), "n = 9, but own.csv has 3 rows; take 1 to 3"),
    (("--features", "a", "--set", "s=0.3"), "icgd.diffusion: s is fitted to own.csv; leave it out"),
    (("--features", "a", "--set", "d=2"), "d = 2 for own.csv with a; leave d out"),
    (("--features", "a", "--set", "weights=1/2"), "weights = '1/2', which add up to 1/2; give numbers above 0"),
    (("--features", "b"), "column 'b' is constant over the prompt"),
    (("--features", "c"), "line 3, column 'c': the value is missing; fill in what is missing, or leave its rows out"),
    (("--features", "name"), "line 2, column 'name': 'x' is not a number (2 more below)"),
    (("--features", "aa"), "has no column 'aa' (--features); did you mean a?"),
    (("--features", "a,a"), "--features names 'a' twice; name it once"),
    ((), "give --target, the column of 'own.csv' to predict, or --features alone where nothing is"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[" ".join(options) for options, _ in REFUSED])
def test_each_bad_table_is_refused_in_one_sentence(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(LINES)
    assert main(["compare", ID, "--csv", "own.csv", *options]) == 2
    assert message in capsys.readouterr().err


def test_more_than_two_columns_are_refused() -> None:
    with pytest.raises(UsageError, match=r"icgd\.diffusion: 10 columns of diabetes; take 1 to 2 of them by --features"):
        compare(ID, data="diabetes")
    with pytest.raises(UsageError, match="3 columns of diabetes; take 1 to 2 of them by --features: bmi, bp, s1"):
        compare(ID, data="diabetes", features=["bmi", "bp", "s1"])
