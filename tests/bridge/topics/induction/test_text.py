"""Theorem 4.1 on a real text: bytes as signs, and predictions beside the exact IH_2."""

from pathlib import Path

import numpy as np
import pytest

from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from bridge.theorems.sources.byte_signs import repeated
from symbolic import UsageError

SHIPPED = str(Path(__file__).parents[4] / "examples" / "harbour.txt")


def test_repeated_contexts_have_a_successor() -> None:
    windows = np.array([list(each) for each in (b"abca", b"abab", b"abcd", b"abcc")])
    assert repeated(windows).tolist() == [True, True, False, False]


@pytest.mark.long
def test_the_shipped_text_keeps_the_bounds_and_beats_the_baseline() -> None:
    comparison = compare("induction.vanilla", text=SHIPPED, p=(4, 8), samples=128)
    shares = {(row.quantity, row.params["p"]): row.measured for row in comparison if row.quantity.startswith("pred")}
    for row in comparison:
        if row.quantity == "output":
            assert row.attacked is None
            assert Verdict.KEPT in row.verdict.values()
            assert Verdict.VIOLATED not in row.verdict.values()
    assert shares["prediction.exact", 8] > shares["prediction.commonest", 8]
    assert shares["prediction.agreement", 8] >= 0.99
    assert shares["prediction.agreement", 4] <= shares["prediction.agreement", 8]


@pytest.mark.long
def test_a_perfectly_periodic_text_is_predicted(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"abcdefgh" * 40)
    comparison = compare("induction.vanilla", text=str(path), p=8, L=64, d=32, W_star=0.5, samples=50)
    shares = {row.quantity: row.measured for row in comparison if row.quantity.startswith("prediction")}
    assert shares["prediction.network"] == shares["prediction.exact"] == 1.0
    assert shares["prediction.commonest"] < 0.3


def test_too_few_signs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"long enough")
    with pytest.raises(UsageError, match="256 bytes need at least 8 signs"):
        compare("induction.vanilla", text=str(path), L=8, d=4)
