"""The interpreter of decoders against Section 4.1 written out with loops, on random decoders."""

import numpy as np
import pytest
import torch

from numeric.networks.layers import Affine
from numeric.networks.maps import BlockMap
from numeric.networks.stream import Block, Stream, StreamError
from numeric.topics.machines import decoder as module
from numeric.topics.machines.decoder import (
    Decoder,
    DecoderError,
    DecoderLayer,
    NullKeyAttention,
    affine,
    parameters,
    rounding,
    run,
)
from tests.numeric.topics.machines.random_decoders import STREAM, random_decoder

TOKENS = torch.tensor([[0, 1, 2, 1], [2, 2, 0, 0], [1, 0, 0, 0]])
LENGTHS = torch.tensor([4, 2, 0])


def attended(p: dict, name: str, h: np.ndarray, past: list[np.ndarray], beta: float | None) -> np.ndarray:
    if f"{name}.null_key" not in p:
        return h
    asked = p[f"{name}.query.W"] @ h + p[f"{name}.query.b"]
    keys = [p[f"{name}.null_key"]] + [p[f"{name}.key.W"] @ t + p[f"{name}.key.b"] for t in past]
    values = [p[f"{name}.null_value"]] + [p[f"{name}.value.W"] @ t + p[f"{name}.value.b"] for t in past]
    scores = [float(asked @ key) for key in keys]
    if beta is None:
        best = [v for score, v in zip(scores, values, strict=True) if score >= max(scores) - 1e-9]
        return h + sum(best) / len(best)
    weights = [np.exp(beta * (score - max(scores))) for score in scores]
    return h + sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def by_definition(
    decoder: Decoder, p: dict, tokens: list[int], steps: int, beta: float | None
) -> tuple[list[np.ndarray], list[list[np.ndarray]]]:
    """Outputs o_1 .. o_steps and, for each layer, its outputs; everything recomputed at every step."""
    positions = decoder.positions if callable(decoder.positions) else decoder.positions.__getitem__
    encoded = [p["embedding"][:, x] + positions(j) for j, x in enumerate(tokens, start=1)]
    o, outputs, past = p["initial"], [], [[] for _ in range(len(decoder.layers) + 1)]
    for i in range(1, steps + 1):
        h = o + positions(i)
        past[0].append(h)
        for k in range(1, len(decoder.layers) + 1):
            h = attended(p, f"layer[{k}].decoder", h, past[k - 1], beta)
            h = attended(p, f"layer[{k}].encoder", h, encoded, beta)
            for place in (1, 2, 3):
                h = np.maximum(p[f"layer[{k}].ff[{place}].W"] @ h + p[f"layer[{k}].ff[{place}].b"], 0)
            past[k].append(h)
        o = h
        outputs.append(o)
    return outputs, past[1:]


def arrays(given: dict[str, torch.Tensor], row: int | None = None) -> dict[str, np.ndarray]:
    return {name: (tensor if row is None else tensor[row]).numpy() for name, tensor in given.items()}


