"""Conditions of a statement: what its proofs owe, collected once, each under a label that its bounds refer to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from symbolic.calculus.invariants import MonotoneRecursion
from symbolic.derivations.obligations import RangeObligation, follows_from
from symbolic.latex.displays import PAGE, condition_lines, display, equations, with_end
from symbolic.latex.naming import with_families
from symbolic.latex.shared_parts import Shared
from symbolic.latex.typesetting import Notation, latex
from symbolic.latex.widths import width
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


def conditions_of(result: Result, quantities: Sequence[Quantity], shared: Shared) -> Conditions:
    """The ranges that inductions give, and the conditions that stay open, each once; none that another one implies."""
    found = {each.name: _open(result, each) for each in quantities}
    every = list(dict.fromkeys(condition for each in found.values() for condition in each))
    kept = [each for each in every if not any(follows_from(each, o) for o in every if _goes_first(o, each, every))]
    named = {each: f"(C{place})" for place, each in enumerate(kept, start=1)}
    alone = len(kept) == 1 and all(found.values())
    ranges = _ranges(result, quantities)
    worst = _worst_of(kept, quantities)
    end = "," if worst else "."
    made = Conditions([_range_words(each, result.notation) for each in ranges])
    if alone:
        made.lines += ["Assume that", _shown(kept[0], "", end, result.notation, shared)]
    elif kept:
        made.lines.append("Some of the bounds below need the condition" + ("s" if len(kept) > 1 else ""))
        tags = [rf" \tag{{{named[each][1:-1]}}}" for each in kept]
        made.lines += [_shown(each, tag, end, result.notation, shared) for each, tag in zip(kept, tags, strict=True)]
        made.needed = {
            name: [named[o] for o in kept if any(o == each or follows_from(each, o) for each in own)]
            for name, own in found.items()
        }
    formulas = (*kept, *worst.values(), *(form for o in ranges for form in (o.recursion.start, o.recursion.step)))
    lines = made.lines + _values(worst, result.notation, shared)
    return replace(made, lines=lines, formulas=formulas, defined=frozenset(worst))


def _goes_first(one: Any, other: Any, every: Sequence[Any]) -> bool:
    """Whether the first may imply the second; of two that imply each other the earlier is kept."""
    if one == other:
        return False
    return every.index(one) < every.index(other) or not follows_from(one, other)


def _open(result: Result, quantity: Quantity) -> list[Any]:
    """The open conditions that its bound rests on; letters whose worst case is short have its value."""
    derivation = result.shown_derivation(quantity)
    if derivation is None or not derivation.conditional:
        return []
    short = {x: value for x, value in _worst(quantity).items() if _is_short(value, result.notation)}
    steps = with_families(derivation.resting_on(quantity.step or quantity.name).steps)
    owed = (each.condition for step in steps for each in step.obligations if each.open)
    return list(dict.fromkeys(each.xreplace(short) for each in owed))


def _worst(quantity: Quantity) -> dict[sp.Symbol, sp.Expr]:
    return {x: value for x, value in quantity.at_worst.items() if x != value}


def _is_short(value: sp.Expr, notation: Notation) -> bool:
    return width(latex(value, notation)) <= PAGE / 4


def _shown(condition: Any, tag: str, end: str, notation: Notation, shared: Shared) -> str:
    main, *parts = condition_lines(condition, notation, PAGE - TAG, shared)
    return display([f"{main if parts else with_end(main, end)}{tag}", *parts], end if parts else "")


def _worst_of(conditions: Sequence[Any], quantities: Sequence[Quantity]) -> dict[sp.Symbol, sp.Expr]:
    """What the letters of the conditions stand for at the worst case."""
    letters = {letter for each in conditions for letter in each.free_symbols}
    return {x: value for each in quantities for x, value in _worst(each).items() if x in letters}


def _values(worst: Mapping[sp.Symbol, sp.Expr], notation: Notation, shared: Shared) -> list[str]:
    shown = (equations(latex(x, notation), "=", value, notation, shared=shared) for x, value in worst.items())
    return [*(["with"] if worst else []), *(display(each, ".") for each in shown)]


def _ranges(result: Result, quantities: Sequence[Quantity]) -> list[RangeObligation]:
    """The ranges that inductions over a recursion give, one for each recursion, at the worst case."""
    found: dict[Any, RangeObligation] = {}
    for quantity in quantities:
        steps = (
            () if quantity.derivation is None else quantity.derivation.resting_on(quantity.step or quantity.name).steps
        )
        for each in (owed for step in with_families(steps) for owed in step.obligations):
            if isinstance(each, RangeObligation) and isinstance(each.recursion, MonotoneRecursion):
                recursion = _at(each.recursion, _worst(quantity))
                found.setdefault((recursion.start, recursion.step), replace(each, recursion=recursion))
    return list(found.values())


def _at(recursion: MonotoneRecursion, worst: Mapping[sp.Symbol, sp.Expr]) -> MonotoneRecursion:
    return replace(recursion, start=recursion.start.xreplace(dict(worst)), step=recursion.step.xreplace(dict(worst)))


def _range_words(owed: RangeObligation, notation: Notation) -> str:
    letter = latex(owed.recursion.radius, notation)
    defined = display([owed.recursion.latex(notation)], ".")
    last = f"{letter}_{{{latex(owed.depth, notation)}}}"
    return f"Let ${letter}$ be the largest of ${letter}_0, \\dots, {last}$, where\n{defined}"
