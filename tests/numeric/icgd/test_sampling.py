from fractions import Fraction

import pytest
import torch

from numeric.icgd import Shape, project, prompts, starts

SHAPE, B_V, B_X, B_Y = Shape(N=3, K=4, d_x=3, d_y=2), 1.3, 0.7, 0.9
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def squared_norms(tokens: torch.Tensor) -> list[Fraction]:
    return [sum((Fraction(entry) ** 2 for entry in row), Fraction(0)) for row in tokens.flatten(0, -2).tolist()]


def meets_hypotheses(inputs: dict[str, torch.Tensor]) -> bool:
    """In exact arithmetic: all rows of all V_j, all x_i and all y_i lie in their balls."""
    rows = [square for V in SHAPE.matrices(inputs["w"]) for square in squared_norms(V)]
    return (
        max(rows) <= Fraction(B_V) ** 2
        and max(squared_norms(inputs["x"])) <= Fraction(B_X) ** 2
        and max(squared_norms(inputs["y"])) <= Fraction(B_Y) ** 2
    )


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("dtype", DTYPES)
def test_samples_and_starts_meet_the_hypotheses_exactly(dtype, n):
    for draw in (prompts, starts):
        inputs = draw(SHAPE, n, B_V, B_X, B_Y, 8, seed=1, dtype=dtype)
        assert {name: tuple(value.shape) for name, value in inputs.items()} == {
            "w": (8, SHAPE.parameters),
            "x": (8, n, SHAPE.d_x),
            "y": (8, n, SHAPE.d_y),
        }
        assert {value.dtype for value in inputs.values()} == {dtype}
        assert meets_hypotheses(inputs)


def test_the_check_of_the_hypotheses_can_fail():
    inputs = prompts(SHAPE, 2, B_V, B_X, B_Y, 2, seed=0)
    for name in ("w", "x", "y"):
        assert not meets_hypotheses({**inputs, name: inputs[name] + 2})


@pytest.mark.parametrize("dtype", DTYPES)
def test_projection_brings_any_point_back_and_leaves_the_others(dtype):
    inputs = {name: value * 5 for name, value in prompts(SHAPE, 4, B_V, B_X, B_Y, 6, seed=2, dtype=dtype).items()}
    projected = project(SHAPE, inputs, B_V, B_X, B_Y)
    assert meets_hypotheses(projected)
    again = project(SHAPE, projected, B_V, B_X, B_Y)
    step = 4 * torch.finfo(dtype).eps
    for name, value in projected.items():
        assert torch.allclose(again[name].double(), value.double(), rtol=step, atol=0)
    small = {name: value * 0.1 for name, value in prompts(SHAPE, 4, B_V, B_X, B_Y, 6, seed=2, dtype=dtype).items()}
    assert all(torch.equal(value, small[name]) for name, value in project(SHAPE, small, B_V, B_X, B_Y).items())


@pytest.mark.parametrize("dtype", DTYPES)
def test_corners_of_the_box_are_rounded_inwards(dtype):
    for B in (0.1, 0.3, 0.7, 1.1, 1.7, 2.3, 3.0):
        corner = project(SHAPE, {"w": torch.full((1, SHAPE.parameters), 9.0, dtype=dtype)}, B, B_X, B_Y)["w"]
        rows = [square for V in SHAPE.matrices(corner) for square in squared_norms(V)]
        assert max(rows) <= Fraction(B) ** 2
        assert float(min(rows)) > B**2 * (1 - 8 * torch.finfo(dtype).eps)


def test_projection_onto_the_ball_is_the_nearest_point():
    outside = torch.randn(200, 3) * 3
    inside = project(SHAPE, {"x": outside}, B_V, B_X, B_Y)["x"]
    expected = outside / (outside.norm(dim=-1, keepdim=True) / B_X).clamp(min=1)
    assert torch.allclose(inside, expected, rtol=1e-14)


def test_a_zero_token_projects_with_a_finite_gradient():
    tokens = torch.zeros(1, 2, 3, requires_grad=True)
    project(SHAPE, {"x": tokens}, B_V, B_X, B_Y)["x"].sum().backward()
    assert torch.equal(tokens.grad, torch.ones(1, 2, 3))


def test_samples_fill_the_ball_and_the_box_uniformly():
    inputs = prompts(SHAPE, 50, B_V, B_X, B_Y, 400, seed=3)
    radii = inputs["x"].norm(dim=-1).flatten() / B_X
    assert float((radii**SHAPE.d_x).mean()) == pytest.approx(0.5, abs=0.02)  # uniform in volume
    assert float(inputs["x"].mean(dim=(0, 1)).norm()) < 0.02
    scaled = inputs["w"] / torch.tensor(SHAPE.box(B_V))
    assert float((scaled**2).mean()) == pytest.approx(1 / 3, abs=0.02)


def test_starts_contain_corners_aligned_layers_and_zero():
    inputs = starts(SHAPE, 3, B_V, B_X, B_Y, 8, seed=4)
    box = torch.tensor(SHAPE.box(B_V))
    assert torch.equal(inputs["w"][1].abs(), box)
    assert torch.equal(inputs["w"][3], torch.zeros_like(box))
    for V in SHAPE.matrices(inputs["w"][2].sign()):
        assert torch.linalg.matrix_rank(V) == 1
    scores = inputs["x"][2] @ SHAPE.matrices(inputs["w"][2])[0].T
    assert float(scores.abs().min()) > 0.85 * B_V * B_X  # near the largest that the hypotheses allow
    assert torch.allclose(inputs["x"][1:4].norm(dim=-1), torch.tensor(B_X))


def test_seeds_decide():
    first, again, other = (prompts(SHAPE, 3, B_V, B_X, B_Y, 2, seed=seed) for seed in (5, 5, 6))
    assert all(torch.equal(first[name], again[name]) and not torch.equal(first[name], other[name]) for name in first)
