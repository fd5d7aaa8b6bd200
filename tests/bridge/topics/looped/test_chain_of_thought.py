"""Chains of looped.chain_of_thought: every state of ten, one that goes on, unequal lengths."""

import pytest
import torch

from bridge.topics.looped.chain_of_thought import chains, continued, exact_bits, seeded
from numeric.networks.stream import StreamError


# Each of ten chains from the other nine, at each of its 6 steps.
@pytest.mark.long
@pytest.mark.parametrize("leak", [0.01, 0.1, 1.0])
def test_every_state_of_ten_chains_is_found(leak: float) -> None:
    table = chains(leak, 96)
    assert [row[0] for row in table.rows] == [1, 2, 3, 4, 5, 6]
    for row in table.rows:
        condition, network, exact, bound = (float(each) for each in row[1:])
        assert network <= 3e-6
        assert network <= bound <= 1e-4
        assert abs(network - exact) <= 1e-9
        assert condition <= 13


def test_one_chain_goes_on_as_its_weights_say() -> None:
    states, _ = seeded(0.1)
    found = continued(list(states[:-1]), states[-1, :3], 0.1, 96)
    assert torch.allclose(found.network[0], states[-1, 3], atol=1e-6)


def test_exact_runs_have_a_bit_for_each_doubling_of_an_error() -> None:
    bits = [exact_bits(T, 1, 1, eta, 1.0) for T, eta in ((10, 1 / 8), (10, 3 / 8), (96, 1e-9))]
    assert bits == [64 + 10, 64 + 20, 64 + 1]  # an error grows by 1 + 8 eta/c in a loop


def test_chains_of_unequal_lengths_are_refused() -> None:
    states, _ = seeded(0.1)
    with pytest.raises(StreamError, match=r"chains of unequal lengths \[6, 7\]"):
        continued([*states[:4], states[5, :6]], states[-1, :3], 0.1, 4)
