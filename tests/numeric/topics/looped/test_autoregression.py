"""Copies at every time, states at every loop, on both interpreters, beside windows and regressions by other means."""

import math

import pytest
import torch

from numeric.networks.exact import run_exact
from numeric.networks.feed_forward import require_ranges
from numeric.networks.loops import LoopSize
from numeric.networks.network import Network
from numeric.networks.stream import StreamError
from numeric.topics.looped import autoregression as ar
from numeric.topics.looped.positions import digits, gap_of_signs

ETA, ACCURACY = 0.5, 1e-12


def setting(N: int, q: int, d: int, layers: int = 0, c: float = 2.0**-14) -> ar.SeriesSetting:
    signs = digits(N + q + 2).double()
    beta = math.log((N + 2) * 2 / ACCURACY) / float(gap_of_signs(signs))
    drawn = (torch.randn(q * d, q * d, dtype=torch.float64) for _ in range(layers))
    return ar.SeriesSetting(
        signs, N, q, beta, 1.0, ETA, c, 38.0, d, tuple(w / w.abs().sum(1, keepdim=True) for w in drawn)
    )


def series(N: int, d: int) -> torch.Tensor:
    """x_0, ..., x_N, and the query, whose value is not known."""
    return torch.cat([2 * torch.rand(N + 1, d, dtype=torch.float64) - 1, torch.zeros(1, d, dtype=torch.float64)])


def window(x: torch.Tensor, t: int, q: int) -> torch.Tensor:
    return torch.cat([x[t - lag] if t >= lag else 0 * x[0] for lag in range(1, q + 1)])


def regressed(features: torch.Tensor, x: torch.Tensor, N: int, T: int) -> torch.Tensor:
    """A_T Phi by automatic differentiation of the loss."""
    A = torch.zeros(x.shape[1], features.shape[1], dtype=torch.float64)
    for _ in range(T):
        loss = lambda A: ((features[1 : N + 1] @ A.mT - x[1 : N + 1]) ** 2).sum() / (2 * N)  # noqa: E731
        A = A - ETA * torch.func.grad(loss)(A)
    return features @ A.mT


@pytest.mark.parametrize(("N", "q", "d"), [(2, 1, 1), (5, 4, 1), (9, 3, 2), (30, 9, 1)])
def test_lags_are_copied_at_every_time_and_0_before_the_series(N, q, d):
    x, at = series(N, d), setting(N, q, d)
    network = Network(ar.transformer(at, 1))
    tokens = ar.tokens(x, N, at.signs)[None]
    require_ranges(network, tokens)
    copied = network.run(tokens, ["copy"])["copy"][0]
    expected = torch.stack([window(x, t, q) for t in range(N + 2)])
    assert float((copied[:-1] - expected).abs().max()) <= ACCURACY + 2e-15
    assert float(copied[-1].abs().max()) < 1e-14
    for t in range(q):
        assert float(copied[t, t * d :].abs().max()) < 1e-14


def test_half_the_sharpness_misses_the_accuracy():
    N, q = 12, 2
    at = setting(N, q, 1)
    x = (
        torch.ones(N + 2, 1, dtype=torch.float64)
        * torch.tensor([1.0, -1.0], dtype=torch.float64).repeat(N // 2 + 1)[:, None]
    )
    blunt = ar.SeriesSetting(at.signs, N, q, 0.5 * at.beta, 1.0, ETA, at.c, at.C)
    copied = Network(ar.transformer(blunt, 1)).run(ar.tokens(x, N, at.signs)[None], ["copy"])["copy"][0, :-1]
    assert float((copied - ar.lagged(x, q)).abs().max()) > ACCURACY


@pytest.mark.parametrize(("N", "q", "d", "layers"), [(12, 3, 1, 0), (12, 2, 2, 0), (10, 2, 2, 2)])
def test_every_state_follows_gradient_descent(N, q, d, layers):
    T, x, at = 6, series(N, d), setting(N, q, d, layers)
    network = ar.transformer(at, T)
    found = Network(network).run(ar.tokens(x, N, at.signs)[None])
    phi = torch.stack([window(x, t, q) for t in range(N + 2)])
    for w in at.layers:
        phi = torch.nn.functional.leaky_relu(phi @ w.mT, ar.SLOPE)
    for k in range(T + 1):
        expected = regressed(phi, x, N, k)
        residuals = expected - torch.cat([0 * x[:1], x[1 : N + 1], 0 * x[:1]])
        torch.testing.assert_close(found[f"r[{k}]"][0, :-1], residuals, rtol=0, atol=2e-8)
        torch.testing.assert_close(ar.path(phi, x, N, ETA, T)[k], expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(found["x_hat"][0, N + 1], regressed(phi, x, N, T)[-1], rtol=0, atol=2e-8)
    assert network.sizes == {"pre": LoopSize(2 + layers, q), "loop": LoopSize(1, 2), "post": LoopSize(1, 0)}


@pytest.mark.parametrize("layers", [0, 1])
def test_the_exact_interpreter_agrees_at_200_bits(layers):
    N, q, T = 4, 2, 3
    x, at = series(N, 1), setting(N, q, 1, layers)
    network, tokens = ar.transformer(at, T), ar.tokens(x, N, at.signs)
    floats = Network(network).run(tokens[None])
    exact = run_exact(network, tokens.numpy(), 200)
    truth = ar.path(ar.represented(ar.lagged(x, q), at.layers), x, N, ETA, T)[-1]
    assert float(exact["x_hat"].radius().max()) < 1e-25
    assert abs(float(exact["x_hat"].midpoint()[N + 1, 0]) - float(truth[-1])) < 1e-9
    for name, found in exact.items():
        assert float((found - floats[name][0].numpy()).sup_norm()) < 2e-8, name


def test_too_few_positions_are_refused():
    with pytest.raises(StreamError, match="too few positions: 6"):
        ar.tokens(series(4, 1), 4, digits(6).double())
