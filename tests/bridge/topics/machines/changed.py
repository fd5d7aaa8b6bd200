"""Theorems of this topic of which a test changes a part, and what the tests read off a comparison."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bridge.theorems.record import Row
from bridge.theorems.theorem import Theorem


def changed(theorem: Theorem, *names: str, **built: Callable[..., Any]) -> Theorem:
    """The theorem, or these rows of it without its tables; `built` stands in the place of what it builds itself."""
    checks = tuple(each for each in theorem.checks if not names or each.name in names)
    stated = replace(theorem.statement, id="own.theorem", quantities=tuple(each.quantity for each in checks))
    main, tables = (names[0], ()) if names else (theorem.main, theorem.tables)
    made = {**theorem.built, **built}
    return replace(theorem, statement=stated, main=main, checks=checks, built=made, tables=tables)


def rows_of(made: Iterable[Row]) -> dict[str, Row]:
    """The last row of each quantity."""
    return {row.quantity: row for row in made}


def written(folder: Path, text: str, name: str) -> str:
    """The path of a file that holds the text."""
    path = folder / name
    path.write_text(text)
    return str(path)
