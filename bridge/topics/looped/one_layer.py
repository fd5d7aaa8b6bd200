"""Section 2.2 (algoformer): pre-, looped and post-transformer as one layer in a loop, of Theorem 3.1 with L = 0."""

import torch

from bridge.domains import Ball, Box, Rows
from bridge.theorems.check import Check, Sides, within
from numeric.networks.fused import fused
from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.looped import gradient_descent as numeric
from symbolic.topics.looped.gradient_descent import GRADIENT_DESCENT as STATEMENT

PROMPTS = 8
ROUNDING = 2.0**-40  # relative, of two orders of the same sums
LARGEST = 2.0**1000  # of any number before a ReLU, in float64: knobs far off let the states grow


def _setting(
    N: int, d: int, m: int, eta: float, c: float, C: float, tau: float, B_x: float, B_y: float, second: str
) -> numeric.DescentSetting:
    return numeric.DescentSetting(N, d, m, eta, c, C, tau, B_x, B_y, second)


def distance(
    N: int, d: int, m: int, eta: float, c: float, C: float, tau: float, B_x: float, B_y: float, second: str, T: int,
    seed: int,
) -> Sides:  # fmt: skip
    """Of the two outputs, at a few random prompts, in float64."""
    network = numeric.transformer(_setting(N, d, m, eta, c, C, tau, B_x, B_y, second), T)
    generator = torch.Generator().manual_seed(seed)
    x = Rows(N + 1, Ball(d, radius=B_x)).sample(PROMPTS, generator)
    y = Rows(N, Box(m, size=B_y)).sample(PROMPTS, generator)
    prompts = torch.stack([numeric.tokens(*each) for each in zip(x, y, strict=True)])
    own, other = (SharedNetwork(each).run(prompts, ["output"])["output"] for each in (network, fused(network, LARGEST)))
    largest = float((own - other).abs().max())
    return Sides(within(largest, ROUNDING * float(own.abs().max())), measured=largest, proved=("printed",))


def _counted(part: str) -> Check:
    def sides(
        N: int, d: int, m: int, eta: float, c: float, C: float, tau: float, B_x: float, B_y: float, second: str, T: int
    ) -> Sides:
        network = fused(numeric.transformer(_setting(N, d, m, eta, c, C, tau, B_x, B_y, second), T))
        return Sides(getattr(network.sizes["loop"], part), rounding=0.0, proved=("printed",))

    return Check(STATEMENT.quantity(f"one_layer.{part}"), sides)


CHECKS = (Check(STATEMENT.quantity("one_layer"), distance), _counted("layers"), _counted("heads"))
