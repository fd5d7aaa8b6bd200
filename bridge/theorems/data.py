"""Tables of real data as prompts: the bundled one and CSV files, and the scaling that makes them meet the hypotheses.

The last row is the query; all other rows are the prompt. The scaling is computed from the prompt alone.
"""

import csv
import difflib
import io
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bridge.limits.files import read_bytes
from numeric.balls.digits import apart
from symbolic.words.errors import UsageError
from symbolic.words.prose import prose

LEAST_ROWS = 3  # a deviation takes two rows of a prompt, and the query is one more
LARGEST_NUMBER = 1e150  # its square still is a float64
SHOWN_PROBLEMS = 8
MOST_BYTES, LONGEST_LINE = 256 << 20, 1 << 20  # of a file, and characters of a line
MOST_COLUMNS = 10_000
INNER_SHARE = 0.9  # of an open range such as tanh's (-1, 1): its ends would need infinite weights


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers by rows: `features` (n + 1, d_x), `targets` (n + 1, d_y); the last row is the query."""

    refused: ClassVar[str] = "takes no --data and no --csv: it does not accept tabular input"

    features: np.ndarray
    targets: np.ndarray
    names: tuple[str, ...]
    source: str

    def first(self, rows: int) -> "Table":
        """The table of the first rows only. Raises UsageError if there are fewer, or if they are too few to scale."""
        if not LEAST_ROWS <= rows <= len(self.features):
            raise UsageError(
                f"{self.source}: expected {LEAST_ROWS} to {len(self.features)} rows (prompt and query), got {rows}"
            )
        return replace(self, features=self.features[:rows], targets=self.targets[:rows])


def load_table(name: str | None, path: str | None, target: str | None) -> Table:
    """The bundled table of that name, whose target is its own, or the CSV file at `path`."""
    if path is not None:
        return read_csv(path, target)
    if target is not None:
        raise UsageError(f"--target goes with --csv FILE, not with --data; leave out '{target}'")
    if name not in BUNDLED:
        near = difflib.get_close_matches(str(name), BUNDLED, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"--data: there is no table '{name}'; available: {', '.join(BUNDLED)}{hint}")
    return BUNDLED[name]()


def diabetes() -> Table:
    """442 patients (Efron et al. 2004): ten raw measurements, and the progression of the disease after a year."""
    try:
        from sklearn.datasets import load_diabetes
    except ImportError as error:
        raise UsageError(
            "--data diabetes is part of scikit-learn, which is not installed: pip install 'boundsmith[data]'"
        ) from error
    bundle = load_diabetes(scaled=False)
    return Table(bundle.data, bundle.target[:, None], tuple(bundle.feature_names), "diabetes")


def sunspots() -> Table:
    """Yearly numbers of sunspots, 1700 to 2008 (National Geophysical Data Center): a series, with its years."""
    try:
        from statsmodels.datasets import sunspots as bundled
    except ImportError as error:
        raise UsageError(
            "--data sunspots is part of statsmodels, which is not installed: pip install 'boundsmith[data]'"
        ) from error
    columns = bundled.load_pandas().data
    years, numbers = (columns[name].to_numpy(dtype=float)[:, None] for name in ("YEAR", "SUNACTIVITY"))
    return Table(years, numbers, ("YEAR",), "sunspots")


BUNDLED = {"diabetes": diabetes, "sunspots": sunspots}


def read_csv(path: str, target: str | None) -> Table:
    """A comma-separated file with a header row; `target` names the column to predict, all others are features.

    Raises UsageError that names the file and, all of them at once, line and column of what cannot be used.
    """
    rows = _lines(path)
    _, header = next(rows, (0, []))
    if not header:
        raise UsageError(f"--csv: '{path}' is empty; a header row and at least {LEAST_ROWS} rows of numbers are needed")
    _refuse(path, _header_problems(header))
    place = _column_of(path, header, target)
    values = _numbers(path, header, rows)  # (n + 1, columns)
    others = [column for column in range(len(header)) if column != place]
    names = tuple(header[column] for column in others)
    _refuse(path, [_constant(header[column]) for column in _constant_columns(values)])
    return Table(values[:, others], values[:, [place]], names, path)


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with the number of the line each ends on, without empty lines."""
    content = io.BytesIO(read_bytes(path, "--csv", MOST_BYTES))
    reader = csv.reader(_text_lines(path, content), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if cells not in ([], [""]):
                yield reader.line_num, cells
    except csv.Error as error:
        raise UsageError(f"--csv: '{path}', line {reader.line_num}: {error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--csv: '{path}' is not a UTF-8 text file") from None


def _text_lines(path: str, content: io.BytesIO) -> Iterator[str]:
    """The lines as they stand, each of a bounded length: the cells of one line are held at once."""
    text = io.TextIOWrapper(content, "utf-8-sig", newline="")
    for number, line in enumerate(iter(lambda: text.readline(LONGEST_LINE + 1), ""), 1):
        if len(line) > LONGEST_LINE:
            raise UsageError(f"--csv: '{path}', line {number} has more than {LONGEST_LINE} characters")
        yield line


def _refuse(path: str, problems: Sequence[str], count: int = 0) -> None:
    """Raises UsageError that shows the first problems, and how many more there are: of `count` where more were met."""
    if problems:
        more = max(count, len(problems)) - SHOWN_PROBLEMS
        beyond = f"; and {more} more" if more > 0 else ""
        raise UsageError(f"--csv: '{path}': {'; '.join(problems[:SHOWN_PROBLEMS])}{beyond}")


def _header_problems(header: list[str]) -> list[str]:
    if len(header) == 1:
        separators = [name for sign, name in ((";", "semicolons"), ("\t", "tabs")) if sign in header[0]]
        hint = f" (it has {separators[0]}; separate the columns by commas)" if separators else ""
        return [f"the header row has one column, but a target and a feature are needed{hint}"]
    if all(_number(cell) is not None for cell in header):
        return ["the first line holds numbers; a header row with the names of the columns is needed"]
    if len(header) > MOST_COLUMNS:
        return [f"the header row has {len(header)} columns; at most {MOST_COLUMNS} are read"]
    unnamed = [f"column {place} has no name" for place, name in enumerate(header, 1) if not name]
    counted = Counter(name for name in header if name)
    return unnamed + [f"{count} columns are named '{name}'" for name, count in counted.items() if count > 1]


def _column_of(path: str, header: list[str], target: str | None) -> int:
    if target is None:
        raise UsageError(f"--csv: give --target, the column of '{path}' to predict: {', '.join(header)}")
    if target not in header:
        near = difflib.get_close_matches(target, header, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else f"it has: {', '.join(header)}"
        raise UsageError(f"--csv: '{path}' has no column '{target}' (--target); {hint}")
    return header.index(target)


def _numbers(path: str, header: list[str], rows: Iterable[tuple[int, list[str]]]) -> np.ndarray:
    """The cells as numbers (n + 1, columns). Raises UsageError with what is wrong with those that are none.

    A row that is as it should be takes one pass; no row is kept but its numbers.
    """
    numbers, problems, wrong, count = array("d"), list[str](), 0, 0
    for line, cells in rows:
        count += 1
        found = _row(cells) if len(cells) == len(header) else None
        if found is not None:
            numbers.extend(found)
            continue
        complaints = _complaints(line, header, cells)
        wrong += len(complaints)
        problems += complaints[: max(0, SHOWN_PROBLEMS - len(problems))]
    if count < LEAST_ROWS:
        problems.append(f"{count} rows of numbers, but at least {LEAST_ROWS} are needed (the last is the query)")
        wrong += 1
    _refuse(path, problems, wrong)
    return np.array(numbers).reshape(count, len(header))


def _row(cells: list[str]) -> list[float] | None:
    """The numbers of a row; None where a cell is not as it should be."""
    try:
        found = [float(cell) for cell in cells]
    except ValueError:
        return None
    admitted = all(-LARGEST_NUMBER <= number <= LARGEST_NUMBER for number in found)  # not where one is not a number
    return found if admitted and not any("_" in cell for cell in cells) else None


def _complaints(line: int, header: list[str], cells: list[str]) -> list[str]:
    if len(cells) != len(header):
        return [f"line {line} has {len(cells)} cells, the header has {len(header)}"]
    named = ((name, _complaint(cell)) for name, cell in zip(header, cells, strict=True))
    return [f"line {line}, column '{name}': {complaint}" for name, complaint in named if complaint]


def _complaint(cell: str) -> str:
    number = _number(cell)
    if not cell:
        return "the value is missing"
    if number is None:
        return f"{cell!r:.40} is not a number"
    if not math.isfinite(number):
        return f"{cell!r:.40} is not finite"
    return f"{cell!r:.40} is beyond {LARGEST_NUMBER:g}" if abs(number) > LARGEST_NUMBER else ""


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)  # Python reads 1_000 as a number; in a table it is a typing error
    except ValueError:
        return None


def _constant(name: str) -> str:
    return f"column '{name}' is constant over the prompt (all rows but the last), so it cannot be scaled"


def _constant_columns(values: np.ndarray) -> list[int]:
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
    features = _standardised(table.features)  # (n + 1, d_x)
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
    constant = [_constant(table.names[column]) for column in _constant_columns(table.features)]
    constant += ["the target is constant over the prompt (all rows but the last)"] * bool(
        _constant_columns(table.targets)
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


def _standardised(features: np.ndarray) -> np.ndarray:
    """Each column (of (n + 1, d)) with mean 0 and standard deviation 1 on the prompt; no square over- or underflows."""
    lowest, highest = features[:-1].min(0), features[:-1].max(0)
    with np.errstate(over="ignore"):  # of the query: refused below
        unit = (features - lowest) / (highest - lowest)  # in [0, 1] on the prompt
    standard = (unit - unit[:-1].mean(0)) / unit[:-1].std(0)
    if not np.isfinite(standard).all():
        raise UsageError("the query is beyond float64 after scaling by the prompt; its columns have no common scale")
    return standard
