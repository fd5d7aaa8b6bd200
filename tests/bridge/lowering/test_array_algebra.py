"""Gradient formulas on tensors and balls: as on explicit matrices, and derivatives enclosed by difference quotients."""

import numpy as np
import pytest
import sympy as sp
import torch

from bridge.lowering.array_algebra import ArrayAlgebra
from bridge.lowering.difference_quotients import enclosed_derivative
from bridge.lowering.formula import ArrayFunction
from numeric.balls import BallArray
from symbolic.gradients import LayeredNetwork, gradient_as_product, gradient_by_recursion
from symbolic.gradients.evaluation import Algebra, ExplicitAlgebra

t = sp.Symbol("t", real=True)
R, R1 = ArrayFunction(sp.tanh(t), t), ArrayFunction(sp.diff(sp.tanh(t), t), t)
SIZES = [(3, 2), (3, 3), (2, 3)]  # of V_1, V_2, V_3
NETWORK = LayeredNetwork(sp.Integer(3), sp.Integer(2), sp.Integer(3), sp.Integer(2))


def drawn(seed: int) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    V = [torch.randn(size, generator=generator, dtype=torch.float64) for size in SIZES]
    return (
        V,
        torch.randn(2, 1, generator=generator, dtype=torch.float64),
        torch.randn(2, 1, generator=generator, dtype=torch.float64),
    )


@pytest.mark.parametrize("form", [gradient_by_recursion, gradient_as_product])
def test_arrays_give_what_explicit_matrices_give(form) -> None:
    V, x, u = drawn(0)
    explicit = ExplicitAlgebra(sp.Lambda(t, sp.tanh(t)))
    matrices = [sp.ImmutableMatrix(each.tolist()) for each in V]
    states, _ = NETWORK.states(matrices, sp.ImmutableMatrix(x.tolist()), explicit)
    wanted = [
        np.array(block.evalf().tolist(), float) for block in form(states, sp.ImmutableMatrix(u.tolist()), explicit)
    ]
    algebra = ArrayAlgebra(R, R1, x)
    assert isinstance(algebra, Algebra)
    states, _ = NETWORK.states(V, x, algebra)
    for block, truth in zip(form(states, u, algebra), wanted, strict=True):
        assert np.allclose(block, truth, rtol=1e-12)
    balls = [BallArray.exactly(each, 128) for each in V]
    column, pull = BallArray.exactly(x, 128), BallArray.exactly(u, 128)
    exact = ArrayAlgebra(R, R1, column)
    states, _ = NETWORK.states(balls, column, exact)
    for block, truth in zip(form(states, pull, exact), wanted, strict=True):
        assert float(block.radius().max()) < 1e-30
        assert np.allclose(block.midpoint(), truth, rtol=1e-12)


@pytest.mark.parametrize("bits", [96, 256])
def test_a_difference_quotient_encloses_the_derivative(bits: int) -> None:
    third = ArrayFunction(sp.diff(sp.tanh(t), t, 3), t)
    z = BallArray.exactly(torch.linspace(-4, 4, 33, dtype=torch.float64), bits)
    found, truth = enclosed_derivative(R, third, z), R1(z)
    assert found.overlaps(truth).all()
    assert float(found.radius().max()) < 2.0 ** (-bits // 2)
    assert not found.overlaps(truth + truth * 2.0 ** (-bits // 3)).any()  # the mutant
