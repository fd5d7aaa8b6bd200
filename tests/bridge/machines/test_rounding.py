"""The study of rounding: certified margins against brute force, sandwiches, and contradictions that are noticed."""

import itertools
import math
from functools import cache

import flint
import numpy as np
import pytest
import sympy as sp
import torch

from bridge.budget import Budget
from bridge.check_rows import check_rows
from bridge.least_path import PathCost, sides_of_minimisers
from bridge.machines import rounding, rounding_margin
from bridge.machines.rounding_margin import margin_at_every_depth, rounded_margin
from bridge.record import Row, Verdict
from bridge.registry import find_study
from bridge.study import Case
from numeric.machines import toy
from symbolic.machines import rounding as theory
from symbolic.statements import UsageError
from tests.bridge.machines.exact_margins import exact_margin

BUDGET = Budget(samples=1, attack=12, restarts=2, seed=0)


def case(depth: float = 8) -> Case:
    return find_study("machines.rounding").case({"depth": depth}, seed=0, dtype="float64", device="cpu")


def row_of(name: str, depth: int = 8, budget: Budget = BUDGET) -> Row:
    (check,) = (each for each in rounding.ROUNDING.checks if each.name == name)
    (row,) = check_rows(case(depth), check, budget)
    return row


@cache
def rows() -> dict[str, Row]:
    return {row.quantity: row for row in case().checks(BUDGET)}


@pytest.mark.long
def test_every_quantity_has_a_row_and_a_proof() -> None:
    assert set(rows()) == {quantity.name for quantity in case().result.quantities}
    assert {verdict for row in rows().values() for verdict in row.verdict.values()} == {Verdict.PROVED}


@pytest.mark.parametrize("depth", [1, 3, 12])
def test_printed_derived_and_certified_bounds_lie_below_the_attack(depth: int) -> None:
    row = row_of("rounded", depth)
    assert row.printed < row.derived <= row.instance <= row.measured
    assert row.measured == pytest.approx(row.instance, rel=0.02)
    moved = row_of("rounding_layers", depth)
    assert moved.derived < moved.measured < 2 * moved.derived
    plain = row_of("plain", depth)
    assert plain.derived <= plain.measured < 1.01 * plain.derived


def test_the_slopes_are_those_of_the_attack() -> None:
    assert rows()["plain.rate"].measured == pytest.approx(-0.5, abs=0.04)
    assert rows()["rounded.rate"].measured == pytest.approx(0, abs=0.01)


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


def test_a_box_without_convexity_or_a_path_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    half, ends = flint.arb(1) / 2, (flint.arb(1), flint.arb(1) / 2)
    cost = rounding_margin.toy_cost(sp.Integer(1))
    assert cost.is_convex([ends[0], *[half.union(half * 1.01)] * 2, ends[1]])
    assert not cost.is_convex([ends[0], *[half.union(flint.arb(1))] * 2, ends[1]])
    assert sides_of_minimisers(cost, ends[0], 3, (0.5, 1.0), flint.arb("0.2"))[0] is None  # nothing is as cheap
    monkeypatch.setattr(PathCost, "is_convex", lambda self, points: False)
    assert rounding_margin.enclosed(2, sp.Integer(1)).lower == 0


def test_a_flip_nearer_than_a_bound_is_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "nearest_flip", lambda *args: 0.4)
    row = row_of("rounded")
    assert row.verdict == {"printed": Verdict.PROVED, "derived": Verdict.UNDECIDED, "instance": Verdict.UNDECIDED}
    assert "derived, instance: the run contradicts the proof" in row.remark


@pytest.mark.parametrize(
    ("flip", "verdict"), [(0.2, Verdict.UNDECIDED), (0.23474801, Verdict.UNDECIDED), (0.3, Verdict.PROVED)]
)
def test_only_a_flip_nearer_than_an_exact_margin_contradicts_it(
    flip: float, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounding, "nearest_flip", lambda *args: flip)
    assert row_of("plain").verdict == {"derived": verdict}


def test_the_network_is_the_formula() -> None:
    points = [-0.5, 0.2, 0.4, 0.6, 0.9, 2.0]
    expected = [float(theory.rounding_net(sp.Rational(point))) for point in points]
    assert toy.rounding(torch.tensor(points)).tolist() == pytest.approx(expected, abs=1e-12)
    at = {name: part[None] for name, part in toy.ones_with_layers(3).items()}
    assert float(toy.rounded_with_layers(at)[0]) == pytest.approx(0.5)


def test_the_table_has_one_row_for_each_depth() -> None:
    (table,) = case().tables()
    assert [row[0] for row in table.rows] == list(rounding.DEPTHS)
    assert all(row[3] < row[4] <= row[5] <= row[6] for row in table.rows)


def test_without_an_attack_nothing_is_measured() -> None:
    row = row_of("rounded", budget=BUDGET.without_attack())
    assert row.measured is None
    assert "not attacked" in row.remark


@pytest.mark.parametrize(("depth", "said"), [(0, "depth = 0"), (2.5, "not a whole number")])
def test_bad_depths_are_refused(depth: float, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        case(depth)


# Margins by branch and bound.


def test_the_margin_of_a_line_and_of_a_hyperbola() -> None:
    line = exact_margin(lambda d: 3 * d[0] - 4 * d[1] + 2, [1.0, 0.5], largest=2.0, tolerance=1e-2)
    assert line.lower <= 3 / 5 <= line.upper < 0.61
    product = exact_margin(lambda w: w[0] * w[1] - 0.5, [1.0, 1.0], largest=1.0, tolerance=1e-2)
    assert product.lower <= math.sqrt(2) - 1 <= product.upper < 0.42
    assert math.hypot(*product.at) == pytest.approx(product.upper)


def test_the_margin_of_the_toy_of_two_layers() -> None:
    def rounded(z: object) -> object:
        return 3 * (z - flint.arb(1) / 3).max(flint.arb(0)) - 3 * (z - flint.arb(2) / 3).max(flint.arb(0))

    def output(w: list) -> object:
        return rounded(w[1] * rounded(w[0])) - 0.5

    sure = exact_margin(output, [1.0, 1.0], largest=0.6, start=[-0.5, -0.01], tolerance=5e-3, most_boxes=20_000)
    assert sure.lower <= rounded_margin(2).upper
    assert rounded_margin(2).lower <= sure.upper < 1.01 * rounded_margin(2).upper
    assert sure.lower > 0.98 * rounded_margin(2).lower


def test_no_flip_within_reach_and_no_prediction_are_said() -> None:
    far = exact_margin(lambda w: w[0], [3.0], largest=1.0)
    assert (far.lower, far.upper) == (1.0, math.inf)
    with pytest.raises(UsageError, match="not surely positive"):
        exact_margin(lambda w: w[0], [-1.0], largest=1.0)
