"""What a call may give, checked without torch: number formats, devices and other names, numbers of parameters."""

import difflib
from collections.abc import Sequence
from typing import Any

from symbolic.statements.result import Result
from symbolic.words.errors import UsageError

DTYPES = ("float64", "float32", "bfloat16", "float16")
DEVICES = ("cpu", "cuda")  # each may have a number: cuda:1
LONGEST_NUMBER = 4096  # bits: float64 ends at 1024, and Python writes out no number of more than 14,000


class LongRun(UserWarning):
    """A run that takes more than a minute: how long, and what makes it shorter."""


def check_dtype(name: str) -> None:
    """Raises UsageError for a number format that is not one of DTYPES."""
    if name not in DTYPES:
        raise UsageError(f"dtype {name!r:.200} is not known; choose one of {', '.join(DTYPES)}")


def require_float64(id: str, name: str) -> None:
    """Raises UsageError for another format, of a result whose draws are computed in that one."""
    if name != "float64":
        raise UsageError(f"{id}: draws are computed in float64; leave out dtype")


def check_device(name: str) -> None:
    """Raises UsageError for a device of another kind than DEVICES; whether this machine has it is not checked."""
    if name.partition(":")[0] not in DEVICES:
        raise UsageError(f"device {name!r:.200} is not known; choose cpu or cuda")


def require_known(name: str, known: Sequence[str], refusal: str) -> None:
    """Raises UsageError, with the nearest names, unless the name is known."""
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f" Nearest: {', '.join(near)}." if near else ""
    raise UsageError(f"{refusal} '{name}'.{hint} There are: {', '.join(known)}.")


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
