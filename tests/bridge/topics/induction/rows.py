"""Rows by the name of their quantity, and theorems that are changed in one place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from bridge.questions.compare import compare
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem import Theorem
from symbolic.statements.result import Quantity
from tests.bridge.defaults import default_run


def rows_at(theorem: Theorem | str, **settings: Any) -> dict[str, Row]:
    return {row.quantity: row for row in compare(theorem, **settings)}


def default_rows(name: str) -> dict[str, Row]:
    return {row.quantity: row for row in default_run(f"induction.{name}")}


def printed_as(verdict: Verdict, rows: Mapping[str, Row]) -> set[str]:
    """The quantities whose printed bound has this verdict."""
    return {name for name, row in rows.items() if row.verdict.get("printed") is verdict}


def part(theorem: Theorem, *names: str) -> Theorem:
    """The theorem of these rows alone."""
    quantities = tuple(theorem.statement.quantity(name) for name in names)
    statement = replace(theorem.statement, id="own.part", quantities=quantities)
    checks = tuple(check for check in theorem.checks if check.name in names)
    known = replace(theorem, statement=statement, main=names[0], checks=checks)
    there = theorem.at_point.quantities
    return known if there is None else known.with_at_point(quantities=among(names, there))


def among(names: tuple[str, ...], there: Callable[..., Sequence[Quantity]]) -> Callable[..., Sequence[Quantity]]:
    """Of the quantities at a point, those of these names."""

    @wraps(there)
    def found(*given: Any, **named: Any) -> tuple[Quantity, ...]:
        return tuple(each for each in there(*given, **named) if each.name in names)

    return found


def rebuilt(theorem: Theorem, **built: Any) -> Theorem:
    """The theorem with another way to the values that its checks share."""
    return replace(theorem, statement=replace(theorem.statement, id="own.rebuilt"), built={**theorem.built, **built})
