"""The filter keeps two states of each chain whatever the others are; loops then fit what leads from one to the next."""

import pytest
import torch

from numeric.networks.feed_forward import require_ranges
from numeric.networks.network import Network
from numeric.networks.stream import StreamError
from numeric.topics.looped import chain_of_thought as chain

N, K, d, LEAK = 5, 4, 2, 0.1
SETTING = chain.ChainSetting(N, K, d, LEAK, eta=0.5, c=2.0**-12, C=32.0, tau=24.0, reach=2.0)


def drawn() -> torch.Tensor:
    """(N + 1, K, d), states of no chain at all."""
    return 2 * torch.rand(N + 1, K, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 1


def filtered(step: int) -> dict[str, torch.Tensor]:
    """By block, at the tokens of the examples (N, K, d) and at the last token."""
    states = drawn()
    network = Network(chain.transformer(SETTING, 1))
    tokens = chain.tokens(states[:-1], states[-1, : step + 1])[None]
    require_ranges(network, tokens)
    taps = network.run(tokens, list(chain.FILTERED))
    found = {chain.FILTERED[name]: each[0] for name, each in taps.items() if name in chain.FILTERED}
    return {name: torch.cat([each[1 : 1 + N * K].reshape(N * K, d), each[-1:]]) for name, each in found.items()}


@pytest.mark.parametrize("step", range(K - 1))
def test_the_filter_keeps_the_states_of_the_last_token_s_step_and_what_follows_them(step: int) -> None:
    states, found = drawn(), filtered(step)
    kept = torch.zeros(N, K, d, dtype=torch.float64)
    x, r = kept.clone(), kept.clone()
    x[:, step] = states[:-1, step]
    r[:, step] = -chain.unleaky(states[:-1, step + 1], LEAK)
    assert torch.allclose(found["x"], torch.cat([x.reshape(-1, d), states[-1:, step]]), rtol=0, atol=1e-14)
    assert torch.allclose(found["key"], torch.cat([x.reshape(-1, d) / N, 0 * states[-1:, 0]]), rtol=0, atol=1e-14)
    assert torch.allclose(found["r"], torch.cat([r.reshape(-1, d), 0 * states[-1:, 0]]), rtol=0, atol=1e-13)
    cleared = torch.arange(K) != step
    for name, each in found.items():
        assert torch.equal(each[:-1].reshape(N, K, d)[:, cleared], kept[:, cleared]), name


@pytest.mark.parametrize("leak", [0.01, 0.3, 1.0])
def test_leaky_relu_is_undone(leak: float) -> None:
    z = drawn()
    assert torch.allclose(chain.unleaky(chain.leaky(z, leak), leak), z, rtol=1e-13)
    assert torch.equal(chain.leaky(z, leak), torch.nn.functional.leaky_relu(z, leak))


def test_a_slope_of_zero_is_refused() -> None:
    with pytest.raises(StreamError, match=r"a leaky slope of 0.0. Give one in \(0, 1\]: a slope of 0 has no inverse"):
        chain.ChainSetting(N, K, d, 0.0, eta=0.5, c=0.1, C=20.0, tau=24.0, reach=1.0)


@pytest.mark.parametrize(
    ("lengths", "begun", "message"),
    [
        ((4, 4, 3), 2, r"chains of unequal lengths \[3, 4\]. Give all examples the same number of states"),
        ((4,), 2, "1 chain. Give two chains at least"),
        ((4, 4), 4, "no state after 4 in chains of 4. Give 1 to 3 states of it"),
        ((4, 4), 0, "no state after 0 in chains of 4"),
    ],
)
def test_chains_that_do_not_fit_are_refused(lengths: tuple[int, ...], begun: int, message: str) -> None:
    with pytest.raises(StreamError, match=message):
        chain.require_chains(
            [torch.zeros(each, d, dtype=torch.float64) for each in lengths], torch.zeros(begun, d, dtype=torch.float64)
        )


def test_a_chain_follows_its_weights() -> None:
    W = torch.tensor([[[2.0, 0.0], [0.0, -1.0]], [[0.0, 1.0], [1.0, 0.0]]], dtype=torch.float64)
    found = chain.chains(torch.tensor([[1.0, 3.0]], dtype=torch.float64), W, LEAK)
    assert torch.allclose(found[0], torch.tensor([[1.0, 3.0], [2.0, -0.3], [-0.03, 2.0]], dtype=torch.float64))
