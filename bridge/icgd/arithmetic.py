"""Two arithmetics for one algorithm: float64 tensors (batched, differentiable) and Arb balls (rigorous, one prompt).

The error propagation of `bridge.icgd.propagation` is written once, over these operations. Shapes: ... batch, n tokens,
m coordinates; a matrix carries its rows and columns last.
"""

from typing import Any, Protocol, runtime_checkable

import flint
import numpy as np
import torch

from numeric.norms import spectral_norm_upper

Array = Any  # a float64 tensor, or a numpy array of flint.arb


@runtime_checkable
class Arithmetic(Protocol):
    """What the propagation needs beside +, -, * and @."""

    def minimum(self, a: Array, b: Array) -> Array: ...

    def largest(self, a: Array) -> Array:
        """Over the last axis."""

    def norm(self, a: Array) -> Array:
        """2-norm over the last axis."""

    def frobenius(self, a: Array) -> Array:
        """2-norm over the last two axes."""

    def spectral(self, a: Array) -> Array:
        """Largest singular value of the last two axes (at least it)."""

    def transpose(self, a: Array) -> Array:
        """Of the last two axes."""

    def joint(self, norms: list[Array]) -> Array:
        """Root of the sum of squares of the given norms."""

    def zeros(self, like: Array) -> Array: ...


class Tensors:
    """Float64 tensors; norms have the gradient 0 at 0."""

    def minimum(self, a: Array, b: Array) -> Array:
        return torch.minimum(a, b)

    def largest(self, a: Array) -> Array:
        return a.amax(-1)

    def norm(self, a: Array) -> Array:
        return root(a.square().sum(-1))

    def frobenius(self, a: Array) -> Array:
        return root(a.square().sum((-1, -2)))

    def spectral(self, a: Array) -> Array:
        if not a.requires_grad:
            return torch.linalg.svdvals(a)[..., 0]
        # The gradient of the largest singular value is u v^T; through autograd's own rule it is undefined at ties.
        with torch.no_grad():
            u, _, vh = torch.linalg.svd(a, full_matrices=False)
        return torch.einsum("...i,...ij,...j->...", u[..., :, 0], a, vh[..., 0, :])

    def transpose(self, a: Array) -> Array:
        return a.mT

    def joint(self, norms: list[Array]) -> Array:
        return self.norm(torch.stack(norms, -1))

    def zeros(self, like: Array) -> Array:
        return torch.zeros_like(like)


def root(squares: torch.Tensor) -> torch.Tensor:
    """With the gradient 0 at 0; what is no number (infinity times 0 in a bound that overflows) bounds nothing."""
    positive = squares > 0
    roots = torch.where(positive, torch.where(positive, squares, 1.0).sqrt(), 0.0)
    return torch.where(squares.isnan(), torch.inf, roots)


class Balls:
    """Numpy arrays of flint.arb at `bits` bits; every result encloses the exact number."""

    def minimum(self, a: Array, b: Array) -> Array:
        return _pairwise_minimum(a, b)

    def largest(self, a: Array) -> Array:
        return _pairwise_maximum.reduce(a, axis=-1)

    def norm(self, a: Array) -> Array:
        return _square_root((a * a).sum(axis=-1))

    def frobenius(self, a: Array) -> Array:
        return _square_root((a * a).sum(axis=(-1, -2)))

    def spectral(self, a: Array) -> Array:
        rows, columns = a.shape[-2:]
        norms = [_spectral_above(matrix) for matrix in a.reshape(-1, rows, columns)]
        return np.array(norms, dtype=object).reshape(a.shape[:-2])

    def transpose(self, a: Array) -> Array:
        return np.swapaxes(a, -1, -2)

    def joint(self, norms: list[Array]) -> Array:
        return self.norm(np.stack([np.asarray(norm, dtype=object) for norm in norms], axis=-1))

    def zeros(self, like: Array) -> Array:
        return balls(np.zeros(like.shape))


_pairwise_minimum = np.frompyfunc(lambda a, b: flint.arb(a).min(flint.arb(b)), 2, 1)
_pairwise_maximum = np.frompyfunc(lambda a, b: flint.arb(a).max(flint.arb(b)), 2, 1)


def _root_of_ball(square: flint.arb) -> flint.arb:
    """A sum of squares is not negative, but its ball may reach below 0, where Arb's root is no number."""
    square = flint.arb(square)
    return square.sqrt() if square > 0 else flint.arb(0).union(square.upper().max(flint.arb(0)).sqrt())


_square_root = np.frompyfunc(_root_of_ball, 1, 1)


def _spectral_above(matrix: np.ndarray) -> flint.arb:
    """||A||_2 <= ||middle||_2 + ||A - middle||_F."""
    middle = np.array([[float(entry.mid()) for entry in row] for row in matrix])
    rest = (matrix - balls(middle)).ravel()
    return flint.arb(spectral_norm_upper(middle)) + _square_root((rest * rest).sum())


def balls(values: np.ndarray) -> Array:
    """Float64 numbers as exact balls."""
    return np.array([flint.arb(float(v)) for v in np.ravel(values)], dtype=object).reshape(np.shape(values))
