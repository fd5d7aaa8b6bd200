"""Conditions of a statement: what its proofs owe, collected once, each under a label that its bounds refer to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from symbolic.calculus.invariants import MonotoneRecursion
from symbolic.derivations.obligations import RangeObligation, follows_from
from symbolic.latex.displays import condition_lines, display, equations, with_end
from symbolic.latex.naming import with_families
from symbolic.latex.page import PAGE, Page
from symbolic.statements.result import Quantity, Result

TAG = 30.0  # points


@dataclass
class Conditions:
    """`lines` state ranges and conditions by `formulas`; `needed` are the labels of the conditions of a quantity.

    `defined` are the letters whose values they give.
    """

    lines: list[str] = field(default_factory=list)
    needed: dict[str, list[str]] = field(default_factory=dict)
    formulas: tuple[Any, ...] = ()
    defined: frozenset[sp.Symbol] = frozenset()


def conditions_of(result: Result, quantities: Sequence[Quantity], page: Page) -> Conditions:
    """The ranges that inductions give, and the conditions that stay open, each once; none that another one implies."""
    found = {each.name: _open(result, each, page) for each in quantities}
    every = list(dict.fromkeys(condition for each in found.values() for condition in each))
    kept = [each for each in every if not any(follows_from(each, o) for o in every if _goes_first(o, each, every))]
    named = {each: f"C{place}" for place, each in enumerate(kept, start=1)}
    ranges, worst = _ranges(quantities), _worst_of(kept, quantities)
    made = Conditions([_range_words(each, page) for each in ranges])
    end = "," if worst else "."
    if len(kept) == 1 and all(found.values()):
        made.lines += ["Assume that", _shown(kept[0], "", end, page)]
    elif kept:
        made.lines.append("Some of the bounds below need the condition" + ("s" if len(kept) > 1 else ""))
        made.lines += [_shown(each, rf" \tag{{{label}}}", end, page) for each, label in named.items()]
        made.needed = {
            name: [f"({named[o]})" for o in kept if any(o == each or follows_from(each, o) for each in own)]
            for name, own in found.items()
        }
    made.lines += ["with"] if worst else []
    made.lines += [display(equations((page.latex(x), "=", value), page), ".") for x, value in worst.items()]
    formulas = (*kept, *worst.values(), *(form for o in ranges for form in (o.recursion.start, o.recursion.step)))
    return replace(made, formulas=formulas, defined=frozenset(worst))


def _goes_first(one: Any, other: Any, every: Sequence[Any]) -> bool:
    """Whether the first may imply the second; of two that imply each other the earlier is kept."""
    if one == other:
        return False
    return every.index(one) < every.index(other) or not follows_from(one, other)


def _open(result: Result, quantity: Quantity, page: Page) -> list[Any]:
    """The open conditions that its bound rests on; letters whose worst case is short have its value."""
    derivation = result.shown_derivation(quantity)
    if derivation is None or not derivation.conditional:
        return []
    short = {x: value for x, value in quantity.worst_values.items() if page.width(value) <= PAGE / 4}
    steps = with_families(derivation.resting_on(quantity.concluded_by).steps)
    owed = (each.condition for step in steps for each in step.obligations if each.open)
    return list(dict.fromkeys(each.xreplace(short) for each in owed))


def _shown(condition: Any, tag: str, end: str, page: Page) -> str:
    main, *parts = condition_lines(condition, page.narrower(TAG))
    return display([f"{main if parts else with_end(main, end)}{tag}", *parts], end if parts else "")


def _worst_of(conditions: Sequence[Any], quantities: Sequence[Quantity]) -> dict[sp.Symbol, sp.Expr]:
    """What the letters of the conditions stand for at the worst case."""
    letters = {letter for each in conditions for letter in each.free_symbols}
    return {x: value for each in quantities for x, value in each.worst_values.items() if x in letters}


def _ranges(quantities: Sequence[Quantity]) -> list[RangeObligation]:
    """The ranges that inductions over a recursion give, one for each recursion, at the worst case."""
    found: dict[Any, RangeObligation] = {}
    for quantity in quantities:
        derivation = quantity.derivation
        steps = () if derivation is None else derivation.resting_on(quantity.concluded_by).steps
        for each in (owed for step in with_families(steps) for owed in step.obligations):
            if isinstance(each, RangeObligation) and isinstance(each.recursion, MonotoneRecursion):
                given, worst = each.recursion, quantity.worst_values
                own = replace(given, start=given.start.xreplace(worst), step=given.step.xreplace(worst))
                found.setdefault((own.start, own.step), replace(each, recursion=own))
    return list(found.values())


def _range_words(owed: RangeObligation, page: Page) -> str:
    letter = page.latex(owed.recursion.radius)
    defined = display([owed.recursion.latex(page.notation)], ".")
    last = f"{letter}_{{{page.latex(owed.depth)}}}"
    return f"Let ${letter}$ be the largest of ${letter}_0, \\dots, {last}$, where\n{defined}"
