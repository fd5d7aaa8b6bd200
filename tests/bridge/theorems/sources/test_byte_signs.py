"""Bytes as sign vectors, and back."""

import numpy as np
import pytest
import torch

import boundsmith as bs
from symbolic import UsageError


def test_bytes_embed_as_distinct_signs() -> None:
    for d in (8, 32):
        signs = bs.sources.byte_signs(d)
        assert signs.shape == (256, d)
        assert set(np.unique(signs)) == {-1.0, 1.0}
        assert len(np.unique(signs, axis=0)) == 256


def test_a_byte_is_nearest_to_its_own_signs() -> None:
    text = np.frombuffer(bytes(range(256)), dtype=np.uint8).reshape(4, 64)
    tokens = torch.as_tensor(bs.sources.embedded_bytes(text, 16))  # (4, 64, 16)
    moved = tokens + 0.9 * torch.linspace(-1, 1, 16, dtype=torch.float64) / 2
    assert np.array_equal(bs.sources.nearest_bytes(moved.reshape(256, 16), 16), text.reshape(256))


def test_too_few_signs_are_refused() -> None:
    with pytest.raises(UsageError, match="d = 7, but 256 bytes need at least 8 signs to differ; take d >= 8"):
        bs.sources.byte_signs(7)
