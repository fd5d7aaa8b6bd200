"""Statements and derivations as plain text: what `print` shows of them, and the command `show` of a step."""

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any

import sympy as sp

from symbolic.calculus.repetition import steps_of_one_layer
from symbolic.derivations.derivation import Approximated, Derivation, Step
from symbolic.derivations.provenance import Provenance
from symbolic.latex.recurrences import layer_letter
from symbolic.latex.typesetting import Notation
from symbolic.statements.result import Kind, Parameter, Quantity, Result
from symbolic.words.indices import names_of_letters, with_fresh_indices
from symbolic.words.shown import SHOWN, cut

RELATIONS = {Kind.EXACT: "=", Kind.UPPER: "<=", Kind.LOWER: ">=", Kind.RATE: "~"}
OPEN = "open: decided at each point by balls; the bound is conditional where they cannot"
LINES = 40  # of a text that `print` shows
FIRST, LAST = 8, 3  # steps of a derivation that is longer
LONGEST = 200  # characters of a formula


def formula(expression: Any, notation: Notation | None = None) -> str:
    """A formula in plain text, on one line as Python reads it; no index has the name of a letter of `notation`."""
    return str(sp.sstr(with_fresh_indices(expression, names_of_letters(notation))))


def reason_words(step: Step) -> str:
    """Why the step holds, in plain text where it is a recursion."""
    return "; ".join(filter(None, [step.reason, step.recursion.words() if step.recursion else ""]))


def step_lines(step: Step, notation: Notation | None = None) -> list[str]:
    """Rule, bound, reason and open premises of a step; of a repetition the steps of one layer too."""
    premises = f" from {', '.join(step.premises)}" if step.premises else ""
    source = f" [{step.source}]" if step.source else ""
    word = f" ({step.provenance})" if step.provenance not in (None, Provenance.RULES) else ""
    lines = [
        f"  {step.name} ({step.norm}-norm): {step.rule}{premises}{word}",
        f"    {left(step)} <= {formula(step.local, notation)}",
    ]
    reason = reason_words(step)
    lines += [f"    {reason}{source}"] if reason or source else []
    lines += [f"    {words}" for words in _premises(step, notation)]
    letter = layer_letter(step.recursion, notation or {})
    layer = steps_of_one_layer(step, letter)
    lines += [f"    one layer, from an argument with the error e_{letter}:"] if layer else []
    return [*lines, *(f"    {line}" for each in layer for line in step_lines(each, notation))]


def left(step: Step) -> str:
    """What the step bounds: an error, or the number that has a letter of its own."""
    return step.name if step.latex else f"e_{step.name}"


def _premises(step: Step, notation: Notation | None) -> Iterator[str]:
    """The events over which the step holds, and its obligations."""
    for event in step.events:
        fails = formula(event.fails, notation)
        yield f"event {event.name}, over {event.where}: fails with probability at most {fails}"
    for each in step.obligations:
        if each.open or each.discharged_by:
            how = OPEN if each.open else each.discharged_by
            yield f"obligation: {each.statement}: {formula(each.condition, notation)} ({how})"


@singledispatch
def plain_text(shown: Any) -> str:
    """At most LINES lines, each formula at most LONGEST characters: what is left out is named."""
    raise TypeError(f"{type(shown).__name__} has no plain text")


@plain_text.register
def _(step: Step) -> str:
    return "\n".join(_cut_lines(step_lines(step)))


@plain_text.register
def _(derivation: Derivation) -> str:
    steps = [_cut_lines(step_lines(step)) for step in derivation.steps]
    if sum(map(len, steps)) < LINES:
        return "\n".join(line for lines in steps for line in lines)
    shown = [lines[:2] for lines in steps]  # what is bounded, and by what
    if 2 * len(shown) >= LINES:
        left_out = [f"  ... {len(shown) - FIRST - LAST} steps; .steps has all"]
        shown = [*shown[:FIRST], left_out, *shown[-LAST:]]
    return "\n".join(line for lines in shown for line in lines)


@plain_text.register
def _(value: Approximated) -> str:
    said = f"{value!r}, where e_{value.name} <= {cut(formula(value.error), LONGEST)}"
    return f"{said}\n{plain_text(value.derivation)}"


@plain_text.register
def _(quantity: Quantity) -> str:
    return "\n".join(_quantity_lines(quantity, {}))


@plain_text.register
def _(result: Result) -> str:
    head = [result.id if result.title == result.id else f"{result.id}: {result.title}"]
    head += [str(result.citation)] if str(result.citation) else []
    head += [f"parameters: {', '.join(map(_parameter, result.parameters))}"] if result.parameters else []
    held = [formula(each.condition, result.notation) for each in result.hypotheses]
    head += [f"hypotheses: {'; '.join([*held, *result.assumptions])}"] if held or result.assumptions else []
    room, body = LINES - len(head) - 1, list[str]()
    for place, quantity in enumerate(result.quantities):
        lines = _quantity_lines(quantity, result.notation)
        if len(body) + len(lines) > room:
            body.append(f"... {len(result.quantities) - place} quantities; .quantities has all")
            break
        body += lines
    return "\n".join([*(cut(line, 2 * LONGEST) for line in head), *body])


def _quantity_lines(quantity: Quantity, notation: Notation) -> list[str]:
    """What it is, then its bounds: the printed one, and the derived one."""
    relation = RELATIONS[quantity.stated_kind]
    printed, derived = quantity.printed, quantity.derived()
    bounds = {"printed": None if printed is None else printed.shown}
    bounds |= {"derived": quantity.closed_form if derived is None else derived}
    order = {"printed": f"{printed.order} of" if printed is not None and printed.order else relation}
    return [
        f"{quantity.name}: {quantity.meaning}; {quantity.about}",
        *(
            f"  {tier} {order.get(tier, relation)} {cut(formula(bound, notation), LONGEST)}"
            for tier, bound in bounds.items()
            if bound is not None
        ),
    ]


def _parameter(parameter: Parameter) -> str:
    default = parameter.default
    values = ", ".join(map(str, default)) if isinstance(default, list | tuple) else str(default)
    return f"{parameter.name} = {values}"


def _cut_lines(lines: Sequence[str]) -> list[str]:
    return [cut(line, LONGEST) for line in lines]


SHOWN.text = plain_text
