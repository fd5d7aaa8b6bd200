"""Which rows and columns are shown: one choice for the terminal and all files."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from bridge.export.choice import Choice, choice, chosen, in_order
from bridge.export.comparison import Comparison, load
from bridge.export.latex_tables import check_columns
from bridge.theorems.record import NamedTable, Row, Verdict
from symbolic.words.errors import UsageError
from tests.bridge.export.cases import comparison


def row(quantity: str = "output", **fields: object) -> Row:
    return Row(**({"quantity": quantity, "kind": "upper", "quantifier": "for all inputs", "params": {}} | fields))


def record(*rows: Row) -> Comparison:
    return comparison().model_copy(update={"rows": list(rows)})


def test_names_are_typed_with_commas_or_as_a_list() -> None:
    assert choice("derived, claimed ratio", ["p[1,2]", "y,w"], "local,network", "-claimed ratio,N") == Choice(
        columns=("derived", "claimed_ratio"),
        quantities=("p[1,2]", "y", "w"),
        scopes=("prompt, local", "network"),
        sort=("-claimed_ratio", "N"),
    )
    assert choice(scope="prompt, local").scopes == ("prompt, local",)
    assert choice() == Choice()


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"columns": "derived,"}, "a name is empty"),
        ({"quantity": ["y", "y"]}, "'y' is given twice; name it once."),
    ],
)
def test_names_are_given_once(typed: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choice(**typed)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Choice(columns=("derivd",)), "there is no column 'derivd'. Nearest: derived, verdict, printed. There are: "),
        (Choice(columns=("q",)), "there is no column 'q'.* W_star"),
        (
            Choice(scopes=("promt",)),
            "there is no scope 'promt'. Nearest: prompt. There are: network, prompt, every, local, ",
        ),
        (Choice(quantities=("outptu",)), "there is no quantity 'outptu'. Nearest: output, output.rate"),
        (Choice(sort=("domain",)), "'domain' has no order; sort by quantity, where, scope, verdict or a number"),
        (Choice(sort=("-rato",)), "there is no column 'rato'. Nearest: ratio"),
        (Choice(quantities=("output.rate",), scopes=("prompt",)), "output.rate has rows of scope 'none'"),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest_names(wrong: Choice, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        chosen(comparison(), wrong)


def test_a_quantity_stands_for_its_parts_and_for_no_other_name() -> None:
    rows = [row(name) for name in ("p[1]", "p[2]", "p.max", "power", "y")]
    assert [each.quantity for each in chosen(record(*rows), Choice(quantities=("p",)))] == ["p[1]", "p[2]", "p.max"]


def test_tables_beside_the_rows_are_of_the_whole_comparison() -> None:
    whole = comparison().model_copy(update={"tables": [NamedTable(title="trace", columns=["i"], rows=[[1]])]})
    assert "trace" in str(whole)
    picked = str(whole.table(quantity="output"))
    assert "trace" not in picked
    assert "1 tables beside the rows are left out; without --quantity and --scope they are shown" in picked


def test_rows_without_a_value_stand_last_in_either_direction() -> None:
    rows = [row(ratio=2.0), row(), row(ratio=10.0), row(ratio=1.0)]
    assert [each.ratio for each in in_order(rows, ["ratio"])] == [1.0, 2.0, 10.0, None]
    assert [each.ratio for each in in_order(rows, ["-ratio"])] == [10.0, 2.0, 1.0, None]


def test_words_are_sorted_as_the_field_reads_them() -> None:
    names = [row("p[10]"), row("p[9]"), row("g")]
    assert [each.quantity for each in in_order(names, ["quantity"])] == ["g", "p[9]", "p[10]"]
    scopes = [row(scope="prompt, local"), row(), row(scope="network"), row(scope="prompt")]
    assert [each.scope for each in in_order(scopes, ["scope"])] == ["network", "prompt", "prompt, local", None]
    judged = [row(verdict={"derived": verdict}) for verdict in (Verdict.PROVED, Verdict.KEPT, Verdict.VIOLATED)]
    gravest = [next(iter(each.verdict.values())) for each in in_order(judged, ["verdict"])]
    assert gravest == [Verdict.VIOLATED, Verdict.KEPT, Verdict.PROVED]


def test_the_second_key_decides_among_equal_ones() -> None:
    rows = [row(params={"N": 2}, ratio=1.0), row(params={"N": 1}, ratio=1.0), row(params={"N": 3}, ratio=0.5)]
    assert [each.params["N"] for each in in_order(rows, ["-ratio", "N"])] == [1, 2, 3]


CHOSEN = {"columns": "L,measured,derived,p", "quantity": "output", "scope": "network", "sort": "-derived"}


def test_every_format_has_the_same_rows_and_columns(tmp_path: Path) -> None:
    files = {suffix: tmp_path / f"t.{suffix}" for suffix in ("csv", "json", "md", "html", "tex")}
    whole = comparison()
    whole.save(*map(str, files.values()), **CHOSEN)
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert list(rows[0]) == ["quantity", "L", "measured", "derived", "p", "verdict"]
    numbers = [float(each["derived"]) for each in rows]
    assert numbers == sorted((each.derived for each in whole if named(each)), reverse=True)
    assert [each["derived"] for each in json.loads(files["json"].read_text())["rows"]] == numbers
    text = whole.table(**CHOSEN).text()
    for page in (text, *(files[suffix].read_text() for suffix in ("md", "html", "tex"))):
        places = [page.index(shown) for shown in sorted_cells(page)]
        assert places == sorted(places)
        assert "attacked" not in page.split("seed")[0]


def named(each: Row) -> bool:
    return each.scope == "network" and each.quantity.split(".")[0] == "output"


def sorted_cells(page: str) -> list[str]:
    """The headings of the columns, as they should stand."""
    head = re.search(r"quantity.*L.*measured.*derived.*p.*verdict", page, flags=re.S)
    assert head is not None
    return ["quantity", "measured", "derived", "verdict"]


def test_csv_has_every_row_and_json_every_field_unless_rows_are_chosen(tmp_path: Path) -> None:
    whole = comparison()
    whole.save(str(tmp_path / "t.json"), columns="derived")
    assert load(tmp_path / "t.json").rows == whole.rows
    assert len(whole.table(columns="derived").csv().splitlines()) == 1 + len(whole.rows)


def test_quantity_and_verdict_are_always_there() -> None:
    head = comparison().table(columns="verdict,ratio").text().splitlines()[2]
    assert [cell.strip() for cell in head.split("┃")] == ["quantity", "verdict", "ratio"]


def test_what_tells_rows_apart_and_has_no_column_is_named() -> None:
    whole = comparison(ps=(1, 2), Ls=(8,)).table(columns="printed,measured", quantity="output")
    without = "some rows differ in scope, p, of which there is no column"
    assert whole.text().count(without) == whole.markdown().count(without) == whole.latex().lower().count(without) == 1
    assert whole._repr_html_().count(without) == 1
    assert "quantity & printed & measured & verdict" in re.sub(
        r"\\multicolumn\{1\}\{\w\}\{(\w+)\}", r"\1", whole.latex()
    )
    of_one = comparison().table(columns="printed", quantity="y")
    assert re.search("quantity & .*printed.* & verdict", of_one.latex())
    one_less = comparison(ps=(1, 2), Ls=(8,)).table(columns="p,printed", quantity="output")
    assert "some rows differ in scope, of which" in one_less.text()
    for told in ({"columns": "p,scope,printed"}, {"columns": "p,printed", "scope": "prompt"}, {}):
        assert "some rows differ" not in comparison(ps=(1, 2), Ls=(8,)).table(quantity="output", **told).text()


def test_a_latex_table_has_at_most_eight_columns() -> None:
    eight = "printed,derived,instance,measured,attacked,exact"
    check_columns(choice(eight))
    with pytest.raises(UsageError, match="at most 8 columns, quantity and verdict among them, and these are 9"):
        check_columns(choice(f"{eight},ratio"))
