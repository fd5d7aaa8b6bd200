"""`boundsmith solve`: the value of a parameter that guarantees an error, as a sentence or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import bridge
from bridge.cli.assignments import parameters
from bridge.cli.comparing import check_names
from bridge.cli.sources import find_source
from bridge.cli.terminal import progress, show, show_json, warnings_in_words
from bridge.export.answers import sentences

UNPROVED = ", which boundsmith does not prove as printed"
FIELDS = (
    *("result", "name", "value", "bound", "requested", "quantity", "tier"),
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
    record = {**{name: getattr(solution, name) for name in FIELDS}, "conditions": conditions}
    if as_json:
        show_json(record)
    else:
        show(*sentences(solution))
