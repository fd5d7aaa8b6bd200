"""Products of two expressions: entry by entry, of all pairs of tokens, of two vectors."""

from collections.abc import Iterator
from typing import Any

import sympy as sp

from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    composed,
    method,
    require_shape,
    same,
)
from symbolic import calculus
from symbolic.calculus.products import ProductKind
from symbolic.derivations.derivation import Norm

DUAL = ((Norm.TWO, Norm.TWO), (Norm.ONE, Norm.INF), (Norm.INF, Norm.ONE))  # |<x, y>| <= ||x|| ||y||


@method("*")
class Entrywise(Expression):
    """x * y, entry by entry."""

    def __init__(self, x: Expression, y: Expression) -> None:
        self.parts, self.dim, self.count = (x, y), x.dim, x.count
        require_shape("a product of values of different shapes", same(x.dim, y.dim) and same(x.count, y.count), x, y)
        self.label = composed(f"({x.label})*({y.label})", "product")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        x, y = self.parts

        def rule(name: str, one: InNorm, other: InNorm) -> InNorm:
            return product(
                name, one, other, norm=_of_product(one, other), dim=one.value.dim, kind=ProductKind.ENTRYWISE
            )

        for norm in Norm:
            yield Candidate(norm, f"{norm} and inf", ((x, norm), (y, Norm.INF)), rule)
            if norm is not Norm.INF:
                yield Candidate(norm, f"inf and {norm}", ((x, Norm.INF), (y, norm)), rule)

    def run(self, running: Running) -> Any:
        return running.value(self.parts[0]) * running.value(self.parts[1])


class Pairs(Expression):
    """<q_i, k_j>: for each query a vector over the keys, which are tokens."""

    def __init__(self, keys: Expression, queries: Expression) -> None:
        self.parts = (queries, keys)
        fits = keys.count is not None and same(keys.dim, queries.dim)
        require_shape("a product of tokens with queries: tokens and one dimension are needed", fits, keys, queries)
        self.dim, self.count = keys.count or sp.S.One, queries.count
        self.label = composed(f"<{keys.label}, {queries.label}>", "scores")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        queries, keys = self.parts

        def rule(name: str, one: InNorm, other: InNorm) -> InNorm:
            return product(name, one, other, norm=Norm.INF, dim=asking.at(self.dim), kind=ProductKind.PAIRS)

        for first, second in DUAL:
            yield Candidate(Norm.INF, f"{first} and {second}", ((queries, first), (keys, second)), rule)

    def run(self, running: Running) -> Any:
        return running.value(self.parts[0]) @ running.value(self.parts[1]).mT


class InnerProduct(Expression):
    """<x, y> of two vectors, in R^1, where all norms are one."""

    def __init__(self, x: Expression, y: Expression) -> None:
        self.parts, self.dim, self.label = (x, y), sp.S.One, composed(f"<{x.label}, {y.label}>", "inner product")
        require_shape("an inner product of vectors of different dimensions", same(x.dim, y.dim), x, y)

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        x, y = self.parts
        for norm in Norm:
            for first, second in DUAL:

                def rule(name: str, one: InNorm, other: InNorm, norm: Norm = norm) -> InNorm:
                    return product(name, one, other, norm=norm, dim=self.dim, kind=ProductKind.INNER)

                yield Candidate(norm, f"{first} and {second}", ((x, first), (y, second)), rule)

    def run(self, running: Running) -> Any:
        return (running.value(self.parts[0]) * running.value(self.parts[1])).sum(-1, keepdim=True)


@method("@")
def pairs(x: Expression, y: Expression) -> Pairs | InnerProduct:
    """Of tokens with queries; of two vectors, their inner product."""
    return InnerProduct(x, y) if x.count is None and y.count is None else Pairs(x, y)


def _of_product(one: InNorm, other: InNorm) -> Norm:
    return one.value.norm if other.value.norm is Norm.INF else other.value.norm


# Both ways to split the error hold; with a bound on the approximate value of one factor, that one is less.
def product(name: str, one: InNorm, other: InNorm, *, norm: Norm, dim: sp.Expr, kind: ProductKind) -> InNorm:
    """The product of two values in their norms, by what is known of the approximate ones."""
    known = {} if one.approximate_size is None else {"approximate_size": one.approximate_size}
    value = calculus.bilinear(one.value, other.value, name, norm=norm, dim=dim, product=kind.value, **known)
    sizes = (one.approximate_size, other.approximate_size)
    return InNorm(value, None if sizes[0] is None or sizes[1] is None else sizes[0] * sizes[1])
