import math

import pytest
import torch

from numeric.networks.norms import infinity_to_one_norm
from numeric.search.attack import attack, attack_groups, box_project

BOX = box_project(-1.0, 1.0)


def starts(*shape: int, seed: int = 0) -> torch.Tensor:
    return 2 * torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 1


def test_linear_function_is_maximised_at_its_vertex():
    weights = torch.randn(30, dtype=torch.float64)
    result = attack(lambda x: x @ weights, starts(4, 30), BOX, steps=15, seed=0)
    assert result.value == pytest.approx(float(weights.abs().sum()), rel=1e-14)
    assert torch.equal(result.witness, weights.sign())


@pytest.mark.parametrize("scale", [1.0, 1e-13, 1e-200])
def test_convex_function_reaches_its_best_vertex_at_any_scale(scale):
    # ||x^T W||_1 over the box: the exact maximum is known by enumeration, and is scale-invariant.
    W = torch.randn(9, 9, dtype=torch.float64) * scale
    result = attack(lambda x: (x @ W).abs().sum(1), starts(32, 9), BOX, steps=100, seed=1)
    sup = infinity_to_one_norm(W.numpy())
    assert 0.999 * sup.lower <= result.value <= sup.upper * (1 + 1e-13)


@pytest.mark.parametrize("scale", [1.0, 1e-13])
def test_sup_norm_of_a_linear_map_reaches_its_largest_row_sum(scale):
    W = torch.randn(12, 7, dtype=torch.float64)
    result = attack(lambda x: (scale * x @ W).abs().amax(1), starts(12, 12), BOX, steps=60, seed=0)
    assert result.value == pytest.approx(scale * float(W.abs().sum(0).max()), rel=1e-12)


def test_an_input_without_entries_is_carried_along():
    points = starts(4, 3), starts(4, 0)
    result = attack(lambda x: x[0].sum(1) - x[1].sum(1), points, lambda x: tuple(map(BOX, x)), steps=9, seed=0)
    assert result.value == 3.0
    assert [tuple(each.shape) for each in result.witness] == [(3,), (0,)]


def test_interior_maximum_with_a_kink_is_approached():
    peak = torch.tensor([0.3, -0.2, 0.7], dtype=torch.float64)
    result = attack(lambda x: -(x - peak).abs().amax(1), starts(8, 3), BOX, steps=400, seed=0)
    assert result.value > -0.02


def test_one_restart_alone_climbs_a_narrow_hill():
    def hill(x: torch.Tensor) -> torch.Tensor:
        return -((x[:, 0] + x[:, 1] - 0.2) ** 2) - 25 * (x[:, 0] - x[:, 1] - 0.1) ** 2

    result = attack(hill, torch.tensor([[-0.9, 0.8]], dtype=torch.float64), BOX, steps=150, seed=0)
    assert result.value > -1e-3


def test_best_of_many_bumps_is_found_from_restarts():
    def bumps(x: torch.Tensor) -> torch.Tensor:
        return (torch.cos(9 * x) - x**2 / 4 + x / 9).sum(1)

    grid = torch.linspace(-1, 1, 200_001, dtype=torch.float64)
    result = attack(bumps, starts(24, 2), BOX, steps=80, seed=0)
    assert result.value == pytest.approx(2 * float(bumps(grid[:, None]).max()), abs=1e-4)


@pytest.mark.parametrize("p", [1.0, 8.0, 20.0])
def test_a_sharp_bound_scaled_by_nine_tenths_is_exceeded(p):
    # sup over [-1, 1] of |softmax average with slope p - the first token| is 2 (1 - 1/Z), Z = sum_k exp(-p k): sharp.
    kernel = torch.exp(-p * torch.arange(20, dtype=torch.float64))
    normalised = kernel / kernel.sum()
    sharp = 2 * float(kernel[1:].sum() / kernel.sum())
    result = attack(lambda x: (x @ normalised - x[:, 0]).abs(), starts(8, 20), BOX, steps=40, seed=0)
    assert 0.9 * sharp < result.value <= sharp * (1 + 1e-6)


