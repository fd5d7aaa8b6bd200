"""Tables of the commands on terminals of 80, 100 and 120 columns: one line a row, numbers always there."""

import re
from pathlib import Path

import pytest

from bridge.export.grids import bounded
from symbolic.statements.catalogue import CLAIMS
from tests.bridge.cli.conftest import Command

WIDTHS = (80, 100, 120)
ROOT = Path(__file__).parents[3]
RULE = re.compile("[─━]")


def _body(page: str) -> tuple[str, list[str]]:
    """Heading and rows of the first table."""
    lines = page.splitlines()
    place = next(place for place, line in enumerate(lines) if RULE.match(line))
    return lines[place - 1], lines[place + 1 :]


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def test_list_has_a_line_for_each_claim_with_its_whole_id(width: int, run: Command) -> None:
    page = run("list").out
    _, body = _body(page)
    assert max(map(len, page.splitlines())) <= width
    assert [line.split()[0] for line in body[: len(CLAIMS)]] == [claim.id for claim in CLAIMS]
    assert re.match(rf"(left out|cut off), as a line has {width} columns: citation; ", body[len(CLAIMS)])
    assert "`boundsmith show ID` and --json have all" in " ".join(page.split())


@pytest.mark.long
def test_certify_has_a_line_for_each_inequality_with_its_numbers(width: int, run: Command) -> None:
    page = run("certify", "induction.lyapunov_head").out
    heading, body = _body(page)
    assert max(map(len, page.splitlines())) <= width
    assert {"boxes", "seconds", "settled"} <= set(heading.split())
    assert all(re.search(r"\d+ +(│ +)?\d\.\d+ +(│ +)?(100 %|-)$", line) for line in body[:18])


def test_a_long_inequality_keeps_its_ends_and_its_numbers(width: int, run: Command) -> None:
    typed = f"{' + '.join(f'x**{k}' for k in range(2, 40))} >= -1"
    _, body = _body(run("certify", "--expression", typed, "--range", "x=0,1").out)
    assert body[0].startswith("x**2 + x**3")
    assert re.search(r"\.\.\..*x\*\*39 >= -1  proved +\d+ +\d", body[0])
    assert len(body[0].rstrip()) <= width


def test_steps_have_error_and_bound(width: int, run: Command) -> None:
    page = run("show", str(ROOT / "examples" / "own_theorem.py"), "--steps").out
    heading, _ = _body(page)
    assert max(map(len, page.splitlines())) <= width
    assert {"step", "error", "bound"} <= set(heading.split())


def _printed(block: object) -> list[str]:
    return [column.header for column in block.columns]  # type: ignore[attr-defined]


def test_columns_go_from_the_last_of_the_order_and_the_line_says_which() -> None:
    headings = [("name", False), ("words", False), ("a", True), ("b", True)]
    lines = [["n" * 30, "w" * 40, "1" * 9, "2" * 9], ["m" * 30, "w", "1", "2"]]
    table, said = bounded(headings, lines, 50, kept_first=("b", "a"), cut=("words",))
    assert _printed(table) == ["name", "a", "b"]
    assert said == "left out, as a line has 50 columns: words; --json has all"
    table, said = bounded(headings, lines, 70, kept_first=("b", "a"), cut=("words",))
    assert _printed(table) == ["name", "words", "a", "b"]
    assert said == "cut off, as a line has 70 columns: words; --json has all"
    (table,) = bounded(headings, lines, 200)


def test_columns_of_one_heading_keep_their_own_cells() -> None:
    headings = [("name", False), ("risk", True), ("bound", True), ("norm", True), ("bound", True)]
    (table,) = bounded(headings, [["a", "1", "2", "3", "4"]], 80)
    assert [[str(cell) for cell in column.cells] for column in table.columns] == [["a"], ["1"], ["2"], ["3"], ["4"]]  # type: ignore[attr-defined]
    table, said = bounded(headings, [["a", "1" * 9, "2" * 9, "3" * 9, "4" * 9]], 40)
    assert _printed(table) == ["name", "risk", "bound", "norm"]
    assert said == "left out, as a line has 40 columns: bound; --json has all"
