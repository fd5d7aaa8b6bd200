"""How a proof shows a recursion: by the errors of members of a family where its layers have names, else by e_l."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from symbolic.calculus.accumulation import Accumulation
from symbolic.calculus.recursions import LinearRecursion
from symbolic.derivation import Step
from symbolic.names import error_symbol, letters_by_name, member_error, members_in, place_of
from symbolic.typesetting import Notation, latex

ERROR = sp.Symbol("e_l", nonnegative=True)
LAYER = sp.Symbol("l", integer=True, positive=True)


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
    if isinstance(recursion, Accumulation):
        right = (recursion.factor + recursion.quadratic * ERROR) * ERROR + recursion.offset
        return Recurrence("e_{l+1}", right, start=f"e_0 = {latex(recursion.start.xreplace(dict(zero)), names)}")
    if not isinstance(recursion, LinearRecursion):
        return None
    found = _by_members(step, recursion, names, zero)
    if found is not None:
        return found
    power = 2 if recursion.pooled else 1
    layer = {recursion.index: sp.Symbol(recursion.index.name, integer=True, nonnegative=True)}
    right = (recursion.factor * ERROR**power + recursion.offset).xreplace(layer)
    left = f"e_{{{latex(layer[recursion.index])}+1}}{'^2' if recursion.pooled else ''}"
    return Recurrence(
        left, right.xreplace(dict(zero)), start=f"e_0 = {latex(recursion.start.xreplace(dict(zero)), names)}"
    )


# The layers count from the place of the premise to that of the step, one by one upwards or downwards.
def _by_members(
    step: Step, recursion: LinearRecursion, names: Notation, zero: Mapping[sp.Symbol, sp.Expr]
) -> Recurrence | None:
    if recursion.depth is None or recursion.pooled or not step.premises:
        return None
    letters = letters_by_name([recursion.depth, step.local])
    end, start = place_of(step.name, letters), place_of(step.premises[0], letters)
    known = (each for each in (end, recursion.factor, recursion.offset) if each is not None)
    own = {letter for each in known for letter in each.free_symbols}
    if end is None or LAYER.name in {letter.name for letter in own - {recursion.index}}:
        return None
    same = start is not None and _family(step.name) == _family(step.premises[0])
    first = start if same and start is not None else end - recursion.depth
    upwards = sp.simplify((end - first) / recursion.depth)
    if upwards not in (1, -1) or not (same or first.is_Integer):
        return None
    layer = {recursion.index: upwards * (LAYER - first) - 1}
    factor, offset = (each.xreplace(layer) for each in (recursion.factor, recursion.offset))
    right = (factor * member_error(step.name, LAYER - upwards) + offset).xreplace(dict(zero))
    places = f"{latex(first + upwards, names)}, \\dots, {latex(end, names)}"
    first_error, begins = latex(member_error(step.name, first), names), recursion.start.xreplace(dict(zero))
    return Recurrence(
        latex(member_error(step.name, LAYER), names),
        right,
        rf" \quad (l = {places})",
        "" if same else f"{first_error} = {latex(begins, names)}",
    )


def _family(name: str) -> sp.Expr:
    return member_error(name, 0)


def families_in(step: Step) -> list[str]:
    """The steps of the families whose members its bound refers to."""
    named = members_in(step.local if step.named is None else step.named)
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
    return _bound(step).xreplace(errors).xreplace(dict(change))


def _bound(step: Step) -> sp.Expr:
    return step.local if step.named is None else step.named
