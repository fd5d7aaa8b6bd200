"""Tables of real data by name: the bundled ones and CSV files, and which of their columns are taken."""

import csv
import difflib
import io
import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from bridge.limits.files import read_bytes
from bridge.theorems.data import LEAST_ROWS, Table, constant_columns, constant_words
from symbolic.words.errors import UsageError

LARGEST_NUMBER = 1e150  # its square still is a float64
SHOWN_PROBLEMS = 8
MOST_BYTES, LONGEST_LINE = 256 << 20, 1 << 20  # of a file, and characters of a line
MOST_COLUMNS = 10_000
SEPARATORS = ",;\t"
MISSING = ("", "?", "na", "n/a", "nan", "null", "none")  # in lower case
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ABSENT = ("the value is missing", "stands for a missing value")
FILL, OTHERS = "; fill in what is missing, or leave its rows out", "; --features NAMES takes some columns only"
DATE = re.compile(r"\d+[-/.]\d+[-/.]\d+\b")  # perhaps; of any order
ISO = "; dates are written as 2024-01-31"
SEPARATED = "; columns are separated by commas, semicolons or tabs"
Names = Sequence[str] | None
Read = Callable[[str], float]


def load_table(name: str | None, path: str | None, target: str | None, features: str | Names = None) -> Table:
    """The bundled table of that name, whose target is its own, or the CSV file at `path`.

    `features` names the columns that are taken beside the target, in a list or separated by commas; None: all of them.
    """
    names = [each.strip() for each in features.split(",")] if isinstance(features, str) else features
    _require_names(features, names)
    if path is not None:
        return read_csv(path, target, names)
    if target is not None:
        raise UsageError(f"--target goes with --csv FILE, not with --data; leave out '{target}'")
    if name not in BUNDLED:
        near = difflib.get_close_matches(str(name), BUNDLED, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"--data: there is no table '{name}'; available: {', '.join(BUNDLED)}{hint}")
    return BUNDLED[name](names)


def _require_names(features: str | Names, names: Names) -> None:
    if names is None:
        return
    if not names or not all(isinstance(each, str) and each for each in names):
        raise UsageError(f"--features: {features!r:.80} leaves a name out; give names of columns, as bmi,bp")
    twice = [each for each, count in Counter(names).items() if count > 1]
    if twice:
        raise UsageError(f"--features names '{twice[0]}' twice; name it once")


def diabetes(features: Names = None) -> Table:
    """442 patients (Efron et al. 2004): ten raw measurements, and the progression of the disease after a year."""
    try:
        from sklearn.datasets import load_diabetes
    except ImportError as error:
        raise UsageError(
            "--data diabetes is part of scikit-learn, which is not installed: pip install 'boundsmith[data]'"
        ) from error
    bundle = load_diabetes(scaled=False)
    header = [*bundle.feature_names, "progression"]
    return _bundled("diabetes", header, np.column_stack([bundle.data, bundle.target]), features)


def sunspots(features: Names = None) -> Table:
    """Yearly numbers of sunspots, 1700 to 2008 (National Geophysical Data Center): a series, with its years."""
    try:
        from statsmodels.datasets import sunspots as bundled
    except ImportError as error:
        raise UsageError(
            "--data sunspots is part of statsmodels, which is not installed: pip install 'boundsmith[data]'"
        ) from error
    header = ["YEAR", "SUNACTIVITY"]
    return _bundled("sunspots", header, bundled.load_pandas().data[header].to_numpy(dtype=float), features)


BUNDLED: dict[str, Callable[[Names], Table]] = {"diabetes": diabetes, "sunspots": sunspots}


def _bundled(name: str, header: list[str], values: np.ndarray, features: Names) -> Table:
    """The last column is the target, unless it is named as a feature: then there is none."""
    target = None if header[-1] in (features or ()) else header[-1]
    places, goal = _places(f"--data: {name}", header, target, features)
    names = tuple(header[place] for place in places)
    return Table(values[:, places], values[:, goal], names, name, _note(features))


