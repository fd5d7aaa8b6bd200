"""What is known of an error at a prompt: a signed centre, a radius for each coordinate, radii in the 1- and 2-norm."""

import operator
from collections.abc import Callable
from functools import cached_property, reduce
from typing import Any

import torch

from bridge.readings.arrays import Array, applied, is_number, largest, one_norm, spectral, two_norm
from symbolic.derivations.derivation import Norm

Radius = Callable[[], Array]


def total(*terms: Array) -> Array | None:
    """Their sum; None for none."""
    return reduce(operator.add, terms) if terms else None


class Error:
    """|error - centre| <= radius in each coordinate (..., m); ||error - centre||_p <= one, two for each token (...).

    Each of the three sharpens the others: the 2-norm of the radii, their sum, and so on. `one` and `two` are computed
    on demand from what is given for them. A centre or radius of None is 0, of the shape of `like`, and costs nothing.
    """

    def __init__(
        self,
        centre: Array | None,
        radius: Array | None,
        *,
        one: Radius | None = None,
        two: Radius | None = None,
        like: Array = None,
    ) -> None:
        self._centre, self._radius, self._one, self._two = centre, radius, one, two
        self._like = next(each for each in (centre, radius, like) if each is not None)

    @classmethod
    def none(cls, like: Array) -> "Error":
        return cls(None, None, like=like)

    @classmethod
    def known(cls, error: Array) -> "Error":
        """The error itself."""
        return cls(error, None)

    @classmethod
    def within(cls, norm: Norm, bound: Array, like: Array) -> "Error":
        """All that a bound on the norm of each token says: a number, or one for each token, (..., 1)."""
        return _BoundedError(norm, bound, like)

    @classmethod
    def where(cls, flag: Array, one: "Error", other: "Error") -> "Error":
        """One of two, by a tensor of one truth value."""
        return cls(
            torch.where(flag, one.centre, other.centre),
            torch.where(flag, one.radius, other.radius),
            one=lambda: torch.where(flag, one.one, other.one),
            two=lambda: torch.where(flag, one.two, other.two),
        )

    # What is 0, or follows from a single bound, so that a rule need not compute with it.

    @property
    def is_centred(self) -> bool:
        return self._centre is None

    @property
    def is_known(self) -> bool:
        return self._radius is None

    @property
    def is_none(self) -> bool:
        return self.is_centred and self.is_known

    @property
    def only(self) -> Norm | None:
        """The norm of which a bound says all that is known."""
        return None

    @property
    def has_one(self) -> bool:
        """Whether more is known of the 1-norm than the radii and the 2-norm say."""
        return self._one is not None

    # The parts.

    @cached_property
    def centre(self) -> Array:
        return torch.zeros_like(self._like) if self._centre is None else self._centre

    @cached_property
    def radius(self) -> Array:
        return torch.zeros_like(self._like) if self._radius is None else self._radius

    @cached_property
    def two(self) -> Array:
        if self.is_known:
            return torch.zeros_like(self._like[..., 0])
        by_radius = two_norm(self.radius)
        return by_radius if self._two is None else torch.minimum(by_radius, self._two())

    # ||v||_1 <= sqrt(m) ||v||_2
    @cached_property
    def one(self) -> Array:
        if self.is_known:
            return torch.zeros_like(self._like[..., 0])
        found = one_norm(self.radius)
        if self._two is not None:
            found = torch.minimum(found, self.two * two_norm(torch.ones_like(self.radius)))
        return found if self._one is None else torch.minimum(found, self._one())

    def scaled(self, factor: Any) -> "Error":
        size = abs(factor)
        return Error(
            None if self.is_centred else factor * self.centre,
            None if self.is_known else size * self.radius,
            one=(lambda: size * self.one) if self.has_one else None,
            two=lambda: size * self.two,
            like=self._like,
        )

    def plus(self, other: "Error") -> "Error":
        if self._like.shape != other._like.shape:  # the one without tokens is that of each token
            return self._for_both(other).plus(other._for_both(self))
        if self.is_none or other.is_none:
            return other if self.is_none else self
        unknown = [each for each in (self, other) if not each.is_known]
        return Error(
            total(*(each.centre for each in (self, other) if not each.is_centred)),
            total(*(each.radius for each in unknown)),
            one=lambda: total(*(each.one for each in unknown)),
            two=lambda: total(*(each.two for each in unknown)),
            like=self._like,
        )

    def _for_both(self, other: "Error") -> "Error":
        """For values of the shape that both have together."""
        zero = torch.zeros_like(self._like) + torch.zeros_like(other._like)
        return Error(zero + self.centre, zero + self.radius, one=lambda: self.one, two=lambda: self.two)

    # |A u| is at most |A| r, ||A_i||_2 ||u||_2 and max_k |A_ik| ||u||_1 in row i.
    def mapped(self, matrix: Array) -> "Error":
        """Of A x, (..., m) to (..., k)."""
        if self.is_known:
            return Error(applied(matrix, self.centre), None)
        size = abs(matrix)
        radius = torch.minimum(applied(size, self.radius), self.two.unsqueeze(-1) * two_norm(matrix))
        if self.has_one:
            radius = torch.minimum(radius, self.one.unsqueeze(-1) * largest(size))

        def two() -> Array:
            found = spectral(matrix) * self.two
            return torch.minimum(found, self.one * largest(two_norm(matrix.mT))) if self.has_one else found

        return Error(
            None if self.is_centred else applied(matrix, self.centre),
            radius,
            one=(lambda: self.one * largest(one_norm(matrix.mT))) if self.has_one else None,
            two=two,
        )

    def after(self, exact: Array) -> Array:
        """The exact value moved by the centre."""
        return exact if self.is_centred else exact + self.centre

    def spread(self, norm: Norm) -> Array:
        """At least the norm of what the error of each token differs from the centre by."""
        return {Norm.INF: lambda: largest(self.radius), Norm.ONE: lambda: self.one, Norm.TWO: lambda: self.two}[norm]()

    @cached_property
    def absolute(self) -> Array:
        """At least the absolute value of the error, coordinate by coordinate."""
        if self.is_centred:
            return self.radius
        return abs(self.centre) if self.is_known else abs(self.centre) + self.radius

    def norm(self, norm: Norm) -> Array:
        """At least the norm of the error of each token."""
        if norm is Norm.INF:
            return largest(self.absolute)
        of, radius = (two_norm, lambda: self.two) if norm is Norm.TWO else (one_norm, lambda: self.one)
        if self.is_centred or self.is_known:
            return radius() if self.is_centred else of(self.centre)
        return torch.minimum(of(self.absolute), of(self.centre) + radius())


