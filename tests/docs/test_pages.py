"""The generated pages: everything has its place, links lead somewhere, formulas convert, examples print the truth."""

import ast
import contextlib
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

import boundsmith as bs
from bridge.export.markdown import escape_markdown
from bridge.export.violations import findings
from bridge.theorems.record import Row, Verdict
from docs.pages import gallery, papers, reference, rules
from docs.pages.examples import examples
from docs.pages.markdown import convertible, from_latex, inline, plain_text, prose
from symbolic.statements.catalogue import CLAIMS, RUNNING
from symbolic.statements.result import Kind
from tests.symbolic.cases import premises
from tests.symbolic.fuzzing import fuzzer
from tests.yardstick.records import stored

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$\n(.*?)\n\$\$|(?<!\\)\$((?:[^$\\]|\\.)+)\$", re.DOTALL)
LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
FEW = tuple(each for each in CLAIMS if each.citation.paper is CLAIMS[-1].citation.paper)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, of papers those of one."""
    made = tmp_path_factory.mktemp("generated")
    rules.write(made / "rules")
    reference.write(made / "reference")
    papers.write(made / "papers", FEW)
    gallery.write(made, most=2)
    return made


def pages(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*.md")):
        yield path, path.read_text()


def formulas(text: str) -> list[str]:
    return [display or within for display, within in FORMULA.findall(CODE.sub("", text))]


def converts(formula: str) -> bool:
    """Whether latex2mathml makes well-formed MathML of it that has no LaTeX left."""
    made = pytest.importorskip("latex2mathml.converter").convert(formula)
    try:
        words = "".join(ElementTree.fromstring(made).itertext())
    except ElementTree.ParseError:
        return False
    return not re.search(r"\\[A-Za-z]|[$]", words)


def test_every_rule_has_a_page_with_its_proof_and_an_example_that_prints_what_it_says(folder: Path) -> None:
    index = (folder / "rules" / "index.md").read_text()
    for name in bs.rules.__all__:
        text = (folder / "rules" / f"{name}.md").read_text()
        assert f"]({name}.md)" in index
        assert "\n## Proof\n" in text
        code, output = re.search(
            r"## Example\n\n```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", text, re.S
        ).groups()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {})
        assert f"bs.rules.{name}(" in code
        assert printed.getvalue().strip() == output.strip()


def test_the_page_of_a_rule_has_bound_equality_norms_and_faces(folder: Path) -> None:
    text = (folder / "rules" / "linear_map.md").read_text()
    assert r"e_{\mathrm{y}} \le a e_x" in text
    assert re.search(r"## Case of equality\n\nEquality: v a maximiser of the operator norm\.", text)
    assert "| - | sup norm or 1-norm or 2-norm | sup norm or 1-norm or 2-norm | 1.0000 |" in text
    assert "| enclosure of `Linear` |" in text
    assert "`bridge/readings/rules/linear.py`" in text


def test_every_public_name_has_its_place(folder: Path) -> None:
    top = {
        each.name
        for node in ast.parse((ROOT / "boundsmith" / "__init__.pyi").read_text()).body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }
    names = (folder / "reference" / "names.md").read_text()
    spaces = {path.stem for path in (ROOT / "boundsmith").glob("*.py")} - {"__init__"}
    assert spaces <= {path.stem for path in (folder / "reference").glob("*.md")}
    for title, own in {"bs": top, **{f"bs.{name}": reference.namespaces()[name].__all__ for name in spaces}}.items():
        text = (folder / "reference" / f"{title.removeprefix('bs.')}.md").read_text()
        assert {name for name in own if f"\n## `{name}`\n" not in text or f"`{title}.{name}`" not in names} == set()


def test_a_signature_has_no_address_and_a_line_for_each_argument_where_it_is_long() -> None:
    def short(x: int, *, f: Callable[[int, str], None] = print) -> str:
        return ""

    def long(
        x: "bs.Theorem", y: bs.Norm = bs.Norm.INF, *, words: Callable[[int, str], None] = lambda n, m: None
    ) -> str:
        return ""

    assert reference.signature("short", short) == "short(x: int, *, f: Callable[[int, str], None] = print) -> str"
    lines = ["x: Theorem", "y: Norm = Norm.INF", "*", "words: Callable[[int, str], None] = ..."]
    assert reference.signature("bs.long", long) == "\n".join(
        ["bs.long(", *(f"    {each}," for each in lines), ") -> str"]
    )


def test_every_command_and_option_has_its_place(folder: Path) -> None:
    click = pytest.importorskip("typer.main")
    text = (folder / "reference" / "command.md").read_text()
    sections = dict(re.findall(r"^## `([\w-]+)`\n(.*?)(?=^\(command-|\Z)", text, re.M | re.S))
    group = click.get_command(reference.app)
    assert set(group.commands) == set(sections)
    for name, command in group.commands.items():
        printed = command.get_help(command.make_context(name, [], resilient_parsing=True))
        listed = set(re.findall(r"^\s+(?:-\w, )?(--[a-z-]+)", printed, re.M)) - {"--help"}
        assert {option for option in listed if f"`{option}" not in sections[name]} == set()


def test_every_class_of_errors_has_its_place(folder: Path) -> None:
    text = (folder / "reference" / "errors.md").read_text()
    last, known = {Exception}, set[type]()
    while last:
        last = {each for one in last for each in one.__subclasses__()} - known
        known |= last
    ours = re.compile(r"(symbolic|numeric|bridge)\.(?!questions\.certify\.programs\.)")  # those are for other readers
    floors = {each for each in known if ours.match(each.__module__)}
    public = {each.__name__ for each in floors if re.fullmatch(r"[A-Z]\w*Error", each.__name__)}
    assert len(public) > 10
    assert {name for name in public if f"`{name}`" not in text and f"`bs.{name}`" not in text} == set()


def test_every_link_leads_to_a_page_or_a_target(folder: Path) -> None:
    followed = 0
    for path, text in pages(folder):
        for link in LINK.findall(CODE.sub("", text)):
            name, _, anchor = link.partition("#")
            there = path.parent / name if name else path
            if name.startswith("../../"):  # a page by hand, whose headings are targets
                there = ROOT / "docs" / Path(name).name
                assert f"## {anchor.capitalize()}\n" in there.read_text(), link
                continue
            if path.parent.name == "papers" and Path(name).stem in {*RUNNING} - {each.id for each in FEW}:
                continue
            assert there.exists(), (path.name, link)
            assert not anchor or f"({anchor})=" in there.read_text(), (path.name, link)
            followed += 1
    assert followed > 300


def test_no_page_has_the_address_of_an_object(folder: Path) -> None:
    assert [path.name for path, text in pages(folder) if re.search(r" at 0x[0-9a-f]{6}", text)] == []


def test_the_words_of_a_statement_have_no_latex(folder: Path) -> None:
    for path, text in pages(folder / "papers"):
        assert not re.search(r"\\[A-Za-z]", FORMULA.sub("", CODE.sub("", text))), path.name


def test_no_two_targets_of_a_folder_have_one_name(folder: Path) -> None:
    targets = [each for _, text in pages(folder) for each in re.findall(r"^\((\S+)\)=$", text, re.M)]
    assert len(targets) == len(set(targets))


def test_every_formula_converts(folder: Path) -> None:
    found = {(path.name, formula) for path, text in pages(folder) for formula in formulas(text)}
    assert len(found) > 300
    assert [each for each in found if not converts(each[1])] == []


@pytest.mark.long
def test_every_formula_of_every_paper_converts(tmp_path: Path) -> None:
    papers.write(tmp_path)
    assert {f"{id}.md" for id in RUNNING} <= {path.name for path in tmp_path.iterdir()}
    found = {(path.name, formula) for path, text in pages(tmp_path) for formula in formulas(text)}
    assert [each for each in found if not converts(each[1])] == []


@pytest.mark.parametrize("wrong", [r"\foo x", "a & b", r"\begin{aligned} a &= b \end{aligned}", r"\text{if $x$}"])
def test_what_does_not_convert_is_noticed(wrong: str) -> None:
    assert not converts(wrong)


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{aligned} a &= b \\ &\quad + c \end{aligned}",
        r"\begin{gathered} a \\ \begin{aligned} b &= c \end{aligned} \end{gathered}",
        r"a \text{ if $x$ holds}",
    ],
)
def test_what_latex2mathml_does_not_know_is_rewritten(latex: str) -> None:
    assert not converts(latex)
    assert converts(convertible(latex))


def test_words_and_formulas_become_myst() -> None:
    assert inline(r"\|x\| \le |y|") == r"$\Vert x\Vert  \le \vert y\vert$"
    assert (
        prose("tokens with `||x||_2 <= B_x` by ``boundsmith`` *")
        == r"tokens with $\Vert x\Vert _{2}\le B_{x}$ by `boundsmith` \*"
    )
    assert plain_text("a_b holds:\n  x   y\n  z\nfor `c_d`.") == "a\\_b holds:\n\n```text\nx   y\nz\n```\n\nfor `c_d`."
    shown = from_latex(r"By \cite[{Lemma 2, $x[1]$}]{key}, 3\% of $x$:" + "\n\\[ a = b. \\]", {"key": "A et al."})
    assert shown == "By A et al., Lemma 2, $x[1]$, 3% of $x$:\n\n\n$$\na = b.\n$$\n\n"
    letters = from_latex("Notation: $a$: one; or two; $b$, $c$: three.\nLet $d$ be given.", {})
    assert letters == "Notation:\n\n- $a$: one; or two\n- $b$, $c$: three.\n\nLet $d$ be given."


def test_what_stands_above_is_not_said_again() -> None:
    above = "Let n be given.\n\nNotation:\n\n- $a$: one\n- $b$: two."
    derived = "\nNotation:\n\n- $a$: one\n- $b$: two\n{}\n\nFor all:\n\n$$\nb\n$$"
    assert papers.beside(derived.format(""), above) == "For all:\n\n$$\nb\n$$"
    assert papers.beside(derived.format("- $c$: three."), above).startswith("Notation:\n\n- $c$: three.\n\nFor")
    assert papers.beside(f"{above}\n\nFor all:", above) == ""


def test_a_case_that_the_face_cannot_say_makes_no_example() -> None:
    assert list(examples("linear_map", fuzzer)) == []
    assert all(each.result is not None for each in examples("softmax", premises))


def row(**more: object) -> Row:
    given = {"quantity": "output", "kind": Kind.UPPER, "quantifier": "for all inputs", "params": {}}
    return Row.model_validate(given | more)


def judged(*rows: Row) -> papers.Judged:
    output = bs.find_result("induction.vanilla").quantity("output")
    return papers.Judged("output", rows, (output,))


KEPT = {"printed": Verdict.KEPT, "derived": Verdict.KEPT}


@pytest.mark.parametrize(
    ("rows", "implied"),
    [
        ([row(printed=2, derived=1, verdict=KEPT)], True),
        ([row(printed=1, derived=2, verdict=KEPT)], False),
        ([row(printed=1, derived=2, verdict=KEPT, kind=Kind.LOWER)], True),
        ([row(printed=2, derived=1, verdict=KEPT), row(printed=1, derived=2, verdict=KEPT)], False),
        ([row(printed=2, derived=1, verdict={**KEPT, "derived": Verdict.OUTSIDE})], False),
        ([row(printed=2, derived=1, verdict=KEPT, order="O")], False),
        ([row(printed=2, verdict={"printed": Verdict.KEPT})], False),
    ],
)
def test_a_printed_bound_is_implied_by_a_derived_one_that_is_as_sharp(rows: list[Row], implied: bool) -> None:
    assert judged(*rows).is_implied is implied


def test_what_is_refuted_in_one_row_is_neither_proved_nor_shown_as_kept() -> None:
    mixed = judged(row(verdict={"printed": Verdict.PROVED}), row(verdict={"printed": Verdict.VIOLATED}))
    assert mixed.verdicts("printed") == ["violated", "proved"]
    assert (mixed.is_proved, mixed.is_refuted) == (False, True)
    assert judged(row(verdict={"printed": Verdict.PROVED})).is_proved


def test_the_page_of_a_paper_says_what_is_proved_refuted_and_open(folder: Path) -> None:
    key = FEW[0].citation.paper.key if FEW[0].citation.paper else ""
    text = (folder / "papers" / f"{key}.md").read_text()
    sections = re.findall(r"^## (.*)$", text, re.M)
    assert sections == ["What is proved", "What is refuted", "What is open"]
    planned = [each for each in FEW if each.id not in RUNNING]
    assert all(f"- `{each.id}`" in text.partition("## What is open")[2] for each in planned)
    for claim in FEW:
        if claim.id in RUNNING:
            own = (folder / "papers" / f"{claim.id}.md").read_text()
            assert f"]({claim.id}.md)" in text
            assert f"boundsmith compare {claim.id}" in own
            assert all(escape_markdown(each.sentence) in own for each in findings(stored(claim.id)))
            assert not re.search(r"^## .*\n+(?=##|\Z)|^Notation:\n+(?![\n-])", own, re.M), claim.id
    assert all(papers.WORDS in text for path, text in pages(folder) if path.parent.name == "papers")
