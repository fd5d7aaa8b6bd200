"""The rows as CSV, and witnesses as files of their own."""

import csv
import importlib.util
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bridge.export.choice import USUAL, Choice, chosen
from bridge.export.columns import Column, Role
from bridge.export.sheet import Sheet, sheet
from bridge.export.written_files import write_text
from bridge.theorems.record import Record, Row, RowErratum
from symbolic.words.errors import UsageError

PARTS = {"witness": ("file", "error_lower"), "erratum": tuple(RowErratum.model_fields)}  # of fields that may be absent


def comparison_csv(comparison: Record, choice: Choice = USUAL) -> str:
    """One line a row, every field of the record; one that holds several becomes `params.p`, `verdict.printed` ...

    With columns chosen these alone, under their names. All rows, unless quantities or scopes are chosen.
    """
    if choice.columns:
        shown = sheet(comparison, replace(choice, all_rows=True))
        lines = [{column.name: _full(shown, column, row) for column in shown.columns} for row in shown.rows]
        columns = [column.name for column in shown.columns]
    else:
        lines = [{name: _cell(value) for name, value in line.items()} for line in _lines(chosen(comparison, choice))]
        columns = _columns(lines)
    page = io.StringIO()
    writer = csv.DictWriter(page, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return page.getvalue()


def comparison_frame(comparison: Record) -> Any:
    """A pandas DataFrame of all rows, with the columns of the CSV file. Raises UsageError without pandas."""
    if importlib.util.find_spec("pandas") is None:
        raise UsageError("to_frame needs pandas, which is not installed: pip install pandas.")
    lines = _lines(comparison)
    return importlib.import_module("pandas").DataFrame(lines, columns=_columns(lines))


def _lines(comparison: Record) -> list[dict[str, Any]]:
    return [{"result": comparison.result, **dict(_cells(row))} for row in comparison]


def _full(shown: Sheet, column: Column, row: Row) -> Any:
    """The cell with all digits."""
    if column.role in (Role.NUMBER, Role.PARAMETER):
        return _cell(column.value(row))
    words = shown.words(column, row)
    return "" if words == "-" else words


def _cells(row: Row) -> Iterator[tuple[str, Any]]:
    for name, value in row.model_dump(mode="json").items():
        if name in PARTS:
            yield from ((f"{name}.{key}", (value or {}).get(key)) for key in PARTS[name])
        elif isinstance(value, dict):
            yield from ((f"{name}.{key}", part) for key, part in value.items())
        else:
            yield name, value


def _cell(value: Any) -> Any:
    """Numbers with all their digits, lists as JSON; empty where there is nothing."""
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, list | dict) else value


def _columns(lines: list[dict[str, Any]]) -> list[str]:
    """All names that occur; those of one field stay together, where the field stands in the record."""
    fields = ["result", *Row.model_fields]
    names = dict.fromkeys(name for line in lines for name in line)
    return sorted(names or fields, key=lambda name: fields.index(name.split(".")[0]))


def save_witnesses(comparison: Record, folder: str | Path) -> list[Path]:
    """One JSON file for each row that has a witness; the row's witness then says which file."""
    Path(folder).mkdir(exist_ok=True)
    written: list[Path] = []
    for row in comparison:
        if row.witness is not None:
            path = Path(folder) / f"{_file_name(comparison.result, row.quantity)}-{len(written) + 1:03d}.json"
            row.witness.file = str(path)
            write_text(path, row.witness.model_dump_json(indent=2) + "\n")
            written.append(path)
    return written


def _file_name(*words: str) -> str:
    return "-".join(re.sub(r"[^A-Za-z0-9_.]+", "_", word) for word in words)
