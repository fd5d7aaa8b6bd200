import pytest
import torch

from numeric.tools.layered import autograd_gradient, empirical_loss, predict
from numeric.topics.icgd import prompts
from tests.numeric.topics.icgd.by_definition import exact_step
from tests.numeric.topics.icgd.cases import B_V, B_X, B_Y, CASES, DEEP, ETA, Case, close


def step(case: Case, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    activation = case.activation
    return exact_step(case.shape, **inputs, r=activation.r, r1=activation.r1, u=case.loss.u, eta=ETA, B_v=B_V)


@pytest.mark.parametrize("name", [*CASES, *DEEP])
def test_automatic_differentiation_gives_the_formulas_of_the_paper(name):
    case = (CASES | DEEP)[name]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 4, seed=0)
    found = autograd_gradient(case.shape, **inputs, r=case.activation.r, loss=case.loss.loss)
    assert close(step(case, inputs)["gradient"], found, relative=1e-14)
    assert not close(step(case, inputs)["gradient"], 1.001 * found, relative=1e-14)


def test_the_loss_is_that_of_the_predictions():
    case = CASES["sizes that differ"]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 2, seed=7)
    found = predict(case.shape, inputs["w"], inputs["x"], case.activation.r)
    assert torch.equal(found, step(case, inputs)["p[3]"])
    total = case.loss.loss(found, inputs["y"]).sum((1, 2)) / (2 * case.n)
    assert close(empirical_loss(case.shape, **inputs, r=case.activation.r, loss=case.loss.loss), total)
