import itertools

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numeric.balls import working_precision
from numeric.networks.norms import (
    NormEnclosure,
    entrywise_one_norm,
    entrywise_one_norm_upper,
    infinity_to_one_norm,
    least_singular_value,
    spectral_enclosure,
    spectral_norm,
    spectral_norm_upper,
)

SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 7))


def matrix(seed: int, shape: tuple[int, int], scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng(seed).normal(size=shape)


def signs(length: int) -> list[np.ndarray]:
    return [np.array(each) for each in itertools.product([-1.0, 1.0], repeat=length)]


@given(seed=st.integers(0, 999), shape=SHAPES, scale=st.sampled_from([1e-290, 1e-12, 1.0, 1e200]))
def test_one_norm_encloses_the_exact_sum(seed, shape, scale):
    W = matrix(seed, shape, scale)
    with working_precision(400):
        exact = sum((abs(flint.arb(entry)) for entry in W.ravel().tolist()), flint.arb(0))
        enclosure = entrywise_one_norm(W)
        assert flint.arb(enclosure.lower) <= exact <= flint.arb(enclosure.upper)
    assert enclosure.exact
    assert entrywise_one_norm_upper(W) == enclosure.upper


@given(seed=st.integers(0, 999), shape=SHAPES, scale=st.sampled_from([1e-290, 1e-12, 1.0, 1e200]))
def test_spectral_norm_encloses_the_largest_eigenvalue(seed, shape, scale):
    W = matrix(seed, shape, scale)
    enclosure = spectral_norm(W)
    assert enclosure.exact
    # Independent of the enclosure: the determinant of t^2 I - W^T W keeps its sign beyond the upper end and changes
    # it between the two ends (a simple largest eigenvalue).
    with working_precision(400):
        A = flint.arb_mat(*W.shape, W.ravel().tolist())
        gram = A.transpose() * A if W.shape[0] >= W.shape[1] else A * A.transpose()
        size = gram.nrows()

        def determinant(t: float) -> flint.arb:
            return (
                flint.arb_mat([[flint.arb(t) ** 2 * int(i == j) for j in range(size)] for i in range(size)]) - gram
            ).det()

        assert determinant(np.nextafter(enclosure.upper, np.inf)) > 0
        assert determinant(np.nextafter(enclosure.lower, 0)) < 0


@pytest.mark.parametrize(
    "W", [np.eye(5), np.ones((6, 3)), np.diag([1.0, 1.0, 1e-200]), np.zeros((2, 3)), np.full((1, 1), -3.0)]
)
def test_spectral_norm_of_known_matrices(W):
    enclosure = spectral_norm(W)
    known = {5: 1.0, 6: np.sqrt(18.0), 3: 1.0, 2: 0.0, 1: 3.0}[W.shape[0]]
    assert enclosure.lower <= known * (1 + 1e-15)
    assert known <= enclosure.upper * (1 + 1e-15)
    assert enclosure.exact
    assert spectral_norm_upper(W) == enclosure.upper


@given(
    seed=st.integers(0, 999), blur=st.sampled_from([0.0, 1e-9, 1e-3, 0.1, 3.0]), scale=st.sampled_from([0.3, 1.0, 5.0])
)
def test_spectral_enclosure_holds_in_any_basis(seed, blur, scale):
    W = matrix(seed, (6, 4))
    basis = scale * (np.linalg.svd(W)[2].T + blur * matrix(seed + 1, (4, 4)))
    enclosure, known = spectral_enclosure(W, basis), spectral_norm(W)
    assert enclosure.lower <= known.upper
    assert known.lower <= enclosure.upper
    if blur != 1e-9:  # whose ends are about as far apart as `exact` allows
        assert enclosure.exact == (blur == 0.0)


def test_gershgorin_ends_count_what_lies_off_the_diagonal():
    # All columns of the identity see the same length; only the off-diagonal entries of W^T W tell the norm 2 of W.
    assert spectral_enclosure(np.ones((2, 2)), np.eye(2)).upper >= 2.0


def test_least_singular_value_is_rounded_down_and_0_for_a_singular_matrix():
    assert least_singular_value(0.25 * np.eye(3)) == 0.25
    assert least_singular_value(np.ones((2, 2))) == 0
    for seed in range(20):
        matrix = np.random.default_rng(seed).standard_normal((5, 5))
        exact = np.linalg.svd(matrix)[1][-1]
        assert exact * (1 - 1e-9) <= least_singular_value(matrix) <= exact * (1 + 1e-12)


def test_spectral_norm_of_a_larger_matrix_is_tight():
    enclosure = spectral_norm(matrix(0, (90, 70)))
    assert enclosure.upper <= enclosure.lower * (1 + 1e-11)


@given(seed=st.integers(0, 999), shape=st.tuples(st.integers(1, 5), st.integers(1, 5)))
def test_infinity_to_one_is_the_maximum_over_all_signs(seed, shape):
    W = matrix(seed, shape)
    brute = max(float(s @ W @ t) for s in signs(shape[0]) for t in signs(shape[1]))
    enclosure = infinity_to_one_norm(W)
    assert enclosure.lower * (1 - 1e-14) <= brute <= enclosure.upper * (1 + 1e-14)
    assert enclosure.exact


@pytest.mark.parametrize("shape", [(20, 33), (33, 20), (20, 20)])
def test_enumeration_reaches_twenty_signs(shape):
    W = matrix(4, shape)
    enclosure = infinity_to_one_norm(W)
    assert enclosure.exact
    random_signs = np.random.default_rng(0).choice([-1.0, 1.0], (5000, shape[0]))
    assert np.abs(random_signs @ W).sum(1).max() < enclosure.lower


def test_enumeration_finds_a_planted_maximum():
    rng = np.random.default_rng(2)
    s, t = rng.choice([-1.0, 1.0], 17), rng.choice([-1.0, 1.0], 40)
    W = np.outer(s, t) * rng.uniform(0, 1, (17, 40))  # s^T W t = ||W||_{1,1}: no signs do better
    assert infinity_to_one_norm(W).lower >= entrywise_one_norm(W).upper * (1 - 1e-14)


def test_beyond_twenty_signs_the_ends_are_kept_apart():
    W = matrix(1, (40, 50))
    enclosure = infinity_to_one_norm(W)
    assert not enclosure.exact
    attained = max(float(np.abs(s @ W).sum()) for s in np.random.default_rng(0).choice([-1.0, 1.0], (2000, 40)))
    assert attained <= enclosure.lower  # the local maximum beats random signs
    assert enclosure.upper <= min(entrywise_one_norm_upper(W), np.sqrt(2000) * spectral_norm_upper(W)) * (1 + 1e-15)


def test_beyond_twenty_signs_the_identity_is_exact():
    assert infinity_to_one_norm(np.eye(30)) == NormEnclosure(30.0, 30.0)


@pytest.mark.parametrize("norm", [entrywise_one_norm, spectral_norm, infinity_to_one_norm])
@pytest.mark.parametrize("W", [np.full((2, 2), np.inf), np.zeros((0, 3))])
def test_norms_refuse_what_is_no_matrix(norm, W):
    with pytest.raises(ValueError, match=r"an array of shape .* Give a non-empty matrix of finite numbers"):
        norm(W)
