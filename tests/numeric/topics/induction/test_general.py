"""Singular functions of a similarity: known ones, and orthonormality."""

import numpy as np
import pytest

from numeric.topics.induction.general import steepness


def test_the_singular_function_of_a_product_is_the_line() -> None:
    sizes, slopes = steepness(lambda u, v: u * v, -2.0, 2.0, 2)
    assert sizes[0] == pytest.approx(16 / 3)  # the integral of u^2
    assert slopes[0] == pytest.approx(np.sqrt(3 / 16))
    assert np.isnan(slopes[1])


# cos(pi k (u + 2)/4), normalised, is the eigenfunction of a sum of such products.
def test_cosines_are_found_with_their_slopes() -> None:
    def g(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return sum(2.0**-k * np.cos(np.pi * k * (u + 2) / 4) * np.cos(np.pi * k * (v + 2) / 4) for k in range(1, 9))

    sizes, slopes = steepness(g, -2.0, 2.0, 8)
    k = np.arange(1, 9)
    assert np.allclose(sizes, 2 * 2.0**-k)
    assert np.allclose(slopes, np.sqrt(1 / 2) * np.pi * k / 4, rtol=1e-4)


def test_both_families_count() -> None:
    """psi(v) is sin(3 v), normalised, steeper than phi."""
    _, slopes = steepness(lambda u, v: np.exp(u / 4) * np.sin(3 * v), -2.0, 2.0, 1)
    points = np.linspace(-2, 2, 20_001)
    norm = np.sqrt(np.trapezoid(np.sin(3 * points) ** 2, points))
    assert slopes[0] == pytest.approx(3 / norm, rel=1e-5)
