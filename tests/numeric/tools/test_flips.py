"""The search for small flips, against margins that are known exactly."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from numeric.tools.flips import (
    FlipError,
    along,
    along_each,
    combine,
    completed,
    coordinate_lines,
    norm,
    smallest_flip,
    unit,
    walk_boundary,
)

Parameters = dict[str, Tensor]


X = torch.tensor([3.0, -4.0, 1.0], dtype=torch.float64)
LINEAR = {"w": torch.tensor([1.0, -1.0, 0.5], dtype=torch.float64), "b": torch.tensor(2.0, dtype=torch.float64)}
LINEAR_MARGIN = 9.5 / math.sqrt(9 + 16 + 1 + 1)  # |w . x + b| / sqrt(|x|^2 + 1)
PRODUCT = {name: torch.tensor(1.0, dtype=torch.float64) for name in ("w1", "w2")}
PRODUCT_MARGIN = math.sqrt(2) - 1  # the hyperbola w1 w2 = 1/2 is nearest to (1, 1) on the diagonal


def linear(moved: Parameters) -> Tensor:
    return completed(lambda p: p["w"] @ X + p["b"], LINEAR)(moved)


def product(moved: Parameters) -> Tensor:
    return completed(lambda p: p["w1"] * p["w2"] - 0.5, PRODUCT)(moved)


def rounded(h: Tensor) -> Tensor:
    return 3 * torch.relu(h - 1 / 3) - 3 * torch.relu(h - 2 / 3)


def chain(depth: int, *, rounding: bool) -> tuple[Callable[[Parameters], Tensor], Parameters]:
    """The toy of Wei et al. 2021, (3.1): a product of ones, minus 1/2, with or without rounding after each factor."""
    parameters = {f"W{i}": torch.tensor(1.0, dtype=torch.float64) for i in range(depth)}

    def output(p: Parameters) -> Tensor:
        h = p["W0"]
        for i in range(1, depth):
            h = p[f"W{i}"] * (rounded(h) if rounding else h)
        return h - 0.5

    return completed(output, parameters), parameters


KNOWN = {
    "linear": (linear, LINEAR, LINEAR_MARGIN, 5.0),
    "product": (product, PRODUCT, PRODUCT_MARGIN, 2.0),
    "plain toy of depth 5": (*chain(5, rounding=False), math.sqrt(5) * (1 - 2 ** (-1 / 5)), 2.0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_search_reaches_the_exact_margin_and_never_goes_below(name: str) -> None:
    output, parameters, exact, largest = KNOWN[name]
    flip = smallest_flip(output, parameters, coordinate_lines(parameters), largest=largest, seed=0)
    assert exact * (1 - 1e-12) <= flip.distance <= exact * 1.001
    assert norm(flip.delta) == flip.distance
    assert flip.evaluations > 100


def test_the_distance_is_that_of_a_change_that_turns_the_prediction() -> None:
    flip = smallest_flip(product, PRODUCT, coordinate_lines(PRODUCT), largest=2.0, seed=1)
    moved = {name: (PRODUCT[name] + part)[None] for name, part in flip.delta.items()}
    assert float(product(moved)) <= 0
    assert float(product({name: (PRODUCT[name] + 0.99 * part)[None] for name, part in flip.delta.items()})) > 0


def grid_margin_of_two_rounded_layers() -> float:
    """min a^2 + b^2 with (1 - b) round(1 - a) <= 1/2, on a grid: for each a the least b solves a linear equation."""
    a = torch.linspace(1 / 3, 1 / 2, 100_001, dtype=torch.float64)
    b = 1 - 0.5 / rounded(1 - a)  # (1 - b) round(1 - a) = 1/2
    return float((a.square() + b.clamp(min=0).square()).min().sqrt())


def test_the_rounded_toy_of_two_layers_against_a_grid() -> None:
    output, parameters = chain(2, rounding=True)
    flip = smallest_flip(output, parameters, coordinate_lines(parameters), largest=2.0, seed=0)
    assert flip.distance == pytest.approx(grid_margin_of_two_rounded_layers(), rel=2e-3)


@pytest.mark.parametrize("depth", [1, 3, 8])
def test_the_rounded_toy_lies_between_a_third_and_a_half(depth: int) -> None:
    output, parameters = chain(depth, rounding=True)
    flip = smallest_flip(output, parameters, coordinate_lines(parameters), largest=2.0, seed=0, steps=30)
    assert 1 / 3 < flip.distance <= 0.5
    if depth == 1:
        assert flip.distance == pytest.approx(0.5, rel=1e-9)


def island(moved: Parameters) -> Tensor:
    """Turned for 0.3 <= t <= 0.5 and for t >= 0.8 only, by a jump, with no gradient anywhere."""
    t = moved["t"]
    return torch.where(((t >= 0.3) & (t <= 0.5)) | (t >= 0.8), -1.0, 1.0)


def test_a_prediction_that_turns_and_turns_back_is_found_at_its_first_turn() -> None:
    parameters = {"t": torch.tensor(0.0, dtype=torch.float64)}
    flip = along(lambda p: island(p) <= 0, parameters, coordinate_lines(parameters), largest=1.0)
    assert 0.3 <= flip.distance <= 0.3 * 1.001
    assert flip.direction == "+t[0]"


def test_what_never_turns_is_reported_as_not_found() -> None:
    parameters = {"t": torch.tensor(0.0, dtype=torch.float64)}
    flip = along(lambda p: island(p) <= 0, parameters, coordinate_lines(parameters), largest=0.25)
    assert flip.distance == math.inf
    assert not flip.found
    assert flip.delta == {}


def test_what_does_not_turn_again_is_not_reported() -> None:
    parameters, calls = {"t": torch.tensor(0.0, dtype=torch.float64)}, [0]

    def fickle(moved: Parameters) -> Tensor:
        calls[0] += 1
        return (moved["t"].abs() >= 0.3) & (calls[0] <= 20)  # it is asked more often than that

    assert not along(fickle, parameters, coordinate_lines(parameters), largest=1.0, points=20, precision=1e-9).found


def test_two_directions_together_go_below_either_alone() -> None:
    lines = coordinate_lines(PRODUCT)
    found = along_each(lambda p: product(p) <= 0, PRODUCT, lines, largest=2.0, keep=2)
    assert [flip.distance for flip in found] == pytest.approx([0.5, 0.5], rel=1e-3)
    both = combine(lambda p: product(p) <= 0, PRODUCT, found)
    assert PRODUCT_MARGIN * (1 - 1e-12) <= both.distance <= PRODUCT_MARGIN * 1.01


def test_the_gradient_walk_needs_no_directions() -> None:
    flip = walk_boundary(linear, LINEAR, [], radii=[3.0], restarts=3, steps=5, seed=0)
    assert LINEAR_MARGIN * (1 - 1e-12) <= flip.distance <= LINEAR_MARGIN * 1.001


def test_the_same_seed_finds_the_same_flip() -> None:
    output, parameters = chain(4, rounding=True)
    found = [smallest_flip(output, parameters, {}, largest=2.0, seed=3, steps=10).distance for _ in range(2)]
    assert found[0] == found[1]


def test_calls_that_cannot_be_answered_are_refused() -> None:
    parameters = {"t": torch.tensor(0.4, dtype=torch.float64)}
    with pytest.raises(FlipError, match="the margin is 0"):
        smallest_flip(island, parameters, coordinate_lines(parameters), largest=1.0, seed=0)
    with pytest.raises(FlipError, match="which are not parameters"):
        along(lambda p: island(p) <= 0, parameters, {"u": {"u": torch.tensor(1.0, dtype=torch.float64)}}, largest=1.0)
    with pytest.raises(FlipError, match="pass it through `unit`"):
        along(lambda p: island(p) <= 0, parameters, {"t": {"t": torch.tensor(2.0, dtype=torch.float64)}}, largest=1.0)
    with pytest.raises(FlipError, match="smallest <= largest"):
        along(lambda p: island(p) <= 0, parameters, coordinate_lines(parameters), largest=1.0, smallest=2.0)
    with pytest.raises(FlipError, match="not zero"):
        unit({"t": torch.tensor(0.0, dtype=torch.float64)})
    with pytest.raises(FlipError, match="nothing to search"):
        smallest_flip(product, PRODUCT, {}, largest=1.0, seed=0, random_directions=0, differentiable=False)
    with pytest.raises(FlipError, match="no starts"):
        walk_boundary(product, PRODUCT, [], radii=[], restarts=3, steps=1, seed=0)
