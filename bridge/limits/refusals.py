"""Refusals of a public function, shown to a script in a few lines: the call, and what it got wrong."""

import functools
import inspect
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import ParamSpec, TypeVar

from bridge.limits.arguments import OURS
from symbolic.words.errors import UsageError

OTHERS = "others"  # what the help of a function calls the arguments that it leaves out
INTERNAL = (*OURS, "torch", "contextlib")  # whose frames say nothing of the caller's mistake

P = ParamSpec("P")
R = TypeVar("R")


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
