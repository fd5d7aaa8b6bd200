"""A report: every number is that of the comparison, a stopped one goes on, a page that fails leaves the rest."""

import copy
import errno
import itertools
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import html5lib
import pytest

import bridge.questions.report as module
from bridge.cli import main
from bridge.export import written_files
from bridge.export.columns import NUMBERS
from bridge.questions.report import Asked, Report, report
from bridge.theorems.registry import find_theorem
from symbolic.words.errors import UsageError

ONE, TWO = "icgd.relu_sum", "universal.covering"
BOTH = (Asked(ONE), Asked(TWO))
Fail = Callable[[str, Exception], None]
OF = "{http://www.w3.org/1999/xhtml}"


def parsed(path: Path) -> Any:
    """Raises for anything that is not valid."""
    return html5lib.HTMLParser(strict=True).parse(path.read_text())


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "site"
    assert report(BOTH, folder, jobs=1) == Report(folder, 2, {})
    return folder


def test_every_number_is_that_of_the_json(site: Path) -> None:
    for id in (ONE, TWO):
        table = next(each for each in parsed(site / f"{id}.html").iter(f"{OF}table") if each.get("class") == "sortable")
        rows = json.loads((site / f"{id}.json").read_text())["rows"]
        headings = ["".join(th.itertext()) for th in table.find(f"{OF}thead").iter(f"{OF}th")]
        shown = [dict(zip(headings, line, strict=True)) for line in table.find(f"{OF}tbody")]
        names = [name for name in NUMBERS if name.replace("_", " ") in headings]
        assert len(shown) == len(rows)
        assert names

        def exact(row: Any, names: list[str] = names) -> list[float | None]:
            values = [row[name.replace("_", " ")].get("data-value") for name in names]
            return [None if each is None else float(each) for each in values]

        key = repr
        assert sorted(map(exact, shown), key=key) == sorted(([row.get(n) for n in names] for row in rows), key=key)
        for line in shown:
            for name in names:
                cell = line[name.replace("_", " ")]
                words = "".join(cell.itertext()).strip("O()")
                if cell.get("data-value"):
                    assert float(words) == pytest.approx(float(cell.get("data-value")), rel=1e-3, abs=1e-300)


def test_the_overview_counts_the_verdicts_of_all_rows(site: Path) -> None:
    verdicts = [row["verdict"] for id in (ONE, TWO) for row in json.loads((site / f"{id}.json").read_text())["rows"]]
    overview = parsed(site / "index.html")
    heads = [each for each in overview.iter(f"{OF}dl") if each.get("class") == "verdicts"]
    words = [" ".join("".join(each.itertext()).split()) for each in heads[0].iter(f"{OF}dd")]
    for shown, tiers in zip(words, (("printed",), ("derived", "instance")), strict=False):
        found = [each[tier] for each in verdicts for tier in tiers if tier in each]
        assert sum(map(int, re.findall(r"\d+", shown))) == len(found)
        assert found
    assert "in each row of a table, each of its bounds has one" in (site / "index.html").read_text()


def test_the_record_is_that_of_the_command(site: Path) -> None:
    from bridge.questions.compare import compare

    assert (site / f"{ONE}.json").read_text() == compare(ONE).to_json() + "\n"


def test_the_pages_are_valid_and_whole(site: Path) -> None:
    assert sorted(files(site)) == sorted([f"{each}.{end}" for each in (ONE, TWO) for end in ("html", "json")] + [
        "index.html",
        "report.json",
    ])  # fmt: skip
    for path in site.glob("*.html"):
        page = parsed(path)
        ids = [each.get("id") for each in page.iter() if each.get("id")]
        assert len(ids) == len(set(ids))
        for link in (each.get("href") for each in page.iter(f"{OF}a")):
            there, _, place = link.partition("#")
            target = site / there if there else path
            assert target.is_file(), link
            assert not place or f'id="{place}"' in target.read_text()
        alts = [image.get("alt") for image in page.iter(f"{OF}img")]
        assert all(alts)
        assert not any(sign in alt for alt in alts for sign in "\\$\n")
        assert all(th.get("scope") for th in page.iter(f"{OF}th"))
        headings = [int(each.tag[-1]) for each in page.iter() if each.tag in [f"{OF}h{level}" for level in range(1, 7)]]
        assert headings[0] == 1
        assert all(later <= before + 1 for before, later in itertools.pairwise(headings))
        source = path.read_text()
        assert "<script src" not in source
        assert "http://" not in source.replace("http://www.w3.org", "")
    assert "data:image/svg+xml;base64," in (site / f"{ONE}.html").read_text()
    assert ONE in (site / "index.html").read_text()


def test_a_stopped_report_goes_on_and_is_the_same(site: Path, tmp_path: Path) -> None:
    made: list[str] = []

    def stop(done: int, total: int, label: str) -> None:
        made.append(label)
        if done == 1 and len(made) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report(BOTH, tmp_path / "site", jobs=1, progress=stop)
    assert not (tmp_path / "site").exists()
    assert [path.stem for path in (tmp_path / "site.unfinished" / "parts").iterdir()] == [ONE]
    report(BOTH, tmp_path / "site", jobs=1, progress=stop)
    assert made == [ONE, f"{ONE} is done", TWO, f"{TWO} is done"]  # the first was not made again
    assert files(tmp_path / "site") == files(site)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, site: Path) -> Fail:
    """Pages as the site has them; of those that are named the making fails."""
    summaries = {each["file"]: each for each in json.loads((site / "report.json").read_text())["results"]}
    failing: dict[str, Exception] = {}

    def page(job: tuple[str, Asked]) -> str:
        name = job[0]
        if name in failing:
            raise failing[name]
        written = {file: (site / file).read_text() for file in (f"{name}.html", f"{name}.json")}
        return json.dumps({"files": written, "summary": summaries[name]})

    monkeypatch.setattr(module, "_page", page)
    return failing.__setitem__


