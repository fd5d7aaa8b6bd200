import pytest
import torch

from numeric.networks.construction import Construction, StreamTap
from numeric.networks.exact import run_exact
from numeric.networks.feed_forward import terms_layer
from numeric.networks.layers import FeedForward, Head, SoftmaxAttention
from numeric.networks.loops import LoopSize, looped, size_of
from numeric.networks.maps import BlockMap
from numeric.networks.network import Network
from numeric.networks.stream import StreamError
from tests.numeric.cases import INPUT, STREAM, D, free_head, in_a_loop, random_prompts

ATTENTION = SoftmaxAttention((free_head("a", None), free_head("b", None)), residual=True)
TERMS = terms_layer(STREAM)


def doubling(T: int, **more: object) -> Construction:
    """x + mean of x, T times."""
    head = Head("mean", None, None, BlockMap(INPUT, INPUT, {("x", "x"): 1.0}))
    return looped("doubling", INPUT, loop=(SoftmaxAttention((head,), residual=True),), T=T, states=("x",), **more)


@pytest.mark.parametrize("T", [1, 2, 5])
def test_the_loop_runs_T_times_and_every_state_is_tapped(T):
    x = random_prompts(4, D, 2, seed=1)
    found = Network(doubling(T)).run(x)
    mean = x.mean(1, keepdim=True)
    for k in range(T + 1):
        torch.testing.assert_close(found[f"x[{k}]"], x + (2**k - 1) * mean)
    assert torch.equal(found["output"], found[f"x[{T}]"])
    exact = run_exact(doubling(T), x[0].numpy())
    assert all((exact[name] - found[name][0].numpy()).sup_norm() < 1e-14 for name in found)


def test_a_repeated_layer_is_made_once():
    network = Network(in_a_loop(post=True))
    assert len(network.layers) == 7
    assert network.layers[1] is network.layers[3]
    assert network.layers[0] is network.layers[1]
    assert network.layers[2] is network.layers[4] is network.layers[6]
    assert len(list(network.layers.children())) == 3


def test_five_hundred_loops_have_the_weights_of_one():
    once, often = (Network(doubling(T)) for T in (1, 500))
    assert len(list(once.buffers())) == len(list(often.buffers()))


@pytest.mark.parametrize(
    ("layers", "size"),
    [
        ((), LoopSize(0, 0)),
        ((ATTENTION,), LoopSize(1, 2)),
        ((ATTENTION, TERMS), LoopSize(1, 2)),
        ((TERMS, ATTENTION), LoopSize(2, 2)),
        ((TERMS, TERMS), LoopSize(2, 0)),
        ((ATTENTION, ATTENTION, TERMS, ATTENTION), LoopSize(3, 2)),
    ],
)
def test_layers_are_counted_as_attention_and_feed_forward(layers: tuple[SoftmaxAttention | FeedForward, ...], size):
    assert size_of(layers) == size


def test_sizes_of_the_parts():
    assert in_a_loop(post=True).sizes == {"pre": LoopSize(1, 2), "loop": LoopSize(1, 2), "post": LoopSize(1, 1)}
    assert in_a_loop(post=False).sizes["post"] == LoopSize(0, 0)


def test_taps_and_readout_are_the_callers():
    taps = {"last": StreamTap(2, "x")}
    assert doubling(2, taps=taps).taps.keys() == {"output", "x[0]", "x[1]", "x[2]", "last"}
    assert Network(doubling(2, last_token_only=True))(random_prompts(4, D, 1, seed=1)).shape == (1, D)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: doubling(0), r"Looped\('doubling'\): T = 0. Run the loop once at least"),
        (lambda: looped("empty", INPUT, loop=(), T=2), r"Looped\('empty'\): a loop without layers"),
        (lambda: looped("no tap", STREAM, loop=(ATTENTION,), T=1, states=("z",)), "no such block"),
    ],
)
def test_bad_loops_are_refused(call, message):
    with pytest.raises(StreamError, match=message):
        call()
