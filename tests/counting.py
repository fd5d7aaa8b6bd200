"""Work counted in operations, which are the same on a busy machine as on an idle one."""

import functools
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


def lines(run: Callable[[], object]) -> int:
    """Lines of Python that `run` executes; a loop written on one line counts once a turn."""
    count = 0

    def count_lines(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return count_lines

    before = sys.gettrace()
    sys.settrace(count_lines)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


class Calls:
    """A function with the same signature that counts its calls; under vmap a batch is one call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.count = function, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        return self.function(*args, **kwargs)


class Tensors(TorchFunctionMode):
    """Inside this context: how many numbers torch's functions store anew in all, and in the largest tensor.

    Views and results in place share the storage of an argument and store nothing, except inside vmap.
    """

    def __init__(self) -> None:
        super().__init__()
        self.numbers, self.largest = 0, 0

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        held = {_storage(each) for each in _tensors([*args, *(kwargs or {}).values()])}
        sizes = [each.numel() for each in _tensors(result) if _storage(each) not in held]
        self.numbers += sum(sizes)
        self.largest = max(self.largest, *sizes, 0)
        return result


def _storage(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except NotImplementedError:  # a batched tensor inside vmap
        return id(tensor)


def _tensors(result: object) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    return [each for part in result for each in _tensors(part)] if isinstance(result, list | tuple) else []
