"""Domains given by one norm or sum of all entries: balls, spheres, the probability simplex."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.domains.boxes import Box
from bridge.domains.domain import Call, Domain, as_dimension, as_size, place
from bridge.domains.notation import Element, Notation
from bridge.domains.rounding import (
    ball_of,
    dtype_name,
    exact_entries,
    exact_sum,
    exceeds,
    largest_below,
    nearer_zero,
    require_held,
    shown,
    toward_zero,
    written,
)
from bridge.domains.vectors import (
    band,
    coordinate_vectors,
    exponentials,
    flattened,
    gaussians,
    normalised,
    onto_one_norm_ball,
    onto_simplex,
    onto_sphere,
    relative_norms,
    shrunk,
    signs,
    smallest_step,
    sphere_corners,
    tolerance,
)
from numeric.balls import BallArray, working_precision
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError

MESSAGE_BITS = 256


@dataclass(frozen=True, init=False, repr=False)
class Ball(Domain):
    """Ball(*shape, radius=1, norm=2): the norm of all entries as one vector (1, 2 or inf) is at most the radius.

    Membership is exact. The projection leaves what is inside untouched; what is outside lands within a relative
    distance of 6 (N + 8) 2^-53 of the sphere, rounded towards 0 in a coarser dtype.
    """

    radius: sp.Expr
    norm: Norm

    def __init__(self, *shape: Any, radius: Any = 1, norm: Any = Norm.TWO) -> None:
        names = {str(each): each for each in Norm}
        if str(norm) not in names:
            raise UsageError(f"Ball: the norm {norm!r} is not one of {', '.join(names)}")
        dims = tuple(as_dimension(each) for each in shape)
        self._set(shape=dims, radius=as_size("radius", radius), norm=names[str(norm)])

    def _call(self) -> Call:
        return self.shape, {"radius": self.radius, "norm": self.norm}

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Uniform in the ball."""
        return self._scaled(_IN_UNIT_BALL[self.norm](count, self.entries, generator))

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        return self._scaled(_ON_UNIT_SPHERE[self.norm](count, self.entries, generator))

    def project(self, x: Tensor) -> Tensor:
        if self.norm is Norm.INF:
            return self._box.project(x)
        self.require_batch(x)
        if x.numel() == 0:
            return x.detach().clone()
        points = flattened(x, self.entries)  # (B, N)
        landed = toward_zero(self._landed(points), x.dtype).view(x.shape)
        return torch.where(self._are_outside(points).view(-1, *[1] * len(self.dims)), landed, x.detach())

    def bound(self, norm: Norm) -> sp.Expr:
        """radius N^(1/q - 1/p) in the q-norm, of a ball in the p-norm, if q < p; else the radius."""
        exponent = max(_INVERSES[norm] - _INVERSES[self.norm], sp.Integer(0))
        return self.radius * sp.Mul(*self.shape) ** exponent

    def outside(self, x: Tensor) -> str | None:
        if self.norm is Norm.INF:
            return self._box.outside(x)
        power = self._power(exact_entries(x))
        return self._excess(power) if exceeds(power, self._limit) else None

    def condition(self, x: Element, notation: Notation) -> str:
        norm = f"{notation.norm(x, self.norm, self.shape)} {notation.at_most} {notation.number(self.radius)}"
        return notation.both(notation.entries(x, notation.reals, self.shape), norm)

    @property
    def _box(self) -> Box:
        return Box(*self.shape, size=self.radius)

    @cached_property
    def _limit(self) -> sp.Expr:
        """Of `_power`."""
        return self.radius**2 if self.norm is Norm.TWO else self.radius

    def _power(self, entries: list[flint.fmpq]) -> flint.fmpq:
        """The squared 2-norm, or the 1-norm: what is rational for rational entries."""
        return exact_sum(each * each if self.norm is Norm.TWO else abs(each) for each in entries)

    def _scaled(self, units: Tensor) -> Tensor:
        return self.project((units * largest_below(self.radius)).view(len(units), *self.dims))

    def _landed(self, points: Tensor) -> Tensor:
        onto = onto_sphere if self.norm is Norm.TWO else onto_one_norm_ball
        # One step towards 0 covers the rounding of subnormal products, which no relative error bounds.
        return nearer_zero(onto(points, shrunk(largest_below(self.radius), points.shape[1])))

    def _are_outside(self, points: Tensor) -> Tensor:
        """(B,): decided in float64 where its rounding cannot matter, else exactly. False for vectors with nan."""
        norms = relative_norms(points, largest_below(self.radius), self.norm)  # (B)
        outside = norms > 1
        for index in ((norms - 1).abs() <= band(points.shape[1])).nonzero().flatten().tolist():
            outside[index] = exceeds(self._power(exact_entries(points[index])), self._limit)
        return outside

    def _excess(self, power: flint.fmpq) -> str:
        with working_precision(MESSAGE_BITS):
            found = flint.arb(power).sqrt() if self.norm is Norm.TWO else flint.arb(power)
            excess = found - ball_of(self.radius, MESSAGE_BITS)
        return f"||x||_{self.norm} = {_float(found)} exceeds {written(self.radius)} by {shown(_float(excess))}"


