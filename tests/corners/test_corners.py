"""Results and examples at corner parameters: a share of `python -m benchmarks.corners`, and what its judge finds."""

from typing import Any

import pytest

from bridge.theorems.record import Row, Verdict, Witness
from symbolic.statements.catalogue import RUNNING
from tests.corners.judging import KINDS, complaints, complaints_of_row
from tests.corners.points import SOURCES, run_point
from tests.yardstick.records import stored

SEED = 0
SLOW = (  # which take more than a few seconds to derive, or to run once
    *("induction.phases", "induction.lyapunov_gram", "induction.lyapunov_head", "induction.fixed_point"),
    *("induction.trends", "machines.turing_margin", "machines.rounding", "machines.margin", "universal.risk"),
    *("universal.barron", "universal.transformer", "looped.newton", "induction.patches"),
)
QUICK = [source for source in SOURCES if source not in SLOW]


@pytest.mark.parametrize("source", QUICK)
def test_a_random_corner_has_nothing_to_complain_of(source: str) -> None:
    assert not run_point(source, SEED, 1).complaints


@pytest.mark.long
@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("source", SOURCES)
def test_more_corners_have_nothing_to_complain_of(source: str, index: int) -> None:
    assert not run_point(source, SEED, index).complaints


@pytest.mark.parametrize("id", RUNNING)
def test_the_record_of_the_defaults_has_nothing_to_complain_of(id: str) -> None:
    """Among others: a verdict has a number beside it, or a remark that says why there is none."""
    assert not complaints(stored(id))


def test_every_example_with_a_theorem_is_a_source() -> None:
    assert set(RUNNING) < set(SOURCES)
    assert {"own_theorem.py", "ridge.py", "lossy_theorems.py"} <= {name.partition(":")[0] for name in SOURCES}


# ---- the judge


WITNESS = Witness(result="made.up", quantity="error", params={}, inputs={}, error_lower=2.0, bounds={})


def row(**fields: Any) -> Row:
    return Row(**{"quantity": "error", "kind": "upper", "quantifier": "for all inputs", "params": {}, **fields})


KEPT, PROVED, VIOLATED = Verdict.KEPT, Verdict.PROVED, Verdict.VIOLATED
WRONG = [
    ("violated", {"derived": 1.0, "measured": 2.0, "exact": 0.5, "verdict": {"derived": VIOLATED}}),
    ("violated", {"instance": 1.0, "exact": 0.5, "verdict": {"instance": VIOLATED}, "scope": "prompt"}),
    ("below", {"derived": 1.0, "measured": 0.9, "exact": 1.1, "verdict": {"derived": KEPT}}),
    ("below", {"instance": 1.0, "attacked": 1.1, "measured": 0.9, "verdict": {"instance": KEPT}}),
    ("below", {"kind": "lower", "derived": 1.0, "measured": 0.9, "verdict": {"derived": PROVED}}),
    ("below", {"kind": "exact", "derived": 4.18, "measured": 2.88, "verdict": {"derived": PROVED}}),
    ("below", {"scope": "network", "derived": 0.0, "exact": 1e-9, "verdict": {"derived": KEPT}}),
    ("contradicted", {"derived": 1.0, "measured": 2.0, "remark": "derived: the run contradicts the proof, one of two"}),
    ("negative", {"scope": "network", "instance": -5.3, "exact": 0.2, "verdict": {"instance": Verdict.OUTSIDE}}),
    ("accused", {"printed": 1.0, "exact": 2.0, "verdict": {"printed": VIOLATED}, "witness": WITNESS}),
    ("silent", {}),
    ("silent", {"measured": 1.0, "verdict": {"printed": Verdict.CONSISTENT}}),
]


@pytest.mark.parametrize(("kind", "fields"), WRONG, ids=[kind for kind, _ in WRONG])
def test_each_kind_of_complaint_is_found(kind: str, fields: dict[str, Any]) -> None:
    assert kind in {each.kind for each in complaints_of_row(row(**fields))} <= set(KINDS)


RIGHT = [
    {"derived": 1.0, "exact": 1.0, "measured": 1.5, "verdict": {"derived": KEPT}},  # floats are off, balls are not
    {"derived": 1.0, "exact": 2.0, "verdict": {"derived": Verdict.OUTSIDE}},
    {"scope": "network", "derived": 0.0, "exact": 1e-47, "verdict": {"derived": KEPT}},  # a ball around 0
    {"scope": "network", "derived": 1e-280, "measured": 1e-8, "rounding": 2e-8, "verdict": {"derived": KEPT}},
    {"derived": 1.0, "measured": 2.0, "seeds": 8, "failures": 1, "verdict": {"derived": KEPT}},  # with probability
    {"kind": "lower", "derived": 1.0, "measured": 1.1, "verdict": {"derived": KEPT}},
    {"kind": "exact", "derived": -1.0, "measured": -1.0, "verdict": {"derived": PROVED}},
    {"remark": "too large for exact arithmetic", "verdict": {"derived": Verdict.NOT_REPRESENTABLE}},
]


@pytest.mark.parametrize("fields", RIGHT, ids=range(len(RIGHT)))
def test_what_is_right_is_not_complained_of(fields: dict[str, Any]) -> None:
    assert complaints_of_row(row(**fields)) == []


def test_floats_of_a_short_format_prove_nothing_against_a_bound() -> None:
    short = row(derived=1.0, measured=1.1, verdict={"derived": KEPT})
    assert complaints_of_row(short, precise=False) == []
    assert [each.kind for each in complaints_of_row(short)] == ["below"]
