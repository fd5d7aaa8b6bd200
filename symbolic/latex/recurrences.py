"""How a proof shows a recursion: by the errors of members of a family where its layers have names, else by e_l."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.accumulation import Accumulation
from symbolic.calculus.recursions import LinearRecursion
from symbolic.derivations.derivation import Step
from symbolic.latex.typesetting import Notation, latex
from symbolic.words.indices import fresh, names_of_letters
from symbolic.words.names import error_symbol, letters_by_name, member_error, members_in, place_of


def layer_letter(recursion: Any, notation: Notation | None) -> str:
    """The number of a layer: l, unless a letter of the statement, or of the relation, has that name."""
    own = recursion.letters if isinstance(recursion, Accumulation | LinearRecursion) else set()
    return fresh({*names_of_letters(notation), *(each.name for each in own)}, "lkmh")


@dataclass(frozen=True)
class Recurrence:
    """`left` is at most `right`, for the layers `end`, from the first error `start`; "" for what is not said."""

    left: str
    right: sp.Expr
    end: str = ""
    start: str = ""


def recurrence(step: Step, names: Notation, zero: Mapping[sp.Symbol, sp.Expr]) -> Recurrence | None:
    """That of a linear recursion, None of another one; `zero` are the errors that are 0."""
    recursion = step.named_recursion or step.recursion
    if not isinstance(recursion, Accumulation | LinearRecursion):
        return None
    found = None if isinstance(recursion, Accumulation) else _by_members(step, recursion, names, zero)
    return found or _by_numbers(recursion, names, zero)


def _by_numbers(
    recursion: Accumulation | LinearRecursion, names: Notation, zero: Mapping[sp.Symbol, sp.Expr]
) -> Recurrence:
    """Of errors e_l: what depends on the number of the step is a function of the same l."""
    letter = layer_letter(recursion, names)
    error, layer = sp.Symbol(f"e_{letter}", nonnegative=True), sp.Symbol(letter, integer=True, nonnegative=True)
    pooled = isinstance(recursion, LinearRecursion) and recursion.pooled
    factor = recursion.factor + (recursion.quadratic * error if isinstance(recursion, Accumulation) else 0)
    right = (factor * error ** (2 if pooled else 1) + recursion.offset).xreplace({recursion.index: layer, **zero})
    left = f"e_{{{letter}+1}}{'^2' if pooled else ''}"
    return Recurrence(left, right, start=f"e_0 = {latex(recursion.start.xreplace(dict(zero)), names)}")


# The layers count from the place of the premise to that of the step, one by one upwards or downwards.
def _by_members(
    step: Step, recursion: LinearRecursion, names: Notation, zero: Mapping[sp.Symbol, sp.Expr]
) -> Recurrence | None:
    if recursion.depth is None or recursion.pooled or not step.premises:
        return None
    letters = letters_by_name([recursion.depth, step.local])
    end, start = place_of(step.name, letters), place_of(step.premises[0], letters)
    if end is None:
        return None
    name = layer_letter(recursion, names)
    here = sp.Symbol(name, integer=True, positive=True)
    same = start is not None and _family(step.name) == _family(step.premises[0])
    first = start if same and start is not None else end - recursion.depth
    upwards = sp.simplify((end - first) / recursion.depth)
    if upwards not in (1, -1) or not (same or first.is_Integer):
        return None
    layer = {recursion.index: upwards * (here - first) - 1}
    factor, offset = (each.xreplace(layer) for each in (recursion.factor, recursion.offset))
    right = (factor * member_error(step.name, here - upwards) + offset).xreplace(dict(zero))
    places = f"{latex(first + upwards, names)}, \\dots, {latex(end, names)}"
    first_error, begins = latex(member_error(step.name, first), names), recursion.start.xreplace(dict(zero))
    return Recurrence(
        latex(member_error(step.name, here), names),
        right,
        rf" \quad ({name} = {places})",
        "" if same else f"{first_error} = {latex(begins, names)}",
    )


def _family(name: str) -> sp.Expr:
    return member_error(name, 0)


def families_in(step: Step) -> list[str]:
    """The steps of the families whose members its bound refers to."""
    named = members_in(step.shown)
    functions = {each.func for each in named}
    return [each.name for each in step.families if _family(each.name).func in functions]


def same_argument(
    step: Step, before: Sequence[tuple[Step, str]], letters: Mapping[str, sp.Symbol]
) -> tuple[str, sp.Expr, sp.Expr] | None:
    """The number of an earlier step that holds for the same reasons, its place, and the place of this step."""
    for earlier, number in before:
        if (earlier.rule, earlier.reason, len(earlier.premises)) != (step.rule, step.reason, len(step.premises)):
            continue
        if _family(earlier.name) != _family(step.name) or earlier.name == step.name:
            continue
        old, new = place_of(earlier.name, letters), place_of(step.name, letters)
        if old is None or new is None or not old.free_symbols:
            continue
        (letter,) = old.free_symbols
        if _moved(earlier, letters, {letter: new - old + letter}) == _moved(step, letters, {}):
            return number, old, new
    return None


def _moved(step: Step, letters: Mapping[str, sp.Symbol], change: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The bound by members of families, at other places."""
    names = {each: place_of(each, letters) for each in step.rests_on}
    errors = {error_symbol(n): member_error(n, place) for n, place in names.items() if place is not None}
    return step.shown.xreplace(errors).xreplace(dict(change))
