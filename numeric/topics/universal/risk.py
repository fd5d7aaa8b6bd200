"""Predictions in context (li2025, Theorem 1): the transformer at many queries, and functions that it does not know.

Shapes: N examples, Q queries, n features, m = n + 1 coordinates, K functions, d coordinates of x.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.universal import transformer
from numeric.topics.universal.transformer import LassoSetting, ramp_features, require_prompt

IDLE = 2.0  # t of a feature that is 0 on the ball
WIDTH, DEPTH, GAIN = 24, 4, 2.0  # of random deep networks


def with_idle(features: Tensor) -> Tensor:
    """The features (n - 1, 3 + d) and one that is 0 on the ball, (n, 3 + d)."""
    idle = torch.zeros_like(features[:1])
    idle[0, 0], idle[0, 3] = IDLE, 1.0
    return torch.cat([features, idle])


@dataclass(frozen=True)
class Learner:
    """One network: its weights, and L = 2T + 1 layers."""

    at: LassoSetting
    L: int

    @classmethod
    def of(
        cls, features: Tensor, N: int, L: int, tau: float, lam: float, temperatures: tuple[float, float]
    ) -> "Learner":
        """With features (n, 3 + d) and the printed step 1/(2n)."""
        eta = 1 / (2 * len(features))
        return cls(LassoSetting(features[:, 3:], features[:, 0], tau, lam, eta, *temperatures, N), L)

    def features(self, x: Tensor) -> Tensor:
        """phi, (P, m), of x (P, d)."""
        found: Tensor = ramp_features(x, self.at.directions, self.at.t, self.at.tau_ff)
        return found

    def predictions(self, x: Tensor, y: Tensor, queries: Tensor) -> tuple[Tensor, Tensor]:
        """y_hat (K, Q) and the rho from which it is read (K, Q, m), for examples x (N, d), y (K, N).

        Raises StreamError for an empty prompt, an x outside the unit ball, and features of another dimension.
        """
        for query in queries:
            require_prompt(torch.cat([x, query[None]]), y[0], self.at.directions)
        (K, N), Q = y.shape, len(queries)
        prompts = torch.cat([x.expand(K * Q, N, -1), queries.repeat(K, 1)[:, None]], 1)  # (K Q, N + 1, d)
        tokens = torch.func.vmap(transformer.tokens)(prompts, y.repeat_interleave(Q, 0))
        with torch.no_grad():
            found = SharedNetwork(transformer.transformer(self.at, self.L)).run(tokens, ("rho", "y_hat"))
        return found["y_hat"][:, -1, 0].reshape(K, Q), found["rho"][:, -1].reshape(K, Q, -1)

    def iterates(self, x: Tensor, y: Tensor) -> Tensor:
        """rho_1, ..., rho_T of exact steps, (T, m), for examples x (N, d), y (N)."""
        phi, eta = self.features(x), self.at.eta
        rho, found = torch.zeros_like(phi[0]), []
        for _ in range(transformer.blocks_of(self.L)):
            rho = transformer.soft_threshold(transformer.gradient_step(rho, phi, y, eta), eta * self.at.lam)
            found.append(rho)
        return torch.stack(found)


def deep_network(d: int, seed: int) -> Callable[[Any], Any]:
    """A function of points (P, d): a random network of tanh neurons, at most 1."""
    generator = torch.Generator().manual_seed(seed)
    sizes = [d, *[WIDTH] * DEPTH, 1]
    layers = [
        GAIN * torch.randn(source, target, generator=generator, dtype=torch.float64, device="cpu") / source**0.5
        for source, target in itertools.pairwise(sizes)
    ]

    def value(x: Tensor) -> Tensor:
        for weight in layers:
            x = torch.tanh(x @ weight)
        return x[..., 0]

    return value
