"""Numbers as parameters take them."""

from typing import Any

from symbolic.statements.result import Result
from symbolic.words.errors import UsageError

LONGEST_NUMBER = 4096  # bits: float64 ends at 1024, and Python writes out no number of more than 14,000


def checked_number(result: Result, name: str, value: Any) -> float | int:
    """`value` as the number that the parameter takes. Raises UsageError, for a number of any length."""
    if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER:
        raise UsageError(
            f"{result.id}: {name} is a whole number of {value.bit_length()} bits, which is not finite here"
        )
    return result.number(name, value)


def largest_default(default: Any) -> Any:
    """The largest value of a grid."""
    return max(default) if isinstance(default, tuple) else default
