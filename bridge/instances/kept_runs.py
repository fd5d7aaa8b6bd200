"""What runs gave, by the input: rows of several quantities are about one input."""

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

from torch import Tensor

Given = TypeVar("Given")
MOST, LAST = 64, 16  # inputs: of numbers, and of what takes memory


class KeptRuns(Generic[Given]):
    """For each of the last few inputs, what is known of each quantity."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._found: dict[Hashable, dict[str, Given]] = {}  # the input asked for last comes last

    def at(self, inputs: Mapping[str, Tensor], *settings: Hashable) -> dict[str, Given]:
        """By quantity, at this input with these settings; what is found out is put in."""
        key = (*settings, *(value.detach().double().cpu().numpy().tobytes() for value in inputs.values()))
        found = self._found[key] = self._found.pop(key, {})
        if len(self._found) > self._most:
            del self._found[next(iter(self._found))]
        return found
