"""Layers and heads of a construction in three parts, counted: checks of a theorem."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from bridge.limits.arguments import Function
from bridge.theorems.check import Check, Sides
from symbolic.statements.result import Result


def counted(build: Function, count: Callable[[Any], int], **about: Any) -> Callable[..., Sides]:
    """A count of the sizes of what is built, as a function of what `build` takes."""

    @wraps(build)
    def sides(**known: Any) -> Sides:
        return Sides(count(build(**known).sizes), rounding=0.0, **about)

    return sides


def checks_of_whole(statement: Result, build: Function, remark: str = "") -> tuple[Check, Check]:
    """`layers` of all parts together, and the most `heads` of a layer."""
    layers = counted(build, lambda sizes: sum(each.layers for each in sizes.values()), remark=remark)
    heads = counted(build, lambda sizes: max(each.heads for each in sizes.values()))
    return Check(statement.quantity("layers"), layers), Check(statement.quantity("heads"), heads)


def checks_of_parts(statement: Result, build: Function, parts: Iterable[str]) -> tuple[Check, ...]:
    """`layers` and `heads` of each part."""

    def of(part: str, what: str) -> Callable[..., Sides]:
        return counted(build, lambda sizes: getattr(sizes[part], what), proved=("printed",))

    names = [(part, what) for part in parts for what in ("layers", "heads")]
    return tuple(Check(statement.quantity(f"{what}.{part}"), of(part, what)) for part, what in names)
