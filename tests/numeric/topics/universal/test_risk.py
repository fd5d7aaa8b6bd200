"""Predictions in context: the network beside its iterates, an idle feature, refused prompts, deep networks."""

import pytest
import torch

from numeric.networks.stream import StreamError
from numeric.topics.universal.risk import Learner, deep_network, with_idle
from numeric.topics.universal.transformer import proximal_path

N, n, d, T = 24, 6, 3, 8
GENERATOR = torch.Generator().manual_seed(5)


def ball(count: int) -> torch.Tensor:
    x = torch.randn(count, d, generator=GENERATOR, dtype=torch.float64)
    return x / (1 + torch.linalg.vector_norm(x, dim=1, keepdim=True))


def features() -> torch.Tensor:
    directions = torch.nn.functional.normalize(torch.randn(n - 1, d, generator=GENERATOR, dtype=torch.float64), dim=1)
    t = 3 * torch.rand(n - 1, 1, generator=GENERATOR, dtype=torch.float64) - 2
    return with_idle(torch.cat([t, torch.ones(n - 1, 2, dtype=torch.float64), directions], 1))


def learner() -> Learner:
    return Learner.of(features(), N, 2 * T + 1, 8.0, 0.01, (64.0, 2.0**15))


def test_the_idle_feature_is_0_on_the_ball_and_its_coefficient_stays_0() -> None:
    of, x = learner(), ball(N)
    sphere = torch.nn.functional.normalize(ball(200), dim=1)
    assert (of.features(sphere)[:, n - 1] == 0).all()
    assert (of.features(sphere)[:, n] == 1).all()
    assert (of.iterates(x, torch.sin(x[:, 0]))[:, n - 1] == 0).all()


# The squares of the entries of phi add up to at most n: the printed step 1/(2n) is at most 1/smoothness.
def test_the_printed_step_is_short_enough() -> None:
    of, x = learner(), ball(N)
    phi = of.features(x)
    assert (phi**2).sum(1).max() <= n
    assert of.at.eta * float(torch.linalg.eigvalsh(2 * phi.T @ phi / N)[-1]) <= 1
    assert of.at.eta == 1 / (2 * n)


def test_predictions_are_those_of_exact_steps() -> None:
    of, x, queries = learner(), ball(N), ball(5)
    y = torch.stack([torch.sin(2 * x[:, 0]), x[:, 1] - 0.5])
    y_hat, rho = of.predictions(x, y, queries)
    assert y_hat.shape == (2, 5)
    assert rho.shape == (2, 5, n + 1)
    for k in range(2):
        exact = of.iterates(x, y[k])[-1]
        steps = proximal_path(of.features(x), y[k], of.at.eta, of.at.lam, T)
        assert torch.equal(exact, steps)
        assert torch.allclose(y_hat[k], of.features(queries) @ exact, atol=1e-6)
        assert torch.allclose(rho[k], exact.expand(5, -1), atol=1e-6)
    assert (y_hat[0] - y_hat[1]).abs().max() > 0.01


def test_refused_prompts() -> None:
    of, x, y = learner(), ball(N), torch.zeros(1, N, dtype=torch.float64)
    with pytest.raises(StreamError, match=r"x of norm 2.*outside the unit ball"):
        of.predictions(x, y, 2 * torch.nn.functional.normalize(ball(1), dim=1))
    with pytest.raises(StreamError, match="an empty prompt"):
        of.predictions(x[:0], y[:, :0], ball(1))
    with pytest.raises(StreamError, match="features of d = 3 for data of d = 2"):
        of.predictions(x[:, :2], y, ball(1)[:, :2])


def test_a_deep_network_is_a_function_of_its_seed_within_1() -> None:
    x = ball(100)
    values = [deep_network(d, seed)(x) for seed in (0, 0, 1)]
    assert torch.equal(values[0], values[1])
    assert values[0].abs().max() <= 1
    assert (values[0] - values[2]).abs().max() > 0.1
    assert values[0].std() > 0.05
