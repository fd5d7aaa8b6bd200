"""Texts: windows of bytes as prompts, and the byte behind each as what is to be predicted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch

from bridge.theorems.real_inputs import TextFile
from bridge.theorems.record import Row
from bridge.theorems.sources.source import EXACT, NETWORK, AboutRows, InputSource, Predicted, Prediction, flagged
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

BYTES = 256


@dataclass(frozen=True)
class Windows:
    """What is cut out of a text: `length` bytes each, with the byte that follows."""

    text: TextFile
    length: int

    @property
    def source(self) -> str:
        return self.text.source

    @cached_property
    def _bytes(self) -> np.ndarray:
        return np.frombuffer(self.text.content, dtype=np.uint8)

    @property
    def alphabet(self) -> np.ndarray:
        """The bytes that occur in the text, in order."""
        found: np.ndarray = np.unique(self._bytes)
        return found

    @property
    def commonest(self) -> int:
        """The byte of the text that occurs most often."""
        return int(np.bincount(self._bytes, minlength=BYTES).argmax())

    def cut(self, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The windows (B, length) at `count` seeded places, all if there are no more, and the bytes behind them (B)."""
        places = np.arange(len(self._bytes) - self.length)
        if len(places) > count:
            places = np.sort(np.random.default_rng(seed).choice(places, count, replace=False))
        windows: np.ndarray = np.lib.stride_tricks.sliding_window_view(self._bytes, self.length)[places]
        return windows, self._bytes[places + self.length]


@dataclass(frozen=True)
class Textual(InputSource):
    """Windows of so many bytes as the parameter `length` says.

    `prompt` takes `windows`, bytes (B, length), and `data`, the `Windows` of the text, and gives the inputs of all of
    them, (B, ...) each. Predictions are bytes (B). They count where `scored`, a function of `windows`, is true, (B);
    `where` says which windows these are.
    """

    reads = TextFile
    called = "texts"
    batched = True

    length: str
    prompt: Callable[..., Any]
    scored: Callable[[np.ndarray], np.ndarray] = lambda windows: np.ones(len(windows), dtype=bool)
    where: str = "windows"

    __repr__ = brief

    def sizes(self, material: TextFile) -> dict[str, int]:
        return {}

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.length,)

    def require_fit(self, id: str, params: Mapping[str, Any], material: TextFile) -> None:
        length, count = params[self.length], len(material.content)
        if count < length + 1:
            raise UsageError(
                f"--text: '{material.source}' has {count} bytes; a window of {self.length} = {length} and the next "
                f"byte need {length + 1}"
            )

    def read(self, id: str, params: Mapping[str, Any], material: TextFile) -> Windows:
        return Windows(material, params[self.length])

    def most(self, samples: int) -> int:
        return samples

    def inputs(self, call: Callable[..., Any], data: Windows, count: int, seed: int) -> dict[str, torch.Tensor]:
        found = call(self.prompt, {"windows": data.cut(count, seed)[0]})
        return {name: torch.as_tensor(each, dtype=torch.float64) for name, each in found.items()}

    def compared(self, data: Windows, found: Sequence[tuple[Prediction, Predicted]], about: AboutRows) -> Iterable[Row]:
        """The share of windows at which each prediction is the next byte."""
        windows, following = data.cut(about.run.samples, about.run.seed)
        scored = self.scored(windows)
        row = partial(
            about.row, quantifier="on these windows", norm="share", samples=about.run.samples,
            domain=f"{scored.sum()} {self.where}",
        )  # fmt: skip
        known = {each.name: np.asarray(predicted.value) for each, predicted in found}
        right = {each.name: (known[each.name] == following, each.meaning) for each, _ in found}
        if {NETWORK, EXACT} <= known.keys():
            right["agreement"] = known[NETWORK] == known[EXACT], "network and reference predict the same byte"
        right["commonest"] = following == data.commonest, "baseline: always the text's commonest byte"
        remarks = {each.name: (predicted.flag, predicted.remark) for each, predicted in found}
        for name, (hits, meaning) in right.items():
            share = float(hits[scored].mean()) if scored.any() else None
            flag, remark = remarks.get(name, ("", ""))
            remark = remark if scored.any() else f"there are no {self.where}"
            yield row(name, share, meaning, remark=remark, flags=flagged([flag]))
