"""Theorems of installed packages: a real package installed by pip, and entry points that fail or clash."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import invalidate_caches
from importlib.metadata import DistributionFinder, PathDistribution
from pathlib import Path
from typing import NamedTuple

import pytest

from bridge.cli import main
from bridge.theorems.packages import offered
from tests.bridge.cli.conftest import Run

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "examples" / "theorem_package"
COMMAND = [sys.executable, "-c", "import sys; from bridge.cli import main; sys.exit(main())"]
MODULES = {"absent", "claimant", "copycat", "lossy_theorems", "loud", "wrong"}
Call = Callable[..., Run]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example's package, as pip installs it."""
    copy = shutil.copytree(SOURCE, tmp_path_factory.mktemp("source") / "theorem_package")
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    how = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    subprocess.run([*pip, *how, str(copy)], check=True, capture_output=True)
    return target


def installed(folder: Path, package: str, module: str, entries: dict[str, str]) -> Path:
    """Adds a module and its entry points to the folder, as an installation leaves them."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = "\n".join(f"{name} = {package}:{value}" for name, value in entries.items())
    (info / "entry_points.txt").write_text(f"[boundsmith.theorems]\n{lines}\n")
    (folder / f"{package}.py").write_text(module)
    return folder


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Call]:
    """The command in this process, which finds what is in the folder and forgets it afterwards."""
    known = set(sys.modules)
    monkeypatch.setattr(sys, "path", sys.path[:])
    offered.cache_clear()

    def run(site: Path, *arguments: str) -> Run:
        if str(site) not in sys.path:
            sys.path.insert(0, str(site))
            invalidate_caches()
        code = main(list(arguments))
        return Run(code, *capsys.readouterr())

    yield run
    offered.cache_clear()
    for name in set(sys.modules) & MODULES - known:
        del sys.modules[name]


@pytest.mark.long
def test_a_process_of_its_own_finds_the_package(site: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, site)))}
    done = subprocess.run([*COMMAND, "list"], env=environment, capture_output=True, text=True, check=True)
    assert "of the package lossy-theorems:" in done.stdout


@pytest.mark.long
def test_a_packages_theorem_is_listed_and_runs_by_its_id(site: Path, call: Call) -> None:
    listed = call(site, "list").out
    assert listed.index("looped.training") < listed.index("of the package lossy-theorems:")
    assert listed.index("of the package lossy-theorems:") < listed.index("lossy-readout")
    record = next(each for each in json.loads(call(site, "list", "--json").out) if each["id"] == "lossy-readout")
    assert record == {
        "id": "lossy-readout",
        "citation": "",
        "status": "running",
        "summary": "Readout by a lossy amplifier",
        "package": "lossy-theorems",
    }
    small = ("--samples", "4", "--attack", "2", "--restarts", "2")
    rows = json.loads(call(site, "compare", "lossy-readout", *small, "--json").out)["rows"]
    assert rows[0]["verdict"] == {"derived": "kept", "instance": "kept"}
    assert "K*eps" in call(site, "show", "lossy-readout").out
    assert r"\le K \varepsilon" in call(site, "latex", "lossy-readout").out
    assert json.loads(call(site, "solve", "lossy-readout", "--for", "eps", "--error", "1e-3", "--json").out)["value"]


def test_unknown_ids_suggest_a_packages_too(site: Path, call: Call) -> None:
    said = call(site, "show", "lossy-redout")
    assert said.code == 2
    assert "Nearest: lossy-readout" in said.err


def test_an_id_of_ours_is_found_without_importing_a_package(tmp_path: Path, call: Call) -> None:
    folder = installed(tmp_path, "loud", "print('imported')", {"loud": "own"})
    assert call(folder, "show", "induction.vanilla").out.count("imported") == 0
    assert call(folder, "show", "loud").out.count("imported") == 1


def test_a_broken_entry_is_listed_with_its_error_beside_the_others(site: Path, tmp_path: Path, call: Call) -> None:
    folder = shutil.copytree(site, tmp_path / "site")
    installed(folder, "absent", "import nothing_like_this", {"absent-theorem": "own"})
    installed(folder, "wrong", "own = 3", {"number": "own"})
    listed = {each["id"]: each for each in json.loads(call(folder, "list", "--json").out)}
    assert listed["absent-theorem"]["summary"] == (
        "'absent:own' cannot be imported: ModuleNotFoundError: No module named 'nothing_like_this'"
    )
    assert listed["number"]["summary"] == "'wrong:own' is a int and not a Theorem"
    assert [listed[id]["status"] for id in ("absent-theorem", "number", "lossy-readout")] == ["broken"] * 2 + [
        "running"
    ]
    said = call(folder, "compare", "absent-theorem")
    assert said.code == 2
    assert "'absent-theorem' of the package absent cannot be used: 'absent:own' cannot be imported" in said.err


def test_two_packages_with_one_id_are_a_remark_and_when_used_an_error(site: Path, tmp_path: Path, call: Call) -> None:
    folder = shutil.copytree(site, tmp_path / "site")
    installed(folder, "copycat", "from lossy_theorems import own", {"lossy-readout": "own"})
    sentence = "'lossy-readout' is the id of several theorems, of the packages copycat and lossy-theorems"
    assert sentence in call(folder, "list").out
    said = call(folder, "compare", "lossy-readout")
    assert said.code == 2
    assert sentence in said.err


def test_a_package_that_two_finders_see_is_listed_once(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second finder has names and classes of its own, as that of the backport importlib_metadata does."""
    folder = installed(tmp_path, "absent", "import nothing_like_this", {"absent-theorem": "own"})

    class Point(NamedTuple):
        name: str
        value: str
        group: str
        dist: PathDistribution

        def matches(self, group: str) -> bool:
            return self.group == group

    class Respelt(PathDistribution):
        _normalized_name = "Absent"

        @property
        def entry_points(self) -> list[Point]:
            return [Point(each.name, each.value, each.group, self) for each in super().entry_points]

    class SecondFinder:
        def find_distributions(self, context: DistributionFinder.Context) -> Iterator[PathDistribution]:
            yield Respelt(folder / "absent-1.0.dist-info")

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, SecondFinder()])
    listed = json.loads(call(folder, "list", "--json").out)
    assert [each["id"] for each in listed].count("absent-theorem") == 1


def test_an_id_of_ours_that_a_package_claims_too(site: Path, tmp_path: Path, call: Call) -> None:
    folder = shutil.copytree(site, tmp_path / "site")
    module = "from dataclasses import replace\nfrom lossy_theorems import own as other\n"
    module += "own = replace(other, statement=replace(other.statement, id='induction.vanilla'))\n"
    installed(folder, "claimant", module, {"induction.vanilla": "own"})
    sentence = "'induction.vanilla' is the id of several theorems, of the packages boundsmith and claimant"
    for arguments in (["list"], ["show", "induction.vanilla"]):
        done = call(folder, *arguments)
        assert sentence in done.out + done.err
        assert done.code == (2 if arguments[0] == "show" else 0)
