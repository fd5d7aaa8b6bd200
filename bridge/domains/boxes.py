"""Domains whose entries are free of each other: boxes, sign patterns, integers."""

from dataclasses import dataclass
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.domains.domain import CORNER_CYCLE, Call, Domain, as_dimension, as_size, place
from bridge.domains.notation import Element, Notation
from bridge.domains.rounding import (
    ball_of,
    dtype_name,
    largest_below,
    require_held,
    shown,
    smallest_above,
    written,
)
from bridge.domains.vectors import signs
from numeric.balls import BallArray
from symbolic.derivations.derivation import Norm
from symbolic.derivations.exact_numbers import as_entry
from symbolic.words.errors import UsageError

LARGEST_INTEGER = 2**53  # float64 holds every integer up to here


def vector_bound(norm: Norm, entries: sp.Expr, largest: sp.Expr) -> sp.Expr:
    """The norm of a vector of so many entries, each of the largest absolute value."""
    factors = {Norm.INF: sp.Integer(1), Norm.ONE: entries, Norm.TWO: sp.sqrt(entries)}
    return factors[norm] * largest


@dataclass(frozen=True, init=False, repr=False)
class Box(Domain):
    """Box(*shape, size=1): every entry in [-size, size]; Box(*shape, low=a, high=b): every entry in [a, b].

    In a dtype that does not hold an end, the projection goes to the nearest number of the dtype inside.
    """

    low: sp.Expr
    high: sp.Expr

    def __init__(self, *shape: Any, size: Any = None, low: Any = None, high: Any = None) -> None:
        ends = _ends(type(self).__name__, size, low, high)
        self._set(shape=tuple(as_dimension(each) for each in shape), low=ends[0], high=ends[1])

    def _call(self) -> Call:
        return self.shape, {"low": self.low, "high": self.high}

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        share = torch.rand(count, *self.dims, generator=generator, dtype=torch.float64, device="cpu")
        low, high = self.ends(torch.float64)
        return self.project(low * (1 - share) + high * share)

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        """In each cycle the vertices with all entries high and all low, then random vertices."""
        chosen = torch.randint(0, 2, (count, *self.dims), generator=generator, dtype=torch.int64, device="cpu").bool()
        chosen[::CORNER_CYCLE], chosen[1::CORNER_CYCLE] = True, False
        low, high = self.ends(torch.float64)
        return torch.where(
            chosen,
            torch.tensor(high, dtype=torch.float64, device="cpu"),
            torch.tensor(low, dtype=torch.float64, device="cpu"),
        )

    def project(self, x: Tensor) -> Tensor:
        self.require_batch(x)
        return x.detach().clamp(*self.ends(x.dtype))

    def bound(self, norm: Norm) -> sp.Expr:
        largest = self.high if self.low == -self.high else sp.Max(-self.low, self.high)
        return vector_bound(norm, sp.Mul(*self.shape), largest)

    def outside(self, x: Tensor) -> str | None:
        low, high = self.ends(torch.float64)
        entries = x.double()
        excess = torch.maximum(low - entries, entries - high)
        if bool(((entries >= low) & (entries <= high)).all()):
            return None
        worst = place(x, int(excess.argmax()))
        box = f"[{written(self.low)}, {written(self.high)}]"
        return f"entry {worst} = {float(x[worst])} is outside {box} by {shown(excess[worst])}"

    def condition(self, x: Element, notation: Notation) -> str:
        return notation.entries(x, notation.interval(self.low, self.high), self.shape)

    def ends(self, dtype: torch.dtype) -> tuple[float, float]:
        """The extreme numbers of the dtype in the range. Raises UsageError if there are none."""
        low, high = smallest_above(self.low, dtype), largest_below(self.high, dtype)
        if low > high:
            raise UsageError(f"{self}: no number of {dtype_name(dtype)} is in the range")
        return low, high

    def __repr__(self) -> str:
        if self.low != -self.high:
            return super().__repr__()
        return f"{type(self).__name__}({', '.join([*map(str, self.shape), f'size={written(self.high)}'])})"


