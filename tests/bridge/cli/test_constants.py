"""`certify` with a question: the constants that it prints and writes, and every refusal."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.bridge.cli.conftest import Command, refused

JORDAN = ("certify", "--expression", "sin(x) >= c*x", "--range", "x=0,3/2", "--range", "c=0,1", "--largest", "c")


def test_the_largest_constant_is_printed_and_its_certificate_holds(run: Command, tmp_path: Path) -> None:
    outcome = run(*JORDAN, "-o", str(tmp_path / "jordan.json"))
    assert "largest c: 0.66" in outcome.out
    assert "fails at x = 1.5: the difference of the sides is at most -" in outcome.out
    assert f"written: {tmp_path / 'jordan.json'}" in outcome.out
    assert run("certify", "--check", str(tmp_path / "jordan.json")).code == 0


@pytest.mark.parametrize(
    ("options", "question", "best"),
    [
        (("x*(1-x)", "--range", "x=0,1/2", "--supremum"), "supremum", 0.25),
        (("3*abs(x)-y", "--range", "x=-1,1", "--range", "y=0,1", "--lipschitz", "inf,1"), "Lipschitz constant", 4.0),
        (("x**2", "--range", "x=-1,1", "--flow", "x=-x"), "largest rate", 2.0),
    ],
)
def test_the_other_questions_are_answered(run: Command, options: tuple[str, ...], question: str, best: float) -> None:
    record = json.loads(run("certify", "--json", "--expression", *options).out)
    assert record["question"] == question
    assert record["ratio"] > 0.998
    low, high = sorted(float(Fraction(record[name])) for name in ("proved", "refuted"))
    assert low <= best <= high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*JORDAN, "--supremum"), "--largest and --supremum ask different questions; keep one"),
        (("certify", "--supremum", "icgd.trajectory"), "--supremum goes with --expression TEXT"),
        (
            ("certify", "--expression", "x", "--range", "x=0,1", "--lipschitz", "7"),
            "norms = '7'; give one of 1, 2, inf",
        ),
        (
            ("certify", "--expression", "x > 1", "--range", "x=0,1", "--supremum"),
            "'x > 1' is a comparison; --largest C",
        ),
        (("certify", "--expression", "x", "--range", "x=0,1", "--flow", "x"), "--flow x is not of the form NAME=RATE"),
        (("certify", "--expression", "x", "--range", "x=0,1", "--flow", "x=y"), "no range is given for y"),
        (("certify", "--expression", "x", "--range", "x=1,1", "--supremum"), "the region is the point x = 1"),
        (
            ("certify", "--expression", "x", "--range", "x=0,1", "--lipschitz", "1", "--where", "x>=0"),
            "--lipschitz is about a whole box and takes no --where; omit it",
        ),
        ((*JORDAN[:-1], "k"), "the letter k has no range in the inequality"),
        ((*JORDAN, "-o", "c.txt"), "c.txt"),
    ],
)
def test_what_is_wrong_is_refused(run: Command, arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(run(*arguments))


FILE = """
import sympy as sp
import boundsmith as bs

x, c = sp.symbols("x c", real=True)
jordan = bs.statements.Inequality("Jordan", sp.sin(x) - c * x, {x: (0, "3/2"), c: (0, 1)})
own = bs.theorem("own.jordan", inequalities=[bs.checks.largest_constant(jordan, c)])
"""


def test_the_command_takes_such_a_theorem(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(FILE)
    (row,) = json.loads(run("compare", str(path), "--json").out)["rows"]
    assert row["verdict"] == {"derived": "proved"}
    assert 0.664 < row["derived"] < 0.66499665 < row["measured"] < 0.666
    assert r"\sin{\left(x \right)} - 0.66" in run("latex", str(path)).out
    assert "certificate: a cover of the region by " in run("show", str(path)).out
    assert run("certify", str(path)).out.count("proved") == 1
