"""What a run cannot hold, in one sentence: numbers beyond float64, and more memory than there is."""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bridge.lowering import LoweringError
from numeric.networks.stream import StreamError
from numeric.tools.integration_error import IntegrationError
from symbolic.derivations.derivation import DerivationError
from symbolic.words.errors import UsageError

REFUSALS = (UsageError, DerivationError, StreamError, LoweringError)
BUGS = (AssertionError, AttributeError, LookupError, NameError, NotImplementedError)  # of ours, at any parameters
LARGEST, SMALLEST = 1e15, 1e-15  # beyond them 1 + x is 1 or x in float64, and products of a few of them overflow
NO_MEMORY = ("can't allocate memory", "out of memory", "Unable to allocate")  # of torch and of numpy
MIXED = ("same dtype", "expected scalar type")  # of torch, on two formats in one operation: a bug at any number
SHOWN = 160  # characters of the cause


@contextlib.contextmanager
def explained(call: str, points: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Turns what fails for want of memory, a flow that cannot be integrated, and failures at extreme parameters into a
    UsageError.

    At parameters that are not extreme an overflow is a bug, and stays one. So does what no number can cause.
    """
    try:
        yield
    except REFUSALS:
        raise
    except IntegrationError as error:
        where = ", ".join(f"{name} = {_short(x)}" for point in points[:1] for name, x in _numbers(point).items())
        raise UsageError(f"{call}: the flow cannot be integrated at {where}: {error}") from error
    except Exception as error:
        cause = f"{type(error).__name__}: {error}".splitlines()[0][:SHOWN]
        if is_out_of_memory(error):
            raise UsageError(f"{call}: more memory is needed than is available; lower the sizes ({cause})") from error
        extreme = [words for point in points for words in extremes(point)]
        if not extreme or isinstance(error, BUGS) or any(words in str(error) for words in MIXED):
            raise
        raise UsageError(
            f"{call}: {', '.join(dict.fromkeys(extreme))} leads to numbers that float64 arithmetic cannot hold "
            f"({cause}); take values between {SMALLEST:g} and {LARGEST:g}"
        ) from error


def is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY)


def extremes(point: Mapping[str, Any]) -> list[str]:
    """The parameters that are so large or so small that their powers leave float64."""
    return [f"{name} = {_short(x)}" for name, x in _numbers(point).items() if x and not SMALLEST <= abs(x) <= LARGEST]


def _numbers(point: Mapping[str, Any]) -> dict[str, float | int]:
    return {name: x for name, x in point.items() if isinstance(x, int | float) and not isinstance(x, bool)}


def _short(number: float | int) -> str:
    try:
        return f"{float(number):g}"
    except OverflowError:
        return f"10^{int(math.log10(abs(number)))}"
