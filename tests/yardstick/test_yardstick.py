"""The comparison with stored records finds each kind of difference, and every result has a record."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.yardstick import main, no_longer_violated
from bridge.export.comparison import Comparison
from bridge.theorems.record import Flag, NamedTable, Row, RowErratum, Verdict, Witness
from symbolic.statements.catalogue import RUNNING
from tests.yardstick.changes import changes
from tests.yardstick.records import RECORDS, SETTINGS, path_of, store, stored, text_of

CHEAP = "induction.balance"  # takes a third of a second, and has a witness

NETWORK, PROMPT, MARGIN, COUNT, RESIDUAL, CHOSEN = range(6)
ERRATUM = RowErratum(weight="constant", place="(1)", sentence="s", reading="r", repair="p", survives="yes")
WITNESS = Witness(
    result="made.up", quantity="error", scope="network", params={}, inputs={"x": [1.0]}, error_lower=0.6, bounds={}
)


def row(**fields: Any) -> Row:
    return Row(kind="upper", quantifier="for all inputs", params={"p": 1.0}, **fields)


BEFORE = Comparison(
    result="made.up",
    citation="Nobody 2024, Lemma 1",
    params={"p": 1.0},
    environment={"machine": "a", **dict.fromkeys(SETTINGS, 0)},
    rows=[
        row(quantity="error", scope="network", printed=0.5, derived=2.0, instance=1.0, measured=0.4, attacked=0.6,
            exact=0.6, ratio=1.0 / 0.6, samples=256, erratum=ERRATUM, witness=WITNESS, order="O",
            verdict={"printed": Verdict.VIOLATED, "derived": Verdict.KEPT}, flags={"derived": ["vacuous"]}),
        row(quantity="error", scope="prompt", instance=0.3, attacked=0.2, exact=0.2, ratio=1.5, samples=256),
        row(quantity="margin", derived=0.1, attacked=0.2).model_copy(update={"kind": "lower"}),
        row(quantity="heads", derived=7.0, measured=7.0, samples=256),
        row(quantity="residual", derived=0.0, measured=1e-16),
        row(quantity="example", scope="network", derived=0.5, measured=0.3, samples=1),
    ],
    tables=[NamedTable(title="trace", columns=["i", "norm"], rows=[["a", 1.0]])],
)  # fmt: skip


def altered(place: int, **fields: Any) -> Comparison:
    rows = [each.model_copy(update=fields if at == place else {}) for at, each in enumerate(BEFORE.rows)]
    return BEFORE.model_copy(update={"rows": rows})


def said(after: Comparison, *, differs: bool, strict: bool = False) -> list[str]:
    return [each.words for each in changes(BEFORE, after, strict=strict) if each.differs is differs]


def test_equal_records_pass() -> None:
    assert changes(BEFORE, BEFORE.model_copy(deep=True), strict=True) == []


@pytest.mark.parametrize(
    ("place", "fields", "words"),
    [
        (NETWORK, {"kind": "exact"}, "kind upper -> exact"),
        (NETWORK, {"quantifier": "there exists"}, "quantifier for all inputs -> there exists"),
        (NETWORK, {"order": ""}, "order O -> "),
        (
            NETWORK,
            {"verdict": {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED}},
            "verdict printed: violated, derived: kept -> printed: violated, derived: proved",
        ),
        (PROMPT, {"verdict": {"instance": Verdict.KEPT}}, "verdict none -> instance: kept"),
        (NETWORK, {"flags": {}}, "flags derived: vacuous -> none"),
        (NETWORK, {"erratum": None}, "erratum is gone"),
        (NETWORK, {"witness": None}, "witness is gone"),
        (PROMPT, {"witness": WITNESS}, "witness is new"),
        (NETWORK, {"printed": 0.5 + 1e-6}, "printed 0.5 -> 0.500001"),
        (NETWORK, {"derived": 2.0 - 4e-9}, "derived 2 -> 1.999999996"),
        (NETWORK, {"instance": None}, "instance 1 -> none"),
        (NETWORK, {"attacked": 0.54}, "attacked 0.6 -> 0.54, 90 % of before"),
        (NETWORK, {"attacked": None}, "attacked 0.6 -> none, 0 % of before"),
        (PROMPT, {"ratio": 1.6, "exact": 0.19}, "ratio 1.5 -> 1.6, 93.75 % of before"),
        (PROMPT, {"instance": 0.3 + 1e-6}, "instance 0.3 -> 0.300001"),
        (MARGIN, {"attacked": 0.25}, "attacked 0.2 -> 0.25, 80 % of before"),
        (COUNT, {"measured": 8.0}, "measured 7 -> 8"),
        (RESIDUAL, {"measured": 1e-11}, "measured 1e-16 -> 1e-11"),
        (RESIDUAL, {"derived": 1e-13}, "derived 0 -> 1e-13"),
        (CHOSEN, {"measured": 0.4}, "measured 0.3 -> 0.4"),
    ],
)  # fmt: skip
def test_each_difference_is_found(place: int, fields: dict[str, Any], words: str) -> None:
    assert said(altered(place, **fields), differs=True) == [words]


@pytest.mark.parametrize(
    ("place", "fields", "words"),
    [
        (NETWORK, {"attacked": 0.571}, "attacked 0.6 -> 0.571, 95.17 % of before"),
        (NETWORK, {"attacked": 0.9}, "attacked 0.6 -> 0.9, 150 % of before"),
        (NETWORK, {"measured": 0.1, "rounding": 1e-9}, "measured 0.4 -> 0.1; rounding none -> 1e-09"),
        (NETWORK, {"exact": 0.5, "ratio": 2.0}, "exact 0.6 -> 0.5; ratio 1.666666667 -> 2"),
        (NETWORK, {"samples": 512}, "samples 256 -> 512"),
        (NETWORK, {"remark": "new"}, "remark '' -> 'new'"),
        (NETWORK, {"witness": WITNESS.model_copy(update={"error_lower": 0.7})}, "another witness"),
        (NETWORK, {"slack": {"error": 1.0}}, "another slack"),
        (PROMPT, {"instance": 0.1, "exact": 0.08, "ratio": 1.25},
         "ratio 1.5 -> 1.25, 120 % of before; instance 0.3 -> 0.1; exact 0.2 -> 0.08"),
        (MARGIN, {"attacked": 0.16}, "attacked 0.2 -> 0.16, 125 % of before"),
    ],
)  # fmt: skip
def test_what_the_search_and_the_wording_change_is_noted(place: int, fields: dict[str, Any], words: str) -> None:
    after = altered(place, **fields)
    assert (said(after, differs=True), said(after, differs=False)) == ([], [words])


@pytest.mark.parametrize(
    ("place", "fields"),
    [(NETWORK, {"derived": 2.0 + 1e-9}), (RESIDUAL, {"measured": -1e-13}), (COUNT, {"params": {"p": 1.0 + 1e-12}})],
)
def test_rounding_is_no_change(place: int, fields: dict[str, Any]) -> None:
    assert changes(BEFORE, altered(place, **fields)) == []


def test_strict_fixes_what_random_inputs_measure() -> None:
    after = altered(NETWORK, measured=0.1)
    assert said(after, differs=True, strict=True) == ["measured 0.4 -> 0.1"]
    assert said(after, differs=False, strict=True) == []
    assert said(altered(COUNT, measured=8.0), differs=True, strict=True) == ["measured 7 -> 8"]


def test_an_attack_on_rounding_is_noted() -> None:
    noisy = {"flags": {"measured": [Flag.ROUNDING.value]}}
    before, after = altered(NETWORK, attacked=4e-13, **noisy), altered(NETWORK, attacked=1e-13, **noisy)
    assert [str(each) for each in changes(before, after)] == [
        "note: error, network, p = 1: attacked 4e-13 -> 1e-13, 25 % of before"
    ]


def test_rows_that_are_gone_or_new_are_found() -> None:
    fewer = BEFORE.model_copy(update={"rows": BEFORE.rows[:COUNT] + BEFORE.rows[RESIDUAL:]})
    assert [str(each) for each in changes(BEFORE, fewer)] == ["difference: heads, p = 1: the row is gone"]
    assert [str(each) for each in changes(fewer, BEFORE)] == ["difference: heads, p = 1: the row is new"]


def test_rows_are_matched_whatever_their_order_and_equal_ones_by_theirs() -> None:
    assert changes(BEFORE, BEFORE.model_copy(update={"rows": BEFORE.rows[::-1]})) == []
    twice = BEFORE.model_copy(update={"rows": [*BEFORE.rows, row(quantity="heads", derived=9.0, measured=9.0)]})
    assert said(twice, differs=True) == ["the row is new"]
    assert changes(twice, twice.model_copy(deep=True)) == []


@pytest.mark.parametrize(
    ("fields", "differs", "words"),
    [
        ({"params": {"p": 2.0}}, True, "{'p': 1.0} -> {'p': 2.0}"),
        ({"automatic": ["p"]}, True, "[] -> ['p']"),
        ({"tables": []}, True, "1 -> 0, of other columns"),
        ({"tables": [NamedTable(title="trace", columns=["i", "norm"], rows=[])]}, True, "1 -> 0 rows"),
        ({"tables": [NamedTable(title="trace", columns=["i", "norm"], rows=[["a", 2.0]])]}, False, "other cells"),
        ({"tables": [NamedTable(title="t", columns=["i", "norm"], rows=[["a", 1.0]])]}, False, "title 'trace' -> 't'"),
        ({"citation": "Lemma 2"}, False, "Nobody 2024, Lemma 1 -> Lemma 2"),
    ],
)
def test_changes_beside_the_rows_are_found(fields: dict[str, Any], differs: bool, words: str) -> None:
    after = BEFORE.model_copy(update=fields)
    assert said(after, differs=differs) == [words]
    assert said(after, differs=not differs) == []


def test_a_record_is_read_back_equal_but_for_the_machine(tmp_path: Path) -> None:
    store(BEFORE, tmp_path)
    again = stored("made.up", tmp_path)
    assert again == BEFORE.model_copy(update={"environment": dict.fromkeys(SETTINGS, 0)})
    lines = path_of("made.up", tmp_path).read_text().splitlines()
    assert '   "verdict": {"printed": "violated", "derived": "kept"},' in lines


def test_every_result_has_a_record_and_nothing_else_has() -> None:
    assert sorted(path.name for path in RECORDS.iterdir()) == sorted(f"{id}.json" for id in RUNNING)


@pytest.mark.parametrize("id", RUNNING)
def test_a_record_is_complete(id: str) -> None:
    record = stored(id)
    assert text_of(record) == path_of(id).read_text()
    assert (record.result, set(record.environment)) == (id, set(SETTINGS))
    assert record.rows
    assert [row.quantity for row in record.violated() if row.witness is None] == []


def test_a_result_still_says_what_is_stored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([CHEAP]) == 0
    assert capsys.readouterr().out == f"{CHEAP}: {len(stored(CHEAP).rows)} rows, 0 differences, 0 notes\n"


def test_a_record_that_says_otherwise_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = stored(CHEAP)
    lost = next(row for row in record.rows if row.witness is not None)
    record.rows.remove(lost)
    store(record, tmp_path)
    assert main([CHEAP, "--records", str(tmp_path)]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"{CHEAP}: {len(record.rows) + 1} rows, 1 differences, 0 notes"
    assert shown[1].startswith(f"  difference: {lost.quantity}, ")
    assert shown[1].endswith(": the row is new")


def test_records_are_written_once_unless_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.yardstick.RUNNING", [CHEAP])
    here = ["--records", str(tmp_path)]
    assert main(here) == 1
    assert main(["--write", *here]) == 0
    assert path_of(CHEAP, tmp_path).read_text() == path_of(CHEAP).read_text()
    path_of(CHEAP, tmp_path).write_text("kept")
    assert main(["--write", *here]) == 0
    assert path_of(CHEAP, tmp_path).read_text() == "kept"
    assert main(["--write", CHEAP, *here]) == 0
    assert path_of(CHEAP, tmp_path).read_text() == path_of(CHEAP).read_text()
    assert [line.removeprefix(f"{CHEAP}: ") for line in capsys.readouterr().out.splitlines()] == [
        "no record is stored; --write stores one",
        "5 rows stored",
        "stored before; name the result to store it again",
        "5 rows stored",
    ]


def test_a_witness_is_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--replay", CHEAP]) == 0
    assert capsys.readouterr().out == f"{CHEAP}: 1 witnesses, 0 verdicts no longer violated\n"


@pytest.mark.long
def test_every_stored_witness_is_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--replay"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(RUNNING)
    assert all(line.endswith(" 0 verdicts no longer violated") for line in lines)


def test_a_witness_that_refutes_no_more_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = stored(CHEAP)
    refuted = next(row for row in record.rows if row.witness is not None)
    assert refuted.witness is not None
    assert list(no_longer_violated(refuted)) == []
    refuted.verdict["derived"] = Verdict.VIOLATED
    store(record, tmp_path)
    assert main(["--replay", CHEAP, "--records", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[1].endswith(": derived proved")
    refuted.witness.params = {}
    assert [words.startswith("cannot be replayed: ") for words in no_longer_violated(refuted)] == [True]


def test_an_unknown_result_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["induction.nowhere"])
    assert "no result induction.nowhere; the results are icgd.gradient, " in capsys.readouterr().err
