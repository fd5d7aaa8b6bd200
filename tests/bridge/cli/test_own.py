"""Every command on a file with a theorem of the user's own, and the file that `boundsmith new` writes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.cli.starting import template
from bridge.export.comparison import load
from tests.bridge.cli.conftest import Command, refused

ROOT = Path(__file__).parents[3]
OWN, STEP = ROOT / "examples" / "own_theorem.py", ROOT / "examples" / "gradient_step.py"
SMALL = ("--samples", 4, "--attack", 2, "--restarts", 2)

# Reads a letter from a module beside it; its draft is violated at K = 2.
BESIDE = template().replace("import sympy as sp\n", "import sympy as sp\nfrom shares import share\n", 1)
BESIDE = BESIDE.replace("eps: 0.01", "eps: share")
INEQUALITIES = 'bs.statements.Inequality("square", x**2 - x + 1, {x: (sp.Integer(0), sp.Integer(1))})'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a theorem in own.py and the module that it imports."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(BESIDE)
    (tmp_path / "shares.py").write_text("share = 0.01\n")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("path", [OWN, STEP], ids=lambda path: path.stem)
def test_compare_writes_every_format(path: Path, run: Command, tmp_path: Path) -> None:
    names = ("table.tex", "table.csv", "table.json")
    files = [word for name in names for word in ("-o", tmp_path / name)]
    outcome = run("compare", path, *SMALL, "--grid", "d=2,4", "--all", "--steps", *files, "--plot", tmp_path / "p.svg")
    assert (outcome.code, outcome.err) == (0, "")
    assert "slack per step" in outcome.out
    assert {row.params["d"] for row in load(tmp_path / "table.json")} == {2, 4}
    assert r"\begin{tabular}" in (tmp_path / "table.tex").read_text()
    assert (tmp_path / "p.svg").read_text().count("measured") >= 1


def test_compare_as_json(run: Command) -> None:
    record = json.loads(run("compare", f"{OWN}:own", *SMALL, "--set", "N=3", "--json").out)
    assert record["result"] == "analog-tanh"
    assert {row["params"]["N"] for row in record["rows"]} == {3}


def test_a_saved_witness_replays_with_the_file_and_only_with_it(run: Command, folder: Path) -> None:
    assert run("compare", "own.py", *SMALL, "--set", "K=2", "--save-witnesses", "found").code == 0
    (witness,) = (folder / "found").iterdir()
    again = run("compare", "own.py", "--witness", witness)
    assert again.code == 0
    assert "printed: violated" in again.out
    assert "not for analog-tanh" in refused(run("compare", OWN, "--witness", witness))
    (folder / "shares.py").write_text("share = 0.02\n")  # what the theorem is made of, in another file
    assert "another version of the file of my-theorem" in refused(run("compare", "own.py", "--witness", witness))


def test_a_claim(run: Command) -> None:
    outcome = run("compare", OWN, *SMALL, "--set", "N=2", "--claim", "output <= 2*eps", "--json")
    assert json.loads(outcome.out)["rows"][0]["verdict"]["claimed"] == "kept"
    assert "no letter q" in refused(run("compare", OWN, "--claim", "output <= q"))


@pytest.mark.long
def test_solve(run: Command) -> None:
    outcome = run("solve", OWN, "--for", "eps", "--error", "1e-3", "--set", "N=6", "--json")
    assert json.loads(outcome.out)["bound"] <= 1e-3
    assert json.loads(run("solve", STEP, "--for", "error", "--json").out)["quantity"] == "softmax"


def test_certify(run: Command, folder: Path) -> None:
    assert "states no inequality" in refused(run("certify", "own.py"))
    stated = BESIDE.replace("    printed=", f"    inequalities=[{INEQUALITIES}],\n    printed=").replace(
        "own = ", 'x = sp.Symbol("x", real=True)\nown = '
    )
    (folder / "stated.py").write_text(stated)
    outcome = run("certify", "stated.py", "--set", "K=2", "-o", "proof.json")
    assert (outcome.code, outcome.err) == (0, "")
    assert "square" in outcome.out
    assert run("certify", "--check", "proof.json").code == 0


@pytest.mark.parametrize("path", [OWN, STEP], ids=lambda path: path.stem)
def test_show_and_latex(path: Path, run: Command) -> None:
    shown, latex = run("show", path), run("latex", path)
    assert (shown.code, shown.err, latex.code, latex.err) == (0, "", 0, "")
    record = json.loads(run("show", path, "--json").out)
    assert shown.out.splitlines()[0] == record["title"]  # once, although the id is the title
    assert latex.out.splitlines()[:2] == [f"% {record['title']}", rf"\subsection*{{{record['title']}}}"]
    derivations = re.findall(r"^\\paragraph\{Derivation.*\n\\begin\{itemize\}", latex.out, flags=re.MULTILINE)
    assert len(derivations) == len(record["quantities"])
    for quantity in record["quantities"]:
        assert quantity["derived"] is not None


def test_assumptions_in_words_reach_every_page(run: Command, folder: Path) -> None:
    words = "the entries of `x` are independent"
    (folder / "own.py").write_text(BESIDE.replace("    printed=", f"    assumptions=[{words!r}],\n    printed="))
    assert f"  {words.replace('`', '')}" in run("show", "own.py").out.splitlines()
    assert json.loads(run("show", "own.py", "--json").out)["assumptions"] == [words.replace("`", "")]
    assert "Assume that the entries of $x$ are independent." in run("latex", "own.py", "--part", "theorem").out


def test_bibtex(run: Command, folder: Path) -> None:
    assert refused(run("latex", "own.py", "--bibtex")) == "my-theorem cites no paper with a BibTeX entry."
    cited = BESIDE.replace("    printed=", '    cites=bs.statements.Citation(WANG2024, "Theorem 4.1"),\n    printed=')
    (folder / "own.py").write_text(
        cited.replace("import sympy as sp", "import sympy as sp\nfrom symbolic.words.citations import WANG2024")
    )
    assert run("latex", "own.py", "--bibtex").out.startswith("@")


def test_the_folder_of_a_file_is_importable_only_while_it_is_read(run: Command, folder: Path) -> None:
    run("show", "induction.vanilla")  # loads what the command itself needs
    path, modules = list(sys.path), set(sys.modules)
    assert run("show", "own.py").code == 0
    assert sys.path == path
    assert set(sys.modules) - modules <= {"boundsmith_own_own"}
    other = folder / "other"
    other.mkdir()
    (other / "own.py").write_text(BESIDE)
    (other / "shares.py").write_text("share = 0.25\n")
    defaults = [json.loads(run("show", file, "--json").out)["parameters"][0] for file in ("own.py", "other/own.py")]
    assert [each["default"] for each in defaults] == [0.01, 0.25]


def test_the_main_block_does_not_run_and_the_file_runs_once(run: Command, folder: Path) -> None:
    (folder / "own.py").write_text(f"print('read')\n{BESIDE}    raise SystemExit('run')\n")
    outcome = run("compare", "own.py", *SMALL, "--set", "K=2")
    assert outcome.code == 0
    assert (outcome.out.count("read"), outcome.err) == (0, "read\n")  # standard output is the table alone


@pytest.mark.parametrize(
    ("line", "message"),
    [("1 / 0", "ZeroDivisionError: division by zero"), ("raise SystemExit(0)", "SystemExit: 0"), ("(", "SyntaxError")],
)
def test_a_file_that_raises_shows_its_own_traceback(line: str, message: str, run: Command, folder: Path) -> None:
    (folder / "own.py").write_text(f"import math\n{line}\n")
    outcome = run("compare", "own.py")
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert "bridge" not in outcome.err
    assert outcome.err.endswith("boundsmith: error: 'own.py' raised this while it was read.\n")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing.py", "theorem: there is no file 'missing.py'"),
        ("own.py:nope", "'own.py' has no theorem 'nope'. It has: own."),
        ("own", "there is no result 'own'. Did you mean the file own.py?"),
        ("shares.txt", "there is no result 'shares.txt'. A file with a theorem ends in .py"),
        ("shares.py", "'shares.py' holds no theorem"),
        ("sub/own", "A file with a theorem ends in .py"),
    ],
)
@pytest.mark.parametrize("command", ["compare", "show", "latex", "certify", "solve"])
def test_what_is_no_theorem_is_refused(command: str, source: str, message: str, run: Command, folder: Path) -> None:
    (folder / "shares.txt").touch()
    more = ("--for", "error") if command == "solve" else ()
    assert message in refused(run(command, source, *more))


def test_help_says_that_a_file_will_do(run: Command) -> None:
    for command in ("compare", "show", "latex", "certify", "solve"):
        assert "ID|FILE.py" in run(command, "--help").out


def test_the_new_file_runs_in_every_command(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    assert run("new", path).out == f"written: {path}; `boundsmith compare {path}` runs it\n"
    assert path.read_text() == template()
    assert "K = 2" in run("compare", path).out
    assert "printed violated" in run("compare", path, *SMALL).out
    for call in (["show", path], ["latex", path], ["solve", path, "--for", "eps", "--error", "1e-3", "--set", "K=2"]):
        assert run(*call).code == 0
    assert [each.name for each in tmp_path.iterdir()] == ["mine.py"]


@pytest.mark.long
def test_the_new_file_is_a_program(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(template())
    done = subprocess.run(
        [sys.executable, "mine.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("my-theorem\n")
    assert "The answer is the largest eps found at which the bound is at most 0.001." in done.stdout


def test_new_overwrites_nothing(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("# kept")
    assert "exists and is not overwritten" in refused(run("new", path))
    assert "does not end in .py" in refused(run("new", tmp_path / "mine.txt"))
    assert "there is no folder" in refused(run("new", tmp_path / "none" / "mine.py"))
    assert path.read_text() == "# kept"