def test_structures_are_kept_and_variables_moved_together():
    def bilinear(point: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.einsum("ri,rij,rj->r", point["s"], point["W"], point["t"])

    def project(point: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        boxed = BOX(point)
        norms = boxed["W"].abs().sum((1, 2), keepdim=True).clamp(min=1.0)
        return {**boxed, "W": boxed["W"] / norms}

    first = {"s": starts(6, 3), "W": starts(6, 3, 3, seed=1), "t": starts(6, 3, seed=2)}
    result = attack(bilinear, first, project, steps=80, seed=0)
    assert result.witness.keys() == first.keys()
    assert result.witness["W"].shape == (3, 3)
    assert 0.9 < result.value <= 1 + 1e-12  # |s^T W t| <= ||W||_{1,1} <= 1
    pair = attack(
        lambda point: (point[0] * point[1]).sum(1), (starts(4, 5), starts(4, 5, seed=9)), BOX, steps=40, seed=0
    )
    assert isinstance(pair.witness, tuple)
    assert pair.value == pytest.approx(5.0, rel=1e-12)


def test_value_is_the_objective_at_the_witness_inside_the_box():
    W = torch.randn(6, 6, dtype=torch.float64)

    def objective(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x @ W).abs().amax(1)

    result = attack(objective, 5 * starts(4, 6), BOX, steps=30, seed=0)
    assert float(objective(result.witness[None])) == pytest.approx(result.value, rel=1e-13)
    assert float(result.witness.abs().max()) <= 1


def test_history_never_decreases_and_counts_the_starts():
    result = attack(lambda x: torch.cos(5 * x).sum(1), starts(4, 6), BOX, steps=30, seed=0)
    assert len(result.history) == 31
    assert list(result.history) == sorted(result.history)
    assert (result.steps, result.restarts) == (30, 4)


def test_a_seed_decides_everything():
    def run(seed: int) -> tuple[float, ...]:
        return attack(lambda x: torch.round(1000 * x).sum(1), starts(3, 4), BOX, steps=60, seed=seed).history

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_undefined_values_never_win(bad):
    def objective(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x[:, 0] > 0.5, bad, x[:, 0] + 0.0 * torch.log(0.5 - x[:, 0]))

    result = attack(objective, starts(8, 2), BOX, steps=60, seed=0)
    assert 0.3 < result.value <= 0.5


def test_a_flat_start_is_left_by_kicks():
    result = attack(lambda x: torch.relu(x[:, 0] - 0.2), torch.zeros(8, 2, dtype=torch.float64), BOX, steps=60, seed=0)
    assert result.value == pytest.approx(0.8, rel=1e-12)


def test_an_objective_without_gradient_is_searched_at_random():
    result = attack(lambda x: (x > 0.25).double().sum(1), starts(4, 2), BOX, steps=60, seed=0)
    assert result.value == 2


def test_an_objective_that_is_nowhere_finite_is_reported():
    with pytest.raises(ValueError, match=r"not finite at any point visited\. Check it at the starts"):
        attack(lambda x: x[:, 0] * math.nan, starts(2, 2), BOX, steps=3, seed=0)


def test_an_objective_of_the_wrong_shape_is_reported():
    with pytest.raises(ValueError, match=r"returned shape \(2, 3\) for 2 restarts. Return one value for each restart"):
        attack(lambda x: x, starts(2, 3), BOX, steps=3, seed=0)


def test_box_with_tensor_ends():
    project = box_project(torch.tensor([-1.0, 0.0], dtype=torch.float64), torch.tensor([1.0, 2.0], dtype=torch.float64))
    assert torch.equal(
        project(torch.tensor([[-3.0, -3.0], [3.0, 1.0]], dtype=torch.float64)),
        torch.tensor([[-1.0, 0.0], [1.0, 1.0]], dtype=torch.float64),
    )


def test_box_with_swapped_ends_is_refused():
    with pytest.raises(ValueError, match=r"lower 1\.0 exceeds upper -1\.0"):
        box_project(1.0, -1.0)


def test_float32_objective_stays_float32():
    def objective(x: torch.Tensor) -> torch.Tensor:
        assert x.dtype == torch.float32
        return x.square().sum(1)

    result = attack(objective, starts(4, 3).float(), BOX, steps=20, seed=0)
    assert result.witness.dtype == torch.float32
    assert result.value == 3.0


def hills(x: torch.Tensor) -> torch.Tensor:
    return torch.cos(9 * x).sum(1) - x.square().sum(1)


def plateau(x: torch.Tensor) -> torch.Tensor:
    return 1e-13 * torch.relu(x[:, 0] - 0.9)  # flat at most starts: found by kicks


@pytest.mark.parametrize("order", [(hills, plateau), (plateau, hills)])
def test_a_group_visits_what_its_own_attack_visits(order):
    alone = [attack(objective, starts(5, 3), BOX, steps=60, seed=4) for objective in order]

    def each_its_own(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([objective(part) for objective, part in zip(order, x.split(5), strict=True)])

    together = attack_groups(each_its_own, starts(5, 3).repeat(2, 1), BOX, 2, steps=60, seed=4)
    for one, other in zip(alone, together, strict=True):
        assert one.history == other.history
        assert torch.equal(one.witness, other.witness)
        assert (other.steps, other.restarts) == (60, 5)


def test_each_group_has_a_scale_of_its_own():
    small, large = 1e-3 * starts(4, 3), 1e3 * starts(4, 3)
    wide = box_project(-1e4, 1e4)
    together = attack_groups(hills, torch.cat([small, large]), wide, 2, steps=20, seed=0)
    for one, other in zip((small, large), together, strict=True):
        assert attack(hills, one, wide, steps=20, seed=0).history == other.history


def test_groups_of_unequal_size_are_refused():
    with pytest.raises(ValueError, match="5 restarts do not divide into 2 groups of equal size"):
        attack_groups(hills, starts(5, 2), BOX, 2, steps=1, seed=0)


def test_a_group_that_is_nowhere_finite_is_reported():
    def objective(x: torch.Tensor) -> torch.Tensor:
        return torch.where(torch.arange(4) < 2, x[:, 0], math.nan)

    with pytest.raises(ValueError, match="not finite at any point visited"):
        attack_groups(objective, starts(4, 2), BOX, 2, steps=3, seed=0)
