"""Sums, products and recursions over an integer index, for any kind of number; their terms may have a budget."""

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from symbolic.words.errors import UsageError

Body = Callable[[Any], Any]


class TooManyTermsError(UsageError):
    """What is left of a budget holds fewer terms than a sum, a product or a recursion has."""


class Terms:
    """How many terms may be evaluated, and how many are left. `words` say what is refused where these are too few."""

    def __init__(self, limit: int, words: str) -> None:
        self.limit, self.left, self.words = limit, limit, words

    @property
    def spent(self) -> int:
        return self.limit - self.left


_BUDGETS: ContextVar[tuple[Terms, ...]] = ContextVar("_BUDGETS", default=())


@contextmanager
def at_most_terms(terms: Terms) -> Iterator[Terms]:
    """Inside this context every term counts, and TooManyTermsError is raised before one is beyond the limit."""
    token = _BUDGETS.set((*_BUDGETS.get(), terms))
    try:
        yield terms
    finally:
        _BUDGETS.reset(token)


def spend(count: int) -> None:
    """Counts terms, or layers that are run, against every budget that is open."""
    budgets = _BUDGETS.get()
    tightest = min(budgets, key=lambda each: each.left, default=None)
    if tightest is not None and tightest.left < count:
        raise TooManyTermsError(tightest.words)
    for budget in budgets:
        budget.left -= count


def as_integer(limit: Any) -> int:
    """A limit or an index as a Python integer; ValueError if it is not one."""
    try:
        value = int(limit)
    except (OverflowError, ValueError):  # inf and nan
        value = None
    if value is None or value != limit:
        raise ValueError(f"limits and indices must be integers, got {limit}")
    return value


def as_index(value: Any) -> int:
    """An index of a matrix entry; IndexError below 0, which Python would count from the end."""
    index = as_integer(value)
    if index < 0:
        raise IndexError(f"indices of matrix entries start at 0, got {index}")
    return index


def signed_range(first: int, last: int) -> tuple[range, int]:
    """The indices, and the sign of their terms: a reversed sum counts what lies strictly between, negatively (Karr)."""
    found = (range(first, last + 1), 1) if last >= first - 1 else (range(last + 1, first), -1)
    spend(found[0].stop - found[0].start)
    return found


def sum_of(terms: Body, first: int, last: int, zero: Any) -> Any:
    indices, sign = signed_range(first, last)
    total = zero
    for index in indices:
        total = total + terms(index)
    return total if sign == 1 else -total


def product_of(terms: Body, first: int, last: int, one: Any) -> Any:
    indices, sign = signed_range(first, last)
    total = one
    for index in indices:
        total = total * terms(index)
    return total if sign == 1 else 1 / total


# E(first, last) = factor(last) E(first, last - 1) + term(last) and E(first, first - 1) = 0: upwards, and for reversed
# limits (Karr) downwards, E(first, last - 1) = (E(first, last) - term(last)) / factor(last).
def run_of(terms: Body, factors: Body, first: int, last: int, zero: Any) -> Any:
    """Sum of term(i) times the product of factor(m), i < m <= last."""
    indices, sign = signed_range(first, last)
    error = zero
    for index in indices if sign == 1 else reversed(indices):
        error = factors(index) * error + terms(index) if sign == 1 else (error - terms(index)) / factors(index)
    return error


def runs_of(
    terms: Body,
    factors: Body,
    lowest: int,
    highest: int,
    zero: Any,
    upwards: Any,
    where: Callable[[Any, Any, Any], Any],
) -> Any:
    """The same of a batch with limits of their own: term 0 and factor 1 outside of them, `upwards` unless reversed."""
    indices, _ = signed_range(lowest, highest)
    error = zero
    for index in indices:
        error = where(upwards, factors(index) * error + terms(index), error)
    if upwards.all():
        return error
    spend(len(indices))
    for index in reversed(indices):
        error = where(upwards, error, (error - terms(index)) / factors(index))
    return error


def loops_of(
    number: Callable[[Any, Any], Any],
    where: Callable[[Any, Any, Any], Any] | None = None,
    as_integer: Callable[[Any], int] = as_integer,
) -> dict[str, Callable[..., Any]]:
    """The loops of a backend, by the names that generated code calls.

    `number(like, x)` is x as a number of the backend. `where` chooses between the elements of a batch, each of which
    has limits of its own; a backend without it has single numbers only.
    """

    def on_numbers(like: Any, function: Body) -> Body:
        return lambda index: function(number(like, index))

    def limits(like: Any, first: Any, last: Any) -> tuple[Any, Any]:
        """Integers, or two batches."""
        first, last = (limit.detach() if hasattr(limit, "detach") else limit for limit in (first, last))
        if where is not None and any(getattr(limit, "ndim", 0) for limit in (first, last)):
            return number(like, first), number(like, last)
        return as_integer(first), as_integer(last)

    def folded(fold: Callable[..., Any], neutral: int, reverse: Callable[[Any], Any]) -> Callable[..., Any]:
        def loop(like: Any, body: Body, masked: Any, first: Any, last: Any) -> Any:
            first, last = limits(like, first, last)
            if where is None or isinstance(first, int):
                return fold(on_numbers(like, body), first, last, number(like, neutral))
            total = fold(on_numbers(like, masked), *_widest(first, last), number(like, neutral))
            return where(last < first - 1, reverse(total), total)

        return loop

    def run(like: Any, body: Body, masked: Any, first: Any, last: Any, factor: Body, masked_factor: Any) -> Any:
        first, last = limits(like, first, last)
        if where is None or isinstance(first, int):
            return run_of(on_numbers(like, body), on_numbers(like, factor), first, last, number(like, 0))
        functions = on_numbers(like, masked), on_numbers(like, masked_factor)
        return runs_of(*functions, *_widest(first, last), number(like, 0), last >= first - 1, where)

    return {
        "loop_sum": folded(sum_of, 0, operator.neg),
        "loop_product": folded(product_of, 1, lambda total: 1 / total),
        "loop_run": run,
    }


def _widest(first: Any, last: Any) -> tuple[int, int]:
    """The least and the largest index that any element of a batch counts; none for an empty batch."""
    if (first % 1 != 0).any() or (last % 1 != 0).any():
        raise ValueError("the limits of a sum or product must be integers")
    if not math.prod(first.shape) * math.prod(last.shape):
        return 0, -1
    return min(int(first.min()), int(last.min()) + 1), max(int(last.max()), int(first.max()) - 1)
