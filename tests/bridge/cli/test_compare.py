"""`compare`: what reaches the engine, what is printed, which files are written, what is refused before the run."""

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.export.columns import KEPT_LAST, KEPT_NEXT, KEPT_THEN
from bridge.export.comparison import Comparison, load
from bridge.theorems.record import Row, Verdict
from bridge.theorems.registry import find_theorem
from bridge.theorems.theorem import Theorem
from symbolic.words.errors import UsageError
from tests.bridge.cli.conftest import Command, refused
from tests.bridge.export.cases import comparison

ID = "induction.vanilla"
TEXT = Path(__file__).parents[3] / "examples" / "harbour.txt"
Calls = list[dict[str, Any]]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that calls here name, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("book.txt", "house.csv", "w.json"):
        (tmp_path / name).touch()


def test_each_plot_is_a_file_of_its_own(run: Command, calls: list[dict[str, Any]], tmp_path: Path) -> None:
    plots = [tmp_path / name for name in ("one.svg", "two.png")]
    outcome = run("compare", ID, *(part for path in plots for part in ("--plot", path)))
    assert outcome.code == 0
    assert all(f"written: {path}" in outcome.out and path.stat().st_size for path in plots)
    assert "is given twice" in run("compare", ID, "--plot", plots[0], "--plot", plots[0]).err


def test_help_and_docs_say_in_which_order_columns_are_left_out(run: Command) -> None:
    kept = (*KEPT_THEN, "the parameters that vary but for the first", *KEPT_NEXT, *KEPT_LAST)
    order = f"in this order: {', '.join(name.replace('_', ' ') for name in reversed(kept))}"
    page = (Path(__file__).parents[3] / "docs" / "command.md").read_text()
    assert order in " ".join(page.split())
    assert order in " ".join(run("compare", "--help").out.split())


def test_only_what_the_user_gave_reaches_the_engine(run: Command, calls: Calls) -> None:
    assert run("compare", ID).code == 0
    assert calls == [{"id": ID}]


def test_every_option_reaches_the_engine(run: Command, calls: Calls, files: None) -> None:
    options = "--seed 3 --samples 10 --attack 0 --restarts 2 --dtype float32 --device cpu --text book.txt"
    run("compare", ID, "--set", "d=4", "--grid", "p=1,2", "--grid", "W_star=[[1,0],[0,1]],0.5", *options.split())
    assert calls == [
        {
            "id": ID,
            "d": 4,
            "p": (1, 2),
            "W_star": ("[[1,0],[0,1]]", 0.5),
            "seed": 3,
            "samples": 10,
            "attack": 0,
            "restarts": 2,
            "dtype": "float32",
            "device": "cpu",
            "text": "book.txt",
        }
    ]


def test_tables_reach_the_engine(run: Command, calls: Calls, files: None) -> None:
    run("compare", ID, "--data", "diabetes")
    run("compare", ID, "--csv", "house.csv", "--target", "price", "--grid", "p=tanh,gelu")
    run("compare", ID, "--csv", "house.csv", "--features", "size,age")
    assert calls == [
        {"id": ID, "data": "diabetes"},
        {"id": ID, "csv": "house.csv", "target": "price", "p": ("tanh", "gelu")},
        {"id": ID, "csv": "house.csv", "features": "size,age"},
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--data diabetes --csv a.csv --target y", "one source, but data and csv are given"),
        ("--text a.txt --data diabetes", "one source, but text and data are given"),
        ("--target y", "target = 'y' names a column of a csv; give csv = FILE too, or no target"),
        ("--data diabetes --target y", "target = 'y' names a column of a csv"),
        (f"--text {TEXT} --target y", "target = 'y' names a column of a csv"),
        ("--data iris", "there is no table 'iris'; available: diabetes"),
        ("--csv missing.csv --target y", "--csv: there is no file 'missing.csv'"),
        ("--data diabetes", "takes no --data and no --csv"),
        ("--data diabetes --features bmi,bpm", "no column 'bpm' (--features); did you mean bp or bmi?"),
        ("--features bmi", "features = 'bmi' names columns of a table; give data = NAME or csv = FILE too"),
        (f"--text {TEXT} --features bmi", "features = 'bmi' names columns of a table"),
        (f"--text {TEXT} --attack 5", "text is measured as it is and not attacked; leave out attack = 5"),
    ],
)
def test_sources_are_refused_in_one_sentence(options: str, message: str, run: Command) -> None:
    assert message in refused(run("compare", ID, *options.split()))


