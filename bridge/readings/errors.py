"""What is known of an error at a prompt: a signed centre, a radius for each coordinate, radii in the 1- and 2-norm."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch

from bridge.readings.arrays import Array, applied, largest, one_norm, spectral, two_norm
from symbolic.derivation import Norm

Radius = Callable[[], Array]


class Error:
    """|error - centre| <= radius in each coordinate (..., m); ||error - centre||_p <= one, two for each token (...).

    Each of the three sharpens the others: the 2-norm of the radii, their sum, and so on. `one` and `two` are computed
    on demand from what is given for them.
    """

    exact = False  # whether there is none: the value is known exactly

    def __init__(self, centre: Array, radius: Array, *, one: Radius | None = None, two: Radius | None = None) -> None:
        self.centre, self.radius = centre, radius
        self._one, self._two = one, two

    @classmethod
    def none(cls, like: Array) -> "Error":
        zero = torch.zeros_like(like)
        found = cls(zero, zero)
        found.exact = True
        return found

    @classmethod
    def within(cls, norm: Norm, bound: Array, like: Array) -> "Error":
        """All that a bound on the norm of each token says."""
        radius = torch.zeros_like(like) + bound
        known: dict[Norm, dict[str, Radius]] = {
            Norm.INF: {},
            Norm.TWO: {"two": lambda: largest(radius)},
            Norm.ONE: {"one": lambda: largest(radius), "two": lambda: largest(radius)},
        }
        return cls(torch.zeros_like(like), radius, **known[norm])

    @property
    def has_one(self) -> bool:
        """Whether more is known of the 1-norm than the radii and the 2-norm say."""
        return self._one is not None

    @cached_property
    def two(self) -> Array:
        by_radius = two_norm(self.radius)
        return by_radius if self._two is None else torch.minimum(by_radius, self._two())

    # ||v||_1 <= sqrt(m) ||v||_2
    @cached_property
    def one(self) -> Array:
        found = one_norm(self.radius)
        if self._two is not None:
            found = torch.minimum(found, self.two * two_norm(torch.ones_like(self.radius)))
        return found if self._one is None else torch.minimum(found, self._one())

    def spread(self, norm: Norm) -> Array:
        """At least the norm of what the error of each token differs from the centre by."""
        return {Norm.INF: lambda: largest(self.radius), Norm.ONE: lambda: self.one, Norm.TWO: lambda: self.two}[norm]()

    @cached_property
    def absolute(self) -> Array:
        """At least the absolute value of the error, coordinate by coordinate."""
        return abs(self.centre) + self.radius

    def norm(self, norm: Norm) -> Array:
        """At least the norm of the error of each token."""
        if norm is Norm.INF:
            return largest(self.absolute)
        of, radius = (two_norm, self.two) if norm is Norm.TWO else (one_norm, self.one)
        return torch.minimum(of(self.absolute), of(self.centre) + radius)


# |A u| is at most |A| r, ||A_i||_2 ||u||_2 and max_k |A_ik| ||u||_1 in row i.
def mapped(error: Error, matrix: Array) -> Error:
    """Of A x, (..., m) to (..., k)."""
    if error.exact:
        return Error.none(applied(matrix, error.centre))
    size = abs(matrix)
    radius = torch.minimum(applied(size, error.radius), error.two.unsqueeze(-1) * two_norm(matrix))
    if error.has_one:
        radius = torch.minimum(radius, error.one.unsqueeze(-1) * largest(size))

    def two() -> Array:
        found = spectral(matrix) * error.two
        return torch.minimum(found, error.one * largest(two_norm(matrix.mT))) if error.has_one else found

    return Error(
        applied(matrix, error.centre),
        radius,
        one=(lambda: error.one * largest(one_norm(matrix.mT))) if error.has_one else None,
        two=two,
    )


def scaled(error: Error, factor: Any) -> Error:
    """Of a number times x."""
    size = abs(factor)
    return Error(factor * error.centre, size * error.radius, one=lambda: size * error.one, two=lambda: size * error.two)


def added(a: Error, b: Error) -> Error:
    """Of x + y."""
    return Error(a.centre + b.centre, a.radius + b.radius, one=lambda: a.one + b.one, two=lambda: a.two + b.two)
