"""Inequalities on boxes: what `bridge.questions.certify` proves or refutes. Plain data; nothing here is proved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.words.prose import make_prose
from symbolic.words.shown import brief

Form = tuple[tuple[sp.Expr, ...], tuple[tuple[sp.Expr, ...], ...]]  # z, and the rows of H


# A text is read as a fraction or a decimal number; SymPy would run any other one as code.
def _end(given: Any) -> sp.Expr:
    try:
        return sp.Rational(given) if isinstance(given, str) else sp.sympify(given, strict=True)
    except TypeError:
        return sp.nan


@dataclass(frozen=True)
class Inequality:
    """`expression` >= 0 (> 0 if `strict`) wherever the coordinates lie in `box` and all of `where` are >= 0.

    `box` gives each coordinate a closed interval with rational ends. What depends on an unbounded parameter has been
    replaced beforehand by a coordinate of its own with a proved range (`because` names the range's reason).

    `vanishing` names the coordinates y that are 0 at an equilibrium, where the expression and its gradient in y are 0
    too whatever the other coordinates are: there the certificate uses the second derivatives in y.

    `form` writes the expression as z^T H z, by the vector z and the rows of the symmetric matrix H: it is >= 0 wherever
    H is positive semidefinite. That is for an equilibrium at which coordinates vanish to different orders.
    """

    name: str
    expression: sp.Basic  # an Expr; a relation raises an error
    box: Mapping[sp.Symbol, tuple[Any, Any]]  # numbers that are turned into exact rationals
    where: tuple[sp.Expr, ...] = ()
    strict: bool = False
    vanishing: tuple[sp.Symbol, ...] = ()
    form: Form | None = None
    meaning: str = ""
    because: Mapping[sp.Symbol, str] = field(default_factory=dict)

    __repr__ = brief

    def __post_init__(self) -> None:
        make_prose(self, "meaning", "because")
        for each in (self.expression, *self.where):
            if not isinstance(each, sp.Expr):
                raise DerivationError(
                    f"inequality '{self.name}': got {each}; give the expression that is to be >= 0, such "
                    f"as x - 1 for x >= 1"
                )
            if each.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I):
                raise DerivationError(f"inequality '{self.name}': {each} is not a finite real expression")
        unbounded = [str(s) for s, ends in self.box.items() if not all(_end(end).is_finite for end in ends)]
        if unbounded:
            raise DerivationError(
                f"inequality '{self.name}': the range of {', '.join(unbounded)} is not bounded; replace it by a "
                f"bounded coordinate, such as 1/x or exp(-x)"
            )
        object.__setattr__(self, "box", {s: (sp.Rational(a), sp.Rational(b)) for s, (a, b) in self.box.items()})
        free = set().union(*(e.free_symbols for e in (self.expression, *self.where)))
        unknown = sorted(map(str, free - set(self.box)))
        if unknown:
            raise DerivationError(f"inequality '{self.name}': no range is given for {', '.join(unknown)}")
        wrong = [str(symbol) for symbol, (low, high) in self.box.items() if _contradicts(symbol, low, high)]
        if wrong:
            raise DerivationError(
                f"inequality '{self.name}': the range of {', '.join(wrong)} contains numbers that its assumptions "
                f"exclude; declare it real"
            )
        empty = [str(symbol) for symbol, (low, high) in self.box.items() if low > high]
        if empty:
            raise DerivationError(f"inequality '{self.name}': the range of {', '.join(empty)} is empty")
        if self.form is not None and {len(self.form[1]), *map(len, self.form[1])} != {len(self.form[0])}:
            raise DerivationError(
                f"inequality '{self.name}': the matrix of the quadratic form needs {len(self.form[0])} rows and columns"
            )
        if self.form is not None and not sp.Matrix(self.form[1]).is_symmetric():
            raise DerivationError(f"inequality '{self.name}': the matrix of the quadratic form is not symmetric")
        if self.form is not None and sp.cancel(sp.together(self.expression - written_out(self.form))) != 0:
            raise DerivationError(f"inequality '{self.name}': the expression differs from the given quadratic form")


# SymPy simplifies by a symbol's assumptions (|x| is x for a positive x), so that they must hold on the whole box. A
# single point 0 of a positive symbol is let through: there the simplified expression is the limit.
def _contradicts(symbol: sp.Symbol, low: sp.Rational, high: sp.Rational) -> bool:
    above = bool(symbol.is_extended_nonnegative and low < 0)
    below = bool(symbol.is_extended_nonpositive and high > 0)
    fractional = bool(symbol.is_integer and (low != high or low.q != 1))
    return above or below or fractional or symbol.is_real is False


def written_out(form: Form) -> sp.Expr:
    """z^T H z."""
    z, rows = form
    return sp.Add(*(a * entry * b for a, row in zip(z, rows, strict=True) for b, entry in zip(z, row, strict=True)))
