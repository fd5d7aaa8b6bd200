"""Tables of real data as prompts, and the scaling that makes them meet the hypotheses.

The last row is the query; all other rows are the prompt. The scaling is computed from the prompt alone.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from numeric.balls.digits import apart
from symbolic.words.errors import UsageError
from symbolic.words.prose import prose

LEAST_ROWS = 3  # a deviation takes two rows of a prompt, and the query is one more
INNER_SHARE = 0.9  # of an open range such as tanh's (-1, 1): its ends would need infinite weights


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers by rows: `features` (n + 1, d_x), `targets` (n + 1, d_y); the last row is the query.

    There may be no column of one of them. `note` says which columns were chosen, and which were dates; `target` is the
    name of the column to predict where a user gave one.
    """

    refused: ClassVar[str] = "takes no --data and no --csv: it does not accept tabular input"

    features: np.ndarray
    targets: np.ndarray
    names: tuple[str, ...]
    source: str
    note: str = ""
    target: str = ""

    def require_target(self, id: str) -> None:
        """Raises UsageError where there is no target, or no feature to predict it from."""
        if not self.targets.shape[1]:
            raise UsageError(
                f"{id} predicts a column, but {self.source} has no target; name it by --target, and not by --features"
            )
        if not self.features.shape[1]:
            raise UsageError(f"{id} predicts a column from others, but {self.source} has the target alone; add some")

    def first(self, rows: int) -> "Table":
        """The table of the first rows only. Raises UsageError if there are fewer, or if they are too few to scale."""
        if not LEAST_ROWS <= rows <= len(self.features):
            raise UsageError(
                f"{self.source}: expected {LEAST_ROWS} to {len(self.features)} rows (prompt and query), got {rows}"
            )
        return replace(self, features=self.features[:rows], targets=self.targets[:rows])


def constant_words(name: str) -> str:
    return f"column '{name}' is constant over the prompt (all rows but the last), so it cannot be scaled"


def constant_columns(values: np.ndarray) -> list[int]:
    """The columns of (n + 1, d) that have one value on the prompt."""
    prompt = values[:-1]
    return [int(column) for column in np.flatnonzero(prompt.max(0) == prompt.min(0))]


@dataclass(frozen=True, eq=False)
class ScaledTable:
    """A table scaled to meet the hypotheses: ||x_i||_2 <= B_x and ||y_i||_2 <= B_y on the prompt.

    `x` (n, d_x), `y` (n, d_y), the query's features `x_query` (d_x,) and target `y_query` (d_y,), both by the map of
    the prompt; targets are y = middle + unit * (raw target - centre).
    """

    x: np.ndarray
    y: np.ndarray
    x_query: np.ndarray
    y_query: np.ndarray
    query_norm: float
    B_x: float
    centre: np.ndarray
    middle: float
    unit: float
    table: Table

    @property
    def source(self) -> str:
        return self.table.source

    @property
    def outside(self) -> bool:
        """Whether the query does not meet ||x||_2 <= B_x."""
        return self.query_norm > self.B_x

    @property
    def remark(self) -> str:
        """A remark on the query; "" if it meets the hypotheses."""
        if not self.outside:
            return ""
        norm, most = apart(self.query_norm, self.B_x, 4)
        words = f"the query of {self.source} has `||x||_2 = {norm} > B_x = {most}`: outside"
        return prose(words, checked=False)

    def in_raw_units(self, y: np.ndarray) -> np.ndarray:
        """Predictions (..., d_y) in the units of the table's targets."""
        return self.centre + (y - self.middle) / self.unit

    def raw(self, y: Any) -> float:
        """One prediction, an array of one number, in the units of the table's only target."""
        return float(self.in_raw_units(np.asarray(y, dtype=float).reshape(1))[0])


def scaled(table: Table, B_x: float, B_y: float, *, output_range: tuple[float, float] | None = None) -> ScaledTable:
    """The table scaled to meet the hypotheses; the scaling is computed from the prompt alone.

    Features are centred and divided by their standard deviation on the prompt, then by one common factor, so that the
    largest ||x_i||_2 is B_x. Targets are centred and scaled, so that the largest |y_i| is B_y; with `output_range`, the
    open range of the network's last activation ((-1, 1) for tanh), they stay within its inner nine tenths as well.
    Raises UsageError for a constant column, and if no target of absolute value at most B_y lies in the range.
    """
    _check_scalable(table, B_x, B_y)
    d_x, d_y = table.features.shape[1], table.targets.shape[1]
    features = standardised(table.features, len(table.features) - 1)  # (n + 1, d_x)
    norms = np.sqrt((features**2).sum(1))  # (n + 1,)
    factor = _below(B_x, d_x) / norms[:-1].max()
    x = features * factor
    low, high = _target_box(_below(B_y, d_y) / math.sqrt(d_y), output_range)
    middle = (low + high) / 2
    centre = table.targets[:-1].mean(0)  # (d_y,)
    centred = table.targets - centre  # (n + 1, d_y)
    unit = (high - low) / 2 / np.abs(centred[:-1]).max()
    y = middle + unit * centred
    return ScaledTable(
        x=x[:-1],
        y=y[:-1].clip(low, high),  # at the ends of the box rounding may be on the wrong side
        x_query=x[-1],
        y_query=y[-1],
        query_norm=float(norms[-1] * factor),
        B_x=B_x,
        centre=centre,
        middle=middle,
        unit=float(unit),
        table=table,
    )


def _below(bound: float, d: int) -> float:
    """A little less than `bound`, so that no exact 2-norm of d rounded coordinates is above it."""
    return bound * float(1 - (d + 8) * np.finfo(float).eps)


def _check_scalable(table: Table, B_x: float, B_y: float) -> None:
    constant = [constant_words(table.names[column]) for column in constant_columns(table.features)]
    constant += ["the target is constant over the prompt (all rows but the last)"] * bool(
        constant_columns(table.targets)
    )
    if constant:
        raise UsageError(f"{table.source}: {'; '.join(constant)}")
    if not (0 < B_x < math.inf and 0 < B_y < math.inf):
        raise UsageError(f"{table.source}: B_x = {B_x} and B_y = {B_y} must be positive numbers")


def _target_box(largest: float, output_range: tuple[float, float] | None) -> tuple[float, float]:
    """The interval for each target: [-largest, largest], within the inner part of the range."""
    low, high = output_range or (-math.inf, math.inf)
    if math.isfinite(low) and math.isfinite(high):
        middle, half = (low + high) / 2, INNER_SHARE * (high - low) / 2
        low, high = middle - half, middle + half
    box = max(low, -largest), min(high, largest)
    if not box[0] < box[1]:
        raise UsageError(f"no target with |y| <= {largest:g} lies in the range {output_range} of the output; raise B_y")
    return box


def standardised(features: np.ndarray, count: int) -> np.ndarray:
    """Each column (of (n + 1, d)) with mean 0 and standard deviation 1 on the first `count` rows, the prompt.

    No square over- or underflows. Raises UsageError for a query that has no such size.
    """
    lowest, highest = features[:count].min(0), features[:count].max(0)
    with np.errstate(over="ignore"):  # of the query: refused below
        unit = (features - lowest) / (highest - lowest)  # in [0, 1] on the prompt
    standard = (unit - unit[:count].mean(0)) / unit[:count].std(0)
    if not np.isfinite(standard).all():
        raise UsageError("the query is beyond float64 after scaling by the prompt; its columns have no common scale")
    return standard
