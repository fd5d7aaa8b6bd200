"""Norms of float64 matrices with certified enclosures: lower <= exact norm <= upper, both rounded outward.

Upper ends enter instance bounds as they are: they stay proofs.
"""

from typing import NamedTuple

import flint
import numpy as np
from jaxtyping import Float64

from numeric.balls import Arb, ball_maximum, float_above, float_below, working_precision

ENUMERATED_SIGNS = 20  # infinity_to_one_norm enumerates the sign vectors of a side up to this long
SIGNS_AT_ONCE = 1 << 14
BITS = 160


class NormEnclosure(NamedTuple):
    """lower <= norm <= upper."""

    lower: float
    upper: float

    @property
    def exact(self) -> bool:
        """Whether the two ends agree up to rounding (relative width at most 1e-9)."""
        return self.upper - self.lower <= 1e-9 * self.upper


def entrywise_one_norm(W: Float64[np.ndarray, "m n"]) -> NormEnclosure:
    """||W||_{1,1}, the sum of the absolute values of all entries; equal or neighbouring floats."""
    _require_finite_matrix("entrywise_one_norm", W)
    with working_precision(BITS):
        total = sum((abs(flint.arb(entry)) for entry in W.ravel().tolist()), start=flint.arb(0))
        return NormEnclosure(float_below(total), float_above(total))


def entrywise_one_norm_upper(W: Float64[np.ndarray, "m n"]) -> float:
    """||W||_{1,1}, rounded up."""
    return entrywise_one_norm(W).upper


def spectral_norm(W: Float64[np.ndarray, "m n"]) -> NormEnclosure:
    """The largest singular value; relative width about 1e-14 (0.2 s at 256 x 256, growing like the cube)."""
    _require_finite_matrix("spectral_norm", W)
    largest_entry = float(np.abs(W).max())
    if largest_entry == 0:
        return NormEnclosure(0.0, 0.0)
    tall = W if W.shape[0] >= W.shape[1] else W.T
    basis = np.linalg.svd(tall / largest_entry)[2].T  # (n, n); scaled lest squares overflow, and only approximate
    return spectral_enclosure(tall, basis)


def spectral_enclosure(W: Float64[np.ndarray, "m n"], basis: Float64[np.ndarray, "n n"]) -> NormEnclosure:
    """Encloses the largest singular value of W != 0 with any basis V of R^n; tight when W^T W is diagonal in it.

    For every y, |W V y|^2 / |V y|^2 lies below the largest Gershgorin end of V^T W^T W V over the smallest one of
    V^T V, and each column of V gives a lower bound. Where V^T V has no positive end, max |w_ij| and ||W||_F.
    """
    with working_precision(BITS):
        columns = flint.arb_mat(*basis.shape, basis.ravel().tolist())
        image = flint.arb_mat(*W.shape, W.ravel().tolist()) * columns
        numerator, denominator = image.transpose() * image, columns.transpose() * columns
        smallest = -ball_maximum([-end for end in _gershgorin_ends(denominator, -1)])
        if not smallest > 0:
            return _frobenius_enclosure(W)
        largest = ball_maximum(_gershgorin_ends(numerator, 1))
        quotients = [numerator[i, i] / denominator[i, i] for i in range(basis.shape[1])]
        return NormEnclosure(float_below(ball_maximum(quotients).sqrt()), float_above((largest / smallest).sqrt()))


def spectral_norm_upper(W: Float64[np.ndarray, "m n"]) -> float:
    """The largest singular value, rounded up."""
    return spectral_norm(W).upper


def least_singular_value(W: Float64[np.ndarray, "m m"]) -> float:
    """1/||W^-1||_2 of a square matrix, rounded down; 0 where balls do not tell W from a singular matrix."""
    _require_finite_matrix("least_singular_value", W)
    with working_precision(BITS):
        try:
            inverse = flint.arb_mat(W.tolist()).inv().entries()
        except ZeroDivisionError:
            return 0.0
        middle = [float(each.mid()) for each in inverse]
        off = sum((abs(each - near) for each, near in zip(inverse, middle, strict=True)), start=flint.arb(0))
        return float_below(1 / (spectral_norm(np.array(middle).reshape(W.shape)).upper + off))