def test_the_table(run: Command, calls: Calls) -> None:
    outcome = run("compare", ID)
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0] == f"{ID}: {comparison().citation}"
    assert lines[1].startswith("d = 4, W_star = 0.25; sup norm; tokens in [-1, 1]^d, L >= 3")
    heading = [cell.strip() for cell in lines[2].split("┃")]
    tiers = ["printed", "derived", "instance"]
    found = ["measured", "attacked", "exact", "rounding", "ratio", "verdict"]
    assert heading == ["quantity", "scope", "p", "L", *tiers, *found]
    cells = [[cell.strip() for cell in line.split("│")] for line in lines if "│" in line]
    assert len(cells) == 26
    assert ["output", "network", "8", "64", "3.356e-04"] in [row[:5] for row in cells]
    assert "printed: violated; derived, instance: kept (vacuous: derived)" in [row[-1] for row in cells]
    assert {row[0] for row in cells} == {"output", "output.mask_3", "output.rate"}


def test_the_footer_and_one_violation_a_quantity(run: Command, calls: Calls) -> None:
    out = run("compare", ID).out
    assert "16 rows of intermediate quantities are hidden; --all shows them" in out
    assert "seed 0; 64 samples; attack: 200 steps, 4 restarts" in out
    assert "torch 2.13.0, dtype float64, device cpu" in out
    assert out.count("violated: output") == 1
    assert "violated: output.mask_3: printed violated in 8 of 8 rows. Worst: " in out


