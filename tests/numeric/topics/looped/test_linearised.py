"""One gradient step by a layer, against the step itself; tokens as in Lemma A.2."""

import pytest
import torch

from numeric.networks.network import Network
from numeric.topics.looped import linearised

N, d, ETA = 5, 3, 0.5
KNOBS = {"constant": (2.0**-20, 25.0), "opposite": (2.0**-12, 30.0)}


def drawn() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(N + 1, d, generator=generator, dtype=torch.float64).double() - 0.5, torch.rand(
        N + 1, generator=generator, dtype=torch.float64
    ).double()


def by_definition(x: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """r_i - eta/N sum_j r_j <x_j, x_i>, one by one."""
    pulls = [
        sum((r[j] * (x[j] * x[i]).sum() for j in range(N)), start=torch.zeros((), dtype=torch.float64))
        for i in range(N + 1)
    ]
    return torch.stack([r[i] - ETA / N * pulls[i] for i in range(N + 1)])


def test_the_reference_is_the_step() -> None:
    x, r = drawn()
    assert torch.allclose(linearised.stepped(x, r, ETA), by_definition(x, r), atol=1e-15)
    z, values = linearised.products(x), linearised.values(r)
    assert torch.allclose(r - ETA * (z @ values.mT)[:, 0], by_definition(x, r), atol=1e-15)


@pytest.mark.parametrize(("second", "error"), [("constant", 1e-6), ("opposite", 1e-9)])
def test_the_layer_takes_a_step_and_leaves_labels_alone(second: str, error: float) -> None:
    x, r = drawn()
    network = Network(linearised.step(linearised.LinearisedSetting(d, *KNOBS[second], second, ETA)))
    found = network.run(linearised.tokens(x, r)[None], ["step"])["step"][0, :, 0]
    assert torch.allclose(linearised.at_features(found), by_definition(x, r), atol=error)
    assert torch.equal(found[1::2], torch.zeros(N + 1, dtype=torch.float64).double())


def test_the_gradient_is_cleared_for_the_next_step() -> None:
    x, r = drawn()
    layers = linearised.step(linearised.LinearisedSetting(d, *KNOBS["opposite"], "opposite", ETA))
    output = Network(layers).layers
    tokens = linearised.tokens(x, r)[None]
    for layer in output:
        tokens = layer(tokens, 0)
    stream = linearised.stream_of(d)
    assert torch.equal(
        tokens[..., stream.slice("gradient")], torch.zeros(1, 2 * N + 2, 1, dtype=torch.float64).double()
    )


def test_tokens_are_those_of_the_lemma() -> None:
    x, r = drawn()
    found, stream = linearised.tokens(x, r), linearised.stream_of(d)
    feature, last = found[2], found[-1]
    assert torch.equal(feature[stream.slice("x")], x[1])
    assert torch.equal(feature[stream.slice("key")], x[1] / N)
    assert torch.equal(found[-2, stream.slice("key")], torch.zeros(d, dtype=torch.float64).double())
    assert feature[stream.slice("r")] == r[1]
    assert found[1].sum() == 2 * last[stream.slice("sink")] == 2 * last[stream.slice("label")] == 2
    assert found[:, stream.slice("sink")].sum() == found[:, stream.slice("test")].sum() == 1
