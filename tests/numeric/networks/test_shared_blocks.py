import pytest
import torch

from numeric.networks import shared_blocks
from numeric.networks.network import Network
from numeric.networks.shared_blocks import SharedNetwork
from numeric.networks.stream import StreamError
from tests.numeric.cases import CASES, D, families, in_a_loop, random_prompts


@pytest.mark.parametrize("length", [1, 6])
@pytest.mark.parametrize("name", CASES)
def test_block_by_block_is_the_network(name, length):
    x = random_prompts(length, CASES[name]().source.width, 3, seed=2)
    expected, found = Network(CASES[name]()).run(x), SharedNetwork(CASES[name]()).run(x)
    assert found.keys() == expected.keys()
    for tap, value in expected.items():
        torch.testing.assert_close(found[tap], value, rtol=1e-12, atol=1e-12)


def test_a_block_that_is_the_same_at_all_tokens_may_be_given_once():
    construction = families(given=True)
    x = random_prompts(6, construction.source.width, 2, seed=2)
    once = {name: x[..., construction.source.slice(name)] for name in construction.source.names}
    once["V"] = once["V"][:, :1]
    x[..., construction.source.slice("V")] = once["V"]
    expected, found = Network(construction).run(x), SharedNetwork(construction).run(once)
    for tap, value in expected.items():
        torch.testing.assert_close(found[tap], value, rtol=1e-12, atol=1e-12)


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


def test_blocks_that_do_not_fit_are_refused():
    network, x = SharedNetwork(CASES["relu"]()), random_prompts(4, D, 1, seed=2)
    with pytest.raises(StreamError, match=r"blocks of shapes .*'y'.*Give each block as .*: x \(3\)"):
        network.run({"y": x})
    with pytest.raises(StreamError, match=r"torch.float32\. Give it in torch.float64"):
        network.run({"x": x.float()})


def test_a_matrix_that_differs_between_tokens_is_refused():
    construction = families(given=True)
    with pytest.raises(StreamError, match=r"'V': one that differs between tokens\. Run it with Network"):
        SharedNetwork(construction).run(random_prompts(6, construction.source.width, 1, seed=2))
