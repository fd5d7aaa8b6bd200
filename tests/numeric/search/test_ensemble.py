import numpy as np
import pytest
import torch

from numeric.networks.construction import Construction, Embedding, StreamTap
from numeric.networks.layers import (
    Causal,
    FeedForward,
    LinearAttention,
    LogisticAttention,
    RelativePositions,
    ReluAttention,
    SoftmaxAttention,
)
from numeric.networks.maps import BlockMap
from numeric.networks.network import Network
from numeric.networks.stream import Block, Stream, StreamError
from numeric.search.ensemble import Ensemble, family, widest
from numeric.topics.induction.vanilla import vanilla
from tests.numeric.cases import CASES, INPUT, D, free_attention, two_attentions, w_star


def hidden(neurons: int, residual: bool = True) -> Construction:
    """A feed-forward layer on a stream with one more block for each neuron beyond the first."""
    rng = np.random.default_rng(neurons)
    stream = Stream([*(Block(f"more[{place}]", 1) for place in range(1, neurons)), Block("x", D)])
    inner = Stream([Block("relu", neurons)])
    layer = FeedForward(
        BlockMap(stream, inner, {("relu", "x"): rng.normal(size=(neurons, D))}),
        {"relu": rng.normal(size=neurons)},
        BlockMap(inner, stream, {("x", "relu"): rng.normal(size=(D, neurons))}),
        residual,
    )
    enter, leave = (
        BlockMap(source, target, {("x", "x"): 1.0}) for source, target in ((INPUT, stream), (stream, INPUT))
    )
    bias = {"more[1]": np.ones(1)} if neurons > 1 else {}
    return Construction("hidden", INPUT, Embedding(enter, bias), (layer,), leave, {"x": StreamTap(1, "x")})


ENSEMBLES: dict[str, list[Construction]] = {
    "vanilla": [
        *(vanilla(p, p * w_star()) for p in (0.0, 1.5, 40.0)),
        vanilla(2.0, w_star(), gate=0.0),
        vanilla(3.0, w_star(), gate=6.0),
    ],
    "one": [vanilla(1.5, w_star())],
    "softmax, positions": [
        two_attentions(SoftmaxAttention, positions, False)
        for positions in (RelativePositions(0.7), RelativePositions(0.2, first_key=3), Causal(), Causal(True, 2))
    ],
    "softmax, full": [two_attentions(SoftmaxAttention, None, True)] * 2,
    "relu": [two_attentions(ReluAttention, None, False), CASES["relu"]()],
    "multiplication": [CASES["multiplication"](), CASES["multiplication"]()],
    "linear": [two_attentions(LinearAttention, None, True), CASES["linear, last"]()],
    "free": [
        free_attention(positions)
        for positions in (RelativePositions(0.7), RelativePositions(0.0, first_key=4), Causal(first_key=2))
    ],
    "free, full": [free_attention(None)],
    "feed-forward": [hidden(neurons) for neurons in (1, 4, 2)],
    "feed-forward, no residual": [hidden(neurons, residual=False) for neurons in (3, 1)],
}


def prompts(batch: int, length: int = 6) -> torch.Tensor:
    return 2 * torch.rand(batch, length, D, generator=torch.Generator().manual_seed(3), dtype=torch.float64) - 1


@pytest.mark.parametrize("length", [1, 5, 20])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_each_item_runs_its_own_construction(name: str, length: int) -> None:
    assert_each_runs_its_own(ENSEMBLES[name], length)


def test_logistic_attention_runs_with_examples() -> None:
    assert_each_runs_its_own([two_attentions(LogisticAttention, None, False)] * 2, 5)


def assert_each_runs_its_own(constructions: list[Construction], length: int) -> None:
    index = torch.arange(7).flip(0) % len(constructions)
    x = prompts(7, length)
    found = Ensemble(constructions, index).run(x)
    for item, chosen in enumerate(index.tolist()):
        expected = Network(constructions[chosen]).run(x[item : item + 1])
        assert found.keys() == expected.keys()
        for tap, value in expected.items():
            assert found[tap][item].shape == value[0].shape
            assert float((found[tap][item] - value[0]).abs().max()) <= 1e-12 * max(1.0, float(value.abs().max()))


def test_gradients_are_those_of_each_network() -> None:
    constructions, x = ENSEMBLES["vanilla"], prompts(5).requires_grad_()
    Ensemble(constructions, torch.arange(5)).run(x, [])["output"].square().sum().backward()
    for item, construction in enumerate(constructions):
        alone = x.detach()[item : item + 1].requires_grad_()
        Network(construction)(alone).square().sum().backward()
        assert x.grad is not None
        assert alone.grad is not None
        assert torch.allclose(x.grad[item], alone.grad[0], rtol=1e-11, atol=1e-13)


def test_an_item_does_not_depend_on_the_others() -> None:
    constructions, x = ENSEMBLES["vanilla"], prompts(3)
    first = Ensemble(constructions, torch.tensor([0, 1, 2])).run(x)["output"]
    second = Ensemble(constructions, torch.tensor([0, 4, 3])).run(torch.cat([x[:1], -x[1:]]))["output"]
    assert torch.equal(first[0], second[0])
    assert not torch.equal(first[1], second[1])


def test_an_ensemble_runs_prompts_of_any_length_in_turn() -> None:
    ensemble = Ensemble(ENSEMBLES["vanilla"], torch.arange(5))
    for length in (4, 9, 4):
        expected = Ensemble(ENSEMBLES["vanilla"], torch.arange(5)).run(prompts(5, length))["output"]
        assert torch.equal(ensemble.run(prompts(5, length))["output"], expected)


def test_float32_stays_float32() -> None:
    found = Ensemble(ENSEMBLES["vanilla"], torch.arange(5), dtype=torch.float32).run(prompts(5).float())
    assert {value.dtype for value in found.values()} == {torch.float32}


def test_only_the_taps_that_are_asked_for_are_recorded() -> None:
    assert set(Ensemble(ENSEMBLES["one"], torch.zeros(2, dtype=torch.float64).long()).run(prompts(2), ["y"])) == {
        "y",
        "output",
    }
    with pytest.raises(StreamError, match="no tap 'z'"):
        Ensemble(ENSEMBLES["one"], torch.zeros(2, dtype=torch.float64).long()).run(prompts(2), ["z"])


def test_families_tell_kinds_apart_and_not_weights() -> None:
    families = {name: {family(each) for each in constructions} for name, constructions in ENSEMBLES.items()}
    assert {name: len(found) for name, found in families.items()} == dict.fromkeys(ENSEMBLES, 1)
    assert families["vanilla"] == families["one"]
    assert len(set.union(*families.values())) == len(ENSEMBLES) - 1
    with pytest.raises(StreamError, match="constructions of several families"):
        Ensemble([CASES["relu"](), CASES["linear"]()], torch.tensor([0, 1]))


def test_the_widest_counts_hidden_neurons_and_streams() -> None:
    assert widest(vanilla(1.0, w_star(), gate=1.0)) == 2 * D + 1
    assert widest(hidden(9)) == 8 + D
    assert widest(CASES["feed-forward"]()) == 2 * D + 1


@pytest.mark.parametrize("shape", [(2, 4, D), (3, 4, D + 1), (3, 0, D)])
def test_inputs_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(StreamError, match=r"Give \(3, length, 3\)"):
        Ensemble(ENSEMBLES["one"], torch.zeros(3, dtype=torch.float64).long()).run(
            torch.zeros(shape, dtype=torch.float64)
        )
