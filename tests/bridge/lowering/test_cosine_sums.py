"""Sums of cosines in the place of an even function of u - v: the certified error against a fine grid, refusals."""

import numpy as np
import pytest
import sympy as sp

from bridge.lowering.cosine_sums import KNOTS, certified_error, cosine_sum, profile
from bridge.lowering.grids import CertifiedKernel
from numeric.networks.cosine_features import FrequencyLaw
from symbolic.words.errors import UsageError

u, v = sp.symbols("u v", real=True)
NUMPY = {
    sp.exp(-((u - v) ** 2) / 2): lambda z: np.exp(-(z**2) / 2),
    sp.exp(-sp.Abs(u - v)): lambda z: np.exp(-abs(z)),
    1 / (1 + u**2 - 2 * u * v + v**2): lambda z: 1 / (1 + z**2),
    sp.cos(3 * (u - v)) - (u - v) ** 2: lambda z: np.cos(3 * z) - z**2,
}


@pytest.mark.parametrize("g", NUMPY, ids=["Gaussian", "Laplace", "Cauchy", "mixed"])
@pytest.mark.parametrize(("radius", "terms"), [(0.5, 4), (0.5, 12), pytest.param(1.0, 8, marks=pytest.mark.long)])
def test_the_certified_error_bounds_that_on_a_fine_grid_and_is_near_it(g: sp.Expr, radius: float, terms: int) -> None:
    found = cosine_sum(CertifiedKernel(g, (u, v), radius), terms)
    z = np.linspace(-2 * radius, 2 * radius, 50021)
    waves = np.cos(np.outer(z, np.arange(terms + 1)) * found.law.spacing) @ found.law.coefficients
    largest = abs(waves - NUMPY[g](z)).max()
    assert largest <= found.error <= 1.01 * largest + 2e-3 * radius


def test_a_wave_that_is_0_at_all_knots_counts_between_them() -> None:
    """a (1 - cos(k z)) with a whole number of periods in each cell: 2 a in the middle of it."""
    a, flat = 0.01, sp.cos((u - v) / 1000)  # within 2e-6 of 1
    kappa = sp.cos(u / 1000)
    law = FrequencyLaw(2 * np.pi * KNOTS / 2, np.array([1 - a, a]))
    found = certified_error(CertifiedKernel(flat, (u, v), 1.0), kappa, law)
    assert 2 * a < found < 5 * a  # a pi^2/2


def test_more_cosines_err_less_and_a_gaussian_has_nearly_a_law() -> None:
    kernel = CertifiedKernel(sp.exp(-((u - v) ** 2) / 2), (u, v), 1.0)
    few, many = cosine_sum(kernel, 4), cosine_sum(kernel, 8)
    assert many.error < 1e-5 < few.error
    assert many.law.mass == pytest.approx(1, abs=1e-4)
    assert many.law.largest == pytest.approx(8 * many.law.spacing)


def test_an_even_function_of_the_difference_is_told_from_others() -> None:
    assert profile(u**2 - 2 * u * v + v**2, u, v) == u**2
    for other in (u * v, sp.exp(u - v), u + v):
        assert profile(other, u, v) is None


@pytest.mark.parametrize(
    ("g", "terms", "words"),
    [
        (u * v, 8, "u*v: cosine features take an even function of u - v, and this is none; give cells and a rank"),
        (sp.exp(u - v), 8, "cosine features take an even function of u - v"),
        (sp.cos(u - v), 0, "cos(u - v): 0 cosines; give 1 to 256"),
        (sp.cos(u - v), 257, "cos(u - v): 257 cosines; give 1 to 256"),
        (sp.sqrt(1 + sp.Abs(sp.sin(u - v))), 8, "no range of its second derivative is found; give cells and a rank"),
    ],
)
def test_what_is_no_such_sum_is_refused(g: sp.Expr, terms: int, words: str) -> None:
    with pytest.raises(UsageError) as error:
        cosine_sum(CertifiedKernel(g, (u, v), 1.0), terms)
    assert words in str(error.value)
