"""The parts of lowering, each alone, where a fault would not show in the value of a well-conditioned formula."""

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb

from bridge.lowering import conditioning, lower, special
from bridge.lowering.arb_backend import LARGEST_ROOT
from bridge.lowering.complements import complement
from bridge.lowering.exponentials import exponential_product, is_positive_constant, together
from bridge.lowering.geometric import LARGEST_EXAMINED, covers_limit, proportion
from bridge.lowering.guards import Masking
from bridge.lowering.nodes import Branches, Erfc, Geometric, LoopRun, Remembered, free_symbols
from bridge.lowering.stable import is_handy
from bridge.lowering.watches import OneSign
from numeric.balls.functions import rational_power

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


CONDITIONS = [
    (conditioning.cancelled, (1e-4, 1.0, -1.0), True), (conditioning.cancelled, (0.5, 1.0, -0.5), False),
    (conditioning.cancelled, (1.001e-3, 1.0, -1.0), False), (conditioning.cancelled, (-1e-4, -1.0, 1.0), True),
    (conditioning.cancelled_in_exponent, (0.1, 1.0, -0.9), True),
    (conditioning.cancelled_in_exponent, (0.2, 1.0, -0.8), False),
    (conditioning.large_power, (1.0, 1.0, 5000.0), True), (conditioning.large_power, (1.0, 1.0, -5000.0), True),
    (conditioning.large_power, (1.0, 1.0, 4000.0), False), (conditioning.near_one, (0.0, 1.0005), True),
    (conditioning.near_one, (0.0, 0.9995), True), (conditioning.near_one, (0.0, 1.01), False),
    (conditioning.near_minus_one, (0.0, -1.0005), True), (conditioning.near_minus_one, (0.0, 1.0), False),
    (conditioning.near_either_one, (0.0, -0.9995), True), (conditioning.near_either_one, (0.0, 0.9), False),
    (conditioning.near_either_one, (0.0, 1.0005), True), (conditioning.small_for_its_angle, (0.5, 1.0), False),
    (conditioning.small_for_its_angle, (-0.5, -1000.0), True), (conditioning.small_for_its_angle, (0.5, 1e4), True),
    (conditioning.steep_for_its_angle, (100.0, 2.0), False), (conditioning.steep_for_its_angle, (1000.0, 2.0), True),
    (conditioning.steep_for_its_angle, (1e-5, 2.0), True), (conditioning.near_pole, (1.0, -2.9995), True),
    (conditioning.near_pole, (1.0, -3.0005), True), (conditioning.near_pole, (1.0, 3.0), False),
    (conditioning.near_pole, (1.0, -2.5), False), (conditioning.near_pole, (1.0, 1e-4), True),
    (conditioning.near_pole_of_factorial, (1.0, -0.9995), True),
    (conditioning.near_pole_of_factorial, (1.0, 1e-4), False),
    (conditioning.near_zero_of_loggamma, (0.0, 1.0005), True),
    (conditioning.near_zero_of_loggamma, (0.0, 1.9995), True), (conditioning.near_zero_of_loggamma, (0.0, 3.0), False),
    (conditioning.near_zero, (1e-4, 0, 1.46), True), (conditioning.near_zero, (-0.5, 0, 1.0), False),
    (conditioning.near_branch_point, (-0.9995, 0, -0.36), True), (conditioning.near_branch_point, (0.5, 0, 1.0), False),
    (conditioning.near_branch_point, (-1 + 2.0**-10, 0, -0.36), False),
    (conditioning.hard_binomial, (1.0, 600.0, 2.0), True), (conditioning.hard_binomial, (1.0, 5.0, -600.0), True),
    (conditioning.hard_binomial, (1.0, 5.0, 2.0), False), (conditioning.hard_binomial, (1.0, -5.0, 2.0), False),
    (conditioning.hard_binomial, (1.0, 1e-5, 3.0), True), (conditioning.hard_binomial, (1.0, 3.0, -1 + 1e-5), True),
    (conditioning.hard_binomial, (1.0, -1 + 1e-5, 0.5), True), (conditioning.hard_binomial, (1.0, 5.5, 2.0), False),
    (conditioning.small_for_its_exponents, (1e-3, 1.0, -1.0), True),
    (conditioning.small_for_its_exponents, (0.5, 1.0, -1.0), False), (conditioning.near_jump, (2.0, 2.0), True),
    (conditioning.near_jump, (2.0, 3 - 1e-13), True), (conditioning.near_jump, (3.0, 2.5), False),
    (conditioning.near_jump, (-3.0, -3 + 1e-13), True), (conditioning.near_jump, (100.0, 100 + 1e-11), True),
    (conditioning.near_equal, (0.0, 1.0, 1 + 1e-13), True), (conditioning.near_equal, (0.0, 1.0, -1.0), False),
    (conditioning.near_equal, (0.0, -100.0, -100 - 1e-11), True), (conditioning.near_equal, (0.0, 1.0, 1.001), False),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "args", "holds"), CONDITIONS, ids=lambda each: getattr(each, "__name__", None))
def test_a_point_is_flagged_where_digits_are_lost(condition: object, args: tuple, holds: bool) -> None:
    assert bool(condition(*args)) is holds
    arrays = [np.array([each]) if isinstance(each, float) else each for each in args]
    assert bool(condition(*arrays)[0]) is holds
    tensors = [torch.tensor([each], dtype=torch.float64) if isinstance(each, float) else each for each in args]
    assert bool(condition(*tensors)[0]) is holds


