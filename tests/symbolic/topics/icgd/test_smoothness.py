"""L_f: never exceeded by the gradients of random networks, and attained."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from symbolic.topics.icgd.smoothness import layer_norms, run_smoothness

Weights = list[np.ndarray]


def gradient(weights: Weights, x: np.ndarray, y: np.ndarray, r: Callable, slope: Callable) -> np.ndarray:
    """Of (1/2n) sum_i ||p_i(N) - y_i||^2, by back-propagation. x: (n, d_x), y: (n, d_y)."""
    values, slopes = [x], []
    for V in weights:
        z = values[-1] @ V.T
        values.append(r(z))
        slopes.append(slope(z))
    s = 2 * (values[-1] - y) * slopes[-1]
    blocks = []
    for k in reversed(range(len(weights))):
        blocks.insert(0, (s.T @ values[k]) / (2 * len(x)))
        if k:
            s = (s @ weights[k]) * slopes[k - 1]
    return np.concatenate([block.ravel() for block in blocks])


def risk(weights: Weights, x: np.ndarray, y: np.ndarray, r: Callable) -> float:
    p = x
    for V in weights:
        p = r(p @ V.T)
    return float(np.sum((p - y) ** 2) / (2 * len(x)))


def flat(weights: Weights) -> np.ndarray:
    return np.concatenate([V.ravel() for V in weights])


def draw(rng: np.random.Generator, shapes: Sequence[tuple[int, int]], row: float, corner: bool) -> Weights:
    """Rows of norm `row` at most; at a corner of the box, all entries of one absolute value and mostly one sign."""
    weights = []
    for shape in shapes:
        V = np.where(rng.random(shape) < 0.9, 1.0, -1.0) if corner else rng.uniform(-1, 1, shape)
        weights.append(V * row / math.sqrt(shape[1]))
    return weights


ACTIVATIONS = {  # r, r', sup |r|, sup |r'|, sup |r''|
    "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2, 1.0, 1.0, 4 / (3 * math.sqrt(3))),
    "sin": (np.sin, np.cos, 1.0, 1.0, 1.0),
}


def test_the_gradient_of_these_tests_is_the_gradient() -> None:
    rng = np.random.default_rng(2)
    weights = draw(rng, [(3, 2), (3, 3), (1, 3)], 1.5, corner=False)
    x, y = rng.normal(size=(4, 2)), rng.normal(size=(4, 1))
    direction = draw(rng, [(3, 2), (3, 3), (1, 3)], 1.0, corner=False)
    h = 1e-5
    ends = [[V + sign * h * D for V, D in zip(weights, direction, strict=True)] for sign in (1, -1)]
    slope = (risk(ends[0], x, y, np.sin) - risk(ends[1], x, y, np.sin)) / (2 * h)
    assert slope == pytest.approx(float(gradient(weights, x, y, np.sin, np.cos) @ flat(direction)), rel=1e-7)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_no_pair_of_points_beats_the_worst_case(name: str, depth: int) -> None:
    r, slope, size, first, second = ACTIVATIONS[name]
    rng = np.random.default_rng(depth)
    width, inputs, outputs, row, x_size, y_size = 3, 2, 2, 0.9, 1.2, 0.5
    rows = [width] * (depth - 1) + [outputs]
    shapes = list(zip(rows, [inputs, *rows[:-1]], strict=True))
    loss = 2 * (size + y_size)
    sizes = [x_size] + [math.sqrt(width) * size] * (depth - 1)  # of the layers' inputs
    layers = [layer_norms(math.sqrt(m) * row, row, p, first, second) for m, p in zip(rows, sizes, strict=True)]
    bound = run_smoothness(layers, math.sqrt(outputs) * loss, 2.0, sqrt=math.sqrt)
    largest = 0.0
    for trial in range(300):
        x, y = rng.normal(size=(2, inputs)), rng.normal(size=(2, outputs))
        x *= x_size / np.linalg.norm(x, axis=1, keepdims=True)
        y *= y_size / np.linalg.norm(y, axis=1, keepdims=True)
        here = draw(rng, shapes, row, corner=trial % 2 == 0)
        scale = rng.choice([1e-4, 0.3, 1.0])
        there = [np.clip(V + scale * rng.normal(size=V.shape), -np.abs(V).max(), np.abs(V).max()) for V in here]
        moved = float(np.linalg.norm(flat(there) - flat(here)))
        if moved == 0.0:  # clipped back to the same corner
            continue
        change = gradient(there, x, y, r, slope) - gradient(here, x, y, r, slope)
        largest = max(largest, float(np.linalg.norm(change) / moved))
    assert 0 < largest <= bound


def test_one_linear_layer_attains_it_and_the_mutant_fails() -> None:
    """(v x - y)^2/2 has the second derivative x^2; r(t) = t."""
    bound = run_smoothness([layer_norms(9.0, 9.0, 1.5, 1.0, 0.0)], 7.0, 2.0, sqrt=math.sqrt)
    x, y = np.array([[1.5]]), np.array([[0.3]])
    ends = [gradient([np.array([[v]])], x, y, lambda z: z, np.ones_like)[0] for v in (0.5, 0.7)]
    assert (ends[1] - ends[0]) / 0.2 == pytest.approx(bound, rel=1e-12)
    assert (ends[1] - ends[0]) / 0.2 > 0.999 * bound


def test_two_linear_layers_come_within_the_square_root_of_two() -> None:
    """(v2 v1 x - y)^2/2 at v1 = v2 = 1, y < 0, along (1, 1): 3 x^2 + x |y|; the bound has sqrt(2) times its parts."""
    x, y = 1.5, -0.3
    layers = [layer_norms(1.0, 1.0, x, 1.0, 0.0), layer_norms(1.0, 1.0, x, 1.0, 0.0)]
    bound = run_smoothness(layers, 2 * (x - y), 2.0, sqrt=math.sqrt)
    h = 1e-6
    ends = [
        gradient([np.array([[v]])] * 2, np.array([[x]]), np.array([[y]]), lambda z: z, np.ones_like)
        for v in (1.0, 1.0 - h)
    ]
    attained = float(np.linalg.norm(ends[0] - ends[1]) / (h * math.sqrt(2)))
    assert attained == pytest.approx(3 * x**2 - x * y, rel=1e-5)
    assert attained <= bound <= math.sqrt(2) * attained
