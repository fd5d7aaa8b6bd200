"""Theorem 4.1 on a real text: windows of bytes, and predictions beside the exact IH_2."""

from pathlib import Path

import numpy as np
import pytest

from bridge import compare
from bridge.record import Verdict
from bridge.text import cut_windows, embed_bytes
from symbolic import UsageError

SHIPPED = str(Path(__file__).parents[2] / "examples" / "harbour.txt")


def test_bytes_embed_as_distinct_signs() -> None:
    for d in (8, 32):
        signs = embed_bytes(d)
        assert signs.shape == (256, d)
        assert set(np.unique(signs)) == {-1.0, 1.0}
        assert len(np.unique(signs, axis=0)) == 256


def test_windows_hold_what_follows_and_know_repeated_contexts() -> None:
    windows = cut_windows(b"abcabc", 4, 10, 0, "text")
    assert bytes(windows.context[0]) == b"abca"
    assert [chr(b) for b in windows.following] == ["b", "c"]
    assert windows.repeated.tolist() == [True, True]
    assert not cut_windows(b"abccd", 4, 10, 0, "text").repeated.any()  # a c right before the last one has no successor


def test_the_shipped_text_keeps_the_bounds_and_beats_the_baseline() -> None:
    comparison = compare("induction.vanilla", text=SHIPPED, p=(4, 8), samples=128)
    shares = {(row.quantity, row.params["p"]): row.measured for row in comparison if row.quantity.startswith("pred")}
    for row in comparison:
        if row.quantity == "output":
            assert row.attacked is None
            assert Verdict.KEPT in row.verdict.values()
            assert Verdict.VIOLATED not in row.verdict.values()
    assert shares["prediction.target", 8] > shares["prediction.commonest", 8]
    assert shares["prediction.agreement", 8] >= 0.99
    assert shares["prediction.agreement", 4] <= shares["prediction.agreement", 8]


def test_a_perfectly_periodic_text_is_predicted(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"abcdefgh" * 40)
    comparison = compare("induction.vanilla", text=str(path), p=8, L=64, d=32, W_star=0.5, samples=50)
    shares = {row.quantity: row.measured for row in comparison if row.quantity.startswith("prediction")}
    assert shares["prediction.network"] == shares["prediction.target"] == 1.0
    assert shares["prediction.commonest"] < 0.3


@pytest.mark.parametrize(
    ("content", "params", "message"),
    [
        (None, {}, "--text: there is no file"),
        (b"", {}, "has 0 bytes; a window of L = 256"),
        (b"short", {"L": 8}, "has 5 bytes; a window of L = 8 and the next byte need 9"),
        (b"long enough", {"L": 8, "d": 4}, "256 bytes need at least 8 signs"),
    ],
)
def test_a_text_that_cannot_serve_is_refused(content: bytes | None, params: dict, message: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        compare("induction.vanilla", text=str(path), **params)


def test_a_folder_is_not_a_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        compare("induction.vanilla", text=str(tmp_path))