def _note(features: Names, dates: Sequence[str] = ()) -> str:
    """What is said of a table beside its name."""
    words = [f"features {', '.join(features)}"] if features else []
    words += [f"{', '.join(dates)} in days since the first row"] if dates else []
    return f" ({'; '.join(words)})" if words else ""


def _places(source: str, header: list[str], target: str | None, features: Names) -> tuple[list[int], list[int]]:
    """Of the features, and of the target if there is one. Raises UsageError for names that the header has not once."""
    goal = [] if target is None else [_place(source, header, target, "--target")]
    if features is None:
        return [place for place in range(len(header)) if place not in goal], goal
    if target in features:
        raise UsageError(f"{source}: '{target}' is named by --target and by --features; leave it out of one")
    return [_place(source, header, name, "--features") for name in features], goal


def _place(source: str, header: list[str], name: str, option: str) -> int:
    count = header.count(name)
    if count == 1:
        return header.index(name)
    if count:
        raise UsageError(f"{source}: {count} columns are named '{name}' ({option}); give them different names")
    near = difflib.get_close_matches(name, header, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it has: {', '.join(header)}"
    raise UsageError(f"{source} has no column '{name}' ({option}); {hint}")


# CSV files.


def read_csv(path: str, target: str | None, features: Names = None) -> Table:
    """A file with a header row, separated by commas, semicolons or tabs; `target` names the column to predict.

    All other columns are features, or those that `features` names; what else the file holds is not read. A column of
    dates (ISO 8601) is read as days since its first one. Without a target there are features alone. Raises UsageError
    that names the file and, all of them at once, line and column of what cannot be used.
    """
    rows = _lines(path)
    _, header = next(rows, (0, []))
    if not header:
        raise UsageError(f"--csv: '{path}' is empty; a header row and at least {LEAST_ROWS} rows of numbers are needed")
    _refuse(path, _header_problems(header, features))
    if target is None and features is None and len(header) > 1:
        raise UsageError(
            f"--csv: give --target, the column of '{path}' to predict, or --features alone where nothing is: "
            f"{', '.join(header)}"
        )
    places, goal = _places(f"--csv: '{path}'", header, target, features)
    hint = SEPARATED if len(header) == 1 else OTHERS if features is None else ""
    values, dates = _numbers(path, header, rows, [*places, *goal], hint)
    names = tuple(header[place] for place in [*places, *goal])
    _refuse(path, [constant_words(names[column]) for column in constant_columns(values)], OTHERS)
    count, note = len(places), _note(features, [names[column] for column in dates])
    return Table(values[:, :count], values[:, count:], names[:count], path, note, target or "")


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with the number of the line each ends on, without empty lines.

    In a file of one column an empty line is a missing value, unless nothing follows.
    """
    content = read_bytes(path, "--csv", MOST_BYTES)
    head = content[:LONGEST_LINE].lstrip().split(b"\n", 1)[0]
    separator = max(SEPARATORS, key=lambda sign: head.count(sign.encode()))
    reader = csv.reader(_text_lines(path, io.BytesIO(content)), delimiter=separator, strict=True)
    columns, empty = 0, 0
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if cells in ([], [""]):
                empty = empty or reader.line_num
                continue
            if empty and columns == 1:
                yield empty, [""]
            columns, empty = columns or len(cells), 0
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


def _refuse(path: str, problems: Sequence[str], hint: str = "") -> None:
    """Raises UsageError that shows the first problems, and how many more there are."""
    if problems:
        more = len(problems) - SHOWN_PROBLEMS
        beyond = f"; and {more} more" if more > 0 else ""
        raise UsageError(f"--csv: '{path}': {'; '.join(problems[:SHOWN_PROBLEMS])}{beyond}{hint}")


def _header_problems(header: list[str], features: Names) -> list[str]:
    """Columns that are not taken may have any name."""
    if all(_number(cell) is not None for cell in header):
        return ["the first line holds numbers; a header row with the names of the columns is needed"]
    if len(header) > MOST_COLUMNS:
        return [f"the header row has {len(header)} columns; at most {MOST_COLUMNS} are read"]
    if features is not None:
        return []
    unnamed = [f"column {place} has no name" for place, name in enumerate(header, 1) if not name]
    counted = Counter(name for name in header if name)
    return unnamed + [f"{count} columns are named '{name}'" for name, count in counted.items() if count > 1]


def _numbers(
    path: str, header: list[str], rows: Iterable[tuple[int, list[str]]], taken: list[int], hint: str
) -> tuple[np.ndarray, list[int]]:
    """The cells of the columns that are taken as numbers (n + 1, columns), and which of these were dates.

    Raises UsageError with what is wrong with those that are no numbers, each kind once a column. A row that is as it
    should be takes one pass; no row is kept but its numbers.
    """
    numbers, count, reads = array("d"), 0, list[Read]()
    first, wrong = dict[tuple[str, str], str](), Counter[tuple[str, str]]()
    for line, cells in rows:
        count += 1
        if len(cells) != len(header):
            complaints = [("", "cells", f"line {line} has {len(cells)} cells, the header has {len(header)}")]
        else:
            own = [cells[place] for place in taken]
            reads = reads or [_days if _is_date(cell) else float for cell in own]
            row = _row(own, reads)
            if row is not None:
                numbers.extend(row)
                continue
            names = (header[place] for place in taken)
            complaints = _complaints(line, zip(names, own, reads, strict=True))
        for name, kind, words in complaints:
            wrong[name, kind] += 1
            first.setdefault((name, kind), words)
    problems = [words + (f" ({wrong[key] - 1} more below)" if wrong[key] > 1 else "") for key, words in first.items()]
    hint = (FILL if any(kind in ABSENT for _, kind in first) else "") + (hint if any(name for name, _ in first) else "")
    if count < LEAST_ROWS:
        problems.append(f"{count} rows of numbers, but at least {LEAST_ROWS} are needed (the last is the query)")
    _refuse(path, problems, hint)
    values, dates = np.array(numbers).reshape(count, len(taken)), [k for k, read in enumerate(reads) if read is _days]
    values[:, dates] -= values[0, dates]
    return values, dates


def _row(cells: list[str], reads: list[Read]) -> list[float] | None:
    """The numbers of a row; None where a cell is not as it should be."""
    try:
        found = [read(cell) for read, cell in zip(reads, cells, strict=True)]
    except ValueError:
        return None
    admitted = all(-LARGEST_NUMBER <= number <= LARGEST_NUMBER for number in found)  # not where one is not a number
    return found if admitted and not any("_" in cell for cell in cells) else None


def _days(cell: str) -> float:
    """A date or a time of ISO 8601, in days; without a time zone it is in UTC. Raises ValueError."""
    if _number(cell) is not None:
        raise ValueError("a number")
    found = datetime.fromisoformat(cell)
    return (found.replace(tzinfo=found.tzinfo or UTC) - EPOCH) / timedelta(days=1)


def _is_date(cell: str) -> bool:
    try:
        _days(cell)
    except ValueError:
        return False
    return True


def _complaints(line: int, cells: Iterable[tuple[str, str, Read]]) -> list[tuple[str, str, str]]:
    """Column, kind and words of what is wrong with the cells of a line."""
    named = ((name, cell, _complaint(cell, read)) for name, cell, read in cells)
    return [
        (name, kind, f"line {line}, column '{name}': " + (f"{cell!r:.40} {kind}" if cell else kind))
        for name, cell, kind in named
        if kind
    ]


def _complaint(cell: str, read: Read) -> str:
    if cell.lower() in MISSING:
        return ABSENT[bool(cell)]
    if read is _days:
        return "" if _is_date(cell) else f"is not a date, as the first value is{_as_date(cell)}"
    number = _number(cell)
    if number is None:
        return f"is not a number{_as_date(cell)}"
    if not math.isfinite(number):
        return "is not finite"
    return f"is beyond {LARGEST_NUMBER:g}" if abs(number) > LARGEST_NUMBER else ""


def _as_date(cell: str) -> str:
    """How dates are written, for what may be one."""
    return ISO if DATE.match(cell) and not _is_date(cell) else ""


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)  # Python reads 1_000 as a number; in a table it is a typing error
    except ValueError:
        return None
