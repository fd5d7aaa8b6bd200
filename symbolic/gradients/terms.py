"""Formulas of a backward pass, in the letters of values and cotangents: built simplified, printed, and run on arrays.

A vector is a column of `axes` 1 (a number is one in R^1); tokens are the rows of a matrix, of `axes` 2.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import sympy as sp


class Term:
    """A formula."""

    axes: int

    @property
    def parts(self) -> tuple["Term", ...]:
        """The formulas that it is made of."""
        found = (getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]
        return tuple(each for each in found if isinstance(each, Term))

    def mapped(self, to: Callable[["Term"], "Term"]) -> "Term":
        """The same of other parts."""
        values = (getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]
        return self.simplest(*(to(each) if isinstance(each, Term) else each for each in values))

    @classmethod
    def simplest(cls, *values: Any) -> "Term":
        """The formula of these fields, with numbers in front."""
        return cls(*values)

    def leaves(self) -> Iterator["Lettered"]:
        for part in self.parts:
            yield from part.leaves()

    def replaced(self, known: Callable[["Lettered"], "Term | None"]) -> "Term":
        """The same with other formulas for some leaves, and in these too."""
        return self.mapped(lambda part: part.replaced(known))


class LinearInFirst(Term):
    """Linear in its first part: a number in front of that stands in front of the whole."""

    @classmethod
    def simplest(cls, *values: Any) -> Term:
        factor, term = in_front(values[0])
        of_rest = [term, *values[1:]]
        return combination([(factor, cls(*of_rest))])


@dataclass(frozen=True)
class Lettered(Term):
    """What has a letter: the `kind` "value", "cotangent", "matrix" or "divisor" of an object."""

    kind: str
    of: Hashable
    axes: int

    def mapped(self, to: Callable[[Term], Term]) -> Term:
        return self

    def leaves(self) -> Iterator["Lettered"]:
        yield self

    def replaced(self, known: Callable[["Lettered"], Term | None]) -> Term:
        found = known(self)
        return self if found is None else found.replaced(known)


@dataclass(frozen=True)
class Unity(Term):
    """1, the derivative of the loss by itself."""

    axes: int = 1


@dataclass(frozen=True)
class VectorLike(Term):
    """A vector of fixed entries, as many as `like` has of rows or coordinates; it does not depend on its value."""

    like: Lettered
    axes: int = 1

    @property
    def parts(self) -> tuple[Term, ...]:
        return ()

    def mapped(self, to: Callable[[Term], Term]) -> Term:
        return self


@dataclass(frozen=True)
class OnesVector(VectorLike):
    """All ones, an entry for each row (axis 0), or for each coordinate (axis -1)."""

    axis: int = -1


@dataclass(frozen=True)
class ClassVector(VectorLike):
    """A 1 at the class of that number, from 0 on, an entry for each coordinate."""

    index: int = 0


@dataclass(frozen=True)
class UnitVector(VectorLike):
    """A 1 at the number of the layer, an entry for each row."""

    loop: Hashable = None


@dataclass(frozen=True)
class LinearCombination(Term):
    """sum_i c_i x_i, the c_i numbers in letters."""

    terms: tuple[tuple[sp.Expr, Term], ...]

    @property
    def axes(self) -> int:  # type: ignore[override]
        return max(term.axes for _, term in self.terms)

    @property
    def parts(self) -> tuple[Term, ...]:
        return tuple(term for _, term in self.terms)

    def mapped(self, to: Callable[[Term], Term]) -> Term:
        return combination([(factor, to(term)) for factor, term in self.terms])


@dataclass(frozen=True)
class Transposed(Term):
    of: Term
    axes: int = 2

    @classmethod
    def simplest(cls, *values: Any) -> Term:
        factor, term = in_front(values[0])
        if isinstance(term, OuterProduct):
            return combination([(factor, OuterProduct(term.right, term.left))])
        if isinstance(term, MatrixTimes) and term.axes == 2:
            return combination([(factor, times(cls.simplest(term.right), cls.simplest(term.left)))])
        return combination([(factor, term.of if isinstance(term, Transposed) else cls(term))])


@dataclass(frozen=True)
class ProductOfTwo(Term):
    """Linear in both factors."""

    left: Term
    right: Term

    @property
    def axes(self) -> int:  # type: ignore[override]
        return max(self.left.axes, self.right.axes)

    @classmethod
    def simplest(cls, *values: Any) -> Term:
        (one, left), (other, right) = in_front(values[0]), in_front(values[1])
        return combination([(one * other, cls.of_terms(left, right))])

    @classmethod
    def of_terms(cls, left: Term, right: Term) -> Term:
        return cls(left, right)


@dataclass(frozen=True)
class MatrixTimes(ProductOfTwo):
    """A B, or A b."""

    @property
    def axes(self) -> int:  # type: ignore[override]
        return self.right.axes


@dataclass(frozen=True)
class OuterProduct(ProductOfTwo):
    """x y^T of two vectors."""

    @property
    def axes(self) -> int:  # type: ignore[override]
        return 2


@dataclass(frozen=True)
class DotProduct(ProductOfTwo):
    """x^T y of two vectors."""


@dataclass(frozen=True)
class EntryProduct(ProductOfTwo):
    """x * y, entry by entry."""

    @classmethod
    def of_terms(cls, left: Term, right: Term) -> Term:
        return right if left == Unity() else left if right == Unity() else cls(left, right)


@dataclass(frozen=True)
class NumberTimes(ProductOfTwo):
    """A number, which is a formula, times x."""

    @classmethod
    def of_terms(cls, left: Term, right: Term) -> Term:
        return right if left == Unity() else left if right == Unity() else cls(left, right)


@dataclass(frozen=True)
class RowsTimes(ProductOfTwo):
    """diag(v) X: each row of X times its entry of v."""


@dataclass(frozen=True)
class Divided(LinearInFirst, ProductOfTwo):
    """x / r, each row of x by its entry of r; `left` is x."""


@dataclass(frozen=True)
class FunctionOf(Term):
    """A function of that name, entry by entry; `expr` is its formula in `letter`; `slope`: its derivative."""

    name: str
    expr: sp.Expr
    letter: sp.Symbol
    argument: Term
    slope: bool = False

    @property
    def axes(self) -> int:  # type: ignore[override]
        return self.argument.axes


@dataclass(frozen=True)
class LayerSum(LinearInFirst):
    """The sum over the layers of a loop."""

    of: Term
    loop: Hashable

    @property
    def axes(self) -> int:  # type: ignore[override]
        return self.of.axes


def in_front(term: Term) -> tuple[sp.Expr, Term]:
    """The number in front of a formula, and the rest."""
    if isinstance(term, LinearCombination) and len(term.terms) == 1:
        return term.terms[0]
    return sp.S.One, term


def combination(terms: Sequence[tuple[sp.Expr, Term]]) -> Term:
    """sum_i c_i x_i, equal terms together."""
    found: dict[Term, sp.Expr] = {}
    for factor, term in terms:
        own = term.terms if isinstance(term, LinearCombination) else ((sp.S.One, term),)
        for inner, each in own:
            found[each] = found.get(each, sp.S.Zero) + factor * inner
    flat = [(factor, term) for term, factor in found.items() if factor != 0] or [(sp.S.Zero, next(iter(found)))]
    return flat[0][1] if len(flat) == 1 and flat[0][0] == 1 else LinearCombination(tuple(flat))


def times(matrix: Term, right: Term) -> Term:
    return MatrixTimes.simplest(matrix, right)


def outer(x: Term, y: Term) -> Term:
    return OuterProduct.simplest(x, y)


def entrywise(x: Term, y: Term) -> Term:
    return EntryProduct.simplest(x, y)


def transposed(x: Term) -> Term:
    return Transposed.simplest(x)
