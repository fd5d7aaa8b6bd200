"""A theorem with one check, its rows, and its quantity."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from bridge.questions.compare import compare
from bridge.theorems.building import theorem
from bridge.theorems.check import Check, Sides
from bridge.theorems.record import Row
from bridge.theorems.theorem import Theorem
from symbolic.statements.result import Kind, Order, Printed, Quantifier, Quantity
from symbolic.words.citations import Citation

n = sp.Symbol("n", integer=True, positive=True)
m = sp.Symbol("m", integer=True, positive=True)
SOURCE = Citation(None, "Here")


def quantity(kind: Kind = Kind.LOWER, printed: Any = None, order: Order = Order.NONE, **more: Any) -> Quantity:
    stated = None if printed is None else Printed(sp.sympify(printed), SOURCE, order=order)
    return Quantity("q", "q", "a quantity", "", "", kind, Quantifier.FOR_ALL, printed=stated, scopes=(), **more)


def of(check: Check, **more: Any) -> Theorem:
    more.setdefault("meanings", {m: "another count"} if m in check.quantity.letters else None)
    return theorem("own.check", parameters={n: 4}, checks=[check], **more)


def rows_of(sides: Callable[..., Sides], stated: Quantity, inputs: Any = None, **settings: Any) -> list[Row]:
    return compare(of(Check(stated, sides, inputs or {})), **settings).rows


def row_of(sides: Sides, stated: Quantity) -> Row:
    (row,) = rows_of(lambda: sides, stated)
    return row
