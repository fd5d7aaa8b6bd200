"""Every erratum is complete and replays; the pages and the README hold what the records hold."""

import json
import shlex
from html import unescape
from pathlib import Path

import pytest

from bridge.cli import main
from bridge.questions.errata import entries as module
from bridge.questions.errata import errata, html_page, latex_page, markdown_page, replayed
from bridge.questions.errata.entries import Entry, is_violated
from bridge.questions.errata.pages import summary_table, witness_words
from bridge.theorems.numbers import stated_kind
from bridge.theorems.record import Verdict, Witness
from symbolic.statements.errata import Weight
from symbolic.words.errors import UsageError
from symbolic.words.mathml import prose_html
from symbolic.words.prose import prose_latex as latex_escape

ROOT = Path(__file__).parents[3]
ENTRIES = errata()
KEYS = {"result", "quantity", "weight", "sentence", "reading", "repair", "survives", "witness", "command"}


def name_of(entry: Entry) -> str:
    return f"{entry.result}:{entry.quantity}"


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_an_entry_is_complete(entry: Entry) -> None:
    record = entry.model_dump()
    assert set(record) >= KEYS
    assert all(record[key] for key in KEYS), record
    assert entry.weight in list(Weight)
    assert not any(record[key].endswith(".") for key in ("sentence", "reading", "repair", "survives"))


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_its_witness_still_refutes_what_is_printed(entry: Entry) -> None:
    row = replayed(entry)
    assert row.verdict["printed"] is Verdict.VIOLATED
    assert row.erratum is not None
    assert row.erratum.weight == entry.weight
    assert entry.sentence.endswith(row.erratum.sentence)
    assert entry.witness is not None
    if row.witness is not None:  # a row of claims refers to the point that it was given
        assert row.witness.error_lower == pytest.approx(entry.witness.error_lower, rel=1e-9)


def test_every_stored_witness_is_that_of_an_entry() -> None:
    stored = [Witness.model_validate_json(path.read_text()) for path in module.WITNESSES.iterdir()]
    assert len(stored) == len(ENTRIES)
    assert all(entry.witness in stored for entry in ENTRIES)


def test_an_erratum_that_several_results_share_is_one_entry() -> None:
    shared = [entry for entry in ENTRIES if entry.also]
    assert shared
    for entry in shared:
        assert all(entry.sentence in {own.sentence for own in errata(id)} for id in entry.also)
    assert len({(e.paper, e.sentence, e.reading) for e in ENTRIES}) == len(ENTRIES)


def test_entries_are_ordered_by_paper_and_weight() -> None:
    keys = [(entry.paper, list(Weight).index(Weight(entry.weight))) for entry in ENTRIES]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("page", "written"), [(markdown_page, str), (latex_page, latex_escape), (html_page, prose_html)]
)
def test_a_page_holds_every_sentence_and_command(page, written) -> None:
    text = page(ENTRIES).replace("\\", "") if written is str else unescape(page(ENTRIES))
    for entry in ENTRIES:
        for words in (entry.sentence, entry.repair, entry.command):
            assert (written(words).replace("\\", "") if written is str else unescape(written(words))) in text


def test_the_file_in_the_repository_is_the_page() -> None:
    wanted = "run `boundsmith errata --output docs/errata.md`"
    assert (ROOT / "docs" / "errata.md").read_text() == markdown_page(ENTRIES), wanted


def test_the_table_of_the_readme_is_the_summary() -> None:
    assert "\n".join(summary_table(ENTRIES)) in (ROOT / "docs" / "command.md").read_text()


