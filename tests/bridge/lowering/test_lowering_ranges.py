"""What leaves the range of float64 on the way, whatever it is then used for; and what was found wrong by attack."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import torch

from bridge.lowering import LoweringError, lower
from bridge.lowering.ranges import Magnitudes

x, y, z = sp.symbols("x y z", real=True)
n = sp.Symbol("n", integer=True)
k = sp.Symbol("k", integer=True)
C = sp.MatrixSymbol("C", 2, 2)
TINY = sp.Rational(1, 10**400)

VALUES = [
    (x * y / z, (1e-200, 1e-200, 1e-300), 1e-100), (x * y / z, (1e200, 1e200, 1e200), 1e200),
    (x / (y * z), (1e-300, 1e-200, 1e-200), 1e100), ((x / y) ** 2, (1e-200, 1e-100, 0.0), 1e-200),
    (sp.sqrt(x**2 + y**2), (1e-200, 1e-200, 0.0), 2**0.5 * 1e-200),
    (sp.sqrt(x**2 + y**2), (1e200, 1e200, 0.0), 2**0.5 * 1e200), (x + y + z, (1.5e308, 1.5e308, -1.5e308), 1.5e308),
    (1 / (1 + x**4 / y), (1e78, 1e308, 0.0), 1 / 10001),
    (sp.atan(x * y / z), (1e155, 1e155, 1e308), float(mp.atan(100))),
    (sp.log(x * y), (1e-200, 1e-200, 0.0), -float(400 * mp.log(10))),
    (sp.log(x * y), (1e200, 1e200, 0.0), float(400 * mp.log(10))),
    (sp.Mod(x, y), (1e300, 1e-300, 0.0), None), (sp.exp(x) * y, (-740.0, 1e15, 0.0), None),
    (sp.sqrt(sp.exp(x) + sp.exp(y)), (-740.0, -740.5, 0.0), None), (y * (x + TINY), (0.0, 1e300, 0.0), 1e-100),
    (sp.log(x + TINY), (0.0, 0.0, 0.0), -float(400 * mp.log(10))), (sp.log(sp.exp(x) * y), (-740.0, 1e-15, 0.0), None),
    (sp.exp(x) - sp.exp(z) + y, (20000.0, 1.0, 20000.0), 1.0),
    (sp.exp(x) - sp.exp(z) + y, (1000.0, 1e-200, 1000.0), 1e-200),
    (sp.Product(k / y, (k, 1, 2000)), (0.0, 800.0, 0.0), None), (sp.atan2(-x, -1), (0.0, 0.0, 0.0), float(mp.pi)),
    (sp.atan2(y, x), (-1.0, -0.0, 0.0), float(mp.pi)), (sp.acot(x), (0.0, 0.0, 0.0), float(mp.pi / 2)),
    (sp.acot(x), (-0.0, 0.0, 0.0), float(mp.pi / 2)), (sp.LambertW(x, -1), (-1e-320, 0.0, 0.0), None),
    (sp.polygamma(1, x), (-0.3, 0.0, 0.0), None), (sp.polygamma(2, x), (-0.4957156769130384, 0.0, 0.0), None),
    (sp.sinc(x), (5e-324, 0.0, 0.0), 1.0),
    (sp.polygamma(1, x) - sp.polygamma(1, x + 1) - 1 / x**2, (-0.3, 0.0, 0.0), 0.0),
    (x**9007199254740993, (-1.0, 0.0, 0.0), -1.0),
]  # fmt: skip


def exact_value(expr: sp.Expr, point: tuple[float, ...]) -> float:
    from benchmarks.lowering_values import reference

    return reference(expr, dict(zip("xyz", point, strict=True)))


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath"])
def test_what_leaves_the_range_on_the_way_is_right(backend: str) -> None:
    wrong = []
    for expr, point, stated in VALUES:
        exact = exact_value(expr, point) if stated is None else mp.mpf(stated)
        found = mp.mpf(float(lower(expr, backend, args=(x, y, z))(*point)))
        if not abs(found - exact) <= mp.mpf("1e-12") * abs(exact):
            wrong.append((expr, point, mp.nstr(found, 17), mp.nstr(exact, 17)))
    assert not wrong


DECISIONS = [
    (sp.Piecewise((1, sp.exp(x) < sp.exp(y)), (2, True)), (800.0, 801.0, 0.0), 1),
    (sp.Piecewise((1, x**2 < y**2), (2, True)), (1e200, 1e201, 0.0), 1),
    (sp.Piecewise((1, x * y < z * y), (2, True)), (1e200, 1e200, 1e201), 1), (sp.sign(x * y), (1e-200, 1e-200, 0.0), 1),
    (sp.Heaviside(x * y), (1e-200, 1e-200, 0.0), 1), (sp.floor(-x / 4), (5e-324, 0.0, 0.0), -1),
    (sp.ceiling(x / 1024), (5e-324, 0.0, 0.0), 1), (sp.floor(sp.tanh(x)), (1000.0, 0.0, 0.0), 0),
    (sp.floor(sp.erf(x)), (50.0, 0.0, 0.0), 0),
    (sp.Piecewise((1, sp.Eq(sp.tanh(x), 1)), (2, True)), (1000.0, 0.0, 0.0), 2),
    (sp.sign(sp.exp(x) * y), (-800.0, 1e-10, 0.0), 1),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath"])
def test_what_leaves_the_range_on_the_way_decides_rightly(backend: str) -> None:
    found = [float(lower(expr, backend, args=(x, y, z))(*point)) for expr, point, _ in DECISIONS]
    assert found == [value for *_, value in DECISIONS]


def test_the_distance_from_one_is_that_of_the_letters() -> None:
    assert Magnitudes(x + y).most == float("inf")
    assert Magnitudes(x * y).most == float("inf")
    assert Magnitudes(x * y * z).most == pytest.approx(1000 / 3)
    assert Magnitudes(sp.sqrt(x**2 + y**2)).most < 500
    assert Magnitudes(x * y / z).most == 500
    assert Magnitudes(1 / x).most == float("inf")
    assert Magnitudes(x**-3).most == pytest.approx(1000 / 3)
    assert Magnitudes(sp.Integer(2) ** -900 * x * y).most < 101
    assert Magnitudes(sp.Matrix([[x, x * y * z]])).most == pytest.approx(1000 / 3)


def test_a_recursion_of_a_degree_without_end_has_no_far_arguments() -> None:
    e = x
    for _ in range(30):
        e = e * (1 + e) / 2
    assert Magnitudes(e).most < 1
    assert Magnitudes(e).usable == float("inf")
    assert Magnitudes(x * y * z).usable == Magnitudes(x * y * z).most


def test_arguments_that_are_not_far_cost_nothing() -> None:
    function = lower(x * y / z, args=(x, y, z))
    near = np.linspace(0.5, 2, 5)
    np.testing.assert_array_equal(function(near, near, near), near * near / near)
    far = function(np.array([1e200, 2.0]), np.array([1e200, 3.0]), np.array([1e200, 4.0]))
    assert far.tolist() == [1e200, 1.5]


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_one_singular_matrix_of_a_batch_leaves_the_others(backend: str) -> None:
    batch = np.array([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 4.0]]])
    found = np.asarray(lower(C.inv(), backend)(torch.tensor(batch) if backend == "torch" else batch))
    assert not np.isfinite(found[0]).all()
    np.testing.assert_allclose(found[1], [[0.5, 0], [0, 0.25]])


@pytest.mark.parametrize("backend", ["mpmath", "arb"])
def test_rows_that_make_no_matrix_are_refused(backend: str) -> None:
    function = lower(C.inv(), backend)
    for rows in ([[1.0, 2.0], [3.0]], [], 1.0, [1.0, 2.0]):
        with pytest.raises(ValueError, match=r"^C: "):
            function(rows)
    assert str(function([[1.0, 2.0], [2.0, 4.0]])).count("nan") == 4


def test_orders_beyond_the_factorials_of_float64_are_refused() -> None:
    for backend in ("numpy", "torch"):
        with pytest.raises(LoweringError, match="beyond 170!"):
            lower(sp.polygamma(180, x), backend)
    assert lower(sp.polygamma(180, x), "arb")(5.5).rel_accuracy_bits() > 50


def test_balls_at_the_end_of_a_domain_are_cut() -> None:
    assert lower(sp.asin(x / 3), "arb")(3).rel_accuracy_bits() > 50
    assert lower(sp.acosh(x / 3), "arb")(3).contains(0)
    assert lower(sp.asin(sp.sin(x) ** 2 + sp.cos(x) ** 2), "arb")(0.7).overlaps(lower(sp.pi / 2, "arb")())
    assert lower(sp.acos(x), "arb")(2).is_nan()


def test_a_reversed_sum_has_no_known_sign() -> None:
    total = sp.Sum(sp.exp(k), (k, 1, n)) + sp.exp(x)
    at = 0.4076059644443803
    with mp.workdps(60):
        exact = mp.exp(mp.mpf(at)) - mp.fsum(mp.exp(i) for i in (-2, -1, 0))
    assert float(lower(total, args=(x, n))(at, -3)) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_what_no_double_holds_is_refused_with_a_sentence(backend: str) -> None:
    function = lower(x - y, backend)
    with pytest.raises(ValueError, match=r"^x: an integer of 1329 bits is beyond the range of float64; use mpmath"):
        function(10**400, 1)
    for huge in (Fraction(10**400), sp.Integer(10) ** 400):
        with pytest.raises(ValueError, match=r"^x: \w+ is beyond the range of float64; use mpmath or arb"):
            function(huge, 1)
    with pytest.raises(ValueError, match="limits and indices must be integers, got inf"):
        lower(sp.Sum(1 / (k + z), (k, 1, n)), backend, args=(n, z))(np.inf, 1.0)
    assert float(function(2**60, 1)) == 2.0**60
    assert float(function(sp.oo, 1)) == np.inf
    assert float(function(-sp.oo, 1)) == -np.inf
