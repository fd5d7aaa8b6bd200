"""The exact values that the derivation of one step computes: against the formulas of the paper, and on balls."""

import pytest
import torch
from torch import Tensor

from bridge.topics.icgd.chain import Chain
from bridge.topics.icgd.setting import StepSetting
from numeric.balls import BallArray
from numeric.tools.layered import empirical_loss
from numeric.topics.icgd import prompts
from symbolic.calculus.activations import activation, loss
from tests.numeric.topics.icgd.by_definition import exact_step
from tests.numeric.topics.icgd.cases import B_V, B_X, B_Y, CASES, DEEP, ETA, Case, close


def chain_of(case: Case, eta: float = ETA) -> Chain:
    named = activation(case.activation.name), loss(case.loss.name)
    return Chain(StepSetting(case.shape, *named, B_V, B_X, B_Y, eta))


def values(case: Case, inputs: dict[str, Tensor], eta: float = ETA) -> dict[str, Tensor]:
    chain = chain_of(case, eta)
    return torch.func.vmap(chain.values)(*(inputs[name] for name in "wxy"))


@pytest.mark.parametrize("name", CASES | DEEP)
def test_each_step_has_the_value_of_the_formula_in_the_paper(name: str) -> None:
    case = (CASES | DEEP)[name]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 3, seed=1)
    functions = {"r": case.activation.r, "r1": case.activation.r1, "u": case.loss.u}
    found = values(case, inputs)
    for tap, expected in exact_step(case.shape, **inputs, **functions, eta=ETA, B_v=B_V).items():
        assert close(found[tap], expected, relative=1e-14), tap


def test_the_step_is_clipped_to_the_box_and_descends() -> None:
    case = DEEP["deep"]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 5, seed=2)
    box = torch.tensor(case.shape.box(B_V))
    large = values(case, inputs, eta=1e4)["w"]
    assert bool((large.abs() <= box).all())
    assert bool((large.abs() == box).any())
    before, after = (
        empirical_loss(case.shape, w, inputs["x"], inputs["y"], case.activation.r, case.loss.loss)
        for w in (inputs["w"], values(case, inputs, eta=1e-3)["w"])
    )
    assert bool((after < before).all())


def test_the_values_are_differentiable() -> None:
    case = CASES["two layers"]
    tensors = [value.requires_grad_(True) for value in prompts(case.shape, case.n, 0.5, B_X, B_Y, 2, seed=4).values()]

    def update(*each: Tensor) -> Tensor:
        return values(case, dict(zip("wxy", each, strict=True)))["w"]

    assert torch.autograd.gradcheck(update, tuple(tensors))


@pytest.mark.parametrize("name", CASES)
def test_balls_enclose_the_floats_and_more_bits_give_a_ball_inside(name: str) -> None:
    case = CASES[name]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 1, seed=5)
    coarse, fine = (
        chain_of(case).values(*(BallArray.exactly(inputs[key][0], bits) for key in "wxy")) for bits in (64, 192)
    )
    found = values(case, inputs)
    for key, ball in fine.items():
        assert float(ball.radius().max()) < 1e-30
        assert bool(coarse[key].overlaps(ball).all())
        assert close(found[key][0], ball.midpoint(), relative=1e-13)
