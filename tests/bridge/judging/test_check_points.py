"""Where checks are judged: points, settings, tables, and what their witnesses store."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bridge.domains import Box
from bridge.questions.compare import compare
from bridge.questions.replaying import replay, replay_witness
from bridge.theorems.check import Check, Sides
from bridge.theorems.parts import AtPoint
from bridge.theorems.record import NamedTable, Verdict, Witness
from bridge.theorems.theorem import Theorem
from symbolic.statements.result import Kind
from symbolic.words.errors import UsageError
from tests.bridge.own_checks import m, n, of, quantity, rows_of

# Points, settings, tables.


def test_each_point_has_a_row_and_one_at_another_parameter_stands_at_none(tmp_path: Path) -> None:
    check = Check(quantity(printed=n), lambda n: Sides(n - (n == 6)), [{"n": [4.0]}, {"n": [6.0]}])
    here, elsewhere = compare(of(check)).rows
    assert (here.construction, here.params, here.verdict["printed"]) == ("", {"n": 4}, Verdict.KEPT)
    assert (elsewhere.construction, elsewhere.params) == ("n = 6", {})
    assert elsewhere.verdict["printed"] is Verdict.VIOLATED
    assert (elsewhere.printed, elsewhere.measured) == (6.0, 5.0)
    assert elsewhere.witness is not None
    assert replay_witness(elsewhere.witness, theorem=of(check)).verdict == elsewhere.verdict
    path = tmp_path / "witness.json"
    path.write_text(elsewhere.witness.model_copy(update={"inputs": {"n": [2.5]}}).model_dump_json())
    with pytest.raises(UsageError, match=r"n = 2\.5 is not a whole number"):
        replay(str(path), of(check))


def test_inputs_give_letters_of_the_statement_and_every_point_replays() -> None:
    check = Check(quantity(printed=2 * m + n), lambda n, m: Sides(n + m), [{"n": 1.0, "m": 3.0}, {"m": 5.0}])
    stated = of(check, meanings={m: "a letter"})
    first, second = compare(stated).rows
    assert (first.construction, first.printed, second.construction) == ("n = 1, m = 3", 7.0, "m = 5")
    for row in (first, second):
        assert row.witness is not None
        assert replay_witness(row.witness, theorem=stated).verdict == row.verdict


def test_settings_that_no_check_takes_are_refused() -> None:
    def searched(attack: int, seed: int) -> Sides:
        return Sides(float(attack + seed), derived=1)

    assert [row.measured for row in rows_of(searched, quantity(), attack=7, seed=2)] == [9.0]
    for name in ("samples", "restarts"):
        with pytest.raises(UsageError, match=f"{name} = 3 has no effect on any row of own.check; omit it"):
            rows_of(searched, quantity(), **{name: 3})
    with pytest.raises(UsageError, match="attack = 3 has no effect"):
        rows_of(lambda: Sides(1, derived=1), quantity(), attack=3)


def test_a_check_runs_in_the_format_and_on_the_device_of_the_run_and_says_how_many_inputs_it_took() -> None:
    def rounded(dtype: str, device: str, seed: int, samples: int) -> Sides:
        third = torch.ones(samples, dtype=getattr(torch, dtype), device=device) / 3
        return Sides(third[0].item() * 3, derived=1, samples=samples)

    (row,) = rows_of(rounded, quantity(), dtype="float32", samples=5, seed=3)
    assert (row.measured, row.samples, row.seed) == (torch.tensor(1 / 3, dtype=torch.float32).item() * 3, 5, 3)
    with pytest.raises(UsageError, match="dtype = float32 has no effect"):
        rows_of(lambda: Sides(1, derived=1), quantity(), dtype="float32")


def test_a_setting_is_refused_at_points_where_it_is_idle() -> None:
    check = Check(quantity(), lambda n, samples: Sides(samples if n > 4 else 1, derived=1))
    stated = replace(of(check), at_point=AtPoint(idle=lambda n: () if n > 4 else ("samples",)))
    assert [row.measured for row in compare(stated, n=8, samples=3)] == [3.0]
    with pytest.raises(UsageError, match="samples = 3 has no effect"):
        compare(stated, n=4, samples=3)


def test_a_weight_that_is_drawn_takes_the_seed() -> None:
    drawn = of(Check(quantity(), lambda a: Sides(a[0].item(), derived=-1)), weights={"a": Box(1)})
    first, second = (compare(drawn, seed=seed).rows[0].measured for seed in (0, 1))
    assert first != second
    with pytest.raises(UsageError, match="attack = 3 has no effect"):
        compare(drawn, attack=3)


def test_a_function_that_takes_an_unknown_name_is_refused() -> None:
    with pytest.raises(UsageError, match=r"the check 'q' takes k, which is not a parameter.*may take .*n, "):
        rows_of(lambda k: Sides(k), quantity())


def test_tables_stand_under_the_rows() -> None:
    stated = of(Check(quantity(), lambda: Sides(1, derived=1)))
    shown = Theorem(
        stated.statement,
        main="q",
        checks=stated.checks,
        tables=(lambda n: NamedTable(title="squares", columns=["n^2"], rows=[[n**2]]),),
    )
    (table,) = compare(shown).tables
    assert table.rows == [[16]]
    with pytest.raises(ValueError, match="not of 2 cells"):
        NamedTable(title="t", columns=["a", "b"], rows=[[1]])
    with pytest.raises(UsageError, match="a table takes k"):
        Theorem(stated.statement, main="q", checks=stated.checks, tables=(lambda k: k,))


def test_a_witness_of_other_shapes_is_refused() -> None:
    check = Check(quantity(printed=9), lambda x: Sides(x.sum().item()), {"x": torch.ones(2, dtype=torch.float64)})
    (row,) = compare(of(check)).rows
    assert row.witness is not None
    wrong = row.witness.model_copy(update={"inputs": {"x": [1.0]}})
    with pytest.raises(UsageError, match=r"'q' takes inputs of shapes \{'x': \(2,\)\}, got \{'x': \(1,\)\}"):
        replay_witness(wrong, theorem=of(check))


# Settings: a witness stores those that its check depends on, and a replay runs with them.


def above_the_mean(samples: int, seed: int) -> Sides:
    """A mean of draws, which depends on both settings."""
    draws = torch.rand(samples, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return Sides(found=draws.mean().item(), derived=0)


def test_a_check_is_replayed_with_the_settings_of_its_run() -> None:
    check = Check(quantity(Kind.UPPER), above_the_mean)
    (row,) = compare(of(check), samples=7, seed=3).rows
    assert row.witness is not None
    assert row.witness.settings == {"samples": 7, "seed": 3}
    stored = Witness.model_validate_json(row.witness.model_dump_json())
    assert replay_witness(stored, theorem=of(check)).measured == row.measured
    assert replay_witness(stored.model_copy(update={"settings": None}), theorem=of(check)).measured != row.measured


def test_a_replay_repeats_no_search_for_its_inputs() -> None:
    efforts = []

    def searched(attack: int) -> dict[str, float]:
        efforts.append(attack)
        return {"x": 1.0 + attack}

    check = Check(quantity(printed=9), lambda x: Sides(x.item()), searched)
    (row,) = compare(of(check), attack=5).rows
    assert row.witness is not None
    assert replay_witness(row.witness, theorem=of(check)).measured == row.measured == 6.0
    assert efforts == [5, 0]


def test_a_witness_of_a_check_without_settings_names_none() -> None:
    (row,) = compare(of(Check(quantity(printed=9), lambda: Sides(1)))).rows
    assert row.witness is not None
    assert "settings" not in row.witness.model_dump()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attack": 1}, "'q' does not depend on attack"),
        ({"samples": -1}, "is not a complete witness file"),
        ({"seed": "x"}, "is not a complete witness file"),
    ],
)
def test_edited_settings_are_refused(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    check = Check(quantity(Kind.UPPER), above_the_mean)
    (row,) = compare(of(check)).rows
    assert row.witness is not None
    path = tmp_path / "witness.json"
    path.write_text(json.dumps({**row.witness.model_dump(), "settings": settings}))
    with pytest.raises(UsageError, match=message):
        replay(str(path), of(check))


def test_a_check_at_parameters_of_its_own_takes_no_settings_of_the_run() -> None:
    check = Check(quantity(Kind.UPPER), above_the_mean, params={"n": 4})
    with pytest.raises(UsageError, match=r"samples = 7 has no effect on any row of own\.check; omit it"):
        compare(of(check), samples=7)
