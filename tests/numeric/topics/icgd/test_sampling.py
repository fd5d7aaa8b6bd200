import pytest
import torch

from numeric.topics.icgd import prompts, starts
from tests.numeric.topics.icgd.hypotheses import B_V, B_X, B_Y, SHAPE, meets_hypotheses


@pytest.mark.parametrize("n", [1, 5])
def test_samples_and_starts_meet_the_hypotheses_exactly(n):
    for draw in (prompts, starts):
        inputs = draw(SHAPE, n, B_V, B_X, B_Y, 8, seed=1)
        assert {name: tuple(value.shape) for name, value in inputs.items()} == {
            "w": (8, SHAPE.parameters),
            "x": (8, n, SHAPE.d_x),
            "y": (8, n, SHAPE.d_y),
        }
        assert {value.dtype for value in inputs.values()} == {torch.float64}
        assert meets_hypotheses(inputs)
        assert not any(meets_hypotheses({**inputs, name: inputs[name] + 2}) for name in inputs)


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
    assert torch.allclose(inputs["x"][1:4].norm(dim=-1), torch.tensor(B_X, dtype=torch.float64))


def test_seeds_decide():
    first, again, other = (prompts(SHAPE, 3, B_V, B_X, B_Y, 2, seed=seed) for seed in (5, 5, 6))
    assert all(torch.equal(first[name], again[name]) and not torch.equal(first[name], other[name]) for name in first)
