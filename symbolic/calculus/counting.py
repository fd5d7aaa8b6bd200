"""Counts and norms of a construction, read off a description of its layers in letters: heads, width, column sums.

||A||_1 is the largest column sum of A, and a layer has the norm

    attention, MLP     max over heads of max(||Q||_1, ||K||_1) + sum over heads of ||V||_1 + ||W_1||_1 + ||W_2||_1,
    multiplication     max over heads of max(||Q||_1, ||K||_1, ||V||_1).

A description lists what a network holds, as a builder lists it: families of heads, and classes of equal columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Derivation, Norm, as_expr, rule_step
from symbolic.derivations.obligations import is_refuted
from symbolic.derivations.signs import from_one, is_nonnegative


# A column sum is at most the sum over the kinds of its entries of their number times their largest absolute value.
# Equality: every entry has the largest absolute value of its kind.
@dataclass(frozen=True)
class Columns:
    """A matrix by classes of columns: the entries of each, as pairs (how many, of what absolute value at most)."""

    entries: Mapping[str, tuple[tuple[Any, Any], ...]]

    @cached_property
    def norm(self) -> sp.Expr:
        """||A||_1, without the classes that another one exceeds for all sizes."""
        return largest([sp.Add(*(as_expr(n) * as_expr(size) for n, size in kinds)) for kinds in self.entries.values()])


@dataclass(frozen=True)
class Heads:
    """`copies` copies of `each` heads. `values` is the sum of ||V||_1 over the heads of one copy."""

    copies: Any
    each: Any
    values: Any
    query_key: Any = 1

    @property
    def count(self) -> sp.Expr:
        return as_expr(self.copies) * as_expr(self.each)


@dataclass(frozen=True)
class CountedAttention:
    """A layer of these families of heads."""

    families: tuple[Heads, ...]

    @property
    def heads(self) -> sp.Expr:
        return sp.Add(*(family.count for family in self.families))

    @property
    def norm(self) -> sp.Expr:
        values = (as_expr(family.copies) * as_expr(family.values) for family in self.families)
        return largest([as_expr(family.query_key) for family in self.families]) + sp.Add(*values)


@dataclass(frozen=True)
class Multiplication:
    """A layer whose heads multiply coordinates that their queries, keys and values pick."""

    matrices: tuple[Columns, ...]
    heads: Any = 0

    @property
    def norm(self) -> sp.Expr:
        return largest([matrix.norm for matrix in self.matrices])


@dataclass(frozen=True)
class Perceptron:
    """W_2 sigma(W_1 h)."""

    inner: Columns
    outer: Columns
    heads: Any = 0

    @property
    def norm(self) -> sp.Expr:
        return self.inner.norm + self.outer.norm


@dataclass(frozen=True)
class CountedConstruction:
    """The blocks of a token, with their numbers of coordinates, and the layers (of a kind that repeats: the widest)."""

    blocks: Mapping[str, Any]
    layers: Mapping[str, CountedAttention | Multiplication | Perceptron]

    @property
    def width(self) -> sp.Expr:
        return sp.Add(*map(as_expr, self.blocks.values()))

    @property
    def heads(self) -> sp.Expr:
        """Of the layer that has most."""
        return largest([as_expr(layer.heads) for layer in self.layers.values()])


def counted(name: str, count: sp.Expr, *, latex: str, reason: str = "") -> Derivation:
    """The count as a derivation of one step, whose proof is the description."""
    step = rule_step(name, Norm.ONE, "count of the construction", count, reason=reason or COUNTED, latex=latex)
    return Derivation((step,))


COUNTED = "over its heads and columns"


def largest(values: list[sp.Expr]) -> sp.Expr:
    """The maximum, without values that another one clearly exceeds for all whole numbers >= 1 in it."""
    kept: list[sp.Expr] = []
    for value in dict.fromkeys(values):
        if not any(_at_most(value, other) for other in kept):
            kept = [other for other in kept if not _at_most(other, value)] + [value]
    return sp.Max(*kept)


def _at_most(left: sp.Expr, right: sp.Expr) -> bool:
    return not is_refuted(right - left) and bool(is_nonnegative(sp.expand(from_one(right - left))))
