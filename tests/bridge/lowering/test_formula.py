"""`ArrayFunction`: a SymPy expression on tensors and on balls, alone and as a function of a theorem."""

from collections.abc import Callable
from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.limits.arguments import arguments_of
from bridge.lowering.formula import ArrayFunction, MatrixFunction
from numeric.balls import BallArray
from numeric.balls.integers import ExactInteger
from numeric.balls.running import run_on_balls
from symbolic import UsageError
from symbolic.calculus.activations import ACTIVATIONS

t, s, u = sp.symbols("t s u", real=True)
POINTS = [-30.0, -1.5, 0.0, 0.3, 40.0]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_tensors_and_balls_agree(name: str) -> None:
    formula = ArrayFunction(ACTIVATIONS[name].expr, ACTIVATIONS[name].t)
    floats = formula(torch.tensor(POINTS, dtype=torch.float64))
    balls = formula(BallArray.exactly(POINTS, 128))
    assert torch.allclose(torch.tensor(balls.midpoint()), floats, rtol=1e-12, atol=1e-300)
    assert balls.radius().max() < 1e-30


def test_a_matrix_formula_on_tensors_on_batches_and_on_balls() -> None:
    n, d = sp.symbols("n d", integer=True, positive=True)
    X, y = sp.MatrixSymbol("X", n, d), sp.MatrixSymbol("y", n, 1)
    formula = MatrixFunction((X.T * X / n + s * sp.Identity(d)).I * X.T * y, vector=True)
    assert arguments_of(formula) == ("X", "y", "s")
    generator = np.random.default_rng(0)
    arrays, vectors = generator.standard_normal((2, 5, 3)), generator.standard_normal((2, 5))
    expected = [np.linalg.solve(A.T @ A / 5 + 0.25 * np.eye(3), A.T @ b) for A, b in zip(arrays, vectors, strict=True)]
    batch = torch.func.vmap(lambda A, b: formula(X=A, y=b, s=0.25))(torch.tensor(arrays), torch.tensor(vectors))
    assert batch.numpy() == pytest.approx(np.stack(expected))
    known = {"X": torch.tensor(arrays[0]), "y": torch.tensor(vectors[0]), "s": torch.tensor(0.25, dtype=torch.float64)}
    ball = run_on_balls(formula, known)
    assert ball.midpoint() == pytest.approx(expected[0])
    assert ball.radius().max() < 1e-30
    zero = MatrixFunction(0 * y, beside=y)(n=5, y=torch.zeros(5, dtype=torch.float32))
    assert (zero.dtype, zero.shape) == (torch.float32, (5, 1))
    with pytest.raises(UsageError, match=r"expected a formula over sp\.MatrixSymbol, got Symbol"):
        MatrixFunction(s)


def test_balls_are_computed_at_their_own_precision() -> None:
    third = ArrayFunction(t / 3, t)(BallArray.exactly([1.0], 400)).balls[0]
    assert third.rad() < flint.arb(2) ** -390
    assert third.overlaps(flint.arb(1) / 3)


def test_arguments_broadcast_and_go_by_position_or_by_name() -> None:
    formula = ArrayFunction(s * t**2, t, s)
    assert arguments_of(formula) == ("t", "s")
    assert arguments_of(ArrayFunction(s * t**2)) == ("s", "t")
    column, row = torch.tensor([[1.0], [2.0]], dtype=torch.float64), torch.tensor([3.0, 5.0], dtype=torch.float64)
    expected = torch.tensor([[3.0, 5.0], [12.0, 20.0]], dtype=torch.float64)
    assert torch.equal(formula(column, row), expected)
    assert torch.equal(formula(s=row, t=column), expected)
    exact = run_on_balls(formula, {"t": column, "s": row})
    assert exact.midpoint().tolist() == expected.tolist()
    with pytest.raises(TypeError, match="missing a required argument: 's'"):
        formula(column)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dtype_gradient_and_vmap(dtype: torch.dtype) -> None:
    formula = ArrayFunction(sp.Max(t, 0) ** 2, t)
    points = torch.tensor([-1.0, 0.5, 2.0], dtype=dtype, requires_grad=True)
    found = torch.func.vmap(formula)(points)
    assert found.dtype == dtype
    (gradient,) = torch.autograd.grad(found.sum(), points)
    assert gradient.tolist() == [0.0, 1.0, 4.0]


