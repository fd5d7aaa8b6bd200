"""The least cost of a path: against closed forms and value iteration, proofs that fail are noticed, refusals."""

import math

import flint
import numpy as np
import pytest
import sympy as sp

from boundsmith.checks import PathCost, least_path
from bridge.topics.tools import least_path as module
from bridge.topics.tools.least_path import sides_of_minimisers
from symbolic.words.errors import UsageError

x, y = sp.symbols("x y", positive=True)
SQUARES = PathCost((y - x) ** 2, x, y)
CURVED = PathCost((y - x) ** 2 + sp.exp(2 * y) / 20, x, y)
FEW = 64  # cells
WELLS = PathCost((y - x) ** 2 / 100 + ((y - sp.Rational(1, 2)) ** 2 - sp.Rational(1, 16)) ** 2, x, y)  # two minimisers


def test_ends_and_range_count_exactly() -> None:
    third = sp.Rational(1, 3)
    found = least_path(SQUARES, (1, third), 2, within=(third, 1), start=[0.6], cells=FEW)
    assert sp.Rational(found.lower) <= sp.Rational(2, 9) <= sp.Rational(found.upper)
    assert found.width < 1e-12


def test_the_upper_end_is_the_cost_of_a_path_in_the_exact_range() -> None:
    third = sp.Rational(1, 3)  # the best path lies on the end of the range, and the float next to it is outside
    found = least_path(PathCost(y**2, x, y), (1, third), 2, within=(third, 1), start=[0.6], cells=FEW)
    assert sp.Rational(found.upper) >= sp.Rational(2, 9)
    assert found.upper == pytest.approx(2 / 9, rel=1e-12)


def line(layers: int) -> list[float]:
    return np.linspace(1.0, 0.0, layers + 1)[1:-1].tolist()


@pytest.mark.parametrize("layers", [1, 2, 5])
@pytest.mark.parametrize("last", [sp.S.One, sp.Rational(1, 4)])
def test_the_least_sum_of_squares_is_the_closed_form(layers: int, last: sp.Rational) -> None:
    # By Cauchy and Schwarz: steps s_k with sum 1 cost at least 1 / (D - 1 + 1 / w).
    cost = PathCost(SQUARES.step, x, y, last=last)
    found = least_path(cost, (1.0, 0.0), layers, within=(0.0, 1.0), start=line(layers), cells=FEW)
    true = 1 / (layers - 1 + 1 / float(last))
    assert found.lower <= true * (1 + 1e-15)
    assert true * (1 - 1e-15) <= found.upper
    assert found.width < 1e-6
    assert len(found.at) == layers - 1


def by_value_iteration(layers: int, grid: np.ndarray) -> float:
    """The least cost over paths on a grid, layer by layer from the last one."""
    value = sp.lambdify((x, y), CURVED.step, "numpy")
    to_come = value(grid, 0.25)
    for _ in range(layers - 2):
        to_come = np.min(value(grid[:, None], grid[None, :]) + to_come[None, :], axis=1)
    return float(np.min(value(1.0, grid) + to_come))


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_the_least_cost_is_that_of_value_iteration(layers: int) -> None:
    start = np.linspace(1.0, 0.25, layers + 1)[1:-1].tolist()
    found = least_path(CURVED, (1.0, 0.25), layers, within=(0.25, 1.0), start=start, cells=FEW)
    grid = by_value_iteration(layers, np.linspace(0.25, 1.0, 3001))
    assert 0 < found.lower <= grid
    assert grid == pytest.approx(found.upper, rel=1e-5)
    assert found.width < 1e-6 * found.upper


def test_a_bound_of_what_is_to_come_saves_boxes_and_changes_nothing() -> None:
    start, run = line(4), {"within": (0.0, 1.0), "cells": FEW}
    plain = least_path(SQUARES, (1.0, 0.0), 4, start=start, **run)
    helped = least_path(PathCost(SQUARES.step, x, y, x**2 / 4), (1.0, 0.0), 4, start=start, **run)
    assert helped.boxes < plain.boxes
    assert helped.upper == plain.upper
    assert helped.lower == pytest.approx(plain.lower, abs=1e-6)


def test_several_minimisers_leave_the_lower_side_open() -> None:
    found = least_path(WELLS, (0.5, 0.5), 2, within=(0.0, 1.0), start=[0.3], cells=FEW)
    assert found.lower == -math.inf
    assert found.upper < 1 / 256 * 1.9


def test_a_box_without_convexity_or_a_path_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    half = flint.arb(1) / 2
    ends = flint.arb(1), flint.arb("0.25")
    assert CURVED.is_convex([ends[0], half.union(half * 1.01), half, ends[1]])
    assert not WELLS.is_convex([half, flint.arb(0).union(flint.arb(1)), half])
    assert sides_of_minimisers(SQUARES, ends[0], 3, (0.0, 0.5), flint.arb("0.2"), FEW)[0] is None  # nothing is as cheap
    monkeypatch.setattr(module.PathCost, "is_convex", lambda *_: False)
    assert least_path(SQUARES, (1.0, 0.0), 2, within=(0.0, 1.0), start=[0.5], cells=FEW).lower == -math.inf


def test_a_start_of_another_length_is_refused() -> None:
    with pytest.raises(UsageError, match="least_path: 3 layers have 2 numbers between the ends; 1 came"):
        least_path(SQUARES, (1.0, 0.0), 3, within=(0.0, 1.0), start=[0.5])


@pytest.mark.parametrize(
    ("within", "start"), [((1.0, 0.0), [0.6, 0.3]), ((0.0, math.inf), [0.6, 0.3]), ((0.0, 1.0), [math.nan, 0.3])]
)
def test_a_range_that_is_none_is_refused(within: tuple[float, float], start: list[float]) -> None:
    with pytest.raises(UsageError, match="give finite numbers, and a range from its lower end to its upper one"):
        least_path(PathCost((y - x) ** 2, x, y), (1.0, 0.0), 3, within=within, start=start)
