"""Parameters that are text: read by the theorem, kept as text in the record."""

from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.questions.replaying import replay_witness
from tests.bridge.theorems.theorem.theorems import compared

K = sp.Symbol("K", positive=True)
FIRST = sp.Symbol("first", positive=True)
FILTERS = {"hann": (0.25, 0.5, 0.25), "ones": (1.0, 1.0)}


def read_taps(taps: str) -> torch.Tensor:
    if taps not in FILTERS:
        raise bs.UsageError(f"taps = {taps!r}; the filters are {', '.join(FILTERS)}")
    return torch.tensor(FILTERS[taps], dtype=torch.float64)


def read_place(place: str, taps: torch.Tensor) -> int:
    return len(taps) - 1 if place == "last" else int(place)


TEXTS = (
    bs.Text("taps", read_taps, takes="NAME", default="hann", meaning="the filter"),
    bs.Text("place", read_place, takes="NUMBER|last", default="last"),
)


def filtered(**changes: Any) -> bs.Theorem:
    """A sum of taps times x is at most the 1-norm of the taps; printed too small."""
    stated = {
        "parameters": {K: 2.0},
        "inputs": {"x": bs.domains.Box(3)},
        "weights": {"scale": lambda taps: taps.abs().sum()},
        "network": lambda x, taps: taps @ x[: len(taps)],
        "reference": lambda x: torch.zeros((), dtype=torch.float64),
        "knows": {FIRST: lambda taps, place: taps.abs().sum() + taps[place] - taps[-1]},
        "meanings": {FIRST: "1-norm of the taps"},
        "printed": {"output": K / 4},
        "texts": TEXTS,
    }
    bound = bs.rules.given("output", dim=1, size=1, error=FIRST)
    return bs.theorem("filtered", bound, **{**stated, **changes})


def test_functions_take_what_the_text_says_and_the_record_keeps_the_text() -> None:
    made = compared(filtered(), taps=("hann", "ones"))
    rows = {row.params["taps"]: row for row in made if row.quantity == "output"}
    assert {taps: row.instance for taps, row in rows.items()} == pytest.approx({"hann": 1.0, "ones": 2.0})
    assert rows["ones"].params["place"] == "last"
    witness = rows["ones"].witness
    assert witness is not None
    assert witness.params["taps"] == "ones"
    assert replay_witness(witness, theorem=filtered()).verdict["printed"] == "violated"


def test_a_text_is_read_after_those_that_its_reader_takes() -> None:
    rows = [row for row in compared(filtered(), place="0") if row.quantity == "output"]
    assert rows[0].instance == pytest.approx(1.0)
    with pytest.raises(bs.UsageError, match=r"filtered: what reads place raised ValueError: invalid literal .*'two'"):
        compared(filtered(), place="two")


def test_what_a_reader_refuses_and_what_is_no_text() -> None:
    with pytest.raises(bs.UsageError, match=r"taps = 'box'; the filters are hann, ones"):
        compared(filtered(), taps="box")
    with pytest.raises(bs.UsageError, match=r'filtered: taps = 3 is not text; write taps="..."; place = 1 is not text'):
        compared(filtered(), taps=3, place=1)


def test_a_reader_of_what_is_no_text_and_of_what_there_is_not_is_refused() -> None:
    from dataclasses import replace

    with pytest.raises(
        bs.UsageError, match=r"`readers` has K, which is not a parameter that takes text; these do: taps, "
    ):
        replace(filtered(), readers={"K": read_taps})
    with pytest.raises(bs.UsageError, match=r"what reads taps takes x, which is not a parameter"):
        replace(filtered(), readers={"taps": lambda x: x})


OWN = """
import sympy as sp
import boundsmith as bs
from boundsmith.statements import Citation, Kind, Printed, Quantifier, Quantity

def read(word):
    if word.isdigit():
        raise bs.UsageError(f"word = {word!r}; give a word without digits")
    return len(word)

def sides(word):
    return bs.Sides(found=word)

quantity = Quantity("length", "l", "letters", "a count", "", Kind.UPPER, Quantifier.FOR_ALL,
                    printed=Printed(sp.Integer(4), Citation(None, "own")), scopes=())
WORDS = bs.theorem("words", parameters={}, checks=[bs.Check(quantity, sides)],
                   texts=[bs.Text("word", read, takes="WORD", default="abc")])
"""


def test_the_command_gives_the_text_of_ones_own_theorem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bridge.cli import main

    path = tmp_path / "own.py"
    path.write_text(OWN)
    assert main(["compare", str(path), "--set", "word=kindly"]) == 0
    assert "violated" in capsys.readouterr().out
    assert main(["compare", str(path), "--set", "word=12345"]) == 2
    assert "word = '12345'; give a word without digits" in capsys.readouterr().err
    assert main(["show", str(path)]) == 0
    assert "  word = abc  WORD: the parameter word" in capsys.readouterr().out