@pytest.mark.parametrize("expr", ["t + 1", sp.Matrix([t]), sp.Gt(t, 0), 3])
def test_what_is_no_scalar_expression_is_refused(expr: object) -> None:
    with pytest.raises(UsageError, match="expected a scalar SymPy expression"):
        ArrayFunction(expr)


# sin(t) is t - t^3/6 up to |t|^5/120.
def test_a_formula_is_network_reference_and_letter_of_a_theorem() -> None:
    B = sp.Symbol("B", positive=True)
    taylor = bs.rules.apply_function(bs.rules.given("t", dim=1, size=B), "sine", eps=B**5 / 120, lipschitz=1, size=1)
    own = bs.theorem(
        "taylor",
        taylor,
        parameters={B: 1.0},
        inputs={"t": bs.domains.Box(1, size=B)},
        network=bs.formulas.ArrayFunction(t - t**3 / 6, t),
        reference=bs.formulas.ArrayFunction(sp.sin(t), t),
    )
    (row,) = bs.compare(own, samples=16, attack=40, restarts=4)
    assert set(row.verdict.values()) == {bs.Verdict.KEPT}
    assert 0.97 < row.attacked / row.derived <= 1


def test_of_numbers_alone_it_is_a_float64_and_of_the_whole_numbers_of_a_run_on_balls_exact() -> None:
    third = ArrayFunction(1 / t, t)
    assert third(3).dtype == torch.float64
    found = run_on_balls(lambda n: third(n), {"n": ExactInteger(3)})
    assert found.radius() < 1e-35
    assert (3 * found - 1).sup_norm() < 1e-35


def test_a_formula_at_floats_broadcasts_and_takes_letters_to_spare() -> None:
    found = bs.formulas.evaluate(sp.exp(t) - s, {t: np.array([[0.0], [1.0]]), s: np.arange(3.0), u: 5})
    np.testing.assert_allclose(found, np.exp([[0.0], [1.0]]) - np.arange(3.0), rtol=1e-15)
    assert bs.formulas.evaluate(t / 4, {t: Fraction(1, 2)}) == 0.125
    assert bs.formulas.evaluate(sp.Rational(1, 4), {}) == 0.25


def test_a_formula_is_enclosed_at_numbers_of_every_kind() -> None:
    """x - y + z is 0 of the binary rational 0.1 alone, not of 1/10."""
    numbers = {t: 0.1, s: sp.Rational(3, 10), u: Fraction(3, 10) - Fraction(0.1)}
    assert bs.formulas.evaluate_ball(t - s + u, numbers).contains(0)
    assert not bs.formulas.evaluate_ball(t - s + u, {**numbers, t: Fraction(1, 10)}).contains(0)
    wide = bs.formulas.evaluate_ball(
        t, {t: 1, s: flint.arb(0, 1)}
    )  # a ball that the formula does not have costs no digits
    assert wide.is_exact()


@pytest.mark.parametrize("call", [bs.formulas.evaluate, bs.formulas.evaluate_ball])
def test_a_letter_without_a_value_is_refused_with_those_that_have_one(call: Callable[..., object]) -> None:
    with pytest.raises(UsageError, match=f"{call.__name__}: s has no value in s \\+ t; got values for t; add it"):
        call(s + t, {t: 1.0})
    with pytest.raises(UsageError, match="s, t has no value in s \\+ t; got values for none"):
        call(s + t, {})
