"""A formula as a paper prints it: its kind, its Landau symbol, its citation, and under what the paper states it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sympy as sp

from symbolic.words.citations import Citation
from symbolic.words.prose import make_prose
from symbolic.words.shown import brief


class Kind(StrEnum):
    """What sort of statement a number is part of."""

    EXACT = "exact"
    UPPER = "upper"
    LOWER = "lower"
    RATE = "rate"


class Order(StrEnum):
    """The Landau symbol of a printed formula, if any; the formula then leaves constants open."""

    NONE = ""
    O = "O"  # noqa: E741 - Landau's letter
    THETA = "Theta"
    OMEGA = "Omega"


@dataclass(frozen=True)
class Printed:
    """The paper's formula exactly as printed, with its citation; `in_letters` if the paper names its parts.

    `relation` is the kind of the paper's claim, where that is not the kind of the quantity (a rate of at most 2).
    A formula with constants that the paper leaves `unspecified` is shown; no row judges it. `general`: before `bound`
    has letters at their worst case.

    `under` is a hypothesis of the paper, in words, that those of the result do not contain, since the paper gives it no
    size: no theorem of ours states the bound. Of a run that the paper shows, `run_at` are the parameters, as (name,
    value) pairs, at which a run here keeps the bound: the theorem states it at these alone.
    """

    bound: sp.Expr
    citation: Citation
    strict: bool = False
    order: Order = Order.NONE
    in_letters: sp.Expr | None = None
    unspecified: tuple[sp.Symbol | sp.core.function.UndefinedFunction, ...] = ()
    relation: Kind | None = None
    under: str = ""
    run_at: tuple[tuple[str, Any], ...] = ()
    general: sp.Expr | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        make_prose(self, "under")

    @property
    def shown(self) -> sp.Expr:
        return self.bound if self.in_letters is None else self.in_letters
