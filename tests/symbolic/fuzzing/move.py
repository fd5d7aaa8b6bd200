"""What a move of the fuzzer is: one way to use one rule."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.symbolic.fuzzing.program import Program


@dataclass(frozen=True)
class Move:
    """One way to use `rule`; rarer, by its weight, where SymPy takes long.

    `error_loose` and `size_loose` say why this use attains the rule's error or size only nearly; else it has to.
    """

    name: str
    rule: str
    run: Callable[[Program], Any]
    error_loose: str = ""
    size_loose: str = ""
    weight: float = 1.0


def move(name: str, rule: str, **more: Any) -> Callable[[Callable[[Program], Any]], Move]:
    """Make a move of the function below: it draws the arguments of the rule, applies it, and runs what it is about."""
    return lambda run: Move(name, rule, run, **more)