@dataclass(frozen=True, init=False, repr=False)
class Sphere(Domain):
    """Sphere(dim, radius=1): vectors of 2-norm `radius`, up to a tolerance.

    The tolerance is relative: max(1e-12, 2 eps + 2 (dim + 8) 2^-52), eps of the tensor's dtype; beside it, two spacings
    of the numbers next to 0 times sqrt(dim). The projection leaves what is within half of it.
    """

    radius: sp.Expr

    def __init__(self, dim: Any, radius: Any = 1) -> None:
        self._set(shape=(as_dimension(dim, least=1),), radius=as_size("radius", radius))

    def _call(self) -> Call:
        return self.shape, {"radius": self.radius}

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Uniform on the sphere."""
        return self.project(onto_sphere(gaussians(count, self.entries, generator), largest_below(self.radius)))

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        return self.project(sphere_corners(count, self.entries, generator) * largest_below(self.radius))

    def project(self, x: Tensor) -> Tensor:
        self.require_batch(x)
        require_held(self.radius, x.dtype)
        radius = largest_below(self.radius)
        points = flattened(x, self.entries)  # (B, N)
        largest, units = normalised(points)
        distances = (torch.linalg.vector_norm(units, dim=1) * largest - radius).abs()  # (B)
        moved = distances > self.slack(x.dtype) / 2  # False for nan
        return torch.where(moved[:, None], onto_sphere(points, radius).to(x.dtype), x.detach())

    # radius x / ||x||_2 has the 2-norm `radius`; for x = 0, which the tolerance of a tiny radius admits, radius e_1.
    def member(self, x: Tensor, bits: int) -> BallArray:
        point = x.detach() if bool(x.any()) else torch.eye(1, self.entries, dtype=torch.float64, device="cpu")[0]
        exactly = BallArray.exactly(point, bits)
        return exactly * ball_of(self.radius, bits) / torch.linalg.vector_norm(exactly)

    def bound(self, norm: Norm) -> sp.Expr:
        return Ball(*self.shape, radius=self.radius).bound(norm)

    def outside(self, x: Tensor) -> str | None:
        with working_precision(MESSAGE_BITS):
            found = flint.arb(exact_sum(each * each for each in exact_entries(x))).sqrt()
            if abs(found - ball_of(self.radius, MESSAGE_BITS)) <= self.slack(x.dtype):
                return None
        within = f"within {shown(self.slack(x.dtype))} in {dtype_name(x.dtype)}"
        return f"||x||_2 = {_float(found)}, expected {written(self.radius)} {within}"

    def slack(self, dtype: torch.dtype) -> float:
        """How far the norm may be from the radius."""
        relative = tolerance(dtype, self.entries) * largest_below(self.radius)
        return relative + 2 * math.sqrt(self.entries) * smallest_step(dtype)

    def condition(self, x: Element, notation: Notation) -> str:
        norm = f"{notation.norm(x, Norm.TWO, self.shape)} = {notation.number(self.radius)}"
        return notation.both(notation.entries(x, notation.reals, self.shape), norm)


@dataclass(frozen=True, init=False, repr=False)
class Simplex(Domain):
    """Simplex(dim): vectors of non-negative entries (exactly) that add up to 1, up to a tolerance.

    The tolerance is max(1e-12, 2 eps + 2 (dim + 8) 2^-52), eps of the tensor's dtype; beside it, two spacings of the
    numbers next to 0 times dim. The projection leaves what is within half of it.
    """

    def __init__(self, dim: Any) -> None:
        self._set(shape=(as_dimension(dim, least=1),))

    def _call(self) -> Call:
        return self.shape, {}

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Uniform on the simplex."""
        drawn = exponentials(count, self.entries, generator)
        return self.project(drawn / drawn.sum(1, keepdim=True))

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        return coordinate_vectors(count, self.entries, generator)

    def project(self, x: Tensor) -> Tensor:
        self.require_batch(x)
        points = flattened(x, self.entries)  # (B, N)
        distances = (points.sum(1) - 1).abs()  # (B)
        undefined = points.isnan().any(1)  # (B)
        kept = undefined | ((points >= 0).all(1) & (distances <= self.slack(x.dtype) / 2))
        return torch.where(kept[:, None], x.detach(), onto_simplex(points).to(x.dtype))

    # x over the sum of its entries, which the tolerance keeps near 1.
    def member(self, x: Tensor, bits: int) -> BallArray:
        exactly = BallArray.exactly(x.detach(), bits)
        return exactly / exactly.sum()

    def bound(self, norm: Norm) -> sp.Expr:
        return sp.Integer(1)

    def outside(self, x: Tensor) -> str | None:
        lowest = int(x.argmin())
        if x[lowest] < 0:
            return f"entry {place(x, lowest)} = {float(x[lowest])} is negative"
        total, slack = exact_sum(exact_entries(x)), self.slack(x.dtype)
        if abs(total - 1) <= flint.fmpq(*slack.as_integer_ratio()):
            return None
        found, within = _float(flint.arb(total)), f"within {shown(slack)} in {dtype_name(x.dtype)}"
        return f"the entries add up to {found}, expected 1 {within}"

    def slack(self, dtype: torch.dtype) -> float:
        """How far the sum may be from 1."""
        return tolerance(dtype, self.entries) + 2 * self.entries * smallest_step(dtype)

    def condition(self, x: Element, notation: Notation) -> str:
        signs = f"{notation.element(x)} {notation.at_least} 0"
        total = f"{notation.norm(x, Norm.ONE, self.shape)} = 1"
        return notation.both(notation.entries(x, notation.reals, self.shape), signs, total)


