"""Rounding in a direction, against exact rationals and mpmath."""

import math
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from bridge.domains.rounding import BITS, largest_below, nearer_zero, smallest_above, toward_zero
from tests.bridge.domains.kinds import DTYPES

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def next_above(number: float, dtype: torch.dtype) -> float:
    return float(torch.nextafter(torch.tensor(number, dtype=dtype), torch.tensor(math.inf, dtype=dtype)))


@every_dtype
@given(number=st.one_of(st.fractions(), st.floats(-6e4, 6e4).map(Fraction), st.fractions(-1, 1).map(lambda q: q**60)))
def test_the_largest_number_below_a_rational(dtype: torch.dtype, number: Fraction) -> None:
    limit = Fraction(torch.finfo(dtype).max)
    if abs(number) < limit:
        below = largest_below(sp.Rational(number), dtype)
        assert (
            Fraction(below) <= number < (Fraction(after) if (after := next_above(below, dtype)) < math.inf else limit)
        )
        assert smallest_above(-sp.Rational(number), dtype) == -below


@pytest.mark.parametrize("number", [sp.E, sp.pi, sp.sqrt(2), -sp.pi, sp.exp(-700), sp.sqrt(2) * 10**200], ids=str)
def test_irrational_numbers_lie_between_neighbours(number: sp.Expr) -> None:
    below, above = largest_below(number), smallest_above(number)
    assert above == math.nextafter(below, math.inf)
    with mpmath.workdps(400):
        assert mpmath.mpf(below) < mpmath.mpmathify(number.evalf(400)) < mpmath.mpf(above)


@every_dtype
def test_what_a_dtype_cannot_hold_ends_at_its_last_number_or_at_infinity(dtype: torch.dtype) -> None:
    huge, largest = sp.Integer(10) ** 400, torch.finfo(dtype).max
    assert (largest_below(huge, dtype), smallest_above(huge, dtype)) == (largest, math.inf)
    assert (largest_below(-huge, dtype), smallest_above(-huge, dtype)) == (-math.inf, -largest)


@every_dtype
def test_rounding_toward_zero_is_to_the_neighbour_on_that_side(dtype: torch.dtype) -> None:
    values = torch.randn(2000, dtype=torch.float64) * 10.0 ** torch.randint(-12, 8, (2000,))
    rounded = toward_zero(values, dtype)
    assert bool((rounded.double().abs() <= values.abs()).all())
    further = torch.nextafter(rounded, torch.copysign(torch.full_like(rounded, math.inf), values.to(dtype)))
    assert bool((further.double().abs() > values.abs()).all())
    exact = rounded.double()
    assert torch.equal(toward_zero(exact, dtype).view(BITS[dtype.itemsize]), rounded.view(BITS[dtype.itemsize]))


def test_one_step_towards_zero() -> None:
    values = torch.tensor([1.0, -1.0, 5e-324, -5e-324, 0.0, torch.finfo(torch.float64).max], dtype=torch.float64)
    assert torch.equal(nearer_zero(values), torch.nextafter(values, torch.zeros((), dtype=torch.float64)))
