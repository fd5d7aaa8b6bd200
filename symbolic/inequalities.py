"""Inequalities on boxes: what `bridge.certify` proves or refutes. Plain data; nothing here is proved."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from symbolic.derivation import DerivationError


@dataclass(frozen=True)
class Inequality:
    """`expression` >= 0 (> 0 if `strict`) wherever the coordinates lie in `box` and every expression in `where` is >= 0.

    `box` gives each coordinate a closed interval with rational ends. What depends on an unbounded parameter has been
    replaced beforehand by a coordinate of its own with a proved range (`because` says which).

    `vanishing` names the coordinates y that are 0 at an equilibrium, where the expression and its gradient in y are 0
    too whatever the other coordinates are: there the certificate uses the second derivatives in y.
    """

    name: str
    expression: sp.Expr
    box: Mapping[sp.Symbol, tuple[sp.Rational, sp.Rational]]
    where: tuple[sp.Expr, ...] = ()
    strict: bool = False
    vanishing: tuple[sp.Symbol, ...] = ()
    meaning: str = ""
    because: Mapping[sp.Symbol, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "box", {s: (sp.Rational(a), sp.Rational(b)) for s, (a, b) in self.box.items()})
        free = set().union(*(e.free_symbols for e in (self.expression, *self.where)))
        unknown = sorted(map(str, free - set(self.box)))
        if unknown:
            raise DerivationError(f"inequality '{self.name}': no range is given for {', '.join(unknown)}")
        empty = [str(symbol) for symbol, (low, high) in self.box.items() if low > high]
        if empty:
            raise DerivationError(f"inequality '{self.name}': the range of {', '.join(empty)} is empty")
