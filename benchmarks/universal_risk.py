"""The risk of the transformer of Li et al. 2025 for one bump in d = 2 with noise 0.1: bounds at prompts, and slopes.

`python -m benchmarks.universal_risk`: some minutes. The exit code is 1 if the bound at the prompt (n = 256, 200 blocks)
exceeds the trivial one at N = 1024, 0.4 of it at N = 4096 or 0.2 of it at N = 16384. Slopes are those of the log of the
measured risk, by least squares for each of 20 prompts, with the 95 % interval of their mean; beside them that of the
theorem's own term alone.
"""

import math
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy.stats import t as student

from bridge.topics.universal.members import known_family
from bridge.topics.universal.prompts import Prompt, at_prompt, learner, points, prompt, rivals
from bridge.topics.universal.risk import STATEMENT, resolve
from numeric.topics.universal.features import draw_features
from numeric.topics.universal.risk import with_idle

n, BLOCKS, SIGMA, DELTA = 256, 200, 0.1, 0.05
POINTS = 2048  # of the law of x
SHARES = {1024: 1.0, 4096: 0.4, 16384: 0.2}  # of E f^2
PROMPTS = 20
SLOPES = {"N": (64, 128, 256, 512, 1024), "n": (16, 32, 64, 128), "blocks": (12, 25, 50, 100, 200)}
AT = {"N": 1024, "n": 64, "blocks": 100}  # of the others


def main() -> int:
    torch.set_num_threads(1)
    start = time.perf_counter()
    wrong = bounds()
    print("slopes of the risk over 20 prompts, with 95 % intervals")
    for name, sizes in SLOPES.items():
        own = [slope(sizes, [risk(name, size, seed) for size in sizes]) for seed in range(PROMPTS)]
        low, middle, high = interval(own)
        stated = theorem(name, sizes)
        print(f"  {name:6}: {middle:6.3f} ({low:.3f} to {high:.3f}); the theorem's: {stated:.3f}", flush=True)
    print("\n".join(wrong) or f"all as stated, in {time.perf_counter() - start:.0f} s")
    return 1 if wrong else 0


def bounds() -> list[str]:
    """Prints the bounds at prompts beside the trivial one; what exceeds its share of it."""
    family, wrong = known_family("bumps", 2, 1, 1.0, 4.0), []
    features = draw_features(family, n - 1, 0)
    trivial = float((family.members[0].value(points(2, POINTS)) ** 2).mean())
    print(f"one bump, d = 2, sigma = {SIGMA}, n = {n}, {BLOCKS} blocks; E f^2 = {trivial:.4f}")
    for N, share in SHARES.items():
        found = drawn(features, N, BLOCKS, 1)
        y_hat, rho = found.learner.predictions(found.x, found.y[None], found.x_law[:1])
        bound = at_prompt(found, rivals(found, family, features, 0), DELTA)
        print(f"  N = {N:5}: risk {found.risk_of(found.phi_law @ rho[0, 0]):.4f}, bound at the prompt {bound:.4f}, "
              f"{bound / trivial:.3f} of the trivial one; |y_hat - phi^T rho| = "
              f"{float((y_hat[0, 0] - found.phi_law[0] @ rho[0, 0]).abs()):.1e}", flush=True)  # fmt: skip
        wrong += [f"N = {N}: {bound / trivial:.3f} of the trivial bound"] if bound > share * trivial else []
    return wrong


def drawn(features: torch.Tensor, N: int, blocks: int, seed: int) -> Prompt:
    """A prompt of the bump; lam is twice the noise level of its size."""
    size = len(features) + 1
    given = {"N": N, "n": size, "L": 2 * blocks + 1, "sigma": SIGMA, "delta": DELTA}
    params: dict[str, Any] = {**{p.name: p.default for p in STATEMENT.parameters}, **resolve(given, 0)}
    bump = known_family("bumps", 2, 1, 1.0, 4.0).members[0].value
    return prompt(learner(with_idle(features), params), bump, SIGMA, seed, points(2, POINTS))


def risk(name: str, size: int, seed: int) -> float:
    """That of rho of the last block, in one run of the transformer."""
    at = {**AT, name: size}
    features = draw_features(known_family("bumps", 2, 1, 1.0, 4.0), at["n"] - 1, seed)
    found = drawn(features, at["N"], at["blocks"], seed)
    _, rho = found.learner.predictions(found.x, found.y[None], found.x_law[:1])
    return found.risk_of(found.phi_law @ rho[0, 0])


def theorem(name: str, sizes: Sequence[int]) -> float:
    """The slope of the term of (24) that has this letter in the way that lowers it."""
    terms = {"N": lambda N: math.sqrt(math.log(N) / N), "n": lambda n: 1 / n, "blocks": lambda T: 1 / (2 * T + 1)}
    return slope(sizes, [terms[name](size) for size in sizes])


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def interval(found: Sequence[float]) -> tuple[float, float, float]:
    middle = float(np.mean(found))
    half = float(student.ppf(0.975, len(found) - 1) * np.std(found, ddof=1) / math.sqrt(len(found)))
    return middle - half, middle, middle + half


if __name__ == "__main__":
    sys.exit(main())
