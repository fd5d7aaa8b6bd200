"""Corners that an adversary found: odd names, exact floats, tails, constants with loops, numbers of other types."""

from collections.abc import Callable
from decimal import Decimal

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, fmpq

from bridge.lowering import LoweringError, lower
from tests.bridge.lowering.lowering_cases import k, n, x, y
from tests.bridge.lowering.test_lowering_values import encloses

BACKENDS = ("numpy", "torch", "mpmath", "arb")
FLOATING = ("numpy", "torch")


def value(expr: sp.Basic, backend: str, *values: float, **options: object) -> float:
    return float(lower(expr, backend, **options)(*values))


# names


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_name_made_for_one_argument_never_hides_another(backend: str) -> None:
    odd, usual = sp.Symbol("1x", real=True), sp.Symbol("arg0", real=True)
    assert value(odd + 10 * usual, backend, 1.0, 2.0) == 21


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["\N{MATHEMATICAL ITALIC SMALL X}", "\N{LATIN SMALL LIGATURE FI}"])
def test_names_that_python_would_read_as_others_stay_apart(name: str, backend: str) -> None:
    odd = sp.Symbol(name, real=True)
    plain = sp.Symbol("x" if name != "\N{LATIN SMALL LIGATURE FI}" else "fi", real=True)
    assert value(odd + 10 * plain, backend, 1.0, 2.0, args=[odd, plain]) == 21


# what is rewritten stays exact


@pytest.mark.parametrize("bits", [128, 400])
@pytest.mark.parametrize(
    ("expr", "reference"),
    [
        (sp.log(sp.Float(2.1) * sp.exp(x) + 2), lambda x: mp.log(mp.mpf(2.1) * mp.exp(x) + 2)),
        (sp.log(sp.exp(x) + sp.Float(3.1)), lambda x: mp.log(mp.exp(x) + mp.mpf(3.1))),
        (sp.log(x + sp.Float(1.1)), lambda x: mp.log(x + mp.mpf(1.1))),
        (x ** sp.Float(0.1), lambda x: x ** mp.mpf(0.1)),
    ],
    ids=["log of a multiple", "log of a sum", "log of a shift", "power"],
)
def test_floats_of_the_expression_are_never_rounded(expr: sp.Expr, reference: Callable, bits: int) -> None:
    with mp.workprec(bits + 100):
        exact = reference(mp.mpf(0.7))
        ball = lower(expr, "arb", bits=bits)(0.7)
        assert encloses(ball, exact)
        assert ball.rad() < arb(2) ** (20 - bits)
        assert abs(lower(expr, "mpmath", bits=bits)(0.7) - exact) < mp.ldexp(abs(exact), 8 - bits)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_float_too_small_to_be_written_out_is_named(backend: str) -> None:
    with pytest.raises(LoweringError, match="constant"):
        lower(x * sp.Float("1e-99999"), backend)


# constants


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (x + sp.Sum(k**2, (k, 1, 100)), 338352),
        (x * sp.Sum(k**2, (k, 1, 100)), 2 * 338350),
        (sp.Max(x, sp.Sum(k, (k, 1, 100))), 5050),
        (x * sp.log(sp.Product(k, (k, 1, 40))), 2 * float(sp.log(sp.factorial(40)).evalf())),
        (x * sp.sech(sp.log(2)), 1.6),
        (x / sp.cosh(sp.log(2)) ** 2, 1.28),
        (x * sp.Min(sp.exp(sp.Rational(1, 10**12)), sp.sqrt(2), evaluate=False), 2 * (1 + 1e-12)),
    ],
    ids=str,
)
def test_constants_may_hold_loops_and_functions(expr: sp.Expr, expected: float, backend: str) -> None:
    assert value(expr, backend, 2.0) == pytest.approx(expected, rel=1e-14)


