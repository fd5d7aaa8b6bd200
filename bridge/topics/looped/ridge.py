"""Ridge regression (algoformer, section 3.1) by the transformer of Theorem 3.1, on a prompt of d more examples."""

import math
from typing import Any

import torch

from bridge.domains import Ball, Box, Rows
from bridge.limits.run import Format
from bridge.theorems.check import Check, Sides, within
from bridge.topics.looped.gradient_descent_knobs import knobs
from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.looped import gradient_descent as numeric
from symbolic.topics.looped.gradient_descent import GRADIENT_DESCENT as STATEMENT

STEP_TOO_LARGE = "`eta < 2/(high + lamda)`: beyond it gradient descent on the penalised loss diverges"


def letters_of(numbers: dict[str, Any], lamda: float) -> dict[str, Any]:
    """What the parameters of the theorem are for the longer prompt; c and C are chosen anew."""
    N, d = numbers["N"], numbers["d"]
    return {
        **numbers, "N": N + d, "eta": numbers["eta"] * (N + d) / N, "high": N * (numbers["high"] + lamda) / (N + d),
        "B_x": max(numbers["B_x"], math.sqrt(N * lamda)), "L": 0,
    }  # fmt: skip


def within_domain(phi: torch.Tensor, high: float) -> torch.Tensor:
    """The features (P, N + 1, d), shrunk where an eigenvalue of those of the examples exceeds `high`."""
    largest = torch.linalg.matrix_norm(phi[:, :-1], 2) ** 2 / (phi.shape[1] - 1)
    return phi * (high / largest).clamp(max=1.0).sqrt()[:, None, None]


def ridge_check(bound: Any) -> Check:
    """`bound` gives the derived bound of a quantity at numbers for all letters, for that second head."""

    def sides(
        N: int, d: int, m: int, T: int, eta: float, B_x: float, B_y: float, high: float, bits: int, tau: float,
        second: str, lamda: float, samples: int, seed: int, dtype: str,
    ) -> Sides:  # fmt: skip
        if not eta < 2 / (high + lamda):
            return Sides(outside=STEP_TOO_LARGE)
        given = {"N": N, "d": d, "m": m, "T": T, "eta": eta, "B_x": B_x, "B_y": B_y, "high": high, "bits": bits}
        at = letters_of({**given, "tau": tau}, lamda)
        at |= knobs(second, at, {}, dtype)
        known = {name: at[name] for name in ("N", "d", "m", "eta", "c", "C", "tau")}
        here = numeric.DescentSetting(**known, reach=at["B_x"], labels=B_y, second=second)
        generator = torch.Generator().manual_seed(seed)
        phi = within_domain(Rows(N + 1, Ball(d, radius=B_x)).sample(samples, generator), high)
        y = Rows(N, Box(m, size=B_y)).sample(samples, generator)
        network = SharedNetwork(numeric.transformer(here, T), Format.named(dtype, "cpu").dtype)
        prompts = [numeric.tokens(*numeric.penalised(*each, lamda)) for each in zip(phi, y, strict=True)]
        found = network.run(torch.stack(prompts).to(network.dtype), ["output"])["output"].double()
        exact = torch.stack([numeric.ridge_descended(f[:-1], z, eta, lamda, T) @ f[-1]
                             for f, z in zip(phi, y, strict=True)])  # fmt: skip
        largest = float((found - exact).abs().max())
        return Sides(within(largest, 2.0**-50), measured=largest, derived=bound("prediction", second, at),
                     samples=samples)  # fmt: skip

    return Check(STATEMENT.quantity("ridge"), sides)
