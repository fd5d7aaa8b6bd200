"""Bytes as vectors: signs in [-1, 1]^d, the eight bits of a byte and seeded signs beyond them."""

import numpy as np
import torch
from torch import Tensor

from bridge.theorems.sources.textual import BYTES
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
