"""The hypotheses on inputs of one network, in exact arithmetic."""

from fractions import Fraction

import torch

from numeric.tools.layered import Shape

SHAPE, B_V, B_X, B_Y = Shape(N=3, K=4, d_x=3, d_y=2), 1.3, 0.7, 0.9


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
