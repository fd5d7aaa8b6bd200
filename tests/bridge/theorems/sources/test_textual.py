"""Texts as sources: windows of bytes, shares of bytes that are predicted, and refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import boundsmith as bs
from bridge.theorems.real_inputs import TextFile
from bridge.theorems.record import Verdict
from bridge.theorems.sources import Windows
from symbolic.words.errors import UsageError

eps = sp.Symbol("eps", positive=True)
n = sp.Symbol("n", integer=True, positive=True)


def theorem(**changes: Any) -> bs.Theorem:
    """The byte before is the next one, up to the scale of 1/256."""
    options: dict[str, Any] = {
        "predictions": (
            bs.sources.Prediction(
                "network", "the network", lambda network: np.rint(256 * network["out"][:, 0].numpy())
            ),
            bs.sources.Prediction(
                "exact", "the reference", lambda reference: np.rint(256 * reference["out"][:, 0].numpy())
            ),
        ),
        **changes,
    }
    return bs.theorem(
        "repeats",
        bs.rules.given("out", dim=1, size=1, error=eps),
        parameters={eps: 0.0001, n: 2},
        inputs={"x": bs.domains.Box(n)},
        network=lambda x, eps: x[-1:] * (1 - eps),
        reference=lambda x: x[-1:],
        sources=(bs.sources.Textual("n", lambda windows: {"x": windows / 256}, **options),),
    )


@pytest.fixture
def path(tmp_path: Path) -> str:
    return written(tmp_path, b"aabbaabbaabb")


def written(folder: Path, content: bytes) -> str:
    file = folder / "text.txt"
    file.write_bytes(content)
    return str(file)


def test_windows_hold_what_follows() -> None:
    windows, following = Windows(TextFile(b"abcabc", "text"), 4).cut(10, 0)
    assert [bytes(each) for each in windows] == [b"abca", b"bcab"]
    assert bytes(following) == b"bc"
    few, _ = Windows(TextFile(bytes(range(100)), "text"), 4).cut(5, 3)
    assert few.shape == (5, 4)
    assert (np.diff(few[:, 0].astype(int)) > 0).all()
    assert Windows(TextFile(b"abcbb", "text"), 2).commonest == ord("b")


def test_shares_of_the_next_byte_are_shown(path: str) -> None:
    comparison = bs.compare(theorem(), text=path, samples=50)
    rows = {row.quantity: row for row in comparison if row.scope is None}
    shares = {name.removeprefix("prediction."): row.measured for name, row in rows.items()}
    assert shares == {"network": 0.5, "exact": 0.5, "agreement": 1.0, "commonest": 0.4}
    assert rows["prediction.network"].domain == "10 windows"
    (row,) = (row for row in comparison if row.scope == "network")
    assert (row.verdict["derived"], row.attacked, row.samples) == (Verdict.KEPT, None, 50)
    assert comparison.environment["inputs"] == "text"


def test_only_windows_that_are_scored_count(path: str) -> None:
    alike = theorem(scored=lambda windows: windows[:, 0] == windows[:, 1], where="windows of two equal bytes")
    rows = {row.quantity: row for row in bs.compare(alike, text=path, samples=50)}
    assert rows["prediction.exact"].measured == 0.0
    assert rows["prediction.exact"].domain.endswith(" windows of two equal bytes")
    none = theorem(scored=lambda windows: np.zeros(len(windows), dtype=bool), where="windows of nothing")
    row = {row.quantity: row for row in bs.compare(none, text=path)}["prediction.exact"]
    assert (row.measured, row.remark) == (None, "there are no windows of nothing")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, {}, "--text: there is no file"),
        (b"ab", {}, "has 2 bytes; a window of n = 2 and the next byte need 3"),
        (b"abcd", {"attack": 5}, "text is measured as it is and not attacked; leave out attack = 5"),
    ],
)
def test_a_text_that_cannot_serve_is_refused(content: bytes | None, options: Any, message: str, tmp_path: Path) -> None:
    path = str(tmp_path / "missing") if content is None else written(tmp_path, content)
    with pytest.raises(UsageError, match=message):
        bs.compare(theorem(), text=path, **options)


def test_a_folder_is_not_a_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        bs.compare(theorem(), text=str(tmp_path))