# conditions


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_case_distinction_inside_a_case_distinction_is_lowered(backend: str) -> None:
    inner = sp.Piecewise((x, x > 1), (-x, True))
    expr = sp.Piecewise((1, sp.ITE(x > 1, y > 0, y < 0)), (sp.Piecewise((2, inner > 3), (3, True)), True))
    for left, right, expected in ((2.0, 1.0, 1), (2.0, -1.0, 3), (0.0, -1.0, 1), (5.0, -1.0, 2)):
        assert value(expr, backend, left, right) == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_symbol_is_no_condition(backend: str) -> None:
    for condition in (sp.Symbol("a"), sp.And(sp.Symbol("a"), x > 0), sp.Not(sp.Symbol("a"))):
        with pytest.raises(LoweringError, match=r"`a`: it is a number; as a condition write Ne\(..., 0\)"):
            lower(sp.Piecewise((1, condition), (2, True)), backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_condition_that_cannot_be_solved_is_left_alone(backend: str) -> None:
    expr = sp.Piecewise((5, sp.Eq(x * sp.cos(x), sp.exp(x * y))), ((1 - x**n) / (1 - x), True))
    assert value(expr, backend, 1.5, 1.0, 2, args=[x, y, n]) == 2.5


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_power_of_enormous_degree_is_not_taken_apart(backend: str) -> None:
    expr = (1 - y**n) / (1 - x ** (2**53 + 1) * y) + (x ** (2**53 + 1) - 1) / (x**3 - 1)
    assert value(expr, backend, 0.5, 0.5, 2, args=[x, y, n]) == pytest.approx(0.75 + 8 / 7)


# outside the domain


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath"])
@pytest.mark.parametrize(
    ("expr", "at"),
    [(sp.Max(0, sp.sqrt(x)), -1), (sp.Min(y, sp.log(x)), -1), (sp.gamma(x), -2), (sp.Heaviside(sp.log(x)), -1),
     (sp.sign(sp.sqrt(x)), -1), (sp.Abs(sp.sqrt(x)), -4), (x ** sp.Rational(1, 3), -8), (sp.asin(x) * y, 2)],
    ids=str,
)  # fmt: skip
def test_what_is_not_real_is_nan_and_stays_nan(expr: sp.Expr, at: float, backend: str) -> None:
    assert np.isnan(value(expr, backend, at, 1.0, args=[x, y]))


def test_poles_are_nan_in_mpmath_and_only_where_they_count() -> None:
    assert mp.isnan(lower(1 / x + sp.exp(x), "mpmath")(0))
    assert lower(sp.Piecewise((1, sp.And(x > 0, 1 / x < 3)), (2, True)), "mpmath")(0) == 2
    assert lower(sp.Piecewise((1, sp.log(x) < 1), (2, True)), "mpmath")(-1) == 2
    assert mp.isnan(lower(sp.Product(x * k, (k, 1, n)), "mpmath", args=[x, n])(1, -3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("upper", "lower_"), [(-2, 3), (-1, 4), (-5, 0), (-3, -1), (-2.5, 1.5), (-3.5, 2)])
def test_binomial_below_zero(upper: float, lower_: float, backend: str) -> None:
    expected = 0.0 if lower_ < 0 else float(mp.binomial(upper, lower_))
    assert value(sp.binomial(x, y), backend, upper, lower_) == pytest.approx(expected, rel=1e-13)


# accuracy in the tails

t = sp.Symbol("t", real=True)
GELU = t * (1 + sp.erf(t / sp.sqrt(2))) / 2
TAILS = [
    *(form for order in range(3) for form in (GELU.diff(t, order), sp.expand(GELU.diff(t, order)))),
    1 + sp.erf(t), 2 - sp.erfc(t), 1 + sp.tanh(t), 1 - sp.tanh(t) ** 2, sp.tanh(t).diff(t, 2),
    1 - 1 / (1 + sp.exp(t)), 3 * t * t - 3 * t * t * sp.erf(-t),
]  # fmt: skip


@pytest.mark.parametrize("backend", FLOATING)
@pytest.mark.parametrize("expr", TAILS, ids=str)
def test_tails_keep_their_relative_accuracy(expr: sp.Expr, backend: str) -> None:
    points = np.linspace(-25, 25, 101)
    exact = sp.lambdify(t, expr, "mpmath")
    results = np.asarray(
        lower(expr, backend)(points if backend == "numpy" else torch.tensor(points, dtype=torch.float64))
    )
    with mp.workdps(700):
        for point, result in zip(points, results, strict=True):
            expected = exact(mp.mpf(float(point)))
            assert abs(mp.mpf(float(result)) - expected) <= mp.mpf("1e-12") * abs(expected), point


def test_tails_keep_their_gradient() -> None:
    point = torch.tensor([-20.0, -8.0, 3.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(lower(GELU, "torch")(point).sum(), point)
    expected = lower(GELU.diff(t), "mpmath", bits=2000)
    np.testing.assert_allclose(slope.numpy(), [float(expected(at)) for at in point.tolist()], rtol=1e-12)


@pytest.mark.parametrize("backend", FLOATING)
def test_geometric_quotients_neither_overflow_nor_underflow(backend: str) -> None:
    expr = (x**n - y**n) / (x - y)
    for left, right in ((0.5, 1e-300), (1e-300, 0.5), (2.0, 0.5), (0.5, 0.0), (0.5, 0.5 + 1e-14)):
        exact = float(sum(mp.mpf(left) ** i * mp.mpf(right) ** (4 - i) for i in range(5)))
        assert value(expr, backend, left, right, 5, args=[x, y, n]) == pytest.approx(exact, rel=1e-13)


# numbers that come in, shapes and indices


@pytest.mark.parametrize(
    "number",
    [np.int64(2**60 + 1), np.longdouble(1) / 3, fmpq(1, 3), Decimal("0.1"), sp.pi, sp.sqrt(2), 10**400],
    ids=str,
)
def test_mpmath_takes_every_number_to_all_its_digits(number: object) -> None:
    as_sympy = sp.Rational(int(number.p), int(number.q)) if isinstance(number, fmpq) else number
    if isinstance(number, np.longdouble | Decimal):
        as_sympy = sp.Rational(*number.as_integer_ratio())
    with mp.workprec(2000):
        exact = mp.mpf(sp.sympify(as_sympy if not isinstance(number, np.int64) else int(number)).evalf(600))
        assert abs(lower(x, "mpmath", bits=1500)(number) - exact) <= abs(exact) * mp.ldexp(1, -1490)


def test_mpmath_refuses_a_ball_that_is_no_point() -> None:
    with pytest.raises(TypeError, match="x: expected a real number, got arb"):
        lower(x, "mpmath")(arb(1, 1))
    assert lower(x, "mpmath")(arb(1.5)) == 1.5


def test_arb_takes_long_doubles_and_numpy_large_integers() -> None:
    third = np.longdouble(1) / 3
    p, q = third.as_integer_ratio()
    assert lower(x, "arb", bits=200)(third).overlaps(arb(fmpq(p, q)))
    assert lower(x)(10**30) == 1e30


def test_torch_keeps_the_dtype_of_arrays_too() -> None:
    assert lower(x, "torch")(np.ones(2)).dtype == torch.float64
    assert lower(x, "torch")(np.ones(2, np.float32)).dtype == torch.float32


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_index_below_zero_is_no_index_from_the_end(backend: str) -> None:
    v, j = sp.MatrixSymbol("v", 3, 1), sp.Symbol("j", integer=True)
    column = [[1.0], [10.0], [100.0]]
    given = torch.tensor(column, dtype=torch.float64) if backend == "torch" else np.array(column)
    with pytest.raises(IndexError, match="indices of matrix entries start at 0, got -1"):
        lower(sp.Sum(v[j - 1, 0], (j, 0, n)), backend, args=[n, v])(2, given)


@pytest.mark.parametrize("backend", FLOATING)
def test_limits_may_be_empty_batches(backend: str) -> None:
    empty = np.zeros(0) if backend == "numpy" else torch.zeros(0, dtype=torch.float64)
    assert lower(sp.Sum(x**k, (k, 0, n)), backend)(n=empty, x=empty).shape == (0,)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_polygamma_in_half_precision(dtype: torch.dtype) -> None:
    result = lower(sp.polygamma(1, x), "torch")(torch.tensor([0.5, 2.0], dtype=dtype))
    assert result.dtype == dtype
    np.testing.assert_allclose(result.float(), [np.pi**2 / 2, np.pi**2 / 6 - 1], rtol=1e-2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_part_used_twice_in_each_of_a_hundred_layers(backend: str) -> None:
    expr, expected = x, mp.mpf(0.5)
    for layer in range(100):
        expr = y * expr * (1 + expr) / 3 + y / (layer + 1)
        expected = mp.mpf(0.25) * expected * (1 + expected) / 3 + mp.mpf(0.25) / (layer + 1)
    for _ in range(2):
        assert value(expr, backend, 0.5, 0.25) == pytest.approx(float(expected), rel=1e-13)
