"""Bytes as unit vectors: one coordinate for each byte that occurs in the text."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import Tensor

from bridge.theorems.sources.textual import Windows
from symbolic.words.errors import UsageError


def coordinates(data: Windows, given: Mapping[str, Any]) -> dict[str, int]:
    """d, the number of different bytes, for `implied`. Raises UsageError for one byte alone, and for another d."""
    d = len(data.alphabet)
    if d < 2:
        raise UsageError(
            f"--text: '{data.source}' has one character only; give a text with two different ones at least"
        )
    if given.get("d", d) != d:
        raise UsageError(f"--text: '{data.source}' has {d} different bytes, and d = {given['d']}; leave out d")
    return {"d": d}


def unit_vectors(windows: np.ndarray, data: Windows) -> np.ndarray:
    """Windows of bytes (B, L) as tokens (B, L, d), for the `prompt` of a `Textual`."""
    found: np.ndarray = np.eye(len(data.alphabet))[np.searchsorted(data.alphabet, windows)]
    return found


def likeliest(output: Tensor, data: Windows) -> np.ndarray:
    """The byte of the largest coordinate of each output (B, d), for a `Prediction`."""
    found: np.ndarray = data.alphabet[output.argmax(-1).numpy(force=True)]
    return found