def infinity_to_one_norm(W: Float64[np.ndarray, "m n"]) -> NormEnclosure:
    """sup over ||x||_inf <= 1 of ||x^T W||_1 = max over sign vectors s, t of s^T W t.

    Enumerated when the shorter side is at most 20; beyond, the upper end is min(||W||_{1,1}, sqrt(m n) ||W||_2) and
    the lower end a local maximum, and `exact` is False.
    """
    _require_finite_matrix("infinity_to_one_norm", W)
    wide = W if W.shape[0] <= W.shape[1] else W.T  # max_s,t s^T W t is the same for W^T
    if wide.shape[0] <= ENUMERATED_SIGNS:
        return _enumerated_infinity_to_one(wide)
    signs = _locally_best_signs(wide)
    with working_precision(BITS):
        root = flint.arb(W.size).sqrt()
        dimension_bound = float_above(root * flint.arb(spectral_norm_upper(W)))
    return NormEnclosure(_exact_value_at(signs, wide), min(entrywise_one_norm_upper(W), dimension_bound))


def _enumerated_infinity_to_one(W: np.ndarray) -> NormEnclosure:
    rows, columns = W.shape
    free = rows - 1  # s and -s give the same value: the first sign stays +
    best_value, best_signs = -1.0, np.ones(rows)
    for start in range(0, 1 << free, SIGNS_AT_ONCE):
        numbers = np.arange(start, min(start + SIGNS_AT_ONCE, 1 << free))
        signs = np.ones((len(numbers), rows))
        signs[:, 1:] = 1.0 - 2.0 * ((numbers[:, None] >> np.arange(free)) & 1)
        values = np.abs(signs @ W).sum(axis=1)
        best = int(values.argmax())
        if values[best] > best_value:
            best_value, best_signs = float(values[best]), signs[best]
    # Products with signs are exact. In any order of summation the computed |s^T W| sums differ from the exact ones by
    # at most gamma_{m+n} ||W||_{1,1} with gamma_k = k u / (1 - k u), u = 2^-53 (Higham 2002, section 4.2).
    with working_precision(BITS):
        unit = flint.arb(rows + columns) * flint.arb(2.0**-53)
        slack = unit / (1 - unit) * flint.arb(entrywise_one_norm_upper(W))
        upper = float_above(flint.arb(best_value) + slack)
    return NormEnclosure(_exact_value_at(best_signs, W), min(upper, entrywise_one_norm_upper(W)))


def _exact_value_at(signs: np.ndarray, W: np.ndarray) -> float:
    """||s^T W||_1 rounded down."""
    with working_precision(BITS):
        image = flint.arb_mat(1, len(signs), signs.tolist()) * flint.arb_mat(*W.shape, W.ravel().tolist())
        return float_below(sum((abs(entry) for entry in image.entries()), start=flint.arb(0)))


def _locally_best_signs(W: np.ndarray) -> np.ndarray:
    signs = np.where(np.linalg.svd(W)[0][:, 0] < 0, -1.0, 1.0)
    for _ in range(50):
        signs = np.where(W @ np.sign(signs @ W) < 0, -1.0, 1.0)
    return signs


def _gershgorin_ends(matrix: flint.arb_mat, sign: int) -> list[Arb]:
    """For each row, diagonal entry plus (sign 1) or minus (sign -1) the sum of the other absolute values."""
    rows = matrix.tolist()
    return [
        row[i] + sign * sum((abs(entry) for j, entry in enumerate(row) if j != i), start=flint.arb(0))
        for i, row in enumerate(rows)
    ]


def _frobenius_enclosure(W: np.ndarray) -> NormEnclosure:
    """max |w_ij| <= ||W||_2 <= ||W||_F: the fallback if the eigenvectors do not form a basis."""
    with working_precision(BITS):
        total = sum((flint.arb(entry) * flint.arb(entry) for entry in W.ravel().tolist()), start=flint.arb(0))
        return NormEnclosure(float(np.abs(W).max()), float_above(total.sqrt()))


def _require_finite_matrix(call: str, W: np.ndarray) -> None:
    if W.ndim != 2 or W.size == 0 or not np.isfinite(W).all():
        raise ValueError(f"{call}: an array of shape {W.shape}. Give a non-empty matrix of finite numbers.")
