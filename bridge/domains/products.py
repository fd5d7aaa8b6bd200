"""Domains made of domains: rows that each lie in one, vectors joined of several, and named inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import sympy as sp
import torch
from torch import Tensor

from bridge.domains.boxes import vector_bound
from bridge.domains.domain import CORNER_CYCLE, Call, Domain, Values, as_dimension
from bridge.domains.notation import Element, Notation
from numeric.balls import BallArray
from symbolic.derivations.derivation import Norm, as_expr
from symbolic.words.errors import UsageError

Inputs = dict[str, Tensor]
INDICES = ("i", "j", "k", "l", *(f"i_{place}" for place in range(1, 100)))  # of rows


@dataclass(frozen=True, init=False, repr=False)
class Rows(Domain):
    """Rows(count, row): arrays (count, *row.shape) whose rows each lie in the domain `row`.

    `bound` is of all rows as one vector; `row.bound` is of each. With `or_fewer`, arrays of fewer rows, at least one,
    are elements too; random ones have all `count` rows.
    """

    row: Domain
    or_fewer: bool

    def __init__(self, count: Any, row: Domain, *, or_fewer: bool = False) -> None:
        self._set(shape=(as_dimension(count), *row.shape), row=row, or_fewer=or_fewer)

    def _call(self) -> Call:
        return (self.shape[0], self.row), {"or_fewer": True} if self.or_fewer else {}

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        return self.row.sample(count * self.dims[0], generator).view(count, *self.dims)

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        """All rows of one element are corners of one kind, so that they attain the bound together."""
        cycles = -(-count // CORNER_CYCLE) * CORNER_CYCLE
        drawn = self.row.corners(self.dims[0] * cycles, generator).view(self.dims[0], cycles, *self.row.dims)
        return drawn[:, :count].transpose(0, 1).contiguous()

    def project(self, x: Tensor) -> Tensor:
        self._of(x.shape[1:]).require_batch(x)
        rows = x.reshape(len(x) * x.shape[1], *self.row.dims)
        return self.row.project(rows).view(x.shape)

    def _of(self, shape: tuple[int, ...]) -> Self:
        """The elements with as many rows as the shape has, where that may differ."""
        fewer = self.or_fewer and len(shape) == len(self.shape) and 1 <= shape[0] < self.dims[0]
        return self.rebuilt(shape[0], self.row) if fewer else self

    def _malformed(self, x: Tensor) -> str | None:
        own = self._of(tuple(x.shape))
        return super()._malformed(x) if own is self else own._malformed(x)

    def member(self, x: Tensor, bits: int) -> BallArray:
        balls = [ball for row in x for ball in self.row.member(row, bits).balls]
        return BallArray(balls, tuple(x.shape), bits)

    def bound(self, norm: Norm) -> sp.Expr:
        return vector_bound(norm, as_expr(self.shape[0]), self.row.bound(norm))

    def outside(self, x: Tensor) -> str | None:
        found = {index: complaint for index, row in enumerate(x) if (complaint := self.row.outside(row))}
        if not found:
            return None
        index, complaint = next(iter(found.items()))
        more = f" (and {len(found) - 1} more of {len(x)} rows)" if len(found) > 1 else ""
        return f"row {index}: {complaint}{more}"

    def condition(self, x: Element, notation: Notation) -> str:
        taken = {x.name, *x.indices, *map(str, self.letters)}
        index = next(letter for letter in INDICES if letter not in taken)
        return notation.every(self.row.condition(x.row(index), notation), index, self.shape[0])


@dataclass(frozen=True, init=False, repr=False)
class Concatenated(Domain):
    """Concatenated(*parts): vectors of the entries of one element of each part, in turn, row by row.

    The parameters of a network as one vector, each layer in a domain of its own.
    """

    parts: tuple[Domain, ...]

    def __init__(self, *parts: Domain) -> None:
        self._set(shape=(as_dimension(sp.Add(*(sp.Mul(*part.shape) for part in parts))),), parts=parts)

    def _call(self) -> Call:
        return self.parts, {}

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        return self._joined(count, [part.sample(count, generator) for part in self.parts])

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        """All parts of one element are corners of one kind, so that they attain the bound together."""
        return self._joined(count, [part.corners(count, generator) for part in self.parts])

    def project(self, x: Tensor) -> Tensor:
        self.require_batch(x)
        pieces = zip(self.parts, self._split(x), strict=True)
        return self._joined(len(x), [part.project(piece) for part, piece in pieces])

    def member(self, x: Tensor, bits: int) -> BallArray:
        pieces = zip(self.parts, self._split(x.unsqueeze(0)), strict=True)
        balls = [ball for part, piece in pieces for ball in part.member(piece[0], bits).balls]
        return BallArray(balls, self.dims, bits)

    def bound(self, norm: Norm) -> sp.Expr:
        bounds = [part.bound(norm) for part in self.parts if 0 not in part.shape]
        if norm is Norm.INF:
            return sp.Max(0, *bounds)
        return sp.Add(*bounds) if norm is Norm.ONE else sp.sqrt(sp.Add(*(each**2 for each in bounds)))

    def outside(self, x: Tensor) -> str | None:
        pieces = zip(self.parts, self._split(x.unsqueeze(0)), strict=True)
        complaints = [part.outside(piece[0]) for part, piece in pieces]
        return next((f"part {place}: {each}" for place, each in enumerate(complaints) if each), None)

    def _joined(self, count: int, pieces: list[Tensor]) -> Tensor:
        """(count, entries) of a batch of each part."""
        return torch.cat(
            [piece.reshape(count, part.entries) for part, piece in zip(self.parts, pieces, strict=True)], 1
        )

    def _split(self, x: Tensor) -> list[Tensor]:
        """A batch of each part, of a batch of vectors."""
        pieces = x.split([part.entries for part in self.parts], 1)
        return [piece.reshape(len(x), *part.dims) for part, piece in zip(self.parts, pieces, strict=True)]

    def condition(self, x: Element, notation: Notation) -> str:
        pieces = [x.piece(place) for place in range(1, len(self.parts) + 1)]
        whole = f"{notation.element(x)} = ({', '.join(map(notation.element, pieces))})"
        each = zip(self.parts, pieces, strict=True)
        return notation.both(whole, *(part.condition(piece, notation) for part, piece in each))


@dataclass(frozen=True, init=False, repr=False)
class Product:
    """Product({name: domain}): named inputs, each in its own domain; the methods of Domain over dicts by name.

    Every tensor of a batch has the same leading dimension. Each name draws from the generator in turn.
    """

    domains: Mapping[str, Domain]

    def __init__(self, domains: Mapping[str, Domain]) -> None:
        object.__setattr__(self, "domains", MappingProxyType(dict(domains)))

    def __getitem__(self, name: str) -> Domain:
        return self.domains[name]

    def at(self, values: Values) -> Self:
        """Each domain at the values. Raises UsageError with the name of the input."""
        return type(self)({name: _at(name, domain, values) for name, domain in self.domains.items()})

    def sample(self, count: int, generator: torch.Generator) -> Inputs:
        return {name: domain.sample(count, generator) for name, domain in self.domains.items()}

    def corners(self, count: int, generator: torch.Generator) -> Inputs:
        return {name: domain.corners(count, generator) for name, domain in self.domains.items()}

    def starts(self, count: int, generator: torch.Generator) -> Inputs:
        return {name: domain.starts(count, generator) for name, domain in self.domains.items()}

    def project(self, inputs: Mapping[str, Tensor]) -> Inputs:
        """Each input projected. Raises UsageError for a missing or an unknown name."""
        if wrong := self._wrong_names(inputs):
            raise UsageError(f"Product: {wrong}")
        return {name: domain.project(inputs[name]) for name, domain in self.domains.items()}

    def members(self, inputs: Mapping[str, Tensor], bits: int) -> dict[str, BallArray]:
        """Encloses an element of each domain, near its input."""
        return {name: domain.member(inputs[name], bits) for name, domain in self.domains.items()}

    def complaint(self, inputs: Mapping[str, Tensor]) -> str | None:
        """None if each input, without a batch, is in its domain; else every input that is not, with the reason."""
        if wrong := self._wrong_names(inputs):
            return wrong
        found = {name: domain.complaint(inputs[name]) for name, domain in self.domains.items()}
        return "; ".join(f"{name}: {complaint}" for name, complaint in found.items() if complaint) or None

    def bound(self, norm: Norm) -> dict[str, sp.Expr]:
        """The largest norm of each input."""
        return {name: domain.bound(norm) for name, domain in self.domains.items()}

    @property
    def shape(self) -> dict[str, tuple[Any, ...]]:
        return {name: domain.shape for name, domain in self.domains.items()}

    def __repr__(self) -> str:
        return f"Product({', '.join(f'{name}={domain}' for name, domain in self.domains.items())})"

    def __hash__(self) -> int:
        return hash(frozenset(self.domains.items()))

    def _wrong_names(self, inputs: Mapping[str, Tensor]) -> str | None:
        if set(inputs) == set(self.domains):
            return None
        return f"expected {', '.join(self.domains)}; got {', '.join(inputs) or 'nothing'}"


def _at(name: str, domain: Domain, values: Values) -> Domain:
    try:
        return domain.at(values)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None
