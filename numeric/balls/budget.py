"""A limit on the ball operations of one run, charged before each operation is computed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class OperationLimit:
    """Counts products of matrices' entries and balls handled one at a time; calls `exceeded` above the limit."""

    limit: int
    weight: int
    exceeded: Callable[[int], Exception]
    spent: int = 0

    def charge(self, operations: int) -> None:
        self.spent += operations
        if self.spent > self.limit:
            raise self.exceeded(self.spent)


_current: ContextVar[OperationLimit | None] = ContextVar("budget of ball operations", default=None)


@contextmanager
def spending(budget: OperationLimit) -> Iterator[OperationLimit]:
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


def charge_scalars(count: int) -> None:
    """Balls handled one at a time."""
    if (budget := _current.get()) is not None:
        budget.charge(budget.weight * count)


def charge_products(count: int) -> None:
    """Multiplications inside a product of matrices."""
    if (budget := _current.get()) is not None:
        budget.charge(count)
