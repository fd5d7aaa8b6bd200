"""Tables in CSV files, written by the tests."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np


def written(folder: Path, header: str, rows: Iterable[Iterable[float]]) -> str:
    path = folder / "own.csv"
    path.write_text("\n".join([header, *(",".join(map(repr, map(float, row))) for row in rows)]))
    return str(path)


def regression(folder: Path) -> str:
    """Twelve rows of two columns and a target that is nearly linear in them; the last row is near the origin."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(12, 2))
    x[-1] = 0.1
    return written(folder, "a,b,y", ([a, b, 3 * a - b + 0.1 * rng.normal()] for a, b in x))
