"""The answer of `solve`, and its sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from bridge.questions.solving.probes import CheckedCondition
from bridge.theorems.numbers import parameter_words

UNPROVED = ", which boundsmith does not prove as printed"
PLURAL = {"hypothesis": "hypotheses", "obligation": "obligations"}


@dataclass(frozen=True)
class Solution:
    """The value of a knob, and the bound that it was checked to give (rounded up).

    `conditions` are the hypotheses and obligations that were checked at this value; all of them hold. `closed_form` is
    valid under `closed_form_conditions`. `params` are the parameters on which the bound depends. `note` states what an
    answer does not guarantee: for a printed bound its errata.
    """

    name: str
    value: float | int
    bound: float
    requested: float | None
    quantity: str
    tier: str
    method: str
    closed_form: str | None
    params: dict[str, Any]
    conditions: tuple[CheckedCondition, ...] = ()
    closed_form_conditions: tuple[str, ...] = ()
    note: str = ""
    of_error: bool = field(default=True)
    result: str = ""
    automatic: tuple[str, ...] = ()
    chance: str = ""  # with which probability, or that it is an expectation

    def __str__(self) -> str:
        """The sentences that the command prints."""
        return "\n".join(sentences(self))

    def __repr__(self) -> str:
        return f"<Solution of {sentences(self)[0]}>"

    def _repr_html_(self) -> str:
        return "<br>\n".join(map(escape, sentences(self)))


def sentences(solution: Solution) -> list[str]:
    """The value with all its digits: one rounded down might not suffice."""
    others = {key: value for key, value in solution.params.items() if key != solution.name}
    at = ", ".join(f"{key} = {parameter_words(key, value, solution.automatic)}" for key, value in others.items())
    found = [f"{solution.result}: {_answer(solution)}."]
    found += [f"At {at}."] if at else []
    found += [f"Checked at this point: {_checked(solution.conditions)}."] if solution.conditions else []
    if solution.closed_form:
        where = f", where {', '.join(solution.closed_form_conditions)}" if solution.closed_form_conditions else ""
        found.append(f"Closed form: {solution.name} = {solution.closed_form}{where}.")
    found += [f"Not guaranteed: {solution.note}."] if solution.note else []
    return [*found, f"Method: {solution.method}."]


def _checked(conditions: Sequence[CheckedCondition]) -> str:
    """Hypotheses, then obligations."""
    kinds = dict.fromkeys(str(each.kind) for each in conditions)
    groups = {kind: [each.statement for each in conditions if each.kind == kind] for kind in kinds}
    return "; ".join(
        f"{kind if len(stated) == 1 else PLURAL[kind]} {', '.join(stated)}" for kind, stated in groups.items()
    )


def _answer(solution: Solution) -> str:
    what = "error" if solution.of_error else "value"
    chance = f"{solution.chance}, " if solution.chance else ""
    about = f"{chance}the {what} of {solution.quantity}"
    if solution.requested is None:
        return f"the {solution.tier} bound on {about} is {solution.bound}"
    by = f"by the {solution.tier} bound{UNPROVED if solution.tier == 'printed' else ''}"
    verb = "implies" if solution.tier == "printed" else "guarantees"
    answer = f"{by}, {solution.name} = {solution.value} {verb} that {about} is at most {solution.bound}"
    return f"{answer} (requested: {solution.requested})"
