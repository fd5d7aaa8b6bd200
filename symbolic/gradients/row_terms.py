"""Formulas of tokens: functions of each row, a row for every token, coordinates beside one another."""

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from symbolic.gradients.terms import Lettered, LinearInFirst, Term


@dataclass(frozen=True)
class RowFunction(Term):
    """softmax, its logarithm, hardmax, or what is left without the mean, of each row.

    `keys` says which entries softmax is over, if not over all.
    """

    name: str
    argument: Term
    keys: sp.Expr | None = None

    @property
    def axes(self) -> int:  # type: ignore[override]
        return self.argument.axes


@dataclass(frozen=True)
class RootMeanSquare(Term):
    """sqrt(||x||_2^2 / dim + shift), a number for each row."""

    argument: Term
    dim: sp.Expr
    shift: sp.Expr
    axes: int = 1


@dataclass(frozen=True)
class AsColumn(Term):
    """A vector as a matrix of one column: what a matrix of tokens makes of it are tokens in R^1."""

    of: Term
    axes: int = 2


@dataclass(frozen=True)
class EachRow(LinearInFirst):
    """1 v^T: a vector as the row of every token. It runs as the vector itself, which stands beside all rows."""

    of: Term
    axes: int = 2


@dataclass(frozen=True)
class Joined(Term):
    """Coordinates beside each other."""

    of: tuple[Term, ...]

    @property
    def axes(self) -> int:  # type: ignore[override]
        return self.of[0].axes

    @property
    def parts(self) -> tuple[Term, ...]:
        return self.of

    def mapped(self, to: Callable[[Term], Term]) -> Term:
        return Joined(tuple(map(to, self.of)))


@dataclass(frozen=True)
class Coordinates(LinearInFirst):
    """The coordinates of one of several values that are joined; `before` are the values in front of it."""

    of: Term
    before: tuple[tuple[Lettered, sp.Expr], ...]
    own: tuple[Lettered, sp.Expr]

    @property
    def axes(self) -> int:  # type: ignore[override]
        return self.of.axes
