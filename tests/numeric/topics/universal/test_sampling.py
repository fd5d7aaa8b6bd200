"""Draws of Lambda: each part by its mass, each law by Kolmogorov-Smirnov against another route to it."""

from collections.abc import Callable

import pytest
import torch
from scipy import stats

from numeric.topics.universal.sampling import Part, draw, quantile

COUNT = 20_000
SIGNIFICANT = 1e-4


def bump_law(d: int, width: float) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda radius: radius**d * torch.exp(-((width * radius) ** 2) / 2)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_radii_of_a_bump_follow_the_chi_law(d: int) -> None:
    part = Part(1.0, bump_law(d, 0.5))
    found = draw([part], d, COUNT, torch.Generator().manual_seed(1))
    law = stats.chi(df=d + 1, scale=2.0)  # r^d exp(-r^2/8)
    assert stats.kstest(found.radius.numpy(), law.cdf).pvalue > SIGNIFICANT
    assert stats.kstest(found.radius.numpy(), stats.chi(df=d + 1, scale=2.1).cdf).pvalue < SIGNIFICANT
    assert stats.kstest(found.t.numpy(), stats.uniform(-2, 3).cdf).pvalue > SIGNIFICANT
    assert torch.allclose(torch.linalg.vector_norm(found.direction, dim=1), torch.ones((), dtype=torch.float64))
    assert abs(found.direction.mean(0)).max() < 0.05


def test_parts_are_drawn_by_their_masses_and_lines_both_ways() -> None:
    line = torch.tensor([0.6, 0.8], dtype=torch.float64)
    parts = [Part(0.0, bump_law(2, 1.0)), Part(3.0, lambda r: torch.exp(-r), line), Part(1.0, None, line.flip(0))]
    found = draw(parts, 2, COUNT, torch.Generator().manual_seed(2))
    assert torch.bincount(found.part, minlength=3)[0] == 0
    assert stats.binomtest(int((found.part == 1).sum()), COUNT, 0.75).pvalue > SIGNIFICANT
    on_line = found.part == 1
    assert stats.kstest(found.radius[on_line].numpy(), stats.expon.cdf).pvalue > SIGNIFICANT
    along = found.direction[on_line] @ line
    assert torch.allclose(along.abs(), torch.ones((), dtype=torch.float64))
    assert abs(float((along > 0).double().mean()) - 0.5) < 0.03
    assert float(found.radius[~on_line].max()) < 1e-20


def test_quantiles_are_exact_where_the_law_is_known() -> None:
    share = torch.tensor([0.001, 0.25, 0.5, 0.999], dtype=torch.float64)
    assert torch.allclose(quantile(lambda r: torch.exp(-r), share), -torch.log1p(-share), rtol=1e-4)
