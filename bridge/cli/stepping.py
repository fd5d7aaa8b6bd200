"""`boundsmith show --steps`: the steps of the derivations at one prompt, as tables or as JSON."""

from typing import Any

from rich.console import RenderableType
from rich.table import Table

from bridge.cli.requests import Request
from bridge.cli.terminal import progress, show, show_json, warnings_in_words
from bridge.readings.steps import HEADER, StepAtPrompt, Steps
from bridge.theorem_steps import all_steps

NUMBERS = ("size", "error", "bound", "ratio")


def show_steps(request: Request, *, seed: int, exact: bool, as_json: bool) -> None:
    with warnings_in_words(), progress(f"reading {request.source.typed}"):
        found = all_steps(request.source.theorem, seed=seed, exact=exact, **request.parameters)
    if as_json:
        show_json({name: [_record(row) for row in steps] for name, steps in found.items()})
        return
    how = "on balls, rounded up" if exact else "in float64; --exact proves them"
    blocks = [block for name, steps in found.items() for block in (_table(steps, name if len(found) > 1 else None), "")]
    show(*blocks, f"one random prompt, seed {seed}; {how}; by: the enclosure of this prompt, or the rule in norms")


def _table(steps: Steps, title: str | None) -> RenderableType:
    columns = [place for place, _ in enumerate(HEADER) if any(row.cells[place] for row in steps)]
    table = Table(title=title, title_justify="left", show_edge=False, pad_edge=False, header_style="bold")
    for place in columns:
        table.add_column(HEADER[place], justify="right" if HEADER[place] in NUMBERS else "left")
    for row in steps:
        table.add_row(*(row.cells[place] for place in columns))
    return table


def _record(row: StepAtPrompt) -> dict[str, Any]:
    numbers = {name: getattr(row, name) for name in NUMBERS}
    return {"step": row.name, "rule": row.rule, "norm": str(row.norm), **numbers, "by": row.by, "stopped": row.stopped}
