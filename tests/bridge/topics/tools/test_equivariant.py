"""Polynomial maps: values, ranges and Lipschitz constants beside numpy, and permutations of tokens by brute force."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from bridge.topics.tools.equivariant import EquivariantMap, read_equivariant
from symbolic import UsageError

TEXT = "Z1_1*Z2_2*Z2_3 - Z1_1^2/3, Z2_1 + Z1_2*Z1_3; Z1_2*Z2_1*Z2_3 - Z1_2^2/3, Z2_2 + Z1_1*Z1_3; "
TEXT += "Z1_3*Z2_1*Z2_2 - Z1_3^2/3, Z2_3 + Z1_1*Z1_2"


def by_hand(Z: np.ndarray) -> np.ndarray:
    (a, x), (b, y), (c, z) = Z
    return np.array(
        [[a * y * z - a**2 / 3, x + b * c], [b * x * z - b**2 / 3, y + a * c], [c * x * y - c**2 / 3, z + a * b]]
    )


@pytest.fixture(scope="module")
def found() -> EquivariantMap:
    return read_equivariant(TEXT, 3, 2, "here")


def test_values_are_those_of_the_formulas(found: EquivariantMap) -> None:
    for Z in np.random.default_rng(0).integers(0, 9, (5, 3, 2)) / 8:
        exact = found([[Fraction(each) for each in token] for token in Z.tolist()])
        assert np.array(exact, float) == pytest.approx(by_hand(Z))
        assert found.floats(Z) == pytest.approx(by_hand(Z))
        assert exact[0] == found.first([[Fraction(each) for each in token] for token in Z.tolist()])
        for order in permutations(range(3)):
            assert found.floats(Z[list(order)]) == pytest.approx(found.floats(Z)[list(order)])


def test_no_slope_is_above_the_lipschitz_constant_and_no_value_outside_its_range(found: EquivariantMap) -> None:
    rng, L = np.random.default_rng(0), float(found.lipschitz(Fraction(3, 2)))
    Z, step = rng.uniform(0, 1.5, (500, 3, 2)), rng.standard_normal((500, 3, 2)) * 1e-6
    Z[:50], step[:50] = 1.5, -abs(step[:50])
    slopes = np.linalg.norm(found.floats(Z + step) - found.floats(Z), axis=(1, 2)) / np.linalg.norm(step, axis=(1, 2))
    assert L / 3 < slopes.max() <= L
    low, high = found.first_range([Fraction(1, 2)] * 6, [Fraction(3, 2)] * 6)
    values = found.floats(rng.choice([0.5, 1.5], (500, 3, 2)))[:, 0, 0]
    assert float(low) <= values.min() < values.max() <= float(high)


def test_a_map_of_degree_one_has_its_own_constant() -> None:
    A, B = np.array([[1, -2], [0, 3]]), np.array([[2, 0], [0, 2]])
    letters = np.array([["Z1_1", "Z2_1"], ["Z1_2", "Z2_2"]])
    rows = [[f"{_sum(A[i], letters[k])} + {_sum(B[i], letters[1 - k])} + 1/7" for i in range(2)] for k in range(2)]
    text = "; ".join(", ".join(row) for row in rows)
    L = float(read_equivariant(text, 2, 2, "here").lipschitz(Fraction(1)))
    norms = [np.linalg.norm(A - B, 2), np.linalg.norm(A + B, 2)]
    assert max(norms) <= L <= 1.2 * max(norms)


def _sum(row: np.ndarray, letters: np.ndarray) -> str:
    return " + ".join(f"({a})*{letter}" for a, letter in zip(row, letters, strict=True))


# The formulas of tokens 2 and 3 are exchanged: tokens 1 and 2 show it first.
def test_the_pair_that_shows_it() -> None:
    rows = TEXT.split("; ")
    with pytest.raises(UsageError, match=r"here: .* is not permutation equivariant: f\(.*\) = .*Give row \d as row \d"):
        read_equivariant("; ".join([rows[0], rows[2], rows[1]]), 3, 2, "here")
