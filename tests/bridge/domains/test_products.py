"""Named inputs, and a search over them."""

import math

import pytest
import sympy as sp
import torch

from bridge.domains import Ball, Box, Product, Rows, Signs
from numeric.search.attack import attack
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError
from tests.bridge.domains.kinds import B, d, generator, n

LETTERS = Product({"x": Rows(n, Ball(d, radius=B)), "y": Box(d)})
INPUTS = LETTERS.at({n: 3, d: 2, B: 0.1})


def test_samples_corners_starts_and_projections_are_inside() -> None:
    for draw in (INPUTS.sample, INPUTS.corners, INPUTS.starts):
        batch = draw(8, generator())
        assert {name: tuple(each.shape) for name, each in batch.items()} == {"x": (8, 3, 2), "y": (8, 2)}
        outward = INPUTS.project({name: 3 * each for name, each in batch.items()})
        for points in (batch, outward):
            assert [INPUTS.complaint({"x": points["x"][i], "y": points["y"][i]}) for i in range(8)] == [None] * 8


def test_a_seed_gives_the_same_batch_whatever_the_letters() -> None:
    one, other = INPUTS.sample(4, generator(1)), INPUTS.sample(4, generator(1))
    assert all(torch.equal(one[name], other[name]) for name in INPUTS.domains)


COMPLAINTS = [
    ({"z": torch.zeros(2, dtype=torch.float64)}, "expected x, y; got z"),
    ({}, "expected x, y; got nothing"),
    ({"x": torch.zeros(3, 2, dtype=torch.float64)}, "expected x, y; got x"),
    (
        {"x": torch.zeros(3, 2, dtype=torch.float64), "y": torch.zeros(3, dtype=torch.float64)},
        "y: expected shape (2,), got (3,)",
    ),
    (
        {"x": torch.full((3, 2), math.nan, dtype=torch.float64), "y": torch.tensor([0.0, -2.5], dtype=torch.float64)},
        "x: entry (0, 0) is nan (5 more not finite); expected finite numbers; "
        "y: entry (1,) = -2.5 is outside [-1, 1] by 1.5",
    ),
]


@pytest.mark.parametrize(("inputs", "message"), COMPLAINTS, ids=[message for _, message in COMPLAINTS])
def test_complaints_name_the_input(inputs: dict[str, torch.Tensor], message: str) -> None:
    assert INPUTS.complaint(inputs) == message


def test_projection_refuses_other_names() -> None:
    with pytest.raises(UsageError, match="Product: expected x, y; got z"):
        INPUTS.project({"z": torch.zeros(1, 2, dtype=torch.float64)})


def test_bounds_and_shapes_by_name() -> None:
    assert LETTERS.shape == {"x": (n, d), "y": (d,)}
    assert LETTERS.bound(Norm.TWO) == {"x": sp.sqrt(n) * B, "y": sp.sqrt(d)}
    assert LETTERS["x"].row.bound(Norm.TWO) == B


def test_products_are_values() -> None:
    assert LETTERS.at({n: 3, d: 2, B: 0.1}) == INPUTS
    assert hash(INPUTS) == hash(LETTERS.at({n: 3, d: 2, B: 0.1}))
    assert LETTERS.at({n: 3, d: 2, B: 0.2}) != INPUTS
    assert str(Product({"s": Signs(2)})) == "Product(s=Signs(2, size=1))"


def test_an_attack_from_the_starts_reaches_the_maximum() -> None:
    # sup of <x_1, y> over ||x_1||_2 <= 1/10, |y_i| <= 1 is sqrt(2) / 10.
    found = attack(
        lambda inputs: (inputs["x"][:, 0] * inputs["y"]).sum(1),
        INPUTS.starts(8, generator()),
        INPUTS.project,
        steps=40,
        seed=0,
    )
    assert found.value == pytest.approx(math.sqrt(2) / 10, rel=1e-9)
    assert found.value <= math.sqrt(2) / 10
    assert isinstance(found.witness, dict)
    assert INPUTS.complaint(found.witness) is None
