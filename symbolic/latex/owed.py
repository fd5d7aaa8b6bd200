"""What a proof owes: the conditions of its steps in sentences, each stated once."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.calculus.repetition import steps_of_one_layer
from symbolic.derivations.derivation import Step
from symbolic.derivations.obligations import Obligation, RangeObligation
from symbolic.latex.displays import display, stated
from symbolic.latex.page import Page
from symbolic.words.names import name_in_words
from symbolic.words.prose import begun, marked, prose_latex

FORMULA_BEHIND = re.compile(r": `[^`]*`(?=$|, in every )")  # which the condition states anyway
RANGE = re.compile(r"`\[-R, R\]`, `R = (\w+)`")  # whose R is not a letter of the proof


def owed(step: Step) -> list[Obligation]:
    """The obligations to show: none that is true, or that follows from a hypothesis, which the statement shows."""
    return [each for each in step.obligations if not each.granted and each.condition != sp.true]


class Owed:
    """The conditions of the steps so far, by the number of the step that states them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.stated: dict[Any, str] = {}

    def sentences(self, step: Step, number: str, room: float) -> list[str]:
        """What the step is provided that, and what holds by an induction, in sentences."""
        found: dict[Any, list[Obligation]] = {}
        for each in owed(step):
            by_induction = bool(each.discharged_by) and not each.at_worst
            found.setdefault(marked(each.discharged_by) if by_induction else each.condition, []).append(each)
        names, page = names_in(step), replace(self.page, room=room)
        return [self._sentence(key, each, number, names, page) for key, each in found.items()]

    def _sentence(self, key: Any, same: list[Obligation], number: str, names: list[str], page: Page) -> str:
        words = " and that ".join(dict.fromkeys(statement_latex(each, names) for each in same))
        first = self.stated.setdefault(key, number)
        if isinstance(key, str):
            if first != number:
                return f"As in ({first}), {words}."
            return f"{begun(words)} {_reason(key)}{self._recurrence(same[0])}"
        if first != number:
            return f"As in ({first}), this needs that {words}."
        condition = stated(key, page, ".")
        if same[0].at_worst:
            return f"Here {words}, {prose_latex(same[0].discharged_by)}: {condition}"
        return f"This holds provided that {words}: {condition}"

    def _recurrence(self, obligation: Obligation) -> str:
        """The recursion whose largest member the range is."""
        if not isinstance(obligation, RangeObligation) or obligation.recursion is None:
            return "."
        return f": {display([obligation.recursion.latex(self.page.notation)], '.')}"


def _reason(words: str) -> str:
    """An induction, or another reason, behind what follows from it."""
    return f"{'by' if words.startswith('induction') else 'since'} {prose_latex(words)}"


def names_in(step: Step) -> list[str]:
    """Those that a statement about the step may quote."""
    return [step.name, *step.premises, *(each.name for each in steps_of_one_layer(step))]


def statement_latex(obligation: Obligation, names: Iterable[str]) -> str:
    """The statement with the names of steps in it as mathematics or words, for text mode."""
    words = RANGE.sub(r"`[-\1, \1]`", FORMULA_BEHIND.sub("", marked(obligation.statement)))
    known = sorted({each for each in names if f"'{each}'" in words}, key=len, reverse=True)
    if not known:
        return prose_latex(words)
    quoted = "|".join(re.escape(f"'{each}'") for each in known)
    parts = re.split(f"({quoted})", words)
    return "".join(name_in_words(p[1:-1]) if place % 2 else prose_latex(p) for place, p in enumerate(parts))
