"""What a run refuses, and in which words: numbers beyond float64, more memory than there is, and calls that are wrong.

A refusal of a public function shows a script the call and what it got wrong, in a few lines.
"""

import contextlib
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from bridge.lowering import LoweringError
from numeric.networks.stream import StreamError
from numeric.tools.integration_error import IntegrationError
from symbolic.derivations.derivation import DerivationError
from symbolic.words.errors import UsageError

OTHERS = "others"  # what the help of a function calls the arguments that it leaves out
REFUSALS = (UsageError, DerivationError, StreamError, LoweringError)
BUGS = (AssertionError, AttributeError, LookupError, NameError, NotImplementedError)  # of ours, at any parameters
LARGEST, SMALLEST = 1e15, 1e-15  # beyond them 1 + x is 1 or x in float64, and products of a few of them overflow
NO_MEMORY = ("can't allocate memory", "out of memory", "Unable to allocate")  # of torch and of numpy
MIXED = ("same dtype", "expected scalar type")  # of torch, on two formats in one operation: a bug at any number
SHOWN = 160  # characters of the cause
OURS = ("bridge", "numeric", "symbolic")
INTERNAL = (*OURS, "torch", "contextlib")  # whose frames say nothing of the caller's mistake

P = ParamSpec("P")
R = TypeVar("R")


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


def briefly_refused(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose UsageErrors show the frames of the caller and of the caller's functions alone.

    Any other exception is a bug of ours and keeps its traceback.
    """

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except UsageError as refusal:
            for each in _chain(refusal):
                each.__traceback__ = _of_the_caller(each.__traceback__)
            raise refusal

    return called


def shown_by(*names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function, whose help shows its positional arguments, those of these names and `**others`, untyped.

    Checkers of types see all of them; the docstring describes them.
    """

    def shown(function: Callable[P, R]) -> Callable[P, R]:
        all_of_it = inspect.signature(function).parameters.values()
        kept = [each for each in all_of_it if each.kind is not each.KEYWORD_ONLY or each.name in names]
        renamed = {each: OTHERS if each.kind is each.VAR_KEYWORD else each.name for each in kept}
        brief = [each.replace(annotation=each.empty, name=name) for each, name in renamed.items()]
        function.__signature__ = inspect.Signature(brief)  # type: ignore[attr-defined]
        return function

    return shown


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and those that it is shown to come from."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _of_the_caller(frames: TracebackType | None) -> TracebackType | None:
    kept = []
    while frames is not None:
        kept += [] if _package(frames) in INTERNAL else [frames]
        frames = frames.tb_next
    found: TracebackType | None = None
    for each in reversed(kept):
        found = TracebackType(found, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return found


def _package(frames: TracebackType) -> str:
    return str(frames.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
