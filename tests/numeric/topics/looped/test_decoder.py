"""Each token, the first included, beside gradient descent on its own past; the printed layer in both readings."""

import math

import pytest
import torch

from numeric.networks.exact import run_exact
from numeric.networks.loops import LoopSize
from numeric.networks.network import Network
from numeric.topics.looped import decoder

ETA = 1.0
BEST = (2.0**-16, 38.0)  # c and C for residuals of about 1


def prompt(N: int, d: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(N, d, generator=generator, dtype=torch.float64)
    x = x / torch.linalg.vector_norm(x, dim=1).max()
    return x, 2 * torch.rand(N, generator=generator, dtype=torch.float64) - 1


def on_its_past(x: torch.Tensor, y: torch.Tensor, i: int, T: int) -> torch.Tensor:
    """w_T of the token i (from 0) by automatic differentiation of (5)."""
    w = torch.zeros(x.shape[1], dtype=torch.float64)
    loss = lambda w: ((x[:i] @ w - y[:i]) ** 2).sum() / (2 * i)  # noqa: E731
    for _ in range(T if i else 0):
        w = w - ETA * torch.func.grad(loss)(w)
    return w


def network(N: int, d: int, T: int) -> decoder.Looped:
    return decoder.transformer(decoder.DecoderSetting(d, ETA, *BEST), N, T)


@pytest.mark.long
@pytest.mark.parametrize(("N", "d", "T"), [(2, 1, 3), (7, 3, 5), (40, 20, 20)])
def test_every_token_follows_gradient_descent_on_its_own_past(N, d, T):
    x, y = prompt(N, d)
    found = Network(network(N, d, T)).run(decoder.tokens(x, y)[None], [f"w[{k}]" for k in range(T + 1)] + ["y_hat"])
    for k in range(T + 1):
        expected = torch.stack([on_its_past(x, y, i, k) for i in range(N)])
        error = torch.linalg.vector_norm(decoder.at_features(found[f"w[{k}]"][0]) - expected, dim=1)
        assert float(error.max()) < 1e-8, k
        assert float(error[0]) == 0
        torch.testing.assert_close(decoder.path(x, y, ETA, k)[-1], expected, rtol=0, atol=1e-13)
    predicted = decoder.at_features(found["y_hat"][0])[:, 0]
    torch.testing.assert_close(predicted, (expected * x).sum(1), rtol=0, atol=1e-8)
    assert float(found[f"w[{T}]"][0, 0::2].abs().max()) == 0  # the start and the labels keep theirs


def test_places_are_digits_and_their_complements():
    places = decoder.at_features(decoder.tokens(*prompt(6, 2)))[:, decoder.stream_of(2, 6)[0].slice("place")]
    assert (places[:, :3] @ torch.tensor([1, 2, 4], dtype=places.dtype)).tolist() == list(range(6))
    assert torch.equal(places[:, 3:], 1 - places[:, :3])


def test_later_examples_change_nothing():
    x, y = prompt(6, 2)
    other, labels = x.clone(), y.clone()
    other[4:], labels[4:] = other[4:] / 2, -labels[4:]
    runs = (Network(network(6, 2, 4)).run(decoder.tokens(*each)[None], ["y_hat"]) for each in ((x, y), (other, labels)))
    first, second = (decoder.at_features(each["y_hat"][0]) for each in runs)
    assert torch.equal(first[:4], second[:4])
    assert float((first - second).abs().max()) > 1e-3


def test_the_exact_interpreter_agrees_at_200_bits():
    N, d, T = 4, 2, 3
    x, y = prompt(N, d)
    tokens = decoder.tokens(x, y)
    floats = Network(network(N, d, T)).run(tokens[None])
    exact = run_exact(network(N, d, T), tokens.numpy(), 200)
    truth = torch.stack([on_its_past(x, y, i, T) for i in range(N)])
    assert float(exact["w"].radius().max()) < 1e-40
    for i in range(N):  # without rounding the error is that of the linear part alone, of second order in c
        for k in range(d):
            assert abs(float(exact["w"].midpoint()[2 * i + 1, k]) - float(truth[i, k])) < T * BEST[0] ** 2
    for name, found in exact.items():
        assert float((found - floats[name][0].numpy()).sup_norm()) < 1e-8, name


def test_it_has_one_layer_of_two_heads_in_the_loop_and_behind_it():
    assert network(5, 2, 7).sizes == {"pre": LoopSize(0, 0), "loop": LoopSize(1, 2), "post": LoopSize(1, 2)}


# The layer as printed.


def printed(x: torch.Tensor, y: torch.Tensor, v: torch.Tensor, c: float, *, strict: bool) -> torch.Tensor:
    layer = decoder.printed_layer(decoder.DecoderSetting(x.shape[1], ETA, c, 40.0), strict=strict)
    return Network(layer).run(decoder.printed_tokens(x, y, v)[None], ["gradient"])["gradient"][0, 0::2]


def test_the_printed_layer_sums_over_earlier_tokens_up_to_first_order_in_c():
    x, y = prompt(6, 3)
    v = torch.randn(6, 3, dtype=torch.float64)
    sums = torch.stack([(x[:i] @ v[i] - y[:i]) @ x[:i] for i in range(6)])
    errors = [float((printed(x, y, v, c, strict=True) - sums).abs().max()) for c in (2e-3, 1e-3)]
    assert errors[0] < 0.02
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.01)


def test_a_printed_token_that_attends_to_itself_keeps_its_own_constant_term():
    c, C = 1e-4, 40.0
    x, y = prompt(5, 2)
    v = torch.randn(5, 2, dtype=torch.float64)
    left = printed(x, y, v, c, strict=False) - printed(x, y, v, c, strict=True)
    own = x * (1 + c * (v * x).sum(1))[:, None] / c
    torch.testing.assert_close(left[1:], own[1:], rtol=1e-6, atol=0)
    torch.testing.assert_close(left[0], (math.exp(C) / c * (x - 0 * x))[0], rtol=1e-9, atol=0)  # it sees itself alone
