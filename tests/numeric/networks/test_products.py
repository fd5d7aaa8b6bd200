from fractions import Fraction

import numpy as np
import pytest

from numeric.balls import working_precision
from numeric.networks.hinges import ReluSumError
from numeric.networks.products import accurate_product, product_sum

CASES = [(1.0, 1.0, 2), (1.0, 1.0, 64), (0.3, 7.7, 10), (20.0, 1 / 441, 200)]


def exactly(product, t: float, y: float) -> Fraction:
    """The literal sum of ReLUs in rational arithmetic."""
    rows = zip(product.relus.weights.tolist(), product.relus.directions.tolist(), strict=True)
    inner = ((c, sum(Fraction(a) * Fraction(z) for a, z in zip(each, (t, y, 1.0), strict=True))) for c, each in rows)
    return sum((Fraction(c) * max(Fraction(0), z) for c, z in inner), Fraction(0))


@pytest.mark.parametrize(("left", "right", "cells"), CASES)
def test_the_error_is_certified_and_nearly_reached(left, right, cells):
    product = product_sum(left, right, cells)
    rng = np.random.default_rng(cells)
    width = 2 * (left + right) / cells
    pairs = [(left, right), (-left, right), (0.5 * left, -right)]
    pairs += [(left * a, right * b) for a, b in rng.uniform(-1, 1, (40, 2))]
    error = Fraction(float(product.error))
    assert all(abs(exactly(product, t, y) - Fraction(t) * Fraction(y)) <= error for t, y in pairs)
    assert float(product.error) <= width**2 / 16 * (1 + 1e-9) + 1e-12 * (left + right) ** 2


def test_the_error_is_reached_between_two_knots():
    """t + y at the middle of a cell and t - y at a knot."""
    product = product_sum(1.0, 1.0, 8)
    t, y = 0.375, -0.125  # cells of width 1/2
    miss = exactly(product, t, y) - Fraction(t) * Fraction(y)
    assert float(abs(miss)) > 0.99 * float(product.error)


@pytest.mark.parametrize(("left", "right", "cells"), CASES)
def test_a_factor_0_makes_it_exactly_0(left, right, cells):
    product = product_sum(left, right, cells)
    assert exactly(product, 0.0, 0.9 * right) == exactly(product, -0.7 * left, 0.0) == 0


@pytest.mark.long
def test_accuracy_is_kept_with_few_cells():
    for eps in (1e-1, 1e-4, 1e-7, 4e-10):  # the last with nearly MOST_CELLS
        product = accurate_product(2.0, 0.5, eps)
        assert product.error <= eps
        if product.cells > 2:
            assert product_sum(2.0, 0.5, product.cells - 2).error > eps * (1 - 2**-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: product_sum(0.0, 1.0, 4), "bounds 0.0 and 1.0, 4 cells. Give finite bounds above 0"),
        (lambda: product_sum(1.0, np.inf, 4), "an even number of cells"),
        (lambda: product_sum(1.0, 1.0, 3), "an even number of cells"),
        (lambda: accurate_product(1.0, 1.0, 1e-30), "eps = 1e-30 takes more than 65536 cells. Give 2.3e-10 or more"),
        (lambda: accurate_product(1.0, 1.0, 0.0), "eps = 0 takes more than 65536 cells"),
    ],
)
def test_bad_products_are_refused(call, message):
    with pytest.raises(ReluSumError, match=message):
        call()


def test_the_certificate_does_not_depend_on_the_precision_of_the_caller():
    with working_precision(20):
        error = product_sum.__wrapped__(1.0, 1.0, 6).error
    assert error <= product_sum(1.0, 1.0, 6).error * (1 + 1e-6)
