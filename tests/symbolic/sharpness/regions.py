"""Parameters at which no case is known that attains a bound: how many times larger it is than the largest error found.

The proofs above the rules state these ratios.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Approximated,
    Event,
    Norm,
    ProximalSteps,
    QuadraticRecursion,
    accumulate,
    change_norm,
    expected_mean,
    given,
    heads_as_linear,
    heads_as_matrix,
    sample_mean,
    softmax,
    softmax_as_linear,
    taylor,
)
from symbolic.calculus.samples import massart, uniform_deviation
from tests.symbolic.fuzzing.softmax_moves import linear_weights as linear_of
from tests.symbolic.fuzzing.softmax_moves import scaled_weights
from tests.symbolic.fuzzing.vectors import lengths, softmax_weights
from tests.symbolic.sharpness.draws import farthest
from tests.symbolic.sharpness.search import largest


@dataclass(frozen=True)
class Region:
    """`ratio` is what the proof of the rule states, in `source`; `found` gives bound over largest error found."""

    rule: str
    where: str
    ratio: str
    source: str
    found: Callable[[], float]

    def __str__(self) -> str:
        return f"{self.rule:20} {self.ratio:>8} {self.found():>8.3f}  {self.where}"


def bound(value: Approximated) -> float:
    return float(value.error)


def affine_softmax() -> float:
    """Three keys, of any scores, that move by at most 2."""

    def moved(points: np.ndarray) -> np.ndarray:
        scores, moves = points[:, :3], points[:, 3:]
        return lengths(softmax_weights(scores + moves) - softmax_weights(scores), Norm.ONE)

    most = largest(moved, np.array([-4.0] * 3 + [-2.0] * 3), np.array([4.0] * 3 + [2.0] * 3))
    return bound(softmax(given("t", dim=3, size=4, error=2), "q", affine=True)) / most


def linear_weights(r: float, e: float) -> float:
    """Any number of keys: shares p at r and q at -r err upwards by e, the rest at -r downwards."""

    def moved(points: np.ndarray) -> np.ndarray:
        p, q = points[:, 0], points[:, 1] * (1 - points[:, 0])
        up, down = (p * np.exp(r + e) + q * np.exp(e - r)), (1 - p - q) * np.exp(-r - e)
        return 2 * abs(up / (up + down) - p - q - 2 * r * p * (1 - p - q))

    result = softmax_as_linear(given("s", dim=9, size=r, error=e), "q")
    return bound(result) / largest(moved, np.zeros(2), np.ones(2))


def in_the_two_norm_of_weights(r: float) -> float:
    """Four exact scores of at most r; of two to six keys these come closest."""

    def moved(scores: np.ndarray) -> np.ndarray:
        return lengths(softmax_weights(scores) - linear_of(scores), Norm.TWO)

    result = change_norm(softmax_as_linear(given("s", dim=4, size=r), "q"), Norm.TWO, "restated")
    return bound(result) / largest(moved, np.full(4, -r), np.full(4, r))


def one_key_beside_a_sink(second: str, r: float, leak: float) -> float:
    """One key of a score of at most r, beside a sink of score log(1/leak)."""
    sink = math.log(1 / leak)

    def missed(points: np.ndarray) -> np.ndarray:
        return abs(scaled_weights(points, sink, second) - points - (second == "none"))[:, 0]

    result = heads_as_linear(given("s", dim=1, size=r), "w", sink=sink, second=second)
    return bound(result) / largest(missed, np.array([-r]), np.array([r]))


def in_the_two_norm(second: str, r: float) -> float:
    """Three exact scores of at most r, beside a sink that leaves nothing to them."""

    def missed(points: np.ndarray) -> np.ndarray:
        return lengths(scaled_weights(points, 60.0, second) - points, Norm.TWO)

    scores = given("s", dim=3, norm=Norm.TWO, size=math.sqrt(3) * r)
    result = heads_as_matrix(scores, "w", sink=60.0, reach=r, keys=3, second=second)
    return bound(result) / largest(missed, np.full(3, -r), np.full(3, r))


def last_step_alone() -> float:
    """Four steps, of which the last one adds all of the error, at 1 + a E = 2^(1/4)."""
    index = sp.Symbol("l", integer=True, nonnegative=True)
    steps, last = 4, 0.5
    quadratic = (2 ** (1 / steps) - 1) / (2 * last) * (1 - 1e-12)
    offset = sp.Piecewise((last, sp.Eq(index, steps - 1)), (0, True))
    start = given("x", dim=1, size=1)
    result = accumulate(start, "y", factor=1, offset=offset, quadratic=quadratic, index=index, depth=steps, size=1)
    return float(result.error.doit()) / last


def squarings(steps: int) -> float:
    """From 2 a e_0 just below 1, without an offset worth the name."""
    recursion = QuadraticRecursion(sp.Float(0.45), sp.Float(1), sp.Float(1e-12))
    return float(recursion.after(steps)) / recursion.run([(1.0, 1e-12)] * steps, 0.45)[-1]


def at_the_floor() -> float:
    recursion = QuadraticRecursion(sp.Float(0.45), sp.Float(1), sp.Float(1e-6))
    return float(recursion.after(8)) / recursion.run([(1.0, 1e-6)] * 8, 0.45)[-1]


def draws_alike(count: int) -> float:
    """Draws of +-1 that are all alike with the probability 2^(1 - count) of the share."""
    share = sp.Rational(2) ** (1 - count)
    result = sample_mean(given("x", dim=1, size=1), "m", count=count, event=Event("E", "draws", share))
    return bound(result)


def sub_gaussian_draw() -> float:
    """One draw, 0 or +-t, at the worst share of at most 1/2."""

    def ratios(points: np.ndarray) -> np.ndarray:
        return np.array([math.sqrt(2 * math.log(2 / p)) / farthest(p) for p in points[:, 0]])

    return float(ratios(np.linspace(0.01, 0.5, 50)[:, None]).max())


def several_members() -> float:
    """One of m members deviates, drawn at random, at the worst m."""
    x = given("x", dim=1, size=1)
    of = (expected_mean(x, "m", count=1, over="draws", members=m, sub_gaussian=1) for m in range(2, 30))
    return max(bound(result) / farthest(1 / m) for m, result in enumerate(of, start=2))


def sign_patterns(points: int) -> float:
    """All functions of values +-1 at so many points: the mean of the supremum is 1."""
    return float(massart(points * sp.log(2), 1, points))


def one_loss(samples: int) -> float:
    """1 with probability q, and 0 in all samples, at the best q: its risk exceeds the empirical one by q."""
    failure = sp.Symbol("failure", positive=True)
    known = sp.lambdify(failure, uniform_deviation(0, samples=samples, failure=failure), "numpy")

    def ratios(points: np.ndarray) -> np.ndarray:
        return points[:, 0] / known((1 - points[:, 0]) ** samples)

    return 1 / largest(ratios, np.array([0.1]), np.array([0.99]))


def exact_proximal_steps(steps: int) -> float:
    """F = curvature/2 w^2 + slope |w| from 1, against the minimiser 0; steps of 1, smoothness at most 1."""

    def gaps(points: np.ndarray) -> np.ndarray:
        curvature, slope = points.T
        w = np.ones_like(slope)
        for _ in range(steps):
            w = np.maximum(w * (1 - curvature) - slope, 0)
        return curvature * w**2 / 2 + slope * w

    closed = float(ProximalSteps(sp.Integer(1)).closed(1, 0, 0, 0, steps))
    return closed / largest(gaps, np.zeros(2), np.ones(2))


def taylor_of_many(dim: int) -> float:
    """eps + d^2 in each coordinate, in the 2-norm: a share of the coordinates takes all of d."""
    eps, e = 1 / math.sqrt(dim), 1.0
    x = given("x", dim=dim, norm=Norm.TWO, size=1, error=e)
    result = taylor(x, "y", size=1, suprema={2: 2}, derivatives={1: 0}, eps=eps)

    def moved(points: np.ndarray) -> np.ndarray:
        count = 1 + np.floor(points[:, 0] * (dim - 1))
        return np.sqrt(count * (eps + e**2 / count) ** 2 + (dim - count) * eps**2)

    return bound(result) / largest(moved, np.zeros(1), np.ones(1))


REGIONS = (
    Region("softmax", "affine, an error of 2 in the sup norm", "1.31", "softmax", affine_softmax),
    Region(
        "softmax_as_linear",
        "half range r -> 0, e = 0.355 r^2",
        "1.14",
        "linear_softmax",
        partial(linear_weights, 1e-3, 0.355e-6),
    ),
    Region(
        "softmax_as_linear", "half range 1, exact scores", "1.10", "linear_softmax", partial(linear_weights, 1.0, 0.0)
    ),
    Region(
        "softmax_as_linear",
        "half range r -> 0, exact scores, then change_norm to the 2-norm",
        "1.26",
        "linear_softmax",
        partial(in_the_two_norm_of_weights, 1e-3),
    ),
    Region(
        "heads_as_linear",
        "r = 1, n e^(-C) = 1/1000",
        "1.11",
        "heads",
        partial(one_key_beside_a_sink, "constant", 1.0, 1e-3),
    ),
    Region(
        "heads_as_linear",
        "r = 1, n e^(-C) = 1/12",
        "3.9",
        "heads",
        partial(one_key_beside_a_sink, "opposite", 1.0, 1 / 12),
    ),
    Region(
        "heads_as_linear",
        "r = 2, n e^(-C) = 1/3",
        "13",
        "heads",
        partial(one_key_beside_a_sink, "constant", 2.0, 1 / 3),
    ),
    Region(
        "heads_as_matrix",
        "exact scores, r = 1, C -> oo",
        "1.10",
        "head_matrices",
        partial(in_the_two_norm, "constant", 1.0),
    ),
    Region("accumulate", "quadratic > 0, no ceiling", "2", "accumulation", last_step_alone),
    Region("converge", "3 steps, an offset that tends to 0", "128", "iterations", partial(squarings, 3)),
    Region("converge", "finite depth, at the floor", "2", "iterations", at_the_floor),
    Region("sample_mean", "one sub-Gaussian draw, shares up to 1/2", "1.18", "concentration", sub_gaussian_draw),
    Region(
        "sample_mean", "n draws in an interval, share 2^(1-n), n = 8", "1.18", "concentration", partial(draws_alike, 8)
    ),
    Region("expected_mean", "sub-Gaussian draws, members > 1", "1.03", "concentration", several_members),
    Region("massart", "all sign patterns of 5 points", "1.18", "samples", partial(sign_patterns, 5)),
    Region("uniform_deviation", "one loss, 0 in all of 4 samples", "1.11", "samples", partial(one_loss, 4)),
    Region("proximal_gradient", "exact steps, 5 of them", "2", "proximal", partial(exact_proximal_steps, 5)),
    Region("taylor", "2-norm, 100 coordinates, eps > 0", "1.35", "taylor", partial(taylor_of_many, 100)),
)