def _in_euclidean_ball(count: int, entries: int, generator: torch.Generator) -> Tensor:
    normal = gaussians(count, entries, generator)
    lengths = torch.rand(count, 1, generator=generator, dtype=torch.float64, device="cpu") ** (1 / max(entries, 1))
    return lengths * normal / torch.linalg.vector_norm(normal, dim=1, keepdim=True)


def _in_one_norm_ball(count: int, entries: int, generator: torch.Generator) -> Tensor:
    drawn = exponentials(count, entries + 1, generator)
    return signs(count, entries, generator) * drawn[:, 1:] / drawn.sum(1, keepdim=True)


def _in_cube(count: int, entries: int, generator: torch.Generator) -> Tensor:
    return 2 * torch.rand(count, entries, generator=generator, dtype=torch.float64, device="cpu") - 1


def _one_norm_corners(count: int, entries: int, generator: torch.Generator) -> Tensor:
    return signs(count, entries, generator) * coordinate_vectors(count, entries, generator)


def _float(ball: flint.arb) -> float:
    return float(ball.mid())


_IN_UNIT_BALL = {Norm.ONE: _in_one_norm_ball, Norm.TWO: _in_euclidean_ball, Norm.INF: _in_cube}
_ON_UNIT_SPHERE = {Norm.ONE: _one_norm_corners, Norm.TWO: sphere_corners, Norm.INF: signs}
_INVERSES = {Norm.ONE: sp.Integer(1), Norm.TWO: sp.Rational(1, 2), Norm.INF: sp.Integer(0)}  # 1/p
