"""Each reference against another way to the same number, and each checking helper against a wrong one."""

import itertools
import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch

from numeric.topics.induction.losses import (
    Estimate,
    Sampling,
    WeightedHead,
    expected_product,
    gaussian_moment,
    gram_by_weights,
    halved,
    head_exponential,
    head_softmax,
    linear_loss,
    pair_counts,
    pair_signature,
    squares_by_softmax,
    tilted_moment,
)
from numeric.topics.induction.training import TrainingTask, TwoLayer, population_gram

TARGET = WeightedHead(0.24, 0.5)
TRAINED = WeightedHead(0.1, 0.4)


def head_beyond_linear(target: WeightedHead, trained: WeightedHead, length: int, sampling: Sampling) -> Estimate:
    """The true softmax's loss minus the linearised one."""
    linear, true = linear_loss(target, trained, length), head_softmax(target, trained, length, sampling)
    return Estimate(true.value - linear.value, true.error + linear.error)


def head_by_sampling(network: TwoLayer, target: Callable[[torch.Tensor], torch.Tensor], sampling: Sampling) -> Estimate:
    """L_IH2 of the network by plain sampling of whole contexts: slower to converge, and nothing assumed."""
    generator = torch.Generator().manual_seed(sampling.seed)
    x = torch.randn(sampling.contexts, network.length, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        losses = (network(x)[:, 1] - target(x)[:, 1]) ** 2 / 2
    return Estimate(float(losses.mean()), float(losses.std() / math.sqrt(len(losses))))


def orders(differences: Mapping[int, float]) -> dict[int, float]:
    """The order in 1/n of a difference, from each size n to the next: log of their ratio over log of the sizes'."""
    sizes = sorted(differences)
    return {
        large: math.log(abs(differences[small] / differences[large])) / math.log(large / small)
        for small, large in itertools.pairwise(sizes)
    }


def gauss_grid(dimension: int, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The product Gauss-Hermite rule: points (n^d, d) and weights (n^d)."""
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    points = np.array(list(itertools.product(x, repeat=dimension)))
    weights = np.prod(list(itertools.product(weight / weight.sum(), repeat=dimension)), axis=1)
    return points, weights


@pytest.mark.parametrize("uppers", [("L-1", "L-1"), ("L-1", "L-2"), ("L-2", "L-2")])
def test_the_expected_product_is_that_of_a_grid_over_all_tokens(uppers: tuple[str, str]) -> None:
    """L = 5 tokens at once, no pair looked at: x_4 occurs linearly, so that a few nodes do for it."""
    x, weights = gauss_grid(4, 9)
    c, outer = np.polynomial.hermite_e.hermegauss(40)
    one, two = WeightedHead(0.24, 1.0, uppers[0]), WeightedHead(0.1, 1.0, uppers[1])
    total = 0.0
    for query, weight in zip(c, outer / outer.sum(), strict=True):
        sums = [
            sum(np.exp(head.slope * query * x[:, s - 2]) * x[:, s - 1] for s in range(2, head.last_key(5) + 1))
            for head in (one, two)
        ]
        total += float(weight * (weights * sums[0] * sums[1]).sum())
    found = expected_product((one, two), 5)
    assert math.isclose(found.value, total, rel_tol=1e-6)
    assert found.error < 1e-10 * found.value


def test_pairs_are_counted_as_they_are_written_down() -> None:
    for first, second in ((7, 7), (7, 6), (6, 7)):
        counted: dict = {}
        for s, other in itertools.product(range(2, first + 1), range(2, second + 1)):
            signature = pair_signature(s, other, 0.3, 0.2)
            counted[signature] = counted.get(signature, 0) + 1
        assert dict(pair_counts(first, second, 0.3, 0.2)) == counted


def test_signatures_know_equal_neighbouring_and_separate_pairs() -> None:
    assert pair_signature(3, 3, 0.5, 0.25) == ((0.0, 2), (0.75, 0))
    assert pair_signature(3, 4, 0.5, 0.25) == ((0.0, 1), (0.25, 1), (0.5, 0))
    assert pair_signature(4, 3, 0.5, 0.25) == ((0.0, 1), (0.25, 0), (0.5, 1))
    assert pair_signature(3, 7, 0.5, 0.25) == ((0.0, 1), (0.0, 1), (0.25, 0), (0.5, 0))


@pytest.mark.parametrize("power", [0, 1, 2, 3])
def test_tilted_moments_are_those_of_a_shifted_normal(power: int) -> None:
    k = np.array([-30.0, -1.5, 0.0, 0.2, 4.0])
    scale, rest = tilted_moment(k, power)
    shifted = {0: np.ones_like(k), 1: k, 2: k**2 + 1, 3: k**3 + 3 * k}[power]  # E[(X + k)^r]
    np.testing.assert_allclose(rest * np.exp(scale - k**2 / 2), shifted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("a", [-0.9, -0.3, 0.0, 0.5, 0.99])
def test_the_gaussian_moment_is_that_of_a_two_dimensional_sum(a: float) -> None:
    """E e^(aXY) as the average over a grid rotated by 45 degrees, where it is a product of two one-dimensional ones."""
    # XY = (U^2 - V^2) / 2 with U, V independent standard normals.
    reach = 12 / math.sqrt(1 - abs(a))
    u = np.linspace(-reach, reach, 20_001)
    one, two = (np.exp(sign * a * u**2 / 2 - u**2 / 2).sum() * (u[1] - u[0]) for sign in (1, -1))
    assert math.isclose(gaussian_moment(a).value, one * two / (2 * math.pi), rel_tol=1e-10)


def test_the_gaussian_moment_is_infinite_from_absolute_value_1_on_either_side() -> None:
    for a in (-1.0, 1.0, -2.0):
        with pytest.raises(ValueError, match="infinite"):
            gaussian_moment(a)
    grown = [gaussian_moment(-1.0, reach).value for reach in (4.0, 8.0, 16.0)]
    np.testing.assert_allclose(np.diff(grown), np.array([8.0, 16.0]) / math.sqrt(2 * math.pi), rtol=1e-9)


def test_infinite_losses_are_refused_and_a_rule_that_never_settles_ends() -> None:
    with pytest.raises(ValueError, match="infinite expectation"):
        head_exponential(WeightedHead(0.5, 0.5), TRAINED, 8)
    for slope in (0.75, -0.75):
        with pytest.raises(ValueError, match="infinite for slopes"):
            linear_loss(WeightedHead(slope, 0.5), TRAINED, 8)
    assert halved(float, 64) == Estimate(2.0**15, 2.0**14 + 1e-13 * 2.0**15)


@pytest.mark.parametrize("length", [5, 12])
@pytest.mark.parametrize("upper", ["L-1", "L-2"])
def test_the_gram_loss_by_weights_is_that_of_the_network(length: int, upper: str) -> None:
    theta = {"p_first": math.inf, "p": 0.6, "g": 0.7, "w_Q": 0.0, "w_K": 0.0, "h": 0.0}
    network, task = TwoLayer(length, theta, upper=upper), TrainingTask(length, 2.0, 0.5)
    weights = np.exp(-0.6 * (length - 1 - np.arange(2, length - int(upper[-1]) + 1)))
    weights /= weights.sum()
    seen = 0.7 * weights[-1] if upper == "L-1" else 0.0
    expected = ((0.7 * weights) ** 2).sum() - seen**2 + (seen - task.g_star) ** 2
    assert math.isclose(gram_by_weights(network, task.g_star), expected / 2, rel_tol=1e-13)
    assert math.isclose(float(population_gram(network, task).detach()), expected / 2, rel_tol=1e-13)
    assert math.isclose(squares_by_softmax(length, 0.6, upper), (weights**2).sum(), rel_tol=1e-13)


def test_both_ways_to_the_true_softmax_agree_and_conditioning_is_far_sharper() -> None:
    task = TrainingTask(10, 1.0, 0.7)
    theta = {"p_first": math.inf, "p": 1.0, "g": 0.3, "w_Q": 0.4, "w_K": 0.4, "h": 0.4}
    sampling = Sampling(contexts=40_000)
    plain = head_by_sampling(TwoLayer(10, theta), task.target, sampling)
    sharp = head_softmax(WeightedHead(0.49, 0.5), WeightedHead(0.16, 0.4), 10, sampling)
    assert abs(plain.value - sharp.value) < 5 * math.hypot(plain.error, sharp.error)
    assert sharp.error < plain.error / 2


def test_the_true_softmax_departs_from_its_linear_form_to_second_order() -> None:
    found = {n: head_beyond_linear(TARGET, TRAINED, n + 2, Sampling(contexts=20_000)) for n in (8, 16, 32)}
    assert all(abs(each.value) > 5 * each.error for each in found.values())
    assert all(1.6 < order < 2.4 for order in orders({n: each.value for n, each in found.items()}).values())


def test_nodes_of_the_query_are_enough() -> None:
    few, many = (head_beyond_linear(TARGET, TRAINED, 10, Sampling(contexts=2000, nodes=nodes)) for nodes in (24, 48))
    assert abs(few.value - many.value) < 0.05 * few.error


def test_orders_are_those_of_powers() -> None:
    assert orders({8: 3 / 8, 16: 3 / 16, 64: 3 / 64}) == {16: 1.0, 64: 1.0}
    assert orders({10: 1.0, 100: 1e-4}) == pytest.approx({100: 4.0})


def test_equal_heads_have_no_loss_and_unequal_ones_have() -> None:
    assert abs(head_exponential(TARGET, TARGET, 12).value) < 1e-15
    assert abs(linear_loss(TARGET, TARGET, 12).value) < 1e-15
    assert head_softmax(TARGET, TARGET, 12, Sampling(contexts=200)).value < 1e-15
    early = WeightedHead(0.24, 0.5, "L-2")
    assert head_exponential(TARGET, early, 12).value > 1e-4


def test_sampling_is_seeded() -> None:
    first, again, other = (
        head_beyond_linear(TARGET, TRAINED, 8, Sampling(contexts=500, seed=seed)).value for seed in (0, 0, 1)
    )
    assert first == again != other
    assert torch.initial_seed() == 0  # the global generator is left alone
