"""The theorem on rounding: certified margins against brute force, sandwiches, and contradictions that are noticed."""

import itertools
import math

import numpy as np
import pytest
import sympy as sp
import torch

from bridge.questions.compare import compare
from bridge.theorems.record import Row, Verdict
from bridge.topics.machines import rounding
from bridge.topics.machines.rounding import ROUNDING
from bridge.topics.machines.rounding_margin import margin_at_every_depth, rounded_margin
from numeric.topics.machines import toy
from symbolic.topics.machines import rounding as theory
from symbolic.words.errors import UsageError
from tests.bridge.defaults import default_run
from tests.bridge.topics.machines.changed import changed, rows_of

PROVED, UNDECIDED = Verdict.PROVED, Verdict.UNDECIDED
EFFORT = {"attack": 12, "restarts": 2}


def row_of(name: str, depth: int = 8, **effort: int) -> Row:
    (row,) = compare(changed(ROUNDING, name), depth=depth, **{**EFFORT, **effort})
    return row


@pytest.mark.parametrize("depth", [1, 3, 12])
def test_printed_derived_and_certified_bounds_lie_below_the_attack(depth: int) -> None:
    row = row_of("rounded", depth)
    assert row.printed < row.derived <= row.instance <= row.measured
    assert row.measured == pytest.approx(row.instance, rel=0.02)
    moved = row_of("rounding_layers", depth)
    assert moved.derived < moved.measured < 2 * moved.derived
    plain = row_of("plain", depth)
    assert plain.derived <= plain.measured < 1.01 * plain.derived


def test_every_row_is_proved_and_the_slopes_are_those_of_the_attack() -> None:
    rows = rows_of(default_run(ROUNDING.id))
    assert {verdict for row in rows.values() for verdict in row.verdict.values()} == {PROVED}
    for name in ("rounded", "rounded.every_depth"):  # Claim 3.5 is true: its larger constant is not an erratum
        assert rows[name].printed < rows[name].derived
        assert rows[name].erratum is None
    assert rows["plain.rate"].measured == pytest.approx(-0.5, abs=0.04)
    assert rows["rounded.rate"].measured == pytest.approx(0, abs=0.01)


# The certified margin.


def by_value_iteration(depth: int) -> float:
    """The least change over a fine grid of outputs, layer by layer from the last one: a little above the margin."""
    aims = np.linspace(0.5, 2 / 3, 6001)
    outputs = np.r_[3 * aims - 1]
    to_come = np.where(outputs > 0.5, (1 - 0.5 / outputs) ** 2, 0.0)
    for _ in range(depth - 2):
        nearest = [np.min((1 - aims / output) ** 2 + to_come) for output in outputs[:2500]]
        to_come = np.r_[np.minimum(nearest, to_come[:2500]), to_come[2500:]]
    return math.sqrt(0.25 if depth == 1 else np.min((1 - aims) ** 2 + to_come))


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_certified_margin_is_that_of_value_iteration(depth: int) -> None:
    sure = rounded_margin(depth)
    assert sure.width < 1e-9
    grid = by_value_iteration(depth)
    assert sure.lower <= grid + 1e-9
    assert grid == pytest.approx(sure.upper, abs=2e-5)


def test_the_certified_margin_of_two_layers_is_that_of_a_grid_of_weights() -> None:
    second, first = np.meshgrid(*[np.linspace(-0.6, 0.6, 2401)] * 2)
    output = (3 * (1 + second) * (3 * (1 + first) - 1).clip(0, 1) - 1).clip(0, 1)
    nearest = np.hypot(first, second)[output <= 0.5 + 1e-12].min()
    assert rounded_margin(2).lower <= nearest == pytest.approx(rounded_margin(2).upper, rel=1e-4)


@pytest.mark.long
def test_margins_fall_with_the_depth_to_that_of_every_depth() -> None:
    sure = [rounded_margin(depth) for depth in range(1, 9)]
    assert all(after.upper < before.lower for before, after in itertools.pairwise(sure))
    every = margin_at_every_depth()
    assert math.sqrt(2) / 3 < every.lower <= every.upper <= sure[-1].upper
    assert every.width < 1e-8
    assert rounded_margin(1000).lower == every.lower


def test_the_changes_of_the_certified_margin_flip() -> None:
    for depth in (1, 2, 8):
        sure = rounded_margin(depth)
        change = torch.tensor(sure.at, dtype=torch.float64)
        assert float(change.norm()) == pytest.approx(sure.upper, abs=1e-12)
        assert abs(float(toy.rounded({"W": (1 + change)[None]})[0])) < 1e-9
        assert float(toy.rounded({"W": (1 + 0.999 * change)[None]})[0]) > 0


@pytest.mark.parametrize(
    ("name", "flip", "verdicts"),
    [
        ("rounded", 0.4, {"printed": PROVED, "derived": UNDECIDED, "instance": UNDECIDED}),
        ("plain", 0.2, {"derived": UNDECIDED}),
        ("plain", 0.23474801, {"derived": UNDECIDED}),  # exact: a flip has to be nearer to contradict it
        ("plain", 0.3, {"derived": PROVED}),
    ],
)
def test_a_flip_nearer_than_a_bound_is_not_called_proved(
    name: str, flip: float, verdicts: dict[str, Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounding, "nearest_flip", lambda *_: flip)
    row = row_of(name)
    assert row.verdict == verdicts
    wrong = ", ".join(tier for tier, verdict in verdicts.items() if verdict is UNDECIDED)
    assert (f"{wrong}: the run contradicts the proof" in row.remark) is bool(wrong)


def test_the_network_is_the_formula() -> None:
    points = [-0.5, 0.2, 0.4, 0.6, 0.9, 2.0]
    expected = [float(theory.rounding_net(sp.Rational(point))) for point in points]
    assert toy.rounding(torch.tensor(points, dtype=torch.float64)).tolist() == pytest.approx(expected, abs=1e-12)
    at = {name: part[None] for name, part in toy.ones_with_layers(3).items()}
    assert float(toy.rounded_with_layers(at)[0]) == pytest.approx(0.5)


def test_the_table_has_one_row_for_each_depth() -> None:
    (table,) = default_run(ROUNDING.id).tables
    assert [row[0] for row in table.rows] == list(rounding.DEPTHS)
    assert all(row[3] < row[4] <= row[5] <= row[6] for row in table.rows)


def test_without_an_attack_nothing_is_measured() -> None:
    row = row_of("rounded", attack=0)
    assert row.measured is None
    assert "not attacked" in row.remark


@pytest.mark.parametrize(("depth", "said"), [(0, "depth = 0"), (2.5, "not a whole number")])
def test_bad_depths_are_refused(depth: float, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        compare(ROUNDING, depth=depth)
