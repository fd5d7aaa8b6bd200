"""What a run cannot hold, in one sentence: numbers beyond float64, and more memory than there is."""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bridge.lowering import LoweringError
from numeric.stream import StreamError
from symbolic.derivation import DerivationError
from symbolic.statements import UsageError

REFUSALS = (UsageError, DerivationError, StreamError, LoweringError)
LARGEST, SMALLEST = 1e15, 1e-15  # beyond them 1 + x is 1 or x in float64, and products of a few of them overflow
NO_MEMORY = ("can't allocate memory", "out of memory", "Unable to allocate")  # of torch and of numpy
SHOWN = 160  # characters of the cause


@contextlib.contextmanager
def explained(call: str, points: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Turns what fails inside for want of memory, or at extreme parameters, into a UsageError.

    At parameters that are not extreme an overflow is a bug, and stays one.
    """
    try:
        yield
    except REFUSALS:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}".splitlines()[0][:SHOWN]
        if isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY):
            raise UsageError(f"{call}: more memory is needed than is available; lower the sizes ({cause})") from error
        extreme = [words for point in points for words in extremes(point)]
        if not extreme:
            raise
        raise UsageError(
            f"{call}: {', '.join(dict.fromkeys(extreme))} leads to numbers that float64 arithmetic cannot hold "
            f"({cause}); take values between {SMALLEST:g} and {LARGEST:g}"
        ) from error


def extremes(point: Mapping[str, Any]) -> list[str]:
    """The parameters that are so large or so small that their powers leave float64."""
    numbers = {name: x for name, x in point.items() if isinstance(x, int | float) and x}
    return [f"{name} = {_short(x)}" for name, x in numbers.items() if not SMALLEST <= abs(x) <= LARGEST]


def _short(number: float | int) -> str:
    try:
        return f"{float(number):g}"
    except OverflowError:
        return f"10^{int(math.log10(abs(number)))}"
