"""The parts of lowering, each alone, where a fault would not show in the value of a well-conditioned formula."""

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb

from bridge.lowering import lower
from bridge.lowering.arb_backend import LARGEST_ROOT
from bridge.lowering.exponentials import exponential_product, is_positive_constant, together
from bridge.lowering.geometric import LARGEST_EXAMINED, covers_limit
from bridge.lowering.guards import Masking
from bridge.lowering.nodes import Branches, Geometric, LoopRun, free_symbols
from bridge.lowering.stable import is_handy

x, y = sp.symbols("x y", real=True)
k = sp.Symbol("k", integer=True)
n = sp.Symbol("n", integer=True)
A = sp.MatrixSymbol("A", 2, 2)
w = sp.MatrixSymbol("w", 3, 1)


def test_the_limit_of_a_geometric_sum_is_recognised_by_its_first_letter() -> None:
    ratio = Geometric(x * y - 1, n)
    assert covers_limit(sp.Eq(x * y, 1), n, ratio)
    assert covers_limit(sp.Eq(x * y, 1), n * x, ratio * x)
    assert not covers_limit(sp.Eq(x * y, 1), n + 1, ratio)
    assert not covers_limit(sp.Eq(x, 1), n, ratio)
    assert not covers_limit(x >= 1, n, Geometric(x - 1, n))
    assert not covers_limit(sp.Eq(x, 1), n, sp.exp(x))
    # solved for a, the first letter by name, it has one solution; solved for z it has two
    a, z = sp.symbols("a z", real=True)
    assert covers_limit(sp.Eq(a + z**2, 2), n, Geometric((a + z**2) / 2 - 1, n))


def test_large_formulas_are_not_solved_for_a_limit() -> None:
    large = sum(sp.Symbol(f"s{index}") for index in range(LARGEST_EXAMINED))
    assert not covers_limit(sp.Eq(x, 1), n + large, Geometric(x - 1, n) + large)


@pytest.mark.parametrize("power", [-3, -2, -1, 0, 2, 3])
def test_powers_of_matrices_and_of_their_inverses(power: int) -> None:
    given = np.array([[2.0, 1.0], [0.5, 3.0]])
    expected = np.linalg.matrix_power(given, power)
    for backend in ("numpy", "torch", "mpmath", "arb"):
        found = lower(A**power, backend, args=(A,))(torch.tensor(given) if backend == "torch" else given)
        numbers = np.array([[float(entry) for entry in row] for row in found.tolist()])
        np.testing.assert_allclose(numbers, expected, rtol=1e-13)


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath", "arb"])
def test_an_entry_is_found_by_a_letter_and_by_a_number(backend: str) -> None:
    column = [[1.0], [2.0], [4.0]]
    given = torch.tensor(column, dtype=torch.float64) if backend == "torch" else column
    total = lower(sp.Sum(w[k, 0] * (k + 1), (k, 0, n)), backend, args=("w", "n"))
    assert [float(total(given, last)) for last in (0, 1, 2)] == [1.0, 5.0, 17.0]
    assert float(lower(w[2, 0] - w[1, 0], backend)(given)) == 2.0
    assert "entry(w, 2, 0)" in lower(w[2, 0] + x, backend).source


def test_the_letters_of_a_recursion_are_those_of_all_its_parts() -> None:
    first, last, offset, masked, factor, hidden = sp.symbols("first last offset masked factor hidden")
    run = LoopRun(offset * k, masked * k, k, first, last, factor * k, hidden * k)
    assert run.free_symbols == {first, last, offset, masked, factor, hidden}
    assert free_symbols(run) == run.free_symbols


def test_exponentials_are_split_off_where_a_power_is_negative() -> None:
    total = sp.exp(x) + sp.exp(y)
    assert exponential_product(total**2, inside_log=False) is None
    assert exponential_product(total**-2, inside_log=False).power == -2
    assert exponential_product(total**2, inside_log=True).power == 2
    assert exponential_product(total**y, inside_log=True) is None
    product = exponential_product(sp.exp(x) * y / total, inside_log=False)
    assert (product.shift, product.others) == (x, (y,))
    assert set(product.absorbed) == {0, y - x}


