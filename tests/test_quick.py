"""The selection of `make quick` (tests/quick.txt, which pytest reads) exists and has something of every package."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SELECTED = (ROOT / "tests" / "quick.txt").read_text().split()
PACKAGES = sorted(
    folder.relative_to(ROOT).as_posix()
    for floor in ("symbolic", "numeric", "bridge")
    for folder in (ROOT / floor, *(ROOT / floor).iterdir())
    if (folder / "__init__.py").exists()
)


def selects(package: str) -> bool:
    """By a test in the folder of that name, or for a package whose tests are one file, in that file."""
    parent, name = Path("tests", package).parent.as_posix(), Path(package).name
    return any(each.startswith((f"tests/{package}/", f"{parent}/test_{name}.py")) for each in SELECTED)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_touched(package: str) -> None:
    assert selects(package)


def test_a_package_that_is_left_out_is_noticed() -> None:
    assert len(PACKAGES) >= 15
    assert not selects("symbolic/left_out")


@pytest.mark.parametrize("place", SELECTED)
def test_what_is_selected_exists(place: str) -> None:
    file, _, name = place.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text() if name else (ROOT / file).exists()


def test_ci_leaves_no_test_out() -> None:
    every = re.search(r"^test-all:.*\n\t(.*pytest.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert every is not None
    assert " -m " not in every[1].partition("pytest")[2]
    assert (ROOT / ".ci" / "run").read_text().endswith("\nmake test-all\n")
