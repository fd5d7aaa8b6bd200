"""`list`, `show` and `latex`."""

import json
import re
from pathlib import Path

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from sympy.parsing.sympy_parser import parse_expr

from bridge.cli.describe import RELATIONS
from bridge.cli.description import WIDTH, drawn_formula, wrapped
from symbolic.statements.catalogue import CLAIMS, find_result, results
from tests.bridge.cli.conftest import Command, refused

RUNNING = sorted(results())


def test_list_has_every_claim_with_citation_and_status(run: Command) -> None:
    outcome = run("list")
    assert (outcome.code, outcome.err) == (0, "")
    lines = {line.split()[0]: line for line in outcome.out.splitlines()[2:]}
    for claim in CLAIMS:
        assert str(claim.citation) in lines[claim.id]
        assert "running" in lines[claim.id]


def test_list_json(run: Command) -> None:
    records = json.loads(run("list", "--json").out)
    assert [record["id"] for record in records] == [claim.id for claim in CLAIMS]
    assert all(set(record) == {"id", "citation", "status", "summary"} for record in records)
    assert {record["status"] for record in records} == {"running"}


@pytest.mark.parametrize("id", RUNNING)
def test_show_has_everything_the_result_says(id: str, run: Command) -> None:
    result = find_result(id)
    outcome = run("show", id)
    assert (outcome.code, outcome.err) == (0, "")
    for words in (result.title, str(result.citation), result.claim, *result.remarks):
        assert words in outcome.out
    for parameter in result.parameters:
        assert f"  {parameter.name} = {parameter.default}  " in outcome.out
        assert f"{parameter.takes}: {parameter.meaning}".removeprefix(": ") in outcome.out
    for hypothesis in result.hypotheses:
        assert hypothesis.reason in outcome.out
    for quantity in result.quantities:
        assert f"{quantity.name}: {quantity.meaning}" in outcome.out
        assert f"    {quantity.about}\n" in outcome.out
        assert quantity.norm in quantity.about
        assert quantity.remark in outcome.out
        for step in quantity.derivation.steps if quantity.derivation else ():
            assert f"    {step.name if step.latex else f'e_{step.name}'} <= " in outcome.out
            assert step.rule in outcome.out
    for derived in result.formulas:
        assert f"  {derived.meaning}" in outcome.out
        assert f"    {derived.left} {RELATIONS[derived.kind]}" in outcome.out
    headings = {"derivation: ": any(q.derivation for q in result.quantities), "derived (by": bool(result.formulas)}
    assert {words: f"\n{words}" in outcome.out for words in headings} == headings


def test_show_gives_printed_formulas_the_sign_of_their_kind(run: Command) -> None:
    phases, stage, trends = (run("show", f"induction.{name}").out for name in ("phases", "first_stage", "trends"))
    assert "T_o := T_1^h of C.3), Theta of\n      L\n" in phases
    assert "Lemma 5.3, eq. (12)), under sigma_init << 1 (12), >\n      0\n" in stage
    assert "(P1.1)), >=\n      1\n" in trends
    assert "(P1.2)), <=\n      1\n" in trends
    assert "(P1.3)), =\n      1\n" in trends


@pytest.mark.parametrize("id", RUNNING)
def test_no_drawn_formula_is_too_wide_to_read(id: str) -> None:
    for quantity in find_result(id).quantities:
        derived = quantity.derived()
        if derived is not None:
            assert max(map(len, drawn_formula(derived))) <= WIDTH


def test_a_formula_is_drawn_where_it_fits_and_else_wrapped_with_nothing_lost() -> None:
    x = sp.symbols("x")
    assert len(drawn_formula(x / (1 + x))) == 3
    wide = sum((x / (index + x)) ** 2 for index in range(20))
    lines = drawn_formula(wide)
    assert 1 < len(lines) < 10
    assert max(map(len, lines)) <= WIDTH
    assert sp.simplify(wide - parse_expr(" ".join(lines))) == 0


@given(st.text(alphabet="ab*,() ", max_size=60), st.integers(8, 30))
def test_wrapping_changes_nothing_but_blanks(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    pieces = re.split(r"(?<=[*,(])|\s", text.replace("**", "^^"))  # a power is not parted
    assert max(map(len, lines)) <= max(width, *map(len, pieces))


@pytest.mark.parametrize("id", RUNNING)
def test_show_json(id: str, run: Command) -> None:
    result = find_result(id)
    record = json.loads(run("show", id, "--json").out)
    assert (record["id"], record["status"], record["claim"]) == (id, "running", result.claim)
    assert [p["name"] for p in record["parameters"]] == [p.name for p in result.parameters]
    assert [q["name"] for q in record["quantities"]] == [q.name for q in result.quantities]
    for shown, quantity in zip(record["quantities"], result.quantities, strict=True):
        assert (shown["derived"] is None) == (quantity.derived() is None)
        assert (shown["printed"] is None) == (quantity.printed is None)
        assert (shown["closed_form"] is None) == (quantity.closed_form is None)
    assert [f["meaning"] for f in record["formulas"]] == [f.meaning for f in result.formulas]
    steps = [step["name"] for step in record["derivation"]]
    assert len(steps) == len(set(steps))


def test_show_of_a_planned_result(planned: str, run: Command) -> None:
    outcome = run("show", planned)
    assert outcome.code == 0
    assert "status: planned" in outcome.out
    assert json.loads(run("show", planned, "--json").out)["status"] == "planned"


@pytest.mark.parametrize("id", {id.partition(".")[0]: id for id in RUNNING}.values())
def test_latex_is_raw(id: str, run: Command) -> None:
    assert run("latex", id).out == find_result(id).latex() + "\n"


def test_latex_into_a_file(run: Command, tmp_path: Path) -> None:
    outcome = run("latex", "induction.vanilla", "-o", tmp_path / "claim.tex")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert (tmp_path / "claim.tex").read_text() == find_result("induction.vanilla").latex() + "\n"


def test_bibtex_instead_of_latex(run: Command) -> None:
    assert run("latex", "induction.vanilla", "--bibtex").out == (
        find_result("induction.vanilla").citation.bibtex() + "\n"
    )


@pytest.mark.parametrize("command", ["show", "latex", "compare"])
def test_an_unknown_id_names_the_nearest(command: str, run: Command) -> None:
    sentence = refused(run(command, "induction.vanila"))
    assert sentence.startswith("there is no result 'induction.vanila'. Nearest: induction.vanilla")


@pytest.mark.parametrize("command", ["latex", "compare"])
def test_a_planned_result_cannot_be_run(command: str, planned: str, run: Command) -> None:
    assert "is planned and cannot be run yet" in refused(run(command, planned))


def test_latex_into_a_missing_folder(run: Command, tmp_path: Path) -> None:
    assert "there is no folder" in refused(run("latex", "induction.vanilla", "-o", tmp_path / "no" / "claim.tex"))


def test_a_tall_formula_is_shown_with_its_repeated_parts_named(run: Command) -> None:
    shown = run("show", "machines.turing_margin").out
    assert "      u_1 = (lambda_ + 3*sigma_zeta)**2/9" in shown
    assert "rho*sqrt(u_1*(W_Q*k" in shown