RANGES = [  # value, plain factors, extreme ones, those below
    ((np.inf, 1, 1, 2.0, np.inf), False), ((np.inf, 1, 1, 0.5, np.inf), True), ((np.inf, 0, 1, np.inf, 2.0), True),
    ((np.nan, 0, 2, 0.0, np.inf), True), ((0.0, 1, 1, 2.0, 0.0), False), ((0.0, 1, 1, 1e200, 1e-320), True),
    ((0.0, 1, 1, 0.0, 1e-320), False), ((1e-310, 1, 1, 1e20, 1e-330), True), ((3.0, 1, 1, 1.5, 2.0), False),
    ((1e-320, 0, 1, 1e-320, 1e-200), True), ((1e-320, 0, 1, 1e-320, 1.0), False),
]  # fmt: skip


@pytest.mark.parametrize(("args", "holds"), RANGES, ids=str)
def test_a_product_is_flagged_where_a_factor_left_the_range_and_others_bring_it_back(args: tuple, holds: bool) -> None:
    with np.errstate(all="ignore"):
        numbers = [np.float64(each) if isinstance(each, float) else each for each in args]
        assert bool(conditioning.out_of_range(*numbers)) is holds


def test_a_recursion_is_flagged_where_its_terms_cancel() -> None:
    terms = sp.Sum(
        x
        * (-1) ** k
        * sp.Product(1 + y / (sp.Symbol("j", integer=True) + 1), (sp.Symbol("j", integer=True), k + 1, n)),
        (k, 0, n),
    )
    function = lower(terms, args=(x, y, n))
    assert "watched_loop_run" in function.source
    with mp.workdps(60):
        exact = mp.fsum(
            mp.mpf(1.0) * (-1) ** i * mp.fprod(1 + mp.mpf(1e-9) / (m + 1) for m in range(i + 1, 42)) for i in range(42)
        )
    assert float(function(1.0, 1e-9, 41)) == pytest.approx(float(exact), rel=1e-12)
    assert lower(terms, args=(x, y, n), dtype=np.float32)(1.0, 0.5, 40).dtype == np.float32
    watch = conditioning.Watch()
    run = conditioning.watched_run(lambda like, body, masked, first, last, factor, over: sum(body(i) for i in (0, 1)))
    assert run(watch, None, lambda i: 1.0 - 2 * i, None, 0, 1, lambda i: 1.0, None) == 0.0
    assert watch.mask
    watch = conditioning.Watch()
    assert run(watch, None, lambda i: 1.0 + i, None, 0, 1, lambda i: 1.0, None) == 3.0
    assert not watch.mask
    assert run(None, None, lambda i: 1.0 - 2 * i, None, 0, 1, lambda i: 1.0, None) == 0.0


def test_signs_that_are_known_need_no_watch() -> None:
    sign = OneSign({})
    assert sign(sp.Abs(x)) == 1
    assert sign(-sp.Abs(x)) == -1
    assert sign(sp.Symbol("t", nonpositive=True)) == -1
    assert sign(x) == 0
    p = sp.Symbol("p", positive=True)
    assert (sign(sp.polygamma(1, p)), sign(sp.polygamma(2, p)), sign(sp.polygamma(3, p))) == (1, -1, 1)


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath", "arb"])
def test_a_branch_that_is_no_number_is_nan(backend: str) -> None:
    found = lower(sp.Piecewise((sp.nan, x > 0), (sp.oo, x < -1), (1, True)), backend)
    assert np.isnan(float(found(1.0)))
    assert float(found(-0.5)) == 1.0
    assert not np.isfinite(float(found(-2.0)))


def test_a_negative_root_is_the_reciprocal() -> None:
    assert rational_power(arb(4), -1, 2).overlaps(arb("0.5"))
    assert rational_power(arb(8), -2, 3).overlaps(arb("0.25"))
    assert rational_power(arb(8), -2, 3).rel_accuracy_bits() > 40


def test_the_start_of_lambertw_is_near_it() -> None:
    at = torch.tensor([0.6, 2.0, 4.0, 1e3, 1e100, 1e300], dtype=torch.float64)
    start = special._start(at, 0)
    for number, first in zip(at.tolist(), start.tolist(), strict=True):
        assert first == pytest.approx(float(mp.lambertw(number).real), rel=0.35)
    below = torch.tensor([-0.36, -0.25, -0.1, -1e-3, -1e-100], dtype=torch.float64)
    for number, first in zip(below.tolist(), special._start(below, -1).tolist(), strict=True):
        assert first == pytest.approx(float(mp.lambertw(number, -1).real), rel=0.2)


def test_a_ratio_is_one_of_all_terms() -> None:
    assert proportion(2 * x + 4 * y, x + 2 * y) == 2
    assert proportion(x + y, x) is None
    assert proportion(x, x + y) is None
    assert proportion(x + 2 * y, x + y) is None


def test_a_complement_keeps_its_coefficient() -> None:
    assert complement(3 * y + 3 * y * sp.erf(x)) == 3 * y * Erfc(-x)
    assert complement(3 * y + 2 * y * sp.erf(x)) is None


def test_what_is_remembered_is_computed_once_until_it_is_forgotten() -> None:
    asked: list[sp.Basic] = []
    remembered = Remembered(lambda node: asked.append(node) or len(asked))
    assert (remembered(x), remembered(x), remembered(y)) == (1, 1, 2)
    remembered.forget()
    assert remembered(x) == 3


@pytest.mark.parametrize("bits", [53, 200, 1000])
def test_numbers_of_sympy_are_given_to_all_digits(bits: int) -> None:
    with mp.workprec(bits):
        for value, exact in ((sp.sqrt(2), mp.sqrt(2)), (sp.pi / 3, mp.pi / 3), (sp.exp(-sp.pi), mp.exp(-mp.pi))):
            assert abs(lower(x, "mpmath", bits=bits)(value) - exact) <= mp.ldexp(exact, 1 - bits)
