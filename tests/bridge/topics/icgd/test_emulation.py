"""Ranges that cover every argument, sums of ReLUs on them, and accuracies computed from the one that is asked for."""

import flint
import pytest
import torch

from bridge.lowering.ball_values import evaluate_ball
from bridge.topics.icgd.emulation import Accuracies, Emulation, ranges, with_accuracies, with_relus
from bridge.topics.icgd.knobs import NotRepresentable, accuracies_for
from bridge.topics.icgd.plan import gradient_bound
from bridge.topics.icgd.setting import StepSetting
from bridge.topics.icgd.values import derived_letters, problem_values, suprema_values
from numeric.tools.layered import Shape
from numeric.topics.icgd.construction import icgd_setting
from numeric.topics.icgd.network import IcgdNetwork
from numeric.topics.icgd.sampling import prompts, starts
from symbolic.calculus.activations import activation, loss
from symbolic.topics.icgd import symbols as letters

ACTIVATIONS = ["tanh", "sigmoid", "gelu", "softplus", "sin"]


def setting(N: int = 3, K: int = 6, d: int = 3, name: str = "tanh", loss_name: str = "square", **radii) -> StepSetting:
    radii = {"B_v": 0.7, "B_x": 1.5, "B_y": 1.0, "eta": 0.1, **radii}
    return StepSetting(Shape(N, K, d, d), activation(name), loss(loss_name), **radii)


def arguments_of(emulation: Emulation, inputs: dict[str, torch.Tensor]) -> list[float]:
    """The largest |V_j pbar(j-1)| of each layer of the network."""
    s, n = emulation.setting, inputs["x"].shape[1]
    construction = icgd_setting(
        s.shape, emulation.r.relu_sum, emulation.r1.relu_sum, emulation.u.loss_sum, eta=s.eta, B_v=s.B_v, n=n
    )
    taps = IcgdNetwork(construction).run(inputs["w"], inputs["x"], inputs["y"])
    p = [inputs["x"], *(taps[f"p[{j}]"] for j in range(1, s.shape.N + 1))]
    return [float((p[j] @ V.mT).abs().max()) for j, V in enumerate(s.shape.matrices(inputs["w"]))]


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("N", [1, 2, 4])
def test_the_ranges_cover_every_argument(name: str, N: int) -> None:
    found = with_relus(setting(N, name=name), 24)
    s = found.setting
    for inputs in (
        prompts(s.shape, 3, s.B_v, s.B_x, s.B_y, 50, 0),
        starts(s.shape, 1, s.B_v, s.B_x, s.B_y, 40, 0),
    ):
        reached = arguments_of(found, inputs)
        assert all(z <= R for z, R in zip(reached, found.ranges.arguments, strict=True))
    assert found.r.radius >= found.ranges.largest
    assert found.r1.radius >= found.ranges.largest
    assert found.u.radius_t >= found.ranges.outputs


def test_the_ranges_are_reached() -> None:
    # Aligned rank-one layers take |z(1)| to B_v B_x and, for a d and K that fit, each later layer close to its range.
    found = with_relus(setting(3, K=6, d=6), 64)
    s = found.setting
    reached = arguments_of(found, starts(s.shape, 1, s.B_v, s.B_x, s.B_y, 40, 0))
    assert all(z >= 0.8 * R for z, R in zip(reached, found.ranges.arguments, strict=True))


def bound_at(s: StepSetting, accuracies: Accuracies) -> flint.arb:
    values = {**problem_values(s, 1), **suprema_values(s, ranges(s, accuracies.eps_r))}
    chosen = zip((letters.eps_r, letters.eps_r1, letters.eps_l), accuracies.__dict__.values(), strict=True)
    return evaluate_ball(gradient_bound(s.shape.N), {**values, **dict(chosen)})


@pytest.mark.parametrize("N", [1, 2, 3, 6])
@pytest.mark.parametrize("eps", [1e-1, 1e-3, 1e-6])
def test_the_accuracies_spend_eps_and_no_more(N: int, eps: float) -> None:
    s = setting(N, B_v=0.4, loss_name="huber")
    chosen = accuracies_for(s, eps, gradient_bound(N))
    assert isinstance(chosen, Accuracies)
    bound = bound_at(s, chosen)
    assert bound <= eps
    assert bound >= 0.95 * eps
    found = with_accuracies(s, chosen)
    assert found.r.error <= chosen.eps_r
    assert found.r1.error <= chosen.eps_r1
    assert found.u.error <= chosen.eps_l


def test_no_other_split_takes_fewer_relus() -> None:
    s, eps = setting(3, B_v=0.4, loss_name="huber"), 1e-4
    chosen = accuracies_for(s, eps, gradient_bound(3))
    assert isinstance(chosen, Accuracies)
    cheap = with_accuracies(s, chosen)
    spent = [cheap.r.relu_sum.relus, cheap.r1.relu_sum.relus, cheap.u.loss_sum.relus]
    # Moving a fifth of the accuracy of one function to another saves nothing, to first order.
    for first, second in ((0, 1), (1, 2), (2, 0)):
        moved = list(chosen.__dict__.values())
        moved[first] *= 0.8
        low, high = 1.0, 2.0  # what is set free goes to the other: found by bisection
        for _ in range(12):
            scale = (low + high) / 2
            meets = bound_at(s, Accuracies(*moved[:second], moved[second] * scale, *moved[second + 1 :])) <= eps
            low, high = (scale, high) if meets else (low, scale)
        moved[second] *= low
        other = with_accuracies(s, Accuracies(*moved))
        relus = [other.r.relu_sum.relus, other.r1.relu_sum.relus, other.u.loss_sum.relus]
        assert sum(relus) >= sum(spent) * 0.99


@pytest.mark.parametrize(
    ("N", "K", "B_v", "eps", "many_and_fine"),
    [(6, 64, 1.0, 1e-6, (True, True)), (1, 6, 0.7, 1e-12, (True, False)), (1, 1, 1e-5, 1e-13, (False, True))],
)
def test_what_no_float_network_can_do_is_named(N: int, K: int, B_v: float, eps: float, many_and_fine: tuple) -> None:
    s = setting(N, K, K, B_v=B_v)
    refused = accuracies_for(s, eps, gradient_bound(N))
    assert isinstance(refused, NotRepresentable)
    assert (refused.relus > 1_000_000, refused.accuracies.eps_r < 1e-13) == many_and_fine
    assert "ReLUs" in refused.reason
    assert "bits" in refused.reason
    B_l = derived_letters(s, NotRepresentable(Accuracies(0.1, 0.1, 0.3), 0, ""))[letters.B_l]
    assert float(B_l) == pytest.approx(2 * (ranges(s, 0.1).outputs + s.B_y) + 0.3)  # |u| = 2 |t - y|
