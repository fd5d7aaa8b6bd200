"""`boundsmith solve`: the value of a parameter that guarantees an error, as a sentence or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import bridge
from bridge.cli.assignments import parameters
from bridge.cli.comparing import check_names
from bridge.cli.sources import find_source
from bridge.cli.terminal import progress, show, show_json, warnings_in_words
from bridge.export.layout import parameter_words
from bridge.registry import find_study

UNPROVED = ", which boundsmith does not prove as printed"
FIELDS = (
    *("name", "value", "bound", "requested", "quantity", "tier"),
    *("closed_form", "closed_form_conditions", "method", "params", "note", "of_error"),
)


def run_solve(id: str, knob: str, options: Mapping[str, Any], settings: Sequence[str], *, as_json: bool) -> None:
    """`options` are the keyword arguments of `bridge.solve` that the user gave. `knob` may be `error` itself."""
    source = find_source(id)
    params = check_names(source, parameters(settings))
    if knob != "error":
        check_names(source, {knob: None})
    with warnings_in_words(), progress(f"solving {id} for {knob}"):
        solution = bridge.solve(source, for_=knob, **options, **params)
    conditions = [{"statement": each.statement, "kind": str(each.kind)} for each in solution.conditions]
    study = find_study(source)
    record = {"result": study.result.id, **{name: getattr(solution, name) for name in FIELDS}, "conditions": conditions}
    if as_json:
        show_json(record)
    else:
        show(*_sentences(record, study.automatic))


def _sentences(solution: dict[str, Any], automatic: Sequence[str]) -> list[str]:
    """The value with all its digits: one rounded down might not suffice."""
    name = solution["name"]
    others = {key: value for key, value in solution["params"].items() if key != name}
    at = ", ".join(f"{key} = {parameter_words(key, value, automatic)}" for key, value in others.items())
    sentences = [f"{solution['result']}: {_answer(solution)}."]
    sentences += [f"At {at}."] if at else []
    sentences += [f"Checked at this point: {_checked(solution['conditions'])}."] if solution["conditions"] else []
    if solution["closed_form"]:
        where = f", where {', '.join(conditions)}" if (conditions := solution["closed_form_conditions"]) else ""
        sentences.append(f"Closed form: {name} = {solution['closed_form']}{where}.")
    sentences += [f"Not guaranteed: {solution['note']}."] if solution["note"] else []
    return [*sentences, f"Method: {solution['method']}."]


def _checked(conditions: Sequence[Mapping[str, str]]) -> str:
    """Hypotheses, then obligations."""
    kinds = dict.fromkeys(each["kind"] for each in conditions)
    plural = {"hypothesis": "hypotheses", "obligation": "obligations"}
    groups = {kind: [each["statement"] for each in conditions if each["kind"] == kind] for kind in kinds}
    return "; ".join(
        f"{kind if len(stated) == 1 else plural[kind]} {', '.join(stated)}" for kind, stated in groups.items()
    )


def _answer(solution: dict[str, Any]) -> str:
    quantity, tier, bound = (solution[name] for name in ("quantity", "tier", "bound"))
    what = "error" if solution["of_error"] else "value"
    if solution["requested"] is None:
        return f"the {tier} bound on the {what} of {quantity} is {bound}"
    by = f"by the {tier} bound{UNPROVED if tier == 'printed' else ''}"
    verb = "implies" if tier == "printed" else "guarantees"
    answer = f"{by}, {solution['name']} = {solution['value']} {verb} that the {what} of {quantity} is at most {bound}"
    return f"{answer} (requested: {solution['requested']})"
