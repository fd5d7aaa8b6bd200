"""A domain: the set from which an input comes, as one object for sampling, search, check and derivation."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.domains.notation import Element, Latex, Notation, Plain
from bridge.domains.rounding import written
from numeric.balls import BallArray
from symbolic.derivations.derivation import Norm
from symbolic.derivations.exact_numbers import as_entry
from symbolic.words.errors import UsageError

Call = tuple[Sequence[Any], dict[str, Any]]  # arguments by place, and by name
Values = Mapping[sp.Symbol, Any]  # letters to ints, floats (the binary rationals they are), exact numbers

CORNER_CYCLE = 12  # the kinds of corners repeat with this period: rows that are each the j-th corner are of one kind


@dataclass(frozen=True, init=False, repr=False)
class Domain(ABC):
    """A compact set of arrays of one shape. Dimensions and sizes are numbers or SymPy expressions in parameters.

    Everything but `at` and `bound` needs numbers: `at` gives them, and raises UsageError for a domain that is empty or
    has no meaning there.

    Laws, at numbers:
    - `complaint` is None for every sample, corner and start, and for every projection without nan;
    - `project(project(x))` equals `project(x)` bitwise;
    - `member(x)` contains an element, for every x that `complaint` accepts;
    - no element has a norm above `bound` (beyond the tolerance below), and some corner attains it, up to rounding
      (SingularValues says where).

    Membership is decided by exact or ball arithmetic on the entries. What floating point cannot meet exactly (Sphere,
    Simplex, SingularValues in a narrow interval) has a tolerance that depends on the dtype of the tensor; Signs rounds
    its size to that dtype. Check a tensor in the dtype in which it was formed. Random tensors are float64 on the CPU,
    the same for a seed of the generator; `project(x.to(dtype))` takes them to another dtype.
    """

    shape: tuple[int | sp.Expr, ...]  # of an element: ints, and expressions where letters are

    @abstractmethod
    def _call(self) -> Call:
        """The arguments that make it."""

    def at(self, values: Values) -> Self:
        """The domain with every letter replaced by its number.

        Raises UsageError for a letter without a number, for a dimension that is negative or no integer, for a negative
        size and for an empty range. Values of other letters have no effect.
        """
        by_place, by_name = self._call()
        numbers = [self._argument_at(each, values) for each in by_place]
        return self.rebuilt(*numbers, **{name: self._argument_at(each, values) for name, each in by_name.items()})

    def _argument_at(self, argument: Any, values: Values) -> Any:
        if isinstance(argument, Domain):
            return argument.at(values)
        return argument if isinstance(argument, str | bool) else self.replaced(argument, values)

    @abstractmethod
    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Independent random elements, (count, *shape), of full dimension: not only extreme ones."""

    @abstractmethod
    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        """Extreme points, (count, *shape), random among many; three of them attain `bound` in every norm.

        The kind of the j-th (a vertex where all is high, a sign vector) depends on j modulo CORNER_CYCLE only.
        """

    @abstractmethod
    def project(self, x: Tensor) -> Tensor:
        """The nearest element in the 2-norm, for each of the batch x, (B, *shape), of any floating dtype and device.

        Rounded so that the result is inside in x's dtype. nan stays nan. Raises UsageError for another shape, and where
        no number of the dtype is in the domain.
        """

    @abstractmethod
    def bound(self, norm: Norm) -> sp.Expr:
        """The largest norm of an element, over all entries as one vector, in the letters."""

    @abstractmethod
    def outside(self, x: Tensor) -> str | None:
        """Which condition a tensor of the right shape with finite entries violates, by how much; None if inside."""

    def complaint(self, x: Tensor) -> str | None:
        """None if x, of shape `shape` without a batch, is in the domain; else what is wrong, in one sentence."""
        return self._malformed(x) or _undefined(x) or self.outside(x.detach().cpu())

    def member(self, x: Tensor, bits: int) -> BallArray:
        """Encloses an element as near to x, without a batch and without complaint, as the tolerance allows.

        x itself, except where floating point cannot meet the domain: what holds there exactly, does on these balls.
        """
        return BallArray.exactly(x.detach(), bits)

    def condition(self, x: Element, notation: Notation) -> str:
        """What is required of an element."""
        return f"{notation.element(x)} {notation.member} {notation.text(str(self))}"

    def latex(self, name: str, names: Mapping[sp.Symbol, str] | None = None) -> str:
        """The condition on an element of that name in LaTeX; `names` gives the notation of a symbol."""
        return self.condition(Element(name), Latex(names or {}))

    def words(self, name: str) -> str:
        """The condition on an element of that name in plain text."""
        return self.condition(Element(name), Plain())

    @property
    def letters(self) -> frozenset[sp.Symbol]:
        """The letters of dimensions and sizes, those of inner domains too."""
        return frozenset().union(*(_letters(getattr(self, each.name)) for each in fields(self)))

    def starts(self, count: int, generator: torch.Generator) -> Tensor:
        """Where a projected gradient ascent starts, (count, *shape): corners, samples, and points between two.

        The points between break the symmetry of corners, at which many entries may have the same gradient.
        """
        corners, samples = self.corners(count, generator), self.sample(count, generator)
        share = torch.rand(per_element(count, corners), generator=generator, dtype=torch.float64, device="cpu") / 2
        kind = (torch.arange(count, dtype=torch.int64, device="cpu") % 4).view(per_element(count, corners))
        between = self.project(torch.lerp(corners, samples, share))
        return torch.where(kind % 2 == 0, corners, torch.where(kind == 1, samples, between))

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape in numbers. Raises UsageError if it has letters."""
        letters = [each for each in self.shape if not isinstance(each, int)]
        if letters:
            raise UsageError(f"{self} has the dimension {letters[0]}; give its letters numbers by at(...)")
        return tuple(int(each) for each in self.shape)

    @property
    def entries(self) -> int:
        """The number of entries of an element."""
        return math.prod(self.dims)

    def replaced(self, entry: int | sp.Expr, values: Values) -> sp.Expr:
        """One entry at the values. Raises UsageError that names a letter without a number."""
        entry = as_entry(entry)
        missing = sorted(entry.free_symbols - set(values), key=str)
        if missing:
            known = ", ".join(sorted(map(str, values))) or "none"
            noun = "letters" if len(missing) > 1 else "letter"
            which = f"the {noun} {', '.join(map(str, missing))}, which {'are' if missing[1:] else 'is'}"
            raise UsageError(f"{self} has {which} not a parameter; parameters: {known}")
        return as_entry(entry.subs({letter: as_entry(values[letter]) for letter in entry.free_symbols}))

    def rebuilt(self, *arguments: Any, **named: Any) -> Self:
        """A domain of the same kind. Raises UsageError that names this one if the arguments are refused."""
        try:
            return type(self)(*arguments, **named)
        except UsageError as error:
            raise UsageError(f"{self}: {error}") from None

    def require_batch(self, x: Tensor) -> None:
        if tuple(x.shape[1:]) != self.dims or x.ndim == 0:
            expected = ", ".join(["batch", *map(str, self.dims)])
            raise UsageError(f"{self}: expected shape ({expected}), got {tuple(x.shape)}")
        if not x.is_floating_point():
            raise UsageError(f"{self}: expected floating-point entries, got {x.dtype}")

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        by_place, by_name = self._call()
        sizes = {name: written(each) if isinstance(each, sp.Expr) else each for name, each in by_name.items()}
        arguments = [*map(str, by_place), *(f"{name}={each}" for name, each in sizes.items())]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _malformed(self, x: Tensor) -> str | None:
        if tuple(x.shape) != self.dims:
            return f"expected shape {self.dims}, got {tuple(x.shape)}"
        return None if x.is_floating_point() else f"expected floating-point entries, got {x.dtype}"


def per_element(count: int, like: Tensor) -> tuple[int, ...]:
    """The shape of one number for each element of a batch."""
    return (count, *[1] * (like.ndim - 1))


def as_dimension(value: Any, least: int = 0) -> int | sp.Expr:
    """A dimension as an int, or as an expression with letters. Raises UsageError if it is not an integer >= least."""
    entry = as_entry(value)
    if entry.free_symbols:
        return entry
    if not entry.is_Integer:
        raise UsageError(f"the dimension {value} is not an integer")
    if entry < least:
        raise UsageError(f"the dimension {value} is {'negative' if entry < 0 else f'below {least}'}")
    return int(entry)


def as_size(name: str, value: Any) -> sp.Expr:
    """A size as an expression. Raises UsageError if it is a negative number."""
    entry = as_entry(value)
    if entry.is_negative:
        raise UsageError(f"the {name} {value} is negative")
    return entry


def place(x: Tensor, flat: int) -> tuple[int, ...]:
    """The index of an entry, from its place in row-major order."""
    return tuple(int(index) for index in np.unravel_index(flat, tuple(x.shape)))


def _letters(value: Any) -> frozenset[sp.Symbol]:
    if isinstance(value, tuple):
        return frozenset().union(*map(_letters, value))
    return value.letters if isinstance(value, Domain) else frozenset(getattr(value, "free_symbols", ()))


def _undefined(x: Tensor) -> str | None:
    wrong = (~x.isfinite()).flatten().nonzero().flatten()
    if len(wrong) == 0:
        return None
    where = place(x, int(wrong[0]))
    more = f" ({len(wrong) - 1} more not finite)" if len(wrong) > 1 else ""
    return f"entry {where} is {float(x[where])}{more}; expected finite numbers"
