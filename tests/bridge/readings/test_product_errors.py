"""Products of numbers, which attain their bounds, and of a number and a vector."""

import pytest
import sympy as sp
import torch

from bridge.readings import Emulated, Instance, Operands, enclose
from numeric.balls import BallArray
from symbolic.calculus import (
    Norm,
    bilinear,
    given,
)


@pytest.mark.parametrize("bits", [None, 96])
def test_a_number_times_a_vector_errs_in_each_coordinate(bits: int | None) -> None:
    x = given("x", dim=4, norm=Norm.TWO, size=2)
    y = given("y", dim=1, norm=Norm.INF, size=1, error=sp.Rational(1, 4))
    product = bilinear(x, y, "x y", norm=Norm.TWO, product="entrywise")
    known = {"x": torch.ones(4, dtype=torch.float64), "y": torch.ones(1, dtype=torch.float64)}
    if bits is not None:
        known = {name: BallArray.exactly(value, bits) for name, value in known.items()}
    found = enclose(product.derivation, Instance(Operands(known, bits=bits), by_rules=False)).bound("x y")
    value = found.item() if bits is None else float(found.balls[0])
    assert value == pytest.approx(0.5, rel=1e-12)  # attained by y = 1.25


# (3 + 2)(5 + 4) - 15 = 30, which each of the ways to bound a product attains where there is one coordinate.
@pytest.mark.parametrize("norm", list(Norm), ids=str)
@pytest.mark.parametrize("kind", ["entrywise", "inner", "mean of outer products"])
def test_a_product_of_numbers_attains_its_bound(kind: str, norm: Norm) -> None:
    x, y = given("x", dim=1, norm=norm, size=3, error=2), given("y", dim=1, norm=norm, size=5, error=4)
    product = bilinear(x, y, "x y", norm=norm, product=kind).derivation
    operands = Operands({"x": torch.tensor([[3.0]]), "y": torch.tensor([[5.0]])})
    found = enclose(product, Instance(operands, by_rules=False)).steps["x y"].error
    for size in (found.absolute, found.one, found.two, *(found.norm(each) for each in Norm)):
        assert size.item() == pytest.approx(30, rel=1e-12)


def test_a_number_that_is_known_times_a_vector_errs_by_its_difference() -> None:
    x, y = given("x", dim=4, norm=Norm.TWO, size=2), given("y", dim=1, norm=Norm.INF, size=1, error=sp.Rational(1, 4))
    product = bilinear(x, y, "x y", norm=Norm.TWO, product="entrywise").derivation
    ones = torch.ones(1, dtype=torch.float64)
    operands = Operands({"x": torch.ones(4, dtype=torch.float64), "y": Emulated(ones, 1.25 * ones)})
    found = enclose(product, Instance(operands, by_rules=False)).steps["x y"].error
    assert (found.centre.tolist(), found.radius.tolist()) == ([0.25] * 4, [0.0] * 4)
