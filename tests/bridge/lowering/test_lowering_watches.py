"""What jumps, cancels or overflows on the way is right in float64: computed again with balls where digits are lost."""

from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import torch

from bridge.lowering import lower
from bridge.lowering.points import NO_DOUBLE, to_double

x, y = sp.symbols("x y", real=True)
n = sp.Symbol("n", positive=True)

JUMPS = [
    *((sp.floor(sp.log(n, 2)), 2**k, k) for k in range(1, 50)),
    *((sp.ceiling(sp.log(n, 2)), 2**k, k) for k in range(1, 50)),
    *((sp.floor(n ** sp.Rational(1, 3)), k**3, k) for k in range(1, 20)),
    (sp.floor(sp.log(n, 2)) + 1, 2**49 - 1, 49),
    (sp.ceiling(sp.log(n, 2)), 2**49 + 1, 50),
    (sp.ceiling(sp.log(n, 2)), 7, 3),
    (sp.Piecewise((1, sp.log(n, 2) >= 3), (0, True)), 8, 1),
    (sp.Piecewise((1, sp.log(n, 5) <= 3), (0, True)), 125, 1),
    (sp.floor(sp.sqrt(n) ** 2), 7, 7),
    (sp.Mod(x, sp.Rational(3, 4)), -0.5, 0.25),
    (sp.Mod(x, sp.Rational(3, 4)), 1.5, 0),
    (sp.frac(3 * x), -0.125, 0.625),
    (sp.frac(sp.log(n, 2)), 8, 0),
]


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath"])
def test_jumps_are_decided_exactly(backend: str) -> None:
    wrong = [(expr, at, value) for expr, at, value in JUMPS if float(lower(expr, backend)(at)) != value]
    assert not wrong


VALUES = [
    (sp.gamma(n + sp.S.Half) / sp.gamma(n), 200, lambda n: mp.gamma(n + 0.5) / mp.gamma(n)),
    (sp.gamma(n + sp.S.Half) / sp.gamma(n), 171.5, lambda n: mp.gamma(n + 0.5) / mp.gamma(n)),
    (1 / (1 + sp.gamma(n + sp.S.Half) / sp.gamma(n)), 171.5, lambda n: 1 / (1 + mp.gamma(n + 0.5) / mp.gamma(n))),
    (sp.log(sp.gamma(n)), 500, mp.loggamma),
    (sp.exp(n) * sp.erfc(sp.sqrt(n)), 800, lambda n: mp.exp(n) * mp.erfc(mp.sqrt(n))),
    (sp.exp(n) * sp.erfc(sp.sqrt(n)), 708, lambda n: mp.exp(n) * mp.erfc(mp.sqrt(n))),
    (sp.log(sp.exp(n) - 1), 1000, lambda n: mp.log(mp.expm1(n))),
    (n**200 * sp.exp(-n), 1000, lambda n: n**200 * mp.exp(-n)),
    ((1 + 1 / n) ** (n * 600), 1e5, lambda n: (1 + 1 / n) ** (n * 600)),
    (sp.cos(sp.pi * n), 100000.5 + 2**-20, lambda n: mp.cos(mp.pi * n)),
    (sp.binomial(n, 100), 1500, lambda n: mp.binomial(n, 100)),
    (sp.binomial(n, 3), 1e-12, lambda n: mp.binomial(n, 3)),
    (sp.binomial(n, sp.Rational(1, 2) + n), 1e-12, lambda n: mp.binomial(n, n + 0.5)),
    (sp.binomial(n, n - 2), 1e-12, lambda n: mp.binomial(n, n - 2)),
    (sp.factorial(n - 2), 1e-12, lambda n: mp.factorial(n - 2)),
    (sp.exp(n) * sp.cosh(n) - sp.exp(n) * sp.sinh(n), 800, lambda n: mp.mpf(1)),
    (sp.digamma(n), 1.4616321449683622, mp.digamma),
    (sp.LambertW(-n), 0.36787944117, lambda n: mp.lambertw(-n)),
    (sp.acos(1 - n), 1e-9, lambda n: mp.acos(1 - n)),
    (sp.acosh(1 + n), 1e-9, lambda n: mp.acosh(1 + n)),
    (sp.log(sp.exp(n) + sp.exp(-n)) - sp.log(2), 1e-6, lambda n: mp.log(mp.cosh(n))),
    (sp.exp(n**2 - (n - sp.Rational(1, 4)) ** 2), 900, lambda n: mp.exp(n / 2 - mp.mpf(1) / 16)),
    *(
        pair
        for at in (1e-12, 1e-9, 1e-5, 0.01, 0.3)
        for pair in (
            ((1 - sp.cos(n)) / n**2, at, lambda n: (1 - mp.cos(n)) / n**2),
            (sp.tanh(n) - n, at, lambda n: mp.tanh(n) - n),
            (sp.sinh(n) - n, at, lambda n: mp.sinh(n) - n),
            (sp.sqrt(1 + n) - 1, at, lambda n: mp.sqrt(1 + n) - 1),
            ((sp.exp(n) - sp.exp(-n)) / (sp.exp(n) + sp.exp(-n)), at, mp.tanh),
            (sp.sin(n) - n + n**3 / 6, at, lambda n: mp.sin(n) - n + n**3 / 6),
        )
    ),
]


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath"])
def test_what_cancels_or_overflows_on_the_way_is_right(backend: str) -> None:
    wrong = []
    for expr, at, reference in VALUES:
        with mp.workdps(800):
            exact = reference(mp.mpf(at))
            found = mp.mpf(float(lower(expr, backend)(at)))
            if not abs(found - exact) <= mp.mpf("1e-12") * abs(exact):
                wrong.append((expr, at, mp.nstr(found, 17), mp.nstr(exact, 17)))
    assert not wrong


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_flagged_points_of_a_batch_are_mended_where_they_lie(backend: str) -> None:
    points = np.linspace(-2, 2, 4001).reshape(1, 4001)
    given: Any = torch.tensor(points, dtype=torch.float64) if backend == "torch" else points
    shift = torch.tensor([[0.0], [1.0]], dtype=torch.float64) if backend == "torch" else np.array([[0.0], [1.0]])
    found = np.asarray(lower(sp.tanh(x) - x + y, backend, args=(x, y))(given, shift))
    assert found.shape == (2, 4001)
    for column in range(0, 4001, 50):
        for row in (0, 1):
            with mp.workdps(60):
                exact = mp.tanh(points[0, column]) - mp.mpf(points[0, column]) + row
            assert abs(found[row, column] - exact) <= 1e-12 * abs(exact)


