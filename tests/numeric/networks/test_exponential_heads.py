"""Heads by recursion against softmax over all earlier tokens."""

import flint
import numpy as np
import pytest
import torch

from numeric.networks.construction import Construction, Embedding, StreamTap
from numeric.networks.exact import run_exact
from numeric.networks.exponential_heads import exponential_heads, unseen
from numeric.networks.maps import BlockMap
from numeric.networks.network import Network
from numeric.networks.shared_blocks import SharedNetwork
from numeric.networks.stream import Block, Stream, StreamError

SLOPES, WEIGHTS = (0.3, 2.0, 9.0), np.array([[1.5, -2.0, 0.5], [0.0, 1.0, -3.0]])


def construction(d: int, weights: np.ndarray = WEIGHTS) -> Construction:
    tokens, stream = Stream([Block("x", d)]), Stream([Block("x", d), Block("y", 2 * d)])
    place = BlockMap(tokens, stream, {("x", "x"): 1.0})
    readout = BlockMap(stream, tokens, {("x", "x"): 1.0})
    layer = exponential_heads(stream, "x", "y", SLOPES, weights)
    return Construction("heads", tokens, Embedding(place), (layer,), readout, {"y": StreamTap(1, "y")})


def directly(x: torch.Tensor) -> torch.Tensor:
    """(L, 2 d), token by token."""
    rows = [torch.zeros(2 * x.shape[1], dtype=torch.float64)]
    for s in range(1, len(x)):
        lags = torch.arange(s - 1, -1, -1, dtype=torch.float64)
        averages = torch.stack([torch.softmax(-slope * lags, 0) @ x[:s] for slope in SLOPES])  # (H, d)
        rows.append((torch.as_tensor(WEIGHTS) @ averages).flatten())
    return torch.stack(rows)


def test_every_interpreter_gives_what_softmax_gives() -> None:
    x = torch.randn(150, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = directly(x)
    for network in (Network(construction(3)), Network(construction(3), dense=True), SharedNetwork(construction(3))):
        assert torch.allclose(network.run(x[None])["y"][0], expected, rtol=0, atol=1e-12)
    exact = run_exact(construction(3), x[:40].numpy())["y"]
    assert np.abs(exact.midpoint() - expected[:40].numpy()).max() < 1e-13
    assert exact.radius().max() < 1e-30


def test_weights_that_are_balls_keep_their_bits() -> None:
    third = flint.fmpq(1, 3)
    balls = np.array([[flint.arb(third), flint.arb(0), flint.arb(0)]] * 2, dtype=object)
    exact = run_exact(construction(1, balls), np.ones((2, 1)), bits=53)["y"]
    assert float(exact[1, 0].balls[0] * 3 - 1) < 1e-15


def test_weights_and_blocks_have_to_fit() -> None:
    stream = Stream([Block("x", 2), Block("y", 4)])
    for weights in (np.ones((2, 3)), np.ones((3, 2))):
        with pytest.raises(
            StreamError, match=r"exponential_heads: weights of shape \(., .\) for 2 slopes and blocks of "
        ):
            exponential_heads(stream, "x", "y", (1.0, 2.0), weights)


@pytest.mark.parametrize("heads", [1, 2, 3, 4])
def test_heads_do_not_see_these_numbers_once_they_are_over(heads: int) -> None:
    generator = np.random.default_rng(heads)
    for gap in (0, 1, heads, 5):
        rates = generator.uniform(0.05, 0.95, heads)
        numbers = unseen(rates.tolist(), gap)
        assert abs(numbers).max() == pytest.approx(1)
        assert len(numbers) == (1 + (gap + 1) * (2**heads - 1) if gap else heads + 1)
        assert not gap or (numbers[0] == 1 and not numbers[1 : gap + 1].any())
        assert abs(rates[:, None] ** np.arange(len(numbers))[::-1] @ numbers).max() < 1e-14
