"""Stage I for long inputs: correlation and filters against the matrix of weights."""

import math

import pytest
import torch

from numeric.topics.induction import first_stage


def dense(p: torch.Tensor, terms: int, start: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The first layer's weights (s, tau) as softmaxes, and the second layer's (s,), for e^-p(0) = start."""
    place = torch.arange(terms, dtype=torch.float64)
    behind = place[:, None] - place[None, :]
    first = torch.softmax(torch.where(behind >= 0, -p * behind, -torch.inf), dim=1)
    return first, torch.softmax(-math.log(start) * place, dim=0)


@pytest.mark.parametrize("terms", [3, 38, 200])
@pytest.mark.parametrize("p", [1e-4, 0.01, 0.7, 4.0])
def test_the_mixture_and_its_loss_are_those_of_the_matrix(terms: int, p: float) -> None:
    at = torch.tensor(p, dtype=torch.float64, requires_grad=True)
    columns = dense(at, terms, 1.0)[0].sum(0)
    assert torch.allclose(first_stage.mixture_by_correlation(at, terms), columns, rtol=1e-12, atol=1e-12)
    squares, slope = first_stage.direct_squares(p, terms)
    assert squares == pytest.approx(float(columns.detach().square().sum()), rel=1e-12)
    (by_matrix,) = torch.autograd.grad(columns.square().sum(), at)
    assert slope == pytest.approx(float(by_matrix), rel=1e-8)


@pytest.mark.parametrize("start", [1.0, math.exp(-0.01), 0.5])
@pytest.mark.parametrize("p", [0.01, 0.7, 4.0])
def test_the_share_by_filters_is_the_gradient_of_the_loss(start: float, p: float) -> None:
    terms, g_0, optimum = 60, 0.2, 0.4
    at = torch.tensor(p, dtype=torch.float64, requires_grad=True)
    first, second = dense(at, terms, start)
    target = torch.zeros(terms, dtype=torch.float64)
    target[-1] = optimum
    loss = (g_0 * second @ first - target).square().sum() / 2
    (slope,) = torch.autograd.grad(loss, at)
    if start == 1.0:
        assert first_stage.direct_rate(p, g_0, optimum, terms) == pytest.approx((loss.item(), -slope.item()), rel=1e-8)
    whole = sum(start**k for k in range(terms))
    share = first_stage.rate_share(terms, math.exp(-p), g_0 / optimum, start)
    assert -float(slope) == pytest.approx(share * math.exp(-p) * g_0 * optimum / whole, rel=1e-8)


def test_a_million_tokens_fit() -> None:
    assert first_stage.rate_share(10**6, math.exp(-0.01), 0.02, 1.0) == pytest.approx(1.0, rel=1e-3)