def test_an_entry_of_a_matrix_that_cancels_is_right() -> None:
    found = lower(sp.Matrix([[sp.sinh(x) - x, x], [1, x**2]]))(np.array([1e-6, 1.0]))
    with mp.workdps(60):
        assert abs(found[0, 0, 0] / (mp.sinh(1e-6) - mp.mpf(1e-6)) - 1) < 1e-12
    assert found[1].tolist() == [[float(np.sinh(1.0) - 1.0), 1.0], [1.0, 1.0]]


def test_the_gradient_passes_a_mended_point() -> None:
    at = torch.tensor([1e-4, 0.5], dtype=torch.float64, requires_grad=True)
    lower(sp.sinh(x) - x, "torch")(at).sum().backward()
    expected = torch.cosh(at.detach()) - 1
    torch.testing.assert_close(at.grad, expected, rtol=1e-6, atol=0)


def test_what_is_not_representable_stays_inf_and_undefined_stays_nan() -> None:
    assert lower(sp.exp(x))(1000.0) == np.inf
    assert lower(sp.exp(x) * (2 + x))(1000.0) == np.inf
    assert np.isnan(lower(sp.log(x) ** 3)(-1.0))
    assert lower(sp.exp(-x) * x)(1e10) == 0


def test_sums_of_one_sign_and_exact_differences_are_not_watched() -> None:
    p, q = sp.symbols("p q", positive=True)
    for expr in (p + q + 3 * sp.exp(-p) + p**2, x - y, 2 * x - y, sp.Max(x, y) - x, sp.cosh(x) + x**2):
        assert "watched" not in lower(expr).source, expr
    for expr in (p**2 - q, x + y + 1, sp.exp(x) - sp.exp(y)):
        assert "watched" in lower(expr).source, expr
        assert "watched" not in lower(expr, watch=False).source


def test_other_formats_and_vmap_compute_as_before() -> None:
    near = torch.full((3,), 1e-3, dtype=torch.float64)
    function = lower(sp.sinh(x) - x, "torch")
    plain = lower(sp.sinh(x) - x, "torch", watch=False)
    assert torch.equal(torch.func.vmap(function)(near), plain(near))
    assert function(near.float()).dtype == torch.float32
    assert lower(sp.sinh(x) - x, dtype=np.float32)(1e-3).dtype == np.float32


@pytest.mark.parametrize("value", [1.5, -3.25, 5e-324, -5e-324, 2.0**-1040 * 3, 1e308, 0.1])
def test_a_ball_becomes_the_nearest_double(value: float) -> None:
    from flint import arb

    assert to_double(arb(value)) == value
    assert to_double(arb(value) * (1 + arb(2) ** -80)) == value
    assert to_double(arb(10) ** 400) == np.inf
    assert to_double(-(arb(10) ** 400)) == -np.inf
    assert to_double(arb(2) ** (NO_DOUBLE - 1)) == 0
