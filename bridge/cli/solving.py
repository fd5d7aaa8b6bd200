"""`boundsmith solve`: the value of a parameter that guarantees an error, as a sentence or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import bridge
from bridge.cli.assignments import parameters
from bridge.cli.comparing import check_names
from bridge.cli.terminal import progress, show, show_json
from bridge.export.layout import value_words

UNPROVED = ", as printed and not proved here"
FIELDS = ("name", "value", "bound", "requested", "quantity", "tier", "closed_form", "method", "params")


def run_solve(id: str, knob: str, options: Mapping[str, Any], settings: Sequence[str], *, as_json: bool) -> None:
    """`options` are the keyword arguments of `bridge.solve` that the user gave. `knob` may be `error` itself."""
    params = check_names(id, parameters(settings))
    if knob != "error":
        check_names(id, {knob: None})
    with progress(f"solving {id} for {knob}"):
        solution = bridge.solve(id, for_=knob, **options, **params)
    record = {"result": id} | {name: getattr(solution, name) for name in FIELDS}
    if as_json:
        show_json(record)
    else:
        show(*_sentences(record))


def _sentences(solution: dict[str, Any]) -> list[str]:
    """The value with all its digits: one rounded down might not suffice."""
    at = ", ".join(f"{name} = {value_words(value)}" for name, value in solution["params"].items())
    sentences = [f"{solution['result']}: {_answer(solution)}."]
    sentences += [f"At {at}."] if at else []
    sentences += [f"Closed form: {solution['name']} = {solution['closed_form']}."] if solution["closed_form"] else []
    return [*sentences, f"Method: {solution['method']}."]


def _answer(solution: dict[str, Any]) -> str:
    quantity, tier, bound = (solution[name] for name in ("quantity", "tier", "bound"))
    if solution["requested"] is None:
        return f"the {tier} bound on the error of {quantity} is {bound}"
    verb = "would give, were it true," if tier == "printed" else "guarantees"
    answer = f"{solution['name']} = {solution['value']} {verb} an error of {quantity} of at most {bound}"
    return f"{answer} (requested: {solution['requested']}; {tier} bound{UNPROVED if tier == 'printed' else ''})"
