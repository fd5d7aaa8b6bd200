"""`compare`: printed | derived | instance | measured | attacked | rounding, for every quantity at every grid point.

The engine knows no topic: it makes an instance of each point, attacks those that differ in numbers together, and asks
everything that is judged there for its rows.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.export.bars import notebook_bar
from bridge.export.comparison import Comparison
from bridge.instances.point import Point, first_defaults
from bridge.judging.faithful import NAME as FAITHFUL
from bridge.limits.refusals import briefly_refused
from bridge.questions.checked_call import DEFAULTS, Interrupted, Progress, checked_call
from bridge.questions.grid import grid_of
from bridge.questions.kept import kept_in
from bridge.theorems.refutable import refutable
from bridge.theorems.registry import TheoremLike
from bridge.theorems.theorem import Theorem

__all__ = ["DEFAULTS", "Comparison", "Interrupted", "compare", "grid_of", "shown_quantities"]


@briefly_refused
def compare(
    result: "TheoremLike",
    *,
    seed: int | None = None,
    samples: int | None = None,
    attack: int | None = None,
    restarts: int | None = None,
    dtype: str | None = None,
    device: str = "cpu",
    text: str | None = None,
    data: str | None = None,
    csv: str | None = None,
    target: str | None = None,
    features: str | Sequence[str] | None = None,
    lags: int | None = None,
    claim: str | Sequence[str] = (),
    keep: str | Path | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Comparison:
    """Set the bounds of a theorem beside the errors of its network.

    `result` is a `Theorem`, the id of a result, or the path of a Python file that holds a theorem (`own.py`,
    `own.py:NAME` where it holds several).
    `params` take the result's parameters; a list or tuple of values spans a grid. `samples` random inputs (256 by
    default, fewer where each takes long) are drawn per point, `attack` gradient steps (100) taken from each of
    `restarts` starts (12; 0 steps: no attack). The same seed (0) and dtype (float64) give the same record. What a
    result without inputs has no use for is refused.

    Real inputs come from one source at most: `text`, a file of which windows are the inputs, without an attack;
    `data`, the name of a bundled table; or `csv`, a file with a header row, and `target`, the column to be predicted.
    Of a table `features` are the columns that are taken beside the target ("bmi,bp", or a list), by default all others.
    Of a table that is a series, a value is predicted from the `lags` values before it.

    `claim` is a bound of your own, such as "output <= 2*W_norm*exp(-p)", or several: judged like a printed one, in the
    tier `claimed`; in letters that a prompt knows, at each prompt too.

    `keep` is a folder in which each point of a grid is kept as it is done: the same call goes on where one was stopped,
    and gives the same record. An interrupt raises `Interrupted`, with the rows of the points that are done.
    `progress` is called with how many points are done, of how many, and the next one in words; without it, a notebook
    shows a bar.

    Raises UsageError for anything the call gets wrong, before anything long is started.
    """
    options = {
        "seed": seed,
        "samples": samples,
        "attack": attack,
        "restarts": restarts,
        "dtype": dtype,
        "device": device,
        "text": text,
        "data": data,
        "csv": csv,
        "target": target,
        "features": features,
        "lags": lags,
    }
    call = checked_call(result, {**options, "claim": claim}, params)
    with notebook_bar() as bar:
        if keep is None or len(call.grid) == 1:
            return call.compared(progress or bar)
        with kept_in(keep, call.identity, f"compare {call.theorem.id}") as kept:
            return call.compared(progress or bar, kept)


def shown_quantities(theorem: Theorem, params: Mapping[str, Any]) -> list[str]:
    """The names of the quantities that a comparison at this point has rows of."""
    here = Point.at(theorem, first_defaults(theorem) | dict(params)).stated.quantities
    others = [*(each.quantity for each in theorem.checks), *refutable(theorem)]
    return [each.name for each in (*here, *others)] + [FAITHFUL]
