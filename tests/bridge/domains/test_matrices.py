"""A square matrix as a parameter: how it may be given, and what is refused by which name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge.domains.matrices import read_square
from symbolic import UsageError


def read(spec: Any, size: int | None = None, seed: int = 0) -> np.ndarray:
    return read_square("W", spec, size, default=4, seed=seed, size_name="d")


def test_a_matrix_may_be_given_as_list_json_or_file(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text("[[1, 0.5], [0, -1]]")
    for spec in ([[1, 0.5], [0, -1]], ((1, 0.5), (0, -1)), "[[1, 0.5], [0, -1]]", f"@{path}"):
        assert read(spec).tolist() == [[1, 0.5], [0, -1]]


def test_a_number_is_a_multiple_of_the_identity_of_the_size_or_the_default() -> None:
    assert read(0.25, 2).tolist() == [[0.25, 0], [0, 0.25]]
    assert read("-1").tolist() == (-np.eye(4)).tolist()


@pytest.mark.parametrize("kind", ["random", "signs"])
def test_a_seeded_matrix_has_the_norm_and_follows_the_seed(kind: str) -> None:
    seeded = read(f"{kind}:2", 3, seed=5)
    assert np.abs(seeded).sum() == pytest.approx(2, rel=1e-12)
    assert (seeded == read(f"{kind}:2", 3, seed=5)).all()
    assert (seeded != read(f"{kind}:2", 3, seed=6)).any()


@pytest.mark.parametrize(
    ("spec", "size", "message"),
    [
        ([[1, 0], [0, 1]], 3, "W is 2 x 2 but d = 3; leave d out or make them agree"),
        (0.5, 0, "W: d = 0 does not meet d >= 1"),
        (0.5, 10**9, "W with d = 1000000000: needs about .* GiB of memory.*lower d"),
        ([[1, 2, 3]], None, r"W has shape \(1, 3\); it has to be square"),
        ([[1, 2], [3]], None, "W: rows of different lengths"),
        (np.array([[1, np.nan], [0, 1]]), None, "W has an entry that is not finite"),
        ("signs:none", None, "W = 'signs:none': NORM has to be a positive number"),
    ],
)
def test_a_refusal_names_the_parameter_and_its_size(spec: Any, size: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(spec, size)
