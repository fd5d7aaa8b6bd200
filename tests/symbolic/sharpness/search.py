"""The largest value of a function on a box, by a seeded search: random points, then smaller and smaller steps."""

from collections.abc import Callable

import numpy as np

DRAWS, ROUNDS, TRIES = 2000, 60, 40


def largest(function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray, seed: int = 0) -> float:
    """Of a function from points (n, d) to values (n,). The corners of the box are among the points."""
    rng, low, high = np.random.default_rng(seed), np.asarray(low, float), np.asarray(high, float)
    corners = rng.integers(0, 2, (DRAWS // 4, low.size))
    start = np.concatenate([rng.uniform(0, 1, (DRAWS, low.size)), corners])
    points = low + start * (high - low)
    values = function(points)
    best, point = float(values.max()), points[values.argmax()]
    for place in range(ROUNDS):
        steps = rng.normal(size=(TRIES, low.size)) * (high - low) * 0.5 * 0.8**place
        tried = np.clip(point + steps, low, high)
        values = function(tried)
        if values.max() > best:
            best, point = float(values.max()), tried[values.argmax()]
    return best