def run(arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(shlex.split(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_command_lists_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("errata induction.vanilla", capsys)
    assert code == 0
    assert "The main claim of the paper survives: " in out
    assert "To check again: boundsmith errata induction.vanilla --quantity" in out


def test_the_json_has_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("errata induction.vanilla --json", capsys)
    (record, *_) = json.loads(out)
    assert code == 0
    assert set(record) >= KEYS


def test_a_command_of_an_entry_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (entry, *_) = errata("induction.vanilla")
    code, out, _ = run(entry.command.removeprefix("boundsmith "), capsys)
    assert code == 0
    assert f"{entry.result}, {entry.quantity}: violated" in out


def test_a_witness_that_refutes_nothing_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.cli.errata.is_violated", lambda row: False)
    code, out, _ = run("errata induction.vanilla --replay", capsys)
    assert code == 1
    assert "NOT violated" in out


def test_a_kept_row_refutes_nothing() -> None:
    (entry, *_) = errata("induction.vanilla")
    row = replayed(entry)
    assert is_violated(row)
    assert not is_violated(row.model_copy(update={"verdict": {"printed": Verdict.KEPT}}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("errata nothing", "no result 'nothing'"),
        ("errata induction.vanilla --quantity x", "no erratum of a quantity 'x' in induction.vanilla"),
        (
            "errata --output errata.pdf",
            "cannot tell the format of 'errata.pdf' from its suffix; use one of .md, .tex, .html.",
        ),
        ("errata --output no/folder/errata.md", "there is no folder"),
        ("errata --replay --output errata.md", "--replay writes no page"),
    ],
)
def test_wrong_calls_are_refused(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(arguments, capsys)
    assert code == 2
    assert message in err


OWN = """
import sympy as sp
import boundsmith as bs

eps = sp.Symbol("eps", positive=True)
draft = bs.statements.Citation(None, "my draft, (3)")
sentences = (draft, "the factor is 1", "for every eps", "the factor is 2", "yes: as a rate")
wrong = bs.statements.Erratum(bs.statements.Weight.CONSTANT, *sentences)
error = bs.statements.Quantity(
    "error", "e", "an error", "", "", bs.statements.Kind.UPPER, bs.statements.Quantifier.FOR_ALL,
    printed=bs.statements.Printed(eps, draft), erratum=wrong, scopes=(),
)
own = bs.theorem(
    "mine", parameters={eps: 0.25}, checks=[bs.Check(error, lambda eps: bs.Sides(found=2 * eps, derived=2 * eps))]
)
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def test_the_errata_of_a_file_are_listed(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(f"errata {own}", capsys)
    assert (code, err) == (0, "")
    assert "mine: constant" in out
    assert "In the paper: the factor is 1" in out
    assert f"To check again: boundsmith compare {own}" in out
    (record,) = json.loads(run(f"errata {own} --quantity error --json", capsys)[1])
    assert (record["result"], record["quantity"], record["witness"]) == ("mine", "error", None)
    code, out, _ = run(record["command"].removeprefix("boundsmith "), capsys)
    assert code == 0
    assert "violated" in out


def test_a_file_stores_no_witness_and_the_refusal_says_how_to_find_one(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(f"errata {own} --replay", capsys)
    assert code == 2
    finds = f"boundsmith compare {own} --save-witnesses FOLDER"
    assert f"no witness of error of mine is stored; {finds} finds one" in err
    assert run(finds.removeprefix("boundsmith ").replace("FOLDER", str(tmp_path / "found")), capsys)[0] == 0
    (witness,) = (tmp_path / "found").iterdir()
    assert "printed: violated" in run(f"compare {own} --witness {witness}", capsys)[1]
    assert "no erratum of a quantity 'x' in" in run(f"errata {own} --quantity x", capsys)[2]


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html"])
def test_a_page_of_a_file_is_written(suffix: str, own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = own.with_name(f"errata{suffix}")
    assert run(f"errata {own} --output {path}", capsys)[0] == 0
    assert "the factor is 2" in path.read_text()


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html"])
def test_a_page_is_written(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"errata{suffix}"
    code, out, _ = run(f"errata induction.vanilla --output {path}", capsys)
    assert code == 0
    assert f"written: {path}" in out
    assert "Repair" in path.read_text()


def test_an_entry_without_a_witness_is_not_replayed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "WITNESSES", tmp_path)
    (entry, *_) = errata("induction.vanilla")
    assert entry.witness is None
    assert witness_words(entry) == "none stored"
    with pytest.raises(UsageError, match=r"no witness of .* of induction\.vanilla is stored"):
        replayed(entry)


# "bounded by one constant" refutes a lower bound that grows: at most, whatever the quantity is measured from.
@pytest.mark.parametrize(
    ("kind", "order", "tier", "side"),
    [("lower", "O", "printed", "upper"), ("upper", "Omega", "printed", "lower"), ("lower", "O", "derived", "lower"),
     ("upper", "", "printed", "upper"), ("lower", None, "printed", "lower")],
)  # fmt: skip
def test_a_printed_order_says_from_which_side_it_bounds(kind: str, order: str | None, tier: str, side: str) -> None:
    assert stated_kind(kind, order, tier) == side
