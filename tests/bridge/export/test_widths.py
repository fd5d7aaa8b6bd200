"""Tables of every stored comparison, and of a theorem of one's own, on terminals of 80, 100 and 120 columns."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import boundsmith as bs
from bridge.export.choice import Choice
from bridge.export.columns import BOUNDS, ERRORS, KEPT_LAST, LABELS, NUMBERS, SCOPES, WHERE, Role
from bridge.export.comparison import Comparison
from bridge.export.legend import FLAGS, KEPT_OVER_DRAWS, OVER_SEEDS, VERDICTS, YOURS
from bridge.export.narrowing import LEAST_NAME, least_room, shortened
from bridge.export.sheet import Sheet, sheet
from bridge.export.terminal import fitted
from bridge.export.verdict_words import BARE, verdict_words
from bridge.theorems.record import Flag, Row, RowErratum, Verdict
from tests.bridge.export.cases import comparison
from tests.yardstick.records import RECORDS, stored

OWN = Path(__file__).parents[3] / "examples" / "own_theorem.py"
IDS = ["own", *sorted(path.stem for path in RECORDS.glob("*.json"))]
WIDTHS = (80, 100, 120)
CROWDED = {"induction.losses", "induction.phases", "induction.trends", "machines.sample_complexity"}  # with parameters


@cache
def compared(id: str) -> Comparison:
    if id == "own":
        return bs.compare(str(OWN), samples=4, attack=2, restarts=1)  # type: ignore[no-any-return]
    return stored(id)


@pytest.mark.parametrize(("width", "all_rows"), [*((width, False) for width in WIDTHS), (80, True)])
@pytest.mark.parametrize("id", IDS)
def test_no_line_is_wrapped_and_each_row_has_quantity_number_and_verdict(id: str, width: int, all_rows: bool) -> None:
    whole = sheet(compared(id), Choice(all_rows=all_rows))
    shown = fitted(whole, width)
    lines = [line.rstrip() for line in compared(id).table(all_rows=all_rows).text(width).splitlines()]
    assert max(map(len, lines)) <= width
    under = lines[next(place for place, line in enumerate(lines) if re.match("[─━]", line)) + 1 :]
    body = [line for line in under if line and not re.match("[─━]", line)]
    for row, line in zip(whole.rows, body, strict=False):
        assert line.startswith(f"{shortened(row.quantity, _name_room(shown))} ")
        assert line.endswith(f" {verdict_words(row, shown.wording)}")
    numbers = [column.name for column in shown.columns if column.role is Role.NUMBER]
    rows = [row for row in whole.rows if any(getattr(row, name) is not None for name in NUMBERS)]
    bare = [row for row in rows if all(getattr(row, name) is None for name in numbers)]
    assert len(bare) <= (1 if rows else 0)  # in two tables, a row whose verdict takes most of the line
    assert body[len(whole.rows)].startswith("left out") or ": " in body[len(whole.rows)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("id", [id for id in IDS if id not in CROWDED])
def test_an_error_and_a_bound_stay_and_what_tells_rows_apart(id: str, width: int) -> None:
    whole = sheet(compared(id), Choice())
    shown = {column.name for column in fitted(whole, width).columns}
    there = {column.name for column in whole.columns}
    assert all(shown & set(names) for names in (ERRORS, BOUNDS) if there & set(names))
    told = [name for name in (*LABELS, *whole.layout.varying) if name in there]
    assert len({_told(row, told) for row in whole.rows}) == len({_told(row, shown & set(told)) for row in whole.rows})


def _told(row: Row, names: Iterable[str]) -> tuple[str, ...]:
    values = {"quantity": row.quantity, "scope": row.scope, "kind": row.kind, "where": row.construction, **row.params}
    return tuple(str(values.get(name)) for name in sorted(names))


def _name_room(shown: Sheet) -> int:
    return int(min(shown.name_room, 1000))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("id", IDS)
def test_names_that_are_shortened_still_differ(id: str, width: int) -> None:
    whole = sheet(compared(id), Choice())
    shown = fitted(whole, width)
    names = {row.quantity for row in whole.rows}
    assert len({shortened(name, _name_room(shown)) for name in names}) == len(names)


def test_a_name_loses_its_middle() -> None:
    assert shortened("erratum.least_against_the_sum.repaired", 20) == "erratum.l...repaired"
    assert shortened("output", 6) == "output"
    assert least_room(["a" * 20 + "x" + "b" * 20, "a" * 20 + "y" + "b" * 20]) == 41
    assert least_room(["output", "gradient"]) == LEAST_NAME


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("id", IDS)
def test_what_is_left_out_is_named_and_rounding_goes_first(id: str, width: int) -> None:
    whole = sheet(compared(id), Choice())
    kept = [column.name for column in fitted(whole, width).columns]
    numbers = [column.name for column in whole.columns if column.role is Role.NUMBER]
    said = compared(id).table().text(width)
    missing = re.search(rf"left out, as a line has {width} columns: (.*?); --columns", " ".join(said.split()))
    if len(kept) == len(whole.columns):
        return
    assert missing is not None
    names = missing[1].split(", ")
    assert {each.name for each in whole.columns} - set(kept) <= {name.replace(" ", "_") for name in names}
    order = [name for name in whole.kept_first if name in numbers]
    least = [name for name in order if name in KEPT_LAST]
    first_gone = next((place for place, name in enumerate(order) if name not in kept), len(order))
    assert not [name for name in least if name in kept and order.index(name) > first_gone]
    if "rounding" in numbers and set(numbers) - set(kept):
        assert names[0] == "rounding"


def test_a_wide_line_has_every_column() -> None:
    assert "left out" not in compared("own").table().text()


@pytest.mark.parametrize("meanings", [NUMBERS, {"where": WHERE}, SCOPES, VERDICTS, FLAGS, {"kept": KEPT_OVER_DRAWS}])
def test_a_term_takes_one_line(meanings: dict[str, str]) -> None:
    assert all(len(f"{name}: {meaning}") <= 80 for name, meaning in meanings.items())


@pytest.mark.parametrize("id", IDS)
def test_the_legend_has_one_entry_for_each_term_of_the_table(id: str) -> None:
    lines = compared(id).table().text(80).splitlines()
    shown = fitted(sheet(compared(id), Choice()), 80)
    names = {column.heading for column in shown.columns if column.role is Role.NUMBER}
    names |= {str(verdict) for row in shown.rows for verdict in row.verdict.values()}
    over_draws = any(row.seeds is not None and row.level is None for row in shown.rows)
    over_seeds = any(row.seeds is not None and row.level is not None for row in shown.rows)
    verdicts = {**VERDICTS, **({"kept": KEPT_OVER_DRAWS} if over_draws else {})}
    verdicts |= {"consistent": OVER_SEEDS} if over_seeds else {}
    meanings = {**NUMBERS, "printed": YOURS} if id == "own" else NUMBERS
    for name in names:
        meaning = meanings.get(name.replace(" ", "_")) or verdicts[name]
        assert lines.count(f"{name}: {meaning}") == 1


def _row(verdict: dict[str, Verdict], flags: dict[str, list[str]]) -> Row:
    erratum = RowErratum(weight="step of a proof", place="", sentence="", reading="", repair="", survives="")
    fields = {"quantity": "q", "kind": "upper", "quantifier": "for all inputs", "params": {}}
    return Row(**fields, verdict=verdict, flags=flags, erratum=erratum)


def test_the_shortest_verdict_keeps_what_a_reader_must_not_miss() -> None:
    verdict = {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT, "instance": Verdict.KEPT}
    flags = {"derived": [Flag.VACUOUS, Flag.ATTAINED], "instance": [Flag.CONDITIONAL]}
    words = verdict_words(_row(verdict, flags), BARE)
    assert words == "P violated (step), DI kept (vacuous D, conditional I)"


def test_a_name_that_has_no_room_is_shortened_and_its_verdict_is_not() -> None:
    record = comparison(ps=(1,), Ls=(8,))
    for row in record.rows:
        row.quantity = f"output.{'long' * 30}"
    lines = record.table().text(60).splitlines()
    assert sum(line.startswith("out...ng ") for line in lines) == len(record.rows)
    assert any(line.rstrip().endswith("kept") for line in lines)


def test_chosen_columns_are_left_out_from_the_last() -> None:
    shown = fitted(sheet(stored("icgd.step"), Choice(columns=("attacked", "printed", "derived", "exact"))), 80)
    assert [column.name for column in shown.columns] == ["quantity", "attacked", "printed", "derived", "verdict"]
