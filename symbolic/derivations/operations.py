"""What the steps of a derivation compute: a derivation is a program, and its readings run it (bridge/readings).

An operation names its operands by *handles*, which an instance binds to matrices, functions and numbers; premises are
those of the step, in their order. The last axis of a value holds the `dim` coordinates of the calculus; axes before it
are tokens. Numbers that the rule was given of the operands (a norm, a margin) are kept beside them, to be compared with
those of an instance; two operations compute the same whatever these are. A step without an operation is known by its
bound alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any

import sympy as sp

Handle = Annotated[str, "bound at an instance"]
Handles = Annotated[tuple[str, ...], "bound at an instance"]


@dataclass(frozen=True)
class Operation:
    """The operands of a step that are not its premises."""

    @property
    def handles(self) -> tuple[str, ...]:
        """The names that an instance has to bind."""
        one = (getattr(self, each.name) for each in fields(self) if each.type is Handle)
        several = (name for each in fields(self) if each.type is Handles for name in getattr(self, each.name))
        return tuple(name for name in (*one, *several) if name)


@dataclass(frozen=True)
class Unread(Operation):
    """A step of which no operand says what it computes; `why` says what is missing, in words."""

    why: str


def unnamed(*arguments: str) -> Unread:
    """Of a step whose rule got no handle by these arguments."""
    return Unread(f"without {' and '.join(f'{each}=' for each in arguments)} it names no operands")


@dataclass(frozen=True)
class Given(Operation):
    """A value that the instance binds: an array, or a pair (exact, approximate)."""

    name: Handle


def letters_in(thing: Any) -> set[sp.Symbol]:
    """The symbols in expressions, steps and operations, and in the derivations inside of these."""
    if isinstance(thing, sp.Basic):
        return set(thing.free_symbols)
    if isinstance(thing, Mapping | str) or not (is_dataclass(thing) or isinstance(thing, Iterable)):
        return set()
    parts = [getattr(thing, each.name) for each in fields(thing)] if is_dataclass(thing) else thing
    return set().union(*map(letters_in, parts))


def has_letter(expressions: Iterable[Any], letter: sp.Symbol) -> bool:
    """Whether one of them holds it, free or as the index of a sum."""
    return any(isinstance(each, sp.Basic) and each.has(letter) for each in expressions)