def test_exponentials_are_put_together_only_where_their_exponents_cancel() -> None:
    u = sp.exp(x)
    assert together(sp.Mul(sp.exp(u), sp.exp(-u - x), y)) == sp.exp(-x) * y
    assert together(sp.Mul(sp.exp(u), sp.exp(y), x)) is None
    assert together(sp.Mul(x, y)) is None


def test_constants_are_positive_if_they_are() -> None:
    hard = sp.exp(sp.cos(1) ** 2 + sp.sin(1) ** 2 - 2) - sp.exp(-2)
    assert is_positive_constant(hard)
    assert not is_positive_constant(-hard)
    assert not is_positive_constant(x**2 + 1)
    assert is_positive_constant(sp.sqrt(2))


def test_only_exponents_that_can_be_written_out_are() -> None:
    assert is_handy(sp.Float(0.0))
    assert is_handy(sp.Float(-0.1))
    assert is_handy(sp.Float(-2) ** 99_999)
    assert not is_handy(sp.Float(2) ** 100_001)
    assert not is_handy(-(sp.Float(2) ** 100_001))
    assert not is_handy(sp.Float(2) ** -100_001)


def test_roots_up_to_a_thousand_are_roots_and_logarithms_beyond() -> None:
    root, logarithm = sp.Rational(1, LARGEST_ROOT), sp.Rational(1, LARGEST_ROOT + 1)
    assert f"rational_power(x, 1, {LARGEST_ROOT})" in lower(x**root, "arb").source
    assert "rational_power" not in lower(x**logarithm, "arb").source
    assert lower(x**logarithm, "arb")(2).overlaps(arb(2) ** (arb(1) / (LARGEST_ROOT + 1)))


def test_a_constant_in_a_branch_needs_no_guard() -> None:
    masked = Masking()(Branches(x > 0, sp.log(x) + sp.exp(2) ** sp.S.Half, sp.true, sp.Integer(3)))
    assert str(masked).count("Guard") == 1
    assert "Guard(x > 0, x, 5/2)" in str(masked)


def test_huge_bases_go_through_their_logarithm_on_either_side_of_one() -> None:
    for base in (sp.Integer(10) ** 400, sp.Rational(1, 10**400)):
        assert "exp(" in lower(base**x).source
        assert float(lower(base**x)(0.5)) == pytest.approx(float(sp.sqrt(base)), rel=1e-12)
    assert "exp(" not in lower(sp.Rational(1, 3) ** x).source
    assert float(lower((-sp.Integer(2)) ** n)(3)) == -8.0


def test_a_branch_decided_by_equality_and_by_its_opposite() -> None:
    for backend in ("numpy", "torch", "mpmath"):
        assert [float(lower(sp.KroneckerDelta(n, k), backend, args=(n, k))(2, other)) for other in (2, 3)] == [1, 0]
        assert [float(lower(sp.sinc(x), backend)(at)) for at in (0.0, np.pi / 2)] == [1.0, pytest.approx(2 / np.pi)]


def test_a_factor_with_a_sign_is_put_in_parentheses() -> None:
    assert float(lower(x * sp.Max(-y, -x) ** 3 - y * (-x) ** 2)(2.0, 1.0)) == -6.0
    assert float(lower(sp.Mul(x, sp.Mul(-1, y, evaluate=False), evaluate=False))(2.0, 3.0)) == -6.0
    assert float(lower(x ** (-y), "numpy")(2.0, 3.0)) == 0.125


def test_lambertw_is_right_near_its_branch_point_on_both_sides() -> None:
    for branch in (0, -1):
        for beyond in (1e-14, 1e-9, 1e-4, 0.05, 0.12):
            at = -float(mp.exp(-1)) + beyond
            exact = mp.lambertw(at, branch)
            for backend in ("numpy", "torch"):
                assert float(lower(sp.LambertW(x, branch), backend)(at)) == pytest.approx(float(exact.real), rel=1e-12)
                plain = lower(sp.LambertW(x, branch), backend, watch=False)
                assert float(plain(at)) == pytest.approx(float(exact.real), rel=1e-6)
    assert np.isnan(lower(sp.LambertW(x))(-0.37))
    assert np.isnan(lower(sp.LambertW(x, -1))(0.0))
    assert np.isnan(lower(sp.LambertW(x, -1))(0.1))
