"""One corner of one result, or of one example, run and judged."""

import re
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bridge.limits.cost import LongRun
from bridge.questions.compare import Comparison, compare
from bridge.theorems.registry import find_theorem
from bridge.theorems.theorem import Theorem
from symbolic.statements.catalogue import RUNNING
from symbolic.words.errors import UsageError
from tests.corners.drawing import corner_point, corner_settings
from tests.corners.judging import Complaint, complaints

ROOT = Path(__file__).parents[2]
THEOREM = re.compile(r"^(\w+) = bs\.theorem\(", re.MULTILINE)


def example_theorems() -> tuple[str, ...]:
    """Those of the files in examples/, as the command takes them."""
    files = sorted((ROOT / "examples").rglob("*.py"))
    return tuple(f"{path}:{name}" for path in files for name in THEOREM.findall(path.read_text()))


SOURCES: dict[str, str] = {
    **{id: id for id in RUNNING},
    **{Path(source).name: source for source in example_theorems()},
}


@cache
def theorem_of(source: str) -> Theorem:
    return find_theorem(SOURCES[source])


@dataclass(frozen=True)
class Point:
    """What came of it: rows that were judged, or a refusal in words."""

    source: str
    seed: int
    index: int
    params: dict[str, Any]
    settings: dict[str, Any]
    rows: int = 0
    refusal: str = ""
    complaints: tuple[Complaint, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "Point":
        found = tuple(Complaint(**each) for each in stored["complaints"])
        return cls(**{**stored, "complaints": found})

    def __str__(self) -> str:
        given = " ".join(f"{name}={value!r}" for name, value in {**self.params, **self.settings}.items())
        return "\n  ".join([f"{self.source} {self.seed}:{self.index}: {given}", *map(str, self.complaints)])


def run_point(source: str, seed: int, index: int) -> Point:
    """The point of that number. A refusal is an answer, any other exception a complaint."""
    theorem, params, settings = theorem_of(source), {}, {}
    refusal, rows, found = "", 0, []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            params = corner_point(theorem, seed, index)
            settings = corner_settings(theorem, params, np.random.default_rng([seed, index, 1]))
            record: Comparison = compare(theorem, **settings, **params)
            rows, found = len(record.rows), complaints(record)
        except UsageError as error:
            refusal = str(error)
        except Exception:
            found = [Complaint("traceback", source, traceback.format_exc(limit=-3))]
    found += [Complaint("warning", source, str(each.message)) for each in warned if each.category is not LongRun]
    return Point(source, seed, index, params, settings, rows, refusal, tuple(found))
