"""`boundsmith solve`: the value of a parameter that guarantees an error, as a sentence or as JSON."""

from collections.abc import Mapping
from typing import Any

import bridge
from bridge.cli.requests import Request
from bridge.cli.terminal import progress, show, show_json, warnings_in_words
from bridge.questions.solving.solution import sentences

FIELDS = (
    *("result", "name", "value", "bound", "requested", "quantity", "tier"),
    *("closed_form", "closed_form_conditions", "method", "params", "note", "of_error", "chance"),
)


def run_solve(request: Request, knob: str, options: Mapping[str, Any], *, as_json: bool) -> None:
    """`options` are the keyword arguments of `bridge.solve` that the user gave. `knob` may be `error` itself."""
    source = request.source
    with warnings_in_words(), progress(f"solving {source.typed} for {knob}"):
        solution = bridge.solve(source.theorem, for_=knob, **options, **request.parameters)
    conditions = [{"statement": each.statement, "kind": str(each.kind)} for each in solution.conditions]
    record = {**{name: getattr(solution, name) for name in FIELDS}, "conditions": conditions}
    if as_json:
        show_json(record)
    else:
        show(*sentences(solution))
