"""Greedy separated sets on sets whose sizes are known."""

import torch

from numeric.topics.universal.covering import in_ball, separated, separated_functions


def test_a_line_of_equal_steps() -> None:
    line = torch.linspace(0, 1, 101, dtype=torch.float64).unsqueeze(1)
    assert separated(line, 0.095) == 11
    assert separated(line, 2.0) == separated(line[::100], 1.0) == 1


def test_functions_are_apart_in_the_sup_norm() -> None:
    values = torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.4, 0.4], [1.0, 0.0]], dtype=torch.float64)
    assert separated_functions(values, 0.5) == 3


def test_points_lie_in_the_ball_and_some_on_its_sphere() -> None:
    norms = torch.linalg.vector_norm(in_ball(1000, 3, torch.Generator().manual_seed(0)), dim=1)
    assert norms.max() <= 1 + 1e-12
    assert (norms > 1 - 1e-12).double().mean() > 0.1
