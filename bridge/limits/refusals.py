"""Refusals of a public function, shown to a script in a few lines: the call, and what it got wrong."""

import functools
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import ParamSpec, TypeVar

from bridge.limits.arguments import OURS
from symbolic.words.errors import UsageError

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
