import pytest
import torch

from numeric import shared_blocks
from numeric.construction import FeedForward, SoftmaxAttention, StreamTap
from numeric.network import Network
from numeric.shared_blocks import SharedNetwork
from numeric.stream import StreamError
from tests.numeric.cases import CASES, D, in_a_loop, random_prompts

KINDS = SoftmaxAttention, FeedForward
SOFTMAX = [name for name, make in CASES.items() if all(isinstance(each, KINDS) for each in make().layers)]


def blocks_of(name: str) -> list[str]:
    return ["output", *(tap for tap, what in CASES[name]().taps.items() if isinstance(what, StreamTap))]


@pytest.mark.parametrize("length", [1, 6])
@pytest.mark.parametrize("name", SOFTMAX)
def test_block_by_block_is_the_network(name, length):
    x = random_prompts(length, CASES[name]().source.width, 3, seed=2)
    expected = Network(CASES[name]()).run(x, blocks_of(name))
    found = SharedNetwork(CASES[name]()).run(x, blocks_of(name))
    assert found.keys() == expected.keys()
    for tap, value in expected.items():
        torch.testing.assert_close(found[tap], value, rtol=1e-12, atol=1e-12)


def test_there_are_cases_with_positions_masks_and_without_dot_products():
    assert {"softmax, alibi, from 3", "softmax, causal, last", "free, full", "loop, post"} <= set(SOFTMAX)


def test_prompts_that_are_too_many_run_in_parts(monkeypatch):
    x, network = random_prompts(6, D, 5, seed=2), SharedNetwork(CASES["loop"]())
    whole = network.run(x, ["y[1]"])
    monkeypatch.setattr(shared_blocks, "SCORES_KEPT", 2 * 6**2)
    parts = network.run(x, ["y[1]"])
    for name, value in whole.items():
        torch.testing.assert_close(parts[name], value)


def test_weights_are_made_again_where_a_block_has_changed(monkeypatch):
    """In this loop queries and keys read x and y, which change."""
    made = []
    softmax = torch.softmax
    monkeypatch.setattr(torch, "softmax", lambda *args, **more: made.append(1) or softmax(*args, **more))
    SharedNetwork(in_a_loop(post=False)).run(random_prompts(6, D, 1, seed=2), [])
    assert len(made) == 2 * 3


def test_gradients_are_those_of_the_network():
    x = random_prompts(5, D, 2, seed=2).requires_grad_(True)
    gradients = [
        torch.autograd.grad(network.run(x, [])["output"].square().sum(), x)[0]
        for network in (Network(CASES["loop, post"]()), SharedNetwork(CASES["loop, post"]()))
    ]
    torch.testing.assert_close(*gradients)


def test_other_attention_is_refused():
    with pytest.raises(StreamError, match=r"a layer of ReluAttention\. Run it with Network"):
        SharedNetwork(CASES["relu"]())
