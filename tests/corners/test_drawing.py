"""Corner parameters meet the hypotheses of their result, come close to the ends of these, and are drawn by a seed."""

import numpy as np
import pytest

from bridge.theorems.registry import registered_theorem
from symbolic.statements.catalogue import RUNNING
from tests.corners.drawing import corner_parameters, corner_point
from tests.corners.texts import INPUT, VALUES

DRAWN = 6


@pytest.mark.parametrize("id", RUNNING)
def test_points_meet_every_hypothesis_of_their_parameters(id: str) -> None:
    theorem = registered_theorem(id)
    for index in range(DRAWN):
        point = corner_point(theorem, 0, index)
        implied = {*theorem.knobs.implied} - {*point}
        asked = theorem.statement.hypotheses_at(point, theorem.knobs.automatic)
        known = [each for each in asked if not implied & {x.name for x in each.condition.free_symbols}]
        assert [each.complaint(point) for each in known] == [None] * len(known)


def test_the_same_seed_draws_the_same_point_and_another_seed_another_one() -> None:
    theorem = registered_theorem("looped.chain_of_thought")
    points = [corner_point(theorem, seed, 5) for seed in (0, 0, 1)]
    assert points[0] == points[1] != points[2]


@pytest.mark.parametrize("id", RUNNING)
def test_each_parameter_that_is_not_a_number_has_values(id: str) -> None:
    words = [p.name for p in registered_theorem(id).statement.parameters if p.symbol is None]
    assert set(words) <= {*VALUES, INPUT}


def test_ends_of_all_parameters_come_in_turn() -> None:
    theorem = registered_theorem("looped.positions")
    points = [corner_point(theorem, 0, index) for index in range(0, 12, 2)]
    assert [point["N"] for point in points[:2]] == [3, 256]
    assert 0 < points[2]["eps"] < 1e-12 or points[2]["eps"] == pytest.approx(5e-13)
    assert 0.9 < points[3]["eps"] < 1  # eps < r^2, and r = 1; nearer to it the search takes too long
    assert 0.5**0.5 < points[4]["r"] < 0.75  # likewise
    assert points[5]["r"] == 1e12


def test_random_points_move_one_parameter_or_several() -> None:
    theorem = registered_theorem("looped.positions")
    defaults = {p.name: p.default for p in theorem.statement.parameters}
    points = [corner_parameters(theorem, np.random.default_rng(seed)) for seed in range(30)]
    moved = {sum(point[name] != defaults[name] for name in defaults) for point in points}
    assert moved >= {1, 2, 3}
