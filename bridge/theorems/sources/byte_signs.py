"""Bytes as vectors: signs in [-1, 1]^d, the eight bits of a byte and seeded signs beyond them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.theorems.sources.source import Prediction
from bridge.theorems.sources.textual import BYTES, Textual
from symbolic.words.errors import UsageError

BITS, SEED = 8, 0


def byte_signs(d: int) -> np.ndarray:
    """The (256, d) sign vectors of all bytes, all different. Raises UsageError for d < 8."""
    if d < BITS:
        raise UsageError(f"--text: d = {d}, but 256 bytes need at least 8 signs to differ; take d >= 8")
    bits = (np.arange(BYTES)[:, None] >> np.arange(BITS)) & 1  # (256, 8)
    more = np.random.default_rng(SEED).integers(0, 2, (BYTES, d - BITS))  # (256, d - 8)
    return 2.0 * np.concatenate([bits, more], axis=1) - 1.0


def embedded_bytes(windows: np.ndarray, d: int) -> np.ndarray:
    """Windows of bytes (B, L) as tokens (B, L, d), for the `prompt` of a `Textual`."""
    found: np.ndarray = byte_signs(d)[windows]
    return found


def nearest_bytes(output: Tensor, d: int) -> np.ndarray:
    """The byte whose sign vector is nearest to each output (B, d), for a `Prediction`."""
    signs = torch.as_tensor(byte_signs(d), dtype=torch.float64, device="cpu")  # (256, d)
    return torch.cdist(output, signs).argmin(-1).numpy().astype(np.uint8)  # (B,)


def repeated(windows: np.ndarray) -> np.ndarray:
    """Whether the last byte occurred before, with a successor: x_{s-1} = x_L for some s in 2 .. L-1, (B)."""
    found: np.ndarray = (windows[:, :-2] == windows[:, -1:]).any(axis=1)
    return found


def recalled_bytes(exact: str, defaults: Mapping[str, Any]) -> Textual:
    """Texts for heads that recall the byte after an earlier occurrence of the last one; `exact` names the reference."""
    words = "next byte right after a repeated context"
    return Textual(
        "L",
        lambda windows, d: {"x": embedded_bytes(windows, d)},
        scored=repeated,
        where="windows whose last byte occurred before",
        defaults=defaults,
        suggested=_width,
        predictions=(
            Prediction("network", f"network: {words}", lambda network, d: nearest_bytes(network["output"], d)),
            Prediction("exact", f"{exact}: {words}", lambda reference, d: nearest_bytes(reference["output"], d)),
        ),
    )


def _width(given: Mapping[str, Any]) -> dict[str, int]:
    """d, where no matrix is given, which has one."""
    matrices = [each for each in given.values() if isinstance(each, list) or str(each).strip()[:1] in ("[", "@")]
    return {} if matrices else {"d": 32}
