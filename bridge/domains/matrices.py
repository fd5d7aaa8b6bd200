"""A matrix as a parameter: a number, JSON, a file, or drawn from the seed."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from bridge.limits.files import read_text
from bridge.limits.memory import require_memory
from numeric.networks.norms import entrywise_one_norm
from symbolic.words.errors import UsageError

LARGEST_NORM = 1e150  # its square, in a norm, still is a float64


def read_square(
    name: str, spec: Any, size: int | None, *, default: int, seed: int, size_name: str = "size"
) -> np.ndarray:
    """A square matrix from what the user gave for the parameter `name`; messages call its size `size_name`.

    A number w (w I), nested lists or JSON of them, @FILE with JSON, random:NORM or signs:NORM (the sum of absolute
    values at most NORM). Its size is that of the lists, else `size`, else `default`. Raises UsageError.
    """
    if isinstance(spec, str):
        spec = _parse(name, spec)
    chosen = size if size is not None else default
    require_memory(f"{name} with {size_name} = {chosen}", 48 * chosen**2, f"lower {size_name}")
    if chosen < 1:
        raise UsageError(f"{name}: {size_name} = {chosen} does not meet {size_name} >= 1.")
    if isinstance(spec, _Seeded):
        return spec.matrix(chosen, seed)
    matrix = _array(name, spec)
    if not np.isfinite(matrix).all():
        raise UsageError(f"{name} has an entry that is not finite; every entry has to be a number")
    if float(np.abs(matrix).max(initial=0.0)) * max(matrix.size, chosen) > LARGEST_NORM:
        raise UsageError(
            f"{name}: the sum of its absolute values is beyond {LARGEST_NORM:g}, where float64 products overflow"
        )
    if matrix.ndim == 0:
        return float(matrix) * np.eye(chosen)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise UsageError(f"{name} has shape {matrix.shape}; it has to be square")
    if size is not None and matrix.shape[0] != size:
        raise UsageError(
            f"{name} is {len(matrix)} x {len(matrix)} but {size_name} = {size}; "
            f"leave {size_name} out or make them agree"
        )
    return matrix


def _array(name: str, spec: Any) -> np.ndarray:
    try:
        return np.array(_numbers(spec), dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise UsageError(
            f"{name}: rows of different lengths, or entries that are not numbers, in {spec!r:.80}"
        ) from None


def _numbers(spec: Any) -> Any:
    """Nested lists of numbers as they are; anything else (a string, true, null) raises TypeError."""
    if isinstance(spec, list | tuple | np.ndarray):
        return [_numbers(entry) for entry in spec]
    if isinstance(spec, bool | str) or spec is None:
        raise TypeError(f"{spec!r} is not a number")
    return spec


def _parse(name: str, text: str) -> Any:
    seeded = re.fullmatch(r"(random|signs):(.+)", text.strip())
    if seeded:
        return _Seeded(seeded[1], _positive(name, seeded[2], text))
    source = read_text(text[1:], name) if text.startswith("@") else text
    try:
        return json.loads(source)
    except (ValueError, RecursionError) as error:
        at = f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        where = at or "too deep or too long"
        raise UsageError(
            f"{name} = {text!r:.60} is not understood ({where}); give a number w for w I, "
            f"a JSON matrix such as [[1, 0], [0, 1]], @FILE with one, random:NORM or signs:NORM"
        ) from None


def _positive(name: str, text: str, whole: str) -> float:
    try:
        norm = float(text)
    except ValueError:
        norm = math.nan
    if not 0 < norm <= LARGEST_NORM:
        raise UsageError(
            f"{name} = '{whole}': NORM has to be a positive number of at most {LARGEST_NORM:g}, the sum of the "
            "absolute values"
        )
    return norm


@dataclass(frozen=True)
class _Seeded:
    """A matrix drawn from a seed: Gaussian entries or signs; their absolute values sum to at most `norm`."""

    kind: str
    norm: float

    def matrix(self, size: int, seed: int) -> np.ndarray:
        generator = np.random.default_rng(seed)
        signs = generator.choice([-1.0, 1.0], (size, size))
        matrix = signs if self.kind == "signs" else generator.standard_normal((size, size))
        return matrix * (self.norm * (1 - 1e-15) / entrywise_one_norm(matrix).upper)
