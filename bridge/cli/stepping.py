"""`boundsmith show --steps`: the steps of the derivations at one prompt, as tables or as JSON."""

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from bridge.cli.requests import Request
from bridge.cli.terminal import line_width, progress, show_filled, show_json, warnings_in_words
from bridge.export.grids import bounded
from bridge.questions.steps import all_steps
from bridge.readings.steps import HEADER, StepAtPrompt, Steps

NUMBERS = ("size", "error", "bound", "ratio")
KEPT_FIRST = ("step", "error", "bound", "size", "ratio", "norm", "by", "rule")


def show_steps(request: Request, *, seed: int, exact: bool, as_json: bool) -> None:
    with warnings_in_words(), progress(f"reading {request.source.typed}"):
        found = all_steps(request.source.theorem, seed=seed, exact=exact, **request.parameters)
    if as_json:
        show_json({name: [_record(row) for row in steps] for name, steps in found.items()})
        return
    how = "on balls, rounded up" if exact else "in float64; --exact proves them"
    blocks = [
        block for name, steps in found.items() for block in (*([name] if len(found) > 1 else []), *_table(steps), "")
    ]
    rules = "by: the enclosure of this prompt, or the rule in norms"
    show_filled(*blocks, f"one random prompt, seed {seed}; {how}; {rules}")


def _table(steps: Steps) -> Iterator[RenderableType]:
    columns = [place for place, _ in enumerate(HEADER) if any(row.cells[place] for row in steps)]
    headings = [(HEADER[place], HEADER[place] in NUMBERS) for place in columns]
    lines = [[row.cells[place] for place in columns] for row in steps]
    yield from bounded(headings, lines, line_width(), KEPT_FIRST, cut=("stopped",))


def _record(row: StepAtPrompt) -> dict[str, Any]:
    numbers = {name: getattr(row, name) for name in NUMBERS}
    return {"step": row.name, "rule": row.rule, "norm": str(row.norm), **numbers, "by": row.by, "stopped": row.stopped}
