"""Common to all backends: the error, the arguments, the contract of a backend, the callable that `lower` returns."""

import keyword
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Protocol, runtime_checkable

import sympy as sp

from .loops import as_index
from .nodes import size

LARGEST_PRINTED = 1000  # nodes; SymPy prints a shared part once for each use, which may take for ever

Value = Any  # the number type of the backend: array, tensor, mpf, arb


class LoweringError(Exception):
    """An expression that a backend cannot express; raised by `lower`, never by the lowered callable.

    Attributes: `backend` (its name), `node` (the innermost SymPy node at fault), `remedy` (what can be done).
    """

    def __init__(self, backend: str, node: sp.Basic, remedy: str) -> None:
        super().__init__(f"{backend} backend: cannot lower {type(node).__name__} `{shortened(node)}`: {remedy}")
        self.backend = backend
        self.node = node
        self.remedy = remedy


def shortened(node: sp.Basic, longest: int = 80) -> str:
    if size(node) > LARGEST_PRINTED:
        return f"{type(node).__name__}(...) of {size(node)} nodes"
    text = str(node)
    return text if len(text) <= longest else text[: longest - 3] + "..."


@dataclass(frozen=True)
class Argument:
    """One argument: the name that the caller uses, the identifier in the generated code, its matrix shape or ()."""

    name: str
    identifier: str
    shape: tuple[int, ...] = ()


@runtime_checkable
class AtPoints(Protocol):
    """A formula at single points, by balls of as many bits as it takes (bridge/lowering/points.py)."""

    def double(self, values: Sequence[Any]) -> Any: ...
    def ball(self, values: Sequence[Any], bits: int, *, smallest: int | None = None) -> Any: ...
    def mended(self, result: Any, mask: Any, arrays: Sequence[Any], core: tuple[int, ...]) -> Any: ...


class Backend(ABC):
    """Computation with one kind of number."""

    name: ClassVar[str]
    names: Mapping[str, Any]  # that generated code may use
    points: AtPoints | None = None  # the formula at single points, if some may have to be computed again
    may_overflow = False  # whether inf and nan may be false
    core_shape: tuple[int, ...] = ()  # of the matrix that the formula is
    farthest = inf  # the exponent of two of arguments beyond which what is computed on the way may leave the range

    @abstractmethod
    def call(self, function: Callable[..., Value], arguments: Sequence[Argument], values: Sequence[Any]) -> Value:
        """Convert the values, run the generated function in the right context, shape what it returns."""


class Lowered:
    """A SymPy expression as a function of numbers; made by `lower`.

    Call it with the arguments in order or by name. Attributes: `args` (the names, in order), `backend` (its name),
    `source` (the generated Python text, for reading).
    """

    def __init__(
        self,
        expr: sp.Basic,
        backend: Backend,
        arguments: Sequence[Argument],
        function: Callable[..., Value],
        source: str,
    ) -> None:
        self.args = tuple(argument.name for argument in arguments)
        self.backend = backend.name
        self.source = source
        self._expr = expr
        self._backend = backend
        self._arguments = tuple(arguments)
        self._function = function

    def __call__(self, *positional: Any, **named: Any) -> Value:
        values = self._bind(positional, named)
        return self._backend.call(self._function, self._arguments, values)

    def bare(self, *values: Any) -> Value:
        """The value at numbers of the backend's own, in order, in the context that is in force: many calls share it."""
        return self._function(None, None, *values)

    def _bind(self, positional: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        if len(positional) == len(self.args) and not named:
            return list(positional)
        given = dict(zip(self.args, positional, strict=False))
        missing = [name for name in self.args if name not in given and name not in named]
        unknown = [name for name in named if name not in self.args]
        twice = [name for name in named if name in given]
        if len(positional) > len(self.args) or missing or unknown or twice:
            raise TypeError(
                f"{self!r}: got {len(positional)} positional arguments and the names {sorted(named)}; "
                f"missing {missing}, unknown {unknown}, given twice {twice}"
            )
        given.update(named)
        return [given[name] for name in self.args]

    def __repr__(self) -> str:
        return f"<{self.backend} function of ({', '.join(self.args)}): {shortened(self._expr)}>"


def check_matrix_shape(argument: Argument, shape: Sequence[int]) -> None:
    """Raise ValueError unless the last two sizes are those of the MatrixSymbol."""
    if argument.shape and tuple(shape[-2:]) != argument.shape:
        rows, columns = argument.shape
        raise ValueError(f"{argument.name}: shape {tuple(shape)}, expected (..., {rows}, {columns})")


def kron(A: Any, B: Any) -> Any:
    """Of batches of matrices, arrays or tensors."""
    blocks = A[..., :, None, :, None] * B[..., None, :, None, :]  # (..., n, p, m, q)
    n, p, m, q = blocks.shape[-4:]
    return blocks.reshape(*blocks.shape[:-4], n * p, m * q)


def entry(A: Any, i: Any, j: Any) -> Any:
    return A[..., as_index(i), as_index(j)]


def as_float(argument: Argument, value: Any) -> float:
    """A number of Python's or SymPy's as the nearest double; ValueError beyond the largest."""
    try:
        found = float(value)
    except OverflowError:
        found = inf
    if found in (inf, -inf) and not (isinstance(value, sp.Number) and value.is_infinite):
        size = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
        raise ValueError(f"{argument.name}: {size} is beyond the range of float64; use mpmath or arb")
    return found


def check_rows(argument: Argument, rows: Any) -> None:
    """Raise ValueError unless these are rows of numbers of the shape of the MatrixSymbol."""
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise ValueError(f"{argument.name}: expected rows of numbers of the shape {argument.shape}, got {rows!r:.80}")
    if not rows and argument.shape[0] == 0:
        return
    lengths = {len(row) for row in rows}
    if len(lengths) != 1:
        raise ValueError(f"{argument.name}: its rows have the lengths {sorted(lengths)}, expected {argument.shape[1:]}")
    check_matrix_shape(argument, (len(rows), *lengths))


def safe_identifier(name: str, position: int, taken: Mapping[str, Any], others: Collection[str]) -> str:
    """The name itself if generated code can use it, else a name that no other argument has."""
    # Python reads identifiers in their NFKC form: a mathematical italic x would be taken for x
    plain = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    if plain and not keyword.iskeyword(name) and not name.startswith("_") and name not in taken:
        return name
    identifier = f"arg{position}"
    while identifier in taken or identifier in others:
        identifier += "_"
    return identifier
