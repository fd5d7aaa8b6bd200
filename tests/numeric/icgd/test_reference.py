import pytest
import torch

from numeric.exact_cost import TooLargeForExact
from numeric.icgd import prompts, run_exact_icgd
from numeric.layered import Shape, autograd_gradient, empirical_loss, predict
from numeric.stream import StreamError
from tests.numeric.icgd.by_definition import exact_step
from tests.numeric.icgd.cases import B_V, B_X, B_Y, CASES, ETA, Case, build, close

DEEP = {"deep": Case(Shape(N=6, K=4, d_x=2, d_y=3), n=7)}


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


def test_exact_runs_refuse_what_is_too_large_or_does_not_fit():
    shape = Shape(3, 64, 64, 64)
    construction = build(shape, 50)
    w, x = torch.zeros(shape.parameters).numpy(), torch.zeros(50, 64).numpy()
    with pytest.raises(TooLargeForExact, match=r"a prompt of 51 tokens needs .*, the limit is 1,000,000"):
        run_exact_icgd(construction, w, x, x, limit=1_000_000)
    with pytest.raises(StreamError, match=r"y of shape \(50, 63\), expected \(50, 64\)"):
        run_exact_icgd(construction, w, x, x[:, :63])
    with pytest.raises(StreamError, match="an input that is empty or not finite"):
        run_exact_icgd(construction, w + float("nan"), x, x)