@dataclass(frozen=True, init=False, repr=False)
class Integers(Box):
    """Integers(*shape, low=a, high=b): every entry an integer, a <= entry <= b, with integer ends up to 2^53."""

    def __init__(self, *shape: Any, low: Any, high: Any) -> None:
        super().__init__(*shape, low=low, high=high)
        for name, end in (("low", self.low), ("high", self.high)):
            if not end.free_symbols and not (end.is_Integer and abs(end) <= LARGEST_INTEGER):
                raise UsageError(f"Integers: {name} = {end} is not an integer between -2^53 and 2^53")

    __repr__ = Domain.__repr__

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        low, high = self.ends(torch.float64)
        size = (count, *self.dims)
        return torch.randint(
            int(low), int(high) + 1, size, generator=generator, dtype=torch.int64, device="cpu"
        ).double()

    def project(self, x: Tensor) -> Tensor:
        # The numbers of a dtype beyond its consecutive integers are integers, so that rounding and ends are exact.
        return super().project(x.round())

    def outside(self, x: Tensor) -> str | None:
        broken = (x != x.round()).flatten().nonzero().flatten()
        if len(broken) == 0:
            return super().outside(x)
        where = place(x, int(broken[0]))
        return f"entry {where} = {float(x[where])} is not an integer"

    def condition(self, x: Element, notation: Notation) -> str:
        ends = map(notation.number, (self.low, self.high))
        return notation.entries(x, notation.members(next(ends), notation.dots, next(ends)), self.shape)


@dataclass(frozen=True, init=False, repr=False)
class Signs(Domain):
    """Signs(*shape, size=1): every entry is size or -size; in a dtype that does not hold it, rounded towards 0."""

    size: sp.Expr

    def __init__(self, *shape: Any, size: Any = 1) -> None:
        self._set(shape=tuple(as_dimension(each) for each in shape), size=as_size("size", size))

    def _call(self) -> Call:
        return self.shape, {"size": self.size}

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        return self.project(signs(count, self.entries, generator).view(count, *self.dims))

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        return self.sample(count, generator)

    def project(self, x: Tensor) -> Tensor:
        self.require_batch(x)
        require_held(self.size, x.dtype)
        size = torch.full_like(x, largest_below(self.size, x.dtype))
        return torch.where(x.isnan(), x.detach(), torch.copysign(size, x.detach()))

    # A dtype may not hold the size: every entry is +-size itself.
    def member(self, x: Tensor, bits: int) -> BallArray:
        return BallArray.exactly(x.detach().sign(), bits) * ball_of(self.size, bits)

    def bound(self, norm: Norm) -> sp.Expr:
        return vector_bound(norm, sp.Mul(*self.shape), self.size)

    def outside(self, x: Tensor) -> str | None:
        size = largest_below(self.size, x.dtype)
        distance = (x.double().abs() - size).abs()
        if not bool(distance.any()):
            return None
        worst = place(x, int(distance.argmax()))
        return f"entry {worst} = {float(x[worst])} is neither {shown(-size)} nor {shown(size)}"

    def condition(self, x: Element, notation: Notation) -> str:
        signs = notation.members(notation.number(-self.size), notation.number(self.size))
        return notation.entries(x, signs, self.shape)


def _ends(kind: str, size: Any, low: Any, high: Any) -> tuple[sp.Expr, sp.Expr]:
    if (low is None) != (high is None) or (size is not None and low is not None):
        raise UsageError(f"{kind}: give size, or low and high")
    if low is None:
        half = as_size("size", 1 if size is None else size)
        return -half, half
    ends = as_entry(low), as_entry(high)
    if (ends[1] - ends[0]).is_negative:
        raise UsageError(f"{kind}: low = {low} exceeds high = {high}")
    return ends
