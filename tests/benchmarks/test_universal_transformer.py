"""Every block of the transformer within its derived residual, and rounding apart: small sizes of the benchmark."""

import pytest
import torch

from benchmarks.universal_transformer import made
from benchmarks.universal_transformer_blocks import Largest, blocks, blocks_in_balls
from bridge.limits.run import FORMATS
from bridge.topics.universal.transformer import resolve

N, n, T = 64, 16, 20


@pytest.mark.parametrize("decade", range(6))
def test_every_block_is_within_its_residual_over_six_decades(decade):
    tau = 10.0**decade
    for found in blocks(made(N, n, tau / 1000, tau), T).values():
        assert found.residual <= found.bound
        assert found.error <= found.residual + found.rounding
        assert found.rounding <= 1e-14 * max(1.0, tau)
    if decade in (2, 3):  # the bound is not a toy
        found = blocks(made(N, n, tau / 1000, tau), T)["step"]
        assert 1e-2 * found.bound < found.residual > 1e6 * found.rounding


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_in_low_precision_each_block_is_within_residual_and_rounding(name):
    chosen = resolve({"N": N, "n": n, "L": 2 * T + 1}, 0, name)
    for found in blocks(made(N, n, chosen["tau_1"], chosen["tau_2"]), T, getattr(torch, name)).values():
        assert found.kept
        assert found.rounding > 0
    assert found.rounding > found.residual / 4  # of y_hat: no finer format is at work
    assert found.rounding < 4 * chosen["tau_2"] * 2.0 ** (5 - FORMATS[name])


def test_every_block_in_balls():
    for error, bound in blocks_in_balls(made(8, 8, 2.0, 2.0**12), 10).values():
        assert bound / 10 < error <= bound


def test_a_residual_above_its_bound_is_not_kept():
    assert Largest(error=2.0, residual=0.5, rounding=1.0, bound=1.0).kept
    assert not Largest(error=2.1, residual=0.5, rounding=1.0, bound=1.0).kept
    assert not Largest(error=1.0, residual=1.5, rounding=1.0, bound=1.0).kept
