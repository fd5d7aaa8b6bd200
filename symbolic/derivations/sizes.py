"""How large the exact value of a step is, by the sizes of its premises: what a proof says beside the errors."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import sympy as sp

from symbolic.words.names import SizeSymbol, radius_symbol, size_symbol

Change = Callable[[sp.Expr], sp.Expr]


@dataclass(frozen=True)
class Sizes:
    """`error` is the bound of the step, and `size` and `radius` are those of its exact value, by those of premises.

    A radius is the distance of the tokens from some common centre, None where it is unknown. `closed` and
    `closed_radius` have the sizes of the premises put in. `approximate` bounds the norm of the approximate value,
    whatever the error is; None: by size and error alone. `separate`: the size does not follow by the rule of the step,
    and `given_approximate`: neither does `approximate`, which a later rule was given.
    """

    error: sp.Expr
    size: sp.Expr
    closed: sp.Expr
    radius: sp.Expr | None = None
    closed_radius: sp.Expr | None = None
    approximate: sp.Expr | None = None
    separate: bool = False
    given_approximate: bool = False

    def changed(self, change: Change) -> "Sizes":
        """The same, each bound changed to an equal one."""
        bounds = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(self, **{name: change(each) for name, each in bounds.items() if isinstance(each, sp.Expr)})


class Sized:
    """A value by the symbols of its size and radius: the formulas of rules are in these."""

    name: str
    size: sp.Expr
    radius: sp.Expr | None

    @property
    def size_symbol(self) -> SizeSymbol:
        """Its size in the formulas of rules; `follows` puts the size in."""
        return size_symbol(self.name)

    @property
    def own_radius(self) -> SizeSymbol | None:
        """Its radius in the formulas of rules, if it has one."""
        return None if self.radius is None else radius_symbol(self.name)

    @property
    def radius_symbol(self) -> SizeSymbol:
        """Its radius in the formulas of rules, or its size, which is no smaller."""
        return self.own_radius or self.size_symbol

    def closed(self, formula: sp.Expr) -> sp.Expr:
        """The formula of a rule with its size and radius put in."""
        known = {self.size_symbol: self.size, radius_symbol(self.name): self.radius}
        found: sp.Expr = formula.xreplace({symbol: each for symbol, each in known.items() if each is not None})
        return found


def closed_with(values: Iterable[Sized], formula: Any, known: Mapping[Any, sp.Expr]) -> Any:
    """The formula with the sizes of these values, and what is `known`, put in; None for none."""
    for value in () if formula is None else values:
        formula = value.closed(formula)
    return None if formula is None else formula.xreplace(dict(known))