class _BoundedError(Error):
    """A bound on the norm of each token: it bounds each coordinate, and the p-norms above it."""

    def __init__(self, norm: Norm, bound: Array, like: Array) -> None:
        super().__init__(None, None, like=like)
        self.bounded, self.bound = norm, bound

    @property
    def is_known(self) -> bool:
        return False

    @property
    def only(self) -> Norm | None:
        return self.bounded

    @property
    def has_one(self) -> bool:
        return self.bounded is Norm.ONE

    @cached_property
    def radius(self) -> Array:
        return torch.zeros_like(self._like) + self.bound

    @cached_property
    def _of_tokens(self) -> Array:
        bound = self.bound if is_number(self.bound) else self.bound.squeeze(-1)
        return torch.zeros_like(self._like[..., 0]) + bound

    @cached_property
    def two(self) -> Array:
        return two_norm(self.radius) if self.bounded is Norm.INF else self._of_tokens

    @cached_property
    def one(self) -> Array:
        if self.bounded is Norm.ONE:
            return self._of_tokens
        by_radius = one_norm(self.radius)
        if self.bounded is Norm.INF:
            return by_radius
        return torch.minimum(by_radius, self.two * two_norm(torch.ones_like(self.radius)))

    def norm(self, norm: Norm) -> Array:
        return self._of_tokens if norm in (self.bounded, Norm.INF) else super().norm(norm)
