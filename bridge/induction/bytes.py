"""Bytes as tokens: vectors of signs in [-1, 1]^d, the eight bits of a byte and seeded signs beyond them."""

import numpy as np
import torch
from torch import Tensor

from bridge.sources.textual import BYTES
from symbolic.statements import UsageError

BITS, EMBEDDING_SEED = 8, 0


def embedding(d: int) -> np.ndarray:
    """The (256, d) sign vectors of all bytes, all different. Raises UsageError for d < 8."""
    if d < BITS:
        raise UsageError(f"--text: d = {d}, but 256 bytes need at least 8 signs to differ; take d >= 8")
    bits = (np.arange(BYTES)[:, None] >> np.arange(BITS)) & 1  # (256, 8)
    more = np.random.default_rng(EMBEDDING_SEED).integers(0, 2, (BYTES, d - BITS))  # (256, d - 8)
    return 2.0 * np.concatenate([bits, more], axis=1) - 1.0


def embedded(windows: np.ndarray, d: int) -> np.ndarray:
    """Windows (B, L) as tokens (B, L, d)."""
    found: np.ndarray = embedding(d)[windows]
    return found


def decoded(output: Tensor, d: int) -> np.ndarray:
    """The byte whose sign vector is nearest to each output (B, d)."""
    signs = torch.as_tensor(embedding(d))  # (256, d)
    return torch.cdist(output, signs).argmin(-1).numpy().astype(np.uint8)  # (B,)


def repeated(windows: np.ndarray) -> np.ndarray:
    """Whether the last byte occurred before, with a successor: x_{s-1} = x_L for some s in 2 .. L-1, (B)."""
    found: np.ndarray = (windows[:, :-2] == windows[:, -1:]).any(axis=1)
    return found