def test_a_row_that_is_not_run_says_why(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    record = comparison()
    record.rows[0].verdict, record.rows[0].remark = {"printed": Verdict.NOT_REPRESENTABLE}, "too many ReLUs"
    monkeypatch.setattr("bridge.cli.running.compare", lambda id, **arguments: record)
    assert run("compare", ID).out.splitlines()[-1] == "not representable: too many ReLUs (p = 1, L = 8: y)"


def test_rulings_part_groups_and_not_single_rows(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def rulings(record: Comparison) -> int:
        monkeypatch.setattr("bridge.cli.running.compare", lambda id, **arguments: record)
        return sum(line.startswith("──") for line in run("compare", ID, "--all").out.splitlines())

    assert rulings(comparison(ps=(1, 2), Ls=(8,))) == 5
    assert rulings(comparison(ps=(1,), Ls=(8,))) == 0


def test_all_rows(run: Command, calls: Calls) -> None:
    out = run("compare", ID, "--all").out
    assert "hidden" not in out
    assert sum(line.startswith("y ") for line in out.splitlines()) == 16


def test_slack_per_step(run: Command, calls: Calls) -> None:
    assert "slack per step" not in run("compare", ID).out
    assert "slack per step (1: an equality there)" in run("compare", ID, "--steps").out


def test_bounds_with_probability_have_no_slack(run: Command) -> None:
    out = run("compare", TEXT.with_name("sample_mean.py"), "--samples", 2, "--set", "n=4", "--steps").out
    words = " ".join(out.split())
    assert "no slack per step was recorded for these rows: a bound with probability, or in expectation, is " in words


def test_json_is_one_object_with_every_row(run: Command, calls: Calls) -> None:
    outcome = run("compare", ID, "--json")
    assert outcome.err == ""
    assert Comparison.model_validate(json.loads(outcome.out)) == comparison()


def test_files(run: Command, calls: Calls, tmp_path: Path) -> None:
    names = ["table.tex", "table.md", "table.html", "table.csv", "table.json"]
    outputs = [word for name in names for word in ("-o", tmp_path / name)]
    outcome = run("compare", ID, *outputs, "--plot", tmp_path / "plot.svg", "--save-witnesses", tmp_path / "w")
    assert outcome.code == 0
    for name in (*names, "plot.svg"):
        assert (tmp_path / name).stat().st_size > 0
        assert f"written: {tmp_path / name}" in outcome.out
    assert "table.tex (no room for rounding, exact, " in outcome.out
    assert f"written: 8 witnesses in {tmp_path / 'w'}" in outcome.out
    files = {row.witness.file for row in load(tmp_path / "table.json") if row.witness}
    assert files == {str(path) for path in (tmp_path / "w").iterdir()}


def test_json_beside_files_stays_one_object(run: Command, calls: Calls, tmp_path: Path) -> None:
    json.loads(run("compare", ID, "--json", "-o", tmp_path / "table.tex").out)
    assert (tmp_path / "table.tex").exists()


def test_a_latex_table_has_the_rows_that_the_terminal_has(run: Command, calls: Calls, tmp_path: Path) -> None:
    run("compare", ID, "-o", tmp_path / "few.tex")
    run("compare", ID, "--all", "-o", tmp_path / "all.tex")
    assert "\n  y &" not in (tmp_path / "few.tex").read_text()
    assert "\n  y &" in (tmp_path / "all.tex").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "{}/table.pdf"], "cannot tell the format of '{}/table.pdf' from its suffix; use one of .tex"),
        (["-o", "{}/plot.png"], "use one of .tex, .md, .html, .json, .csv."),
        (["--plot", "{}/plot.tex"], "use one of .png, .svg, .pdf."),
        (["-o", "{}/no/table.tex"], "there is no folder '{}/no'; make it first."),
        (["-o", "{}/file/table.tex"], "Not a directory"),
        (["-o", "{}/folder.tex"], "it is a folder"),
        (["-o", "{}/a.tex", "-o", "{}/a.tex"], "'{}/a.tex' is given twice"),
        (["--save-witnesses", "{}/file"], "is a file where a folder is wanted"),
        (["--save-witnesses", "{}/no/w"], "there is no folder '{}/no'"),
        (["--save-witnesses", "/proc/nope"], "'/proc' takes no new files"),
        (["--set", "q=1"], "induction.vanilla has no parameter 'q'"),
        (["--set", "seed=1"], "induction.vanilla has no parameter 'seed'"),
        (["--set", "p"], "--set p is not of the form name=value"),
        (["--set", "p=1", "--grid", "p=1,2"], "'p' is given twice"),
        (["--samples", "0"], "Invalid value for '--samples'"),
        (["--attack", "-1"], "Invalid value for '--attack'"),
        (["--seed", "x"], "Invalid value for '--seed'"),
        (["--sampels", "1"], "No such option"),
    ],
)
def test_refused_before_the_run(arguments: list[str], message: str, run: Command, calls: Calls, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.tex").mkdir()
    sentence = refused(run("compare", ID, *(argument.format(tmp_path) for argument in arguments)))
    assert message.format(tmp_path) in sentence
    assert calls == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.tex"]


def test_a_refusal_of_the_engine_leaves_no_file(run: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def compare(result_id: str, **arguments: Any) -> Comparison:
        raise UsageError("induction.vanilla: p = -1 does not meet p > 0 (the bias has to fall off).")

    monkeypatch.setattr("bridge.cli.running.compare", compare)
    sentence = refused(run("compare", ID, "--json", "-o", tmp_path / "t.tex", "--save-witnesses", tmp_path / "w"))
    assert "p = -1 does not meet p > 0" in sentence
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    paths: list[str] = []
    row: Row = next(row for row in comparison() if row.witness)

    def replayed(path: str, theorem: Theorem) -> Row:
        assert theorem is find_theorem(ID)
        paths.append(path)
        return row

    monkeypatch.setattr("bridge.cli.running.replay", replayed)
    return paths


def test_a_witness_is_checked_again(run: Command, replay: list[str], files: None) -> None:
    outcome = run("compare", ID, "--witness", "w.json")
    assert replay == ["w.json"]
    assert "output.mask_3" in outcome.out
    assert "printed: violated" in outcome.out
    assert Row.model_validate(json.loads(run("compare", ID, "--witness", "w.json", "--json").out)).witness


@pytest.mark.parametrize(
    "others",
    [
        ["--set", "p=1"],
        ["--grid", "p=1"],
        ["--seed", "1"],
        ["--plot", "a.png"],
        ["-o", "a.tex"],
        ["--data", "diabetes"],
    ],
)
def test_a_witness_takes_no_other_options(others: list[str], run: Command, replay: list[str]) -> None:
    sentence = refused(run("compare", ID, "--witness", "w.json", *others))
    assert "takes only --json" in sentence
    assert replay == []


def test_a_witness_of_another_result(run: Command, tmp_path: Path) -> None:
    row = next(row for row in comparison() if row.witness)
    assert row.witness is not None
    path = tmp_path / "w.json"
    path.write_text(row.witness.model_copy(update={"result": "induction.ngram"}).model_dump_json())
    assert "is for induction.ngram, not for induction.vanilla" in refused(run("compare", ID, "--witness", path))


def test_a_witness_that_is_missing(run: Command) -> None:
    assert refused(run("compare", ID, "--witness", "w.json")) == "witness: there is no file 'w.json'"


def test_no_digit_is_lost_on_a_narrow_terminal(run: Command, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = run("compare", ID).out
    monkeypatch.setattr("bridge.cli.terminal.line_width", lambda: 40)
    narrow = run("compare", ID).out
    assert "…" not in narrow
    for line in wide.splitlines():
        for cell in line.split("│")[:-1]:
            assert cell.strip() in narrow


def test_the_table_fits_the_columns_that_the_user_sets(
    run: Command, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert max(map(len, run("compare", ID).out.splitlines())) > 200
    for width in (80, 100, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        out = run("compare", ID).out
        assert max(map(len, out.splitlines())) <= width
        assert f"left out, as a line has {width} columns: rounding, exact" in out
    monkeypatch.setenv("COLUMNS", "wide")
    assert "left out" not in run("compare", ID).out


def test_rows_and_columns_are_chosen(run: Command, calls: Calls, tmp_path: Path) -> None:
    options = ["--columns", "L,derived", "--quantity", "output", "--scope", "network,none", "--sort", "-derived,L"]
    out = run("compare", ID, *options, "-o", tmp_path / "t.csv").out
    lines = out.splitlines()
    assert [cell.strip() for cell in lines[2].split("┃")] == ["quantity", "L", "derived", "verdict"]
    body = [[cell.strip() for cell in line.split("│")] for line in lines if "│" in line]
    derived = [float(row[2]) for row in body if row[2] != "-"]
    assert derived == sorted(derived, reverse=True)
    assert len(set(derived)) > 4
    assert body[-1][0] == "output.rate"
    assert (tmp_path / "t.csv").read_text().startswith("quantity,L,derived,verdict\n")
    assert calls == [{"id": ID, "keep": tmp_path / "t.csv.unfinished"}]


def test_json_has_the_chosen_rows(run: Command, calls: Calls) -> None:
    rows = json.loads(run("compare", ID, "--json", "--quantity", "y", "--sort", "p").out)["rows"]
    assert [row["quantity"] for row in rows] == ["y"] * 16
    assert [row["params"]["p"] for row in rows] == sorted([1, 2, 4, 8] * 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--columns derivd", "there is no column 'derivd'. Nearest: derived"),
        ("--columns q", "There are: quantity, where, scope, kind, printed"),
        ("--quantity outptu", "there is no quantity 'outptu'. Nearest: output"),
        (
            "--scope promt",
            "there is no scope 'promt'. Nearest: prompt. There are: network, prompt, every, local, none.",
        ),
        ("--sort domain", "'domain' has no order; sort by quantity, where, scope, verdict or a number."),
        ("--columns p,p", "'p' is given twice; name it once."),
        ("--siunitx", "it goes with --output FILE.tex."),
        ("--caption Heads", "--caption is the caption of a LaTeX table: it goes with --output FILE.tex."),
        ("--label tab:a -o table.md", "--label is the label of a LaTeX table: it goes with --output FILE.tex, not"),
        ("--label tab}a -o table.tex", "--label: 'tab}a' has signs that no label has"),
        ("--siunitx -o table.csv", "it goes with --output FILE.tex, not with .csv."),
        ("--columns p --json", "JSON has every field of a row; omit --columns"),
        ("--columns p,L,printed,derived,instance,measured,exact -o table.tex", "at most 8 columns"),
        ("-o missing/table.md", "there is no folder"),
        ("-o book.txt/table.html", "cannot write 'book.txt/table.html': Not a directory; choose another path."),
        ("--witness w.json --sort p", "takes only --json; omit the other options"),
    ],
)
def test_a_choice_that_cannot_be_shown_is_refused_before_the_run(
    options: str, message: str, run: Command, calls: Calls, files: None
) -> None:
    assert message in refused(run("compare", ID, *options.split()))
    assert calls == []
