"""What is required of an element of a domain, as mathematics: one condition, written in LaTeX or in plain text."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import sympy as sp

from bridge.domains.rounding import written
from symbolic.derivations.derivation import Norm, as_expr
from symbolic.latex.typesetting import latex
from symbolic.words.escaping import escape

Shape = tuple[Any, ...]


@dataclass(frozen=True)
class Element:
    """An array by its name; a piece of it, or a row where there are indices."""

    name: str
    pieces: tuple[int, ...] = ()
    indices: tuple[str, ...] = ()

    def piece(self, number: int) -> Self:
        return replace(self, pieces=(*self.pieces, number))

    def row(self, index: str) -> Self:
        return replace(self, indices=(*self.indices, index))


class Notation(ABC):
    """The signs in which a condition is written."""

    member: ClassVar[str]
    at_most: ClassVar[str]
    at_least: ClassVar[str]
    dots: ClassVar[str]
    reals: ClassVar[str]
    comma: ClassVar[str]
    of_all: ClassVar[str]  # before the range of an index
    of_every: ClassVar[str]
    braces: ClassVar[tuple[str, str]]
    norm_bars: ClassVar[str]
    vectorised: ClassVar[str]  # a matrix as one vector
    singular_value: ClassVar[str]  # the k-th
    largest_singular_value: ClassVar[str]

    @abstractmethod
    def number(self, entry: Any) -> str:
        """A dimension or a size."""

    @abstractmethod
    def element(self, x: Element) -> str:
        """The name of the array, with its indices."""

    @abstractmethod
    def power(self, base: str, shape: Shape) -> str:
        """The arrays of that shape with entries in the set `base`."""

    @abstractmethod
    def order(self, norm: Norm) -> str:
        """Below the bars of a norm."""

    @abstractmethod
    def text(self, words: str) -> str:
        """Words inside a condition."""

    def entries(self, x: Element, base: str, shape: Shape) -> str:
        return f"{self.element(x)} {self.member} {self.power(base, shape)}"

    def norm(self, x: Element, norm: Norm, shape: Shape) -> str:
        """Of all entries as one vector."""
        vector = self.element(x) if len(shape) < 2 else f"{self.vectorised}({self.element(x)})"
        return f"{self.norm_bars}{vector}{self.norm_bars}_{self.order(norm)}"

    def interval(self, low: Any, high: Any) -> str:
        return f"[{self.number(low)}, {self.number(high)}]"

    def members(self, *each: str) -> str:
        return f"{self.braces[0]}{', '.join(each)}{self.braces[1]}"

    def every(self, condition: str, index: str, count: Any) -> str:
        return f"{condition}{self.of_all}{index} = 1, {self.dots}, {self.number(count)}"

    def both(self, *conditions: str) -> str:
        return self.comma.join(conditions)


@dataclass(frozen=True)
class Latex(Notation):
    r"""x \in [-1, 1]^{d}. `names` gives the notation of a symbol."""

    names: Mapping[sp.Symbol, str] = field(default_factory=dict)

    member, at_most, at_least, dots, reals = r"\in", r"\le", r"\ge", r"\dots", r"\mathbb{R}"
    comma, of_all, of_every = r",\ ", r"\ \text{for}\ ", r"\ \text{for every}\ "
    braces = (r"\{", r"\}")
    norm_bars, vectorised, singular_value = r"\|", r"\mathrm{vec}", r"\sigma_k"
    largest_singular_value = r"\sigma_{\max}"

    def number(self, entry: Any) -> str:
        decimal = written(as_expr(entry))
        return decimal if as_expr(entry).is_number and "." in decimal else latex(as_expr(entry), self.names)

    def element(self, x: Element) -> str:
        name = latex(sp.Symbol(x.name), self.names)
        above = f"^{{({'.'.join(map(str, x.pieces))})}}" if x.pieces else ""
        below = f"_{{{''.join(x.indices)}}}" if x.indices else ""
        return f"{{{name}}}{above}{below}" if (above or below) and len(name) > 1 else f"{name}{above}{below}"

    def power(self, base: str, shape: Shape) -> str:
        dims = [self.number(each) for each in shape]
        factors = [f"({dim})" if as_expr(each).is_Add else dim for each, dim in zip(shape, dims, strict=True)]
        product = r" \times ".join(factors if len(dims) > 1 else dims)
        return f"{base}^{{{product}}}" if shape else base

    def order(self, norm: Norm) -> str:
        return f"{{{norm.latex}}}"

    def text(self, words: str) -> str:
        return rf"\text{{{escape(words)}}}"


@dataclass(frozen=True)
class Plain(Notation):
    """x in [-1, 1]^d."""

    member, at_most, at_least, dots, reals = "in", "<=", ">=", "...", "R"
    comma, of_all, of_every = ", ", " for ", " for every "
    braces = ("{", "}")
    norm_bars, vectorised, singular_value = "||", "vec", "sigma_k"
    largest_singular_value = "sigma_max"

    def number(self, entry: Any) -> str:
        return written(as_expr(entry))

    def element(self, x: Element) -> str:
        above = f"({'.'.join(map(str, x.pieces))})" if x.pieces else ""
        below = "_" + "".join(x.indices) if x.indices else ""
        return f"{x.name}{above}{below}"

    def power(self, base: str, shape: Shape) -> str:
        dims = [self.number(each) if as_expr(each).is_Atom else f"({self.number(each)})" for each in shape]
        return f"{base}^{dims[0] if len(dims) == 1 else '(' + ' x '.join(dims) + ')'}" if shape else base

    def order(self, norm: Norm) -> str:
        return norm.value

    def text(self, words: str) -> str:
        return words