def test_a_page_that_fails_says_so_and_the_rest_stands(quick: Fail, tmp_path: Path, site: Path) -> None:
    target = tmp_path / "site"
    quick(TWO, ValueError("lost < found"))
    found = report(BOTH, target, jobs=1)
    assert found.problems == {TWO: "ValueError: lost < found This is a bug; please report it."}
    assert "This page could not be made. ValueError: lost &lt; found" in (target / f"{TWO}.html").read_text()
    assert files(target)[f"{ONE}.html"] == files(site)[f"{ONE}.html"]
    assert "lost &lt; found" in (target / "index.html").read_text()
    assert (tmp_path / "site.unfinished").is_dir()
    for path in target.glob("*.html"):
        parsed(path)


def test_parameters_that_are_refused_write_nothing(quick: Fail, tmp_path: Path) -> None:
    quick(ONE, UsageError("compare: R = -1 is out of range"))
    with pytest.raises(UsageError, match="R = -1 is out of range"):
        report([Asked(ONE, {"R": -1}, ("--set", "R=-1"))], tmp_path / "site", jobs=1)
    assert not list(tmp_path.iterdir())


def test_a_figure_that_cannot_be_drawn_leaves_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from bridge.export.report import pictures

    def broken(comparison: object) -> None:
        raise RuntimeError("no such axis")

    monkeypatch.setattr(pictures, "draw", broken)
    found = report([Asked(TWO)], tmp_path / "site", jobs=1)
    words = "The plot could not be drawn: RuntimeError: no such axis"
    assert found.problems == {TWO: words}
    page = (tmp_path / "site" / f"{TWO}.html").read_text()
    assert words in page
    assert 'id="statement"' in page


def test_a_full_disk_is_said_and_what_is_done_is_kept(
    quick: Fail, tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill, full = written_files._fill, [True]

    def filled(file: Any, content: bytes) -> None:
        if full and content.startswith(b"<!DOCTYPE"):  # the first page of the site, once all are kept
            raise OSError(full.pop() and errno.ENOSPC, os.strerror(errno.ENOSPC))
        fill(file, content)

    monkeypatch.setattr(written_files, "_fill", filled)
    message = (
        r"No space left on device; .* What is done is kept in '.*site.unfinished'; the same command goes on with it"
    )
    with pytest.raises(UsageError, match=message):
        report(BOTH, tmp_path / "site", jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["site.unfinished"]
    report(BOTH, tmp_path / "site", jobs=1)
    assert files(tmp_path / "site") == files(site)


def test_a_report_is_replaced_and_nothing_else_is(quick: Fail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report(BOTH, tmp_path / "site", jobs=1)
    (tmp_path / "site" / "old.html").touch()
    report([Asked(ONE)], tmp_path / "site", jobs=1)
    assert {f"{ONE}.html", f"{ONE}.json", "index.html", "report.json"} == set(files(tmp_path / "site"))
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "main.tex").touch()
    (tmp_path / "file").touch()
    refused = {
        "thesis": r"report: '.*thesis' holds other files \(main.tex\); choose a new or an empty folder",
        "file": "'.*file' is a file where a folder is wanted",
        "new/site": "cannot write '.*new/site': there is no folder",
        ".": "report: '.*' is the folder that this is called from; name a folder in it",
        "/proc/site": "cannot write '/proc/site': '/proc' takes no new files",
    }
    monkeypatch.chdir(tmp_path)
    for folder, message in refused.items():
        with pytest.raises(UsageError, match=message):
            report(BOTH, folder, jobs=1)
    with pytest.raises(UsageError, match=f"report: '{ONE}' is given twice; name each result once"):
        report([*BOTH, Asked(ONE)], tmp_path / "twice")


OWN = """
import sympy as sp
import boundsmith as bs

with open({runs!r}, "a") as runs:
    runs.write("x")
image = (bs.matrix("W", 3, 3, row_sums=1).rounded(sp.Rational(1, 100)) @ bs.vector("x", 3, size=1)).named("image")
place = bs.statements.Citation(None, "a line")
erratum = bs.statements.Erratum(bs.statements.Weight.CONSTANT, place, "a bound", "as it is", "a repair", "yes: all")
own = bs.theorem("own.image", image, printed={{"image": sp.Rational(1, 10**6)}},
                 errata={{"image": erratum}})
"""


def test_a_file_runs_once_and_is_named_in_commands(tmp_path: Path) -> None:
    own, runs, target = tmp_path / "own.py", tmp_path / "runs", tmp_path / "site"
    own.write_text(OWN.format(runs=str(runs)))
    assert main(["report", str(own), "-o", str(target), "--jobs", "1"]) == 0
    assert runs.read_text() == "x"
    page = (target / "own.image.html").read_text()
    assert f"boundsmith compare {own}</code>" in page.partition('id="errata"')[2].partition("</section>")[0]


def test_a_theorem_of_a_file_is_read_in_each_process() -> None:
    asked = Asked("own.py", {"N": 2}, ("--set", "N=2"), find_theorem(ONE))
    sent = copy.copy(asked)
    assert (sent.command, sent.parameters, sent.source) == (asked.command, {"N": 2}, None)


@pytest.mark.parametrize("absent", [("matplotlib",), ("jinja2", "latex2mathml")])
def test_the_extra_is_named(absent: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = module.importlib.util.find_spec
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None if name in absent else find(name))
    with pytest.raises(UsageError, match=rf"needs {' and '.join(absent)}, which .*pip install 'boundsmith\[report\]'"):
        report(BOTH, tmp_path / "site")