@pytest.mark.parametrize("beta", [None, 0.7])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_run_is_the_definition(seed, rounded, beta):
    decoder = random_decoder(seed, rounded=rounded)
    came = run(decoder, TOKENS, 6, lengths=LENGTHS, inverse_temperature=beta, taps=["layer[1]", "b"])
    for row, (tokens, length) in enumerate(zip(TOKENS.tolist(), LENGTHS.tolist(), strict=True)):
        outputs, past = by_definition(decoder, arrays(parameters(decoder)), tokens[:length], 6, beta)
        np.testing.assert_allclose(came.outputs[row].numpy(), np.stack(outputs), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(came.taps["layer[1]"][row].numpy(), np.stack(past[0]), rtol=1e-9, atol=1e-9)
        assert float(came.prediction[row]) == pytest.approx(float(decoder.classifier @ outputs[-1]), abs=1e-9)
        assert torch.equal(came.taps["b"], came.taps["layer[1]"][..., 2:])


@pytest.mark.parametrize("seed", range(4))
def test_all_parameters_given_is_the_same_network_by_its_matrices(seed):
    decoder = random_decoder(seed, rounded=True)
    own = run(decoder, TOKENS, 6, lengths=LENGTHS)
    for complete in (False, True):  # the zero attentions average zeros
        given = parameters(decoder, complete=complete)
        dense = run(decoder, TOKENS, 6, lengths=LENGTHS, parameters=given)
        torch.testing.assert_close(dense.outputs, own.outputs, rtol=1e-9, atol=1e-9)
    assert "layer[1].encoder.value.W" in given
    assert "layer[1].encoder.value.W" not in parameters(decoder)


def perturbed_copies(decoder: Decoder, names: list[str] | None = None) -> dict[str, torch.Tensor]:
    given = parameters(decoder, complete=True)
    return {
        name: tensor + torch.randn(len(TOKENS), *tensor.shape, dtype=torch.float64)
        for name, tensor in given.items()
        if names is None or name in names
    }


@pytest.mark.parametrize("seed", range(4))
def test_each_row_has_its_own_copy_of_the_parameters(seed):
    decoder = random_decoder(seed)
    copies = perturbed_copies(decoder)
    came = run(decoder, TOKENS, 5, lengths=LENGTHS, parameters=copies)
    for row, length in enumerate(LENGTHS.tolist()):
        outputs, _ = by_definition(decoder, arrays(copies, row), TOKENS[row, :length].tolist(), 5, None)
        np.testing.assert_allclose(came.outputs[row].numpy(), np.stack(outputs), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["layer[2].ff[1].b", "layer[1].encoder.value.b", "layer[2].ff[2].W", "initial"])
def test_one_parameter_given_leaves_the_others_as_they_are(name):
    decoder = random_decoder(2, rounded=True)
    copies = perturbed_copies(decoder, [name])
    everything = {**parameters(decoder, complete=True), **copies}
    few = run(decoder, TOKENS, 5, lengths=LENGTHS, parameters=copies).outputs
    torch.testing.assert_close(few, run(decoder, TOKENS, 5, lengths=LENGTHS, parameters=everything).outputs)
    assert not torch.allclose(few, run(decoder, TOKENS, 5, lengths=LENGTHS).outputs)


def test_streaming_over_inputs_changes_nothing(monkeypatch):
    decoder = random_decoder(1)
    copies = perturbed_copies(decoder)
    at_once = [run(decoder, TOKENS, 5, lengths=LENGTHS, parameters=given, taps=["b"]) for given in ({}, copies)]
    monkeypatch.setattr(module, "FLOATS_AT_ONCE", 1)
    for given, whole in zip(({}, copies), at_once, strict=True):
        streamed = run(decoder, TOKENS, 5, lengths=LENGTHS, parameters=given, taps=["b"])
        torch.testing.assert_close(streamed.outputs, whole.outputs, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(streamed.taps["b"], whole.taps["b"], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(streamed.prediction, whole.prediction, rtol=1e-12, atol=1e-12)


def test_ties_share_and_the_leak_of_softmax_is_what_the_rest_weighs():
    # One coordinate. Query and keys are 0, so that null key and past tie; values are 1, the null value 0.
    stream = Stream([Block("x", 1)])
    zero = affine(stream, stream, {})
    attention = NullKeyAttention(zero, zero, affine(stream, stream, {}, {"x": 1.0}), np.zeros(1), np.zeros(1))
    ways = (affine(stream, stream, {("x", "x"): 1.0}),) * 3
    layer = DecoderLayer("x", "", attention, None, ways)
    decoder = Decoder(stream, np.ones((1, 1)), np.zeros((5, 1)), np.zeros(1), (layer,), np.ones(1))
    came = run(decoder, torch.zeros(1, 0, dtype=torch.int64), 3)
    assert came.outputs.flatten().tolist() == pytest.approx([1 / 2, 1 / 2 + 2 / 3, 1 / 2 + 2 / 3 + 3 / 4])
    assert came.leak == 0.0
    # Now the past wins by 1: softmax at beta leaves exp(-beta) of weight to the null key.
    better = {
        "layer[1].decoder.query.b": torch.ones(1, dtype=torch.float64),
        "layer[1].decoder.key.b": torch.ones(1, dtype=torch.float64),
    }
    soft = run(decoder, torch.zeros(1, 0, dtype=torch.int64), 1, parameters=better, inverse_temperature=2.0)
    assert soft.leak == pytest.approx(np.exp(-2.0) / (1 + np.exp(-2.0)))
    assert float(soft.prediction) == pytest.approx(1 - soft.leak)


def test_rounding_is_proposition_3_4():
    values = torch.linspace(-0.5, 1.5, 121, dtype=torch.float64)  # (121,)
    stream = Stream([Block("x", 121)])
    up, down = rounding(stream)
    inner = (up.map.apply(values) + torch.tensor(up.dense()[1])).relu()
    expected = torch.where(values < 1 / 3, 0.0, torch.where(values < 2 / 3, 3 * values - 1, 1.0))
    torch.testing.assert_close(down.map.apply(inner), expected, rtol=0, atol=1e-14)


def refused(message: str, **changes) -> None:
    decoder = random_decoder(0)
    call = {"tokens": TOKENS, "steps": 4, "lengths": LENGTHS, **changes}
    with pytest.raises(DecoderError, match=message):
        run(decoder, call.pop("tokens"), call.pop("steps"), **call)


def test_what_does_not_fit_is_refused():
    refused("0 inputs", tokens=TOKENS[:0], lengths=LENGTHS[:0])
    refused("0 steps", steps=0)
    refused("outside 0 .. 2", tokens=TOKENS + 1)
    refused("one length for each row", lengths=LENGTHS + 1)
    refused("position 9 is beyond the last one, 8", steps=9)
    refused("Did you mean 'initial'", parameters={"initail": torch.zeros(5, dtype=torch.float64)})
    refused("shape \\(4,\\). Give \\(5,\\)", parameters={"initial": torch.zeros(4, dtype=torch.float64)})
    refused("no tap 'c'. Did you mean|There are|'b'", taps=["c"])
    with pytest.raises(StreamError, match="shape \\(2,\\) for a block of size 3"):
        Affine(BlockMap(STREAM, STREAM, {}), {"b": np.zeros(2)})
