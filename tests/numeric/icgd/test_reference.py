import numpy as np
import pytest
import torch

from numeric.balls import BallArray
from numeric.exact_cost import TooLargeForExact
from numeric.icgd import (
    Shape,
    autograd_gradient,
    empirical_loss,
    exact_reference,
    exact_step,
    exact_trajectory,
    predict,
    prompts,
)
from numeric.stream import StreamError
from tests.numeric.icgd.cases import B_V, B_X, B_Y, CASES, ETA, LOGISTIC, SIN, SQUARE, TANH, Case, close

DEEP = {"deep": Case(Shape(N=6, K=4, d_x=2, d_y=3), n=7), "deep, sin": Case(Shape(6, 3, 4, 1), 5, activation=SIN)}


def step(case: Case, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    activation = case.activation
    return exact_step(case.shape, **inputs, r=activation.r, r1=activation.r1, u=case.loss.u, eta=ETA, B_v=B_V)


@pytest.mark.parametrize("name", [*CASES, *DEEP])
def test_gradient_is_that_of_automatic_differentiation(name):
    case = (CASES | DEEP)[name]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 4, seed=0)
    expected = autograd_gradient(case.shape, **inputs, r=case.activation.r, loss=case.loss.loss)
    assert close(step(case, inputs)["gradient"], expected, relative=1e-14)
    assert not close(step(case, inputs)["gradient"], 1.001 * expected, relative=1e-14)


def test_taps_are_the_quantities_of_the_network_by_loops():
    case = CASES["sizes that differ"]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 2, seed=1)
    taps = step(case, inputs)
    V = [matrix.numpy() for matrix in (each[1] for each in case.shape.matrices(inputs["w"]))]
    for i in range(case.n):
        p = [inputs["x"][1, i].numpy()]
        for j in range(case.shape.N):
            p.append(np.sin(V[j] @ p[-1]))
            assert close(taps[f"p[{j + 1}]"][1, i], p[-1])
            assert close(taps[f"r'[{j + 1}]"][1, i], np.cos(V[j] @ p[-2]))
        s = np.cos(V[2] @ p[2]) * 2 * (p[3] - inputs["y"][1, i].numpy())
        assert close(taps["s[3]"][1, i], s)
        s = np.cos(V[1] @ p[1]) * (V[2].T @ s)
        assert close(taps["s[2]"][1, i], s)
        assert close(taps["s[1]"][1, i], np.cos(V[0] @ p[0]) * (V[1].T @ s))


def test_the_step_is_clipped_to_the_box_and_descends():
    case = DEEP["deep"]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 5, seed=2)
    box = torch.tensor(case.shape.box(B_V))
    activation, loss = case.activation, case.loss
    large = exact_step(case.shape, **inputs, r=activation.r, r1=activation.r1, u=loss.u, eta=1e4, B_v=B_V)
    assert bool((large["w"].abs() <= box).all())
    assert bool((large["w"].abs() == box).any())
    small = exact_step(case.shape, **inputs, r=activation.r, r1=activation.r1, u=loss.u, eta=1e-3, B_v=B_V)
    before = empirical_loss(case.shape, **inputs, r=activation.r, loss=loss.loss)
    after = empirical_loss(case.shape, **{**inputs, "w": small["w"]}, r=activation.r, loss=loss.loss)
    assert bool((after < before).all())


def test_the_trajectory_is_step_after_step():
    case = CASES["two layers"]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 2, seed=3)
    functions = {"r": TANH.r, "r1": TANH.r1, "u": SQUARE.u, "eta": ETA, "B_v": B_V}
    points = exact_trajectory(case.shape, **inputs, **functions, steps=3)
    twice = step(case, {**inputs, "w": step(case, inputs)["w"]})["w"]
    assert points.shape == (2, 3, case.shape.parameters)
    assert torch.equal(points[:, 1], twice)


def test_the_reference_is_differentiable():
    case = CASES["two layers"]
    inputs = prompts(case.shape, case.n, 0.5, B_X, B_Y, 2, seed=4)
    tensors = tuple(value.requires_grad_(True) for value in inputs.values())

    def update(*each: torch.Tensor) -> torch.Tensor:
        return step(case, dict(zip(inputs, each, strict=True)))["w"]

    assert torch.autograd.gradcheck(update, tensors)


@pytest.mark.parametrize("name", CASES)
def test_exact_reference_encloses_the_float_one(name):
    case = CASES[name]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 1, seed=5)
    arrays = [inputs[key][0].numpy() for key in "wxy"]
    functions = (case.activation.exact, case.activation.exact1, case.loss.exact)
    exact = exact_reference(case.shape, *arrays, *functions, eta=ETA, B_v=B_V)
    found = step(case, inputs)
    assert exact.keys() == found.keys()
    for key, ball in exact.items():
        assert isinstance(ball, BallArray)
        assert float(ball.radius().max()) < 1e-30
        assert close(found[key][0], ball.midpoint(), relative=1e-14)


def test_more_bits_give_a_ball_inside_and_steps_are_repeated():
    case = CASES["logistic"]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 1, seed=6)
    arrays = [inputs[key][0].numpy() for key in "wxy"]
    functions = (TANH.exact, TANH.exact1, LOGISTIC.exact)
    coarse, fine = (
        exact_reference(case.shape, *arrays, *functions, eta=ETA, B_v=B_V, steps=3, bits=bits) for bits in (64, 256)
    )
    assert all(bool(coarse[key].overlaps(fine[key]).all()) for key in coarse)
    points = exact_trajectory(case.shape, **inputs, r=TANH.r, r1=TANH.r1, u=LOGISTIC.u, eta=ETA, B_v=B_V, steps=3)
    assert close(points[0], fine["trajectory"].midpoint(), relative=1e-14)


def test_predictions_are_the_last_layer():
    case = CASES["sizes that differ"]
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 2, seed=7)
    assert torch.equal(predict(case.shape, inputs["w"], inputs["x"], SIN.r), step(case, inputs)["p[3]"])


def test_exact_runs_refuse_what_is_too_large_or_does_not_fit():
    shape = Shape(3, 64, 64, 64)
    arrays = (np.zeros(shape.parameters), np.zeros((50, 64)), np.zeros((50, 64)))
    functions = (TANH.exact, TANH.exact1, SQUARE.exact)
    with pytest.raises(TooLargeForExact, match=r"1 steps on 50 tokens need .* ball operations, the limit is 1,000,000"):
        exact_reference(shape, *arrays, *functions, eta=ETA, B_v=B_V, limit=1_000_000)
    with pytest.raises(StreamError, match=r"y of shape \(50, 63\), expected \(50, 64\)"):
        exact_reference(shape, *arrays[:2], np.zeros((50, 63)), *functions, eta=ETA, B_v=B_V)
    small = Shape(1, 1, 1, 1)
    with pytest.raises(StreamError, match="an input that is not finite"):
        exact_reference(small, np.full(1, np.nan), np.ones((1, 1)), np.ones((1, 1)), *functions, eta=ETA, B_v=B_V)
