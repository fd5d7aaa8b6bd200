"""Activations and losses against torch and mpmath: values, derivatives far from 0, pieces, refusals."""

import math

import mpmath as mp
import pytest
import sympy as sp
import torch

from bridge.lowering import lower
from symbolic import UsageError
from symbolic.calculus.activations import ACTIVATIONS, LOSSES, Activation, Loss, activation, loss, t, y

TORCH = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "gelu": torch.nn.functional.gelu,
    "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)),
    "sin": torch.sin,
    "relu": torch.relu,
}
SMOOTH = [name for name in ACTIVATIONS if name != "relu"]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_the_function_that_torch_knows_by_the_name(name: str) -> None:
    points = torch.linspace(-30, 30, 601, dtype=torch.float64)
    ours = lower(ACTIVATIONS[name].expr, "torch", args=(t,))(points)
    torch.testing.assert_close(ours, TORCH[name](points), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_derivatives_are_those_of_sympy_and_accurate_in_floats_and_balls(name: str, order: int) -> None:
    chosen = ACTIVATIONS[name]
    exact = sp.lambdify(t, sp.diff(chosen.expr, t, order), "mpmath")
    on_floats = lower(chosen.derivative(order), "torch", args=(t,))
    on_balls = lower(chosen.derivative(order), "arb", args=(t,), bits=200)
    for point in (-37.5, -8.0, -1.25, -0.0625, 0.0, 0.5, 3.0, 21.0):
        with mp.workdps(60):
            wanted = exact(mp.mpf(point))
        assert float(on_floats(torch.tensor(point, dtype=torch.float64))) == pytest.approx(
            float(wanted), rel=1e-13, abs=4e-16
        )
        ball = on_balls(point)
        assert abs(float(ball) - float(wanted)) <= 1e-15 * abs(float(wanted)) + 1e-30


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_do_not_overflow_far_out(name: str, order: int) -> None:
    far = lower(ACTIVATIONS[name].derivative(order), "torch", args=(t,))(
        torch.tensor([-1e4, -700.0, 700.0, 1e4], dtype=torch.float64)
    )
    assert bool((far.abs() <= 1 + 1e-12).all())


def test_tanh_keeps_its_relative_accuracy_in_the_tails() -> None:
    slope = lower(activation("tanh").derivative(), "torch", args=(t,))(torch.tensor(20.0, dtype=torch.float64))
    assert float(slope) == pytest.approx(float(mp.sech(20) ** 2), rel=1e-13)


def test_relu_has_the_slope_of_torch_and_no_second_derivative() -> None:
    relu = activation("relu")
    points = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(torch.relu(points).sum(), points)
    slope = lower(relu.derivative(), "torch", args=(t,))(points.detach())
    assert slope.tolist() == gradient.tolist() == [0, 0, 1]
    with pytest.raises(UsageError, match="derivative 2 was requested, but it has only 0 continuous derivatives"):
        relu.derivative(2)


def test_an_activation_of_ones_own_is_any_expression() -> None:
    x = sp.Symbol("x")
    assert sp.simplify(Activation("mine", x, x / (1 + x**2)).derivative() - (1 - x**2) / (1 + x**2) ** 2) == 0


@pytest.mark.parametrize("name", LOSSES)
def test_the_pieces_of_a_loss_add_up_to_its_gradient(name: str) -> None:
    chosen = loss(name)
    point, label = (
        torch.linspace(-3, 3, 31, requires_grad=True, dtype=torch.float64),
        torch.linspace(-1, 2, 31, dtype=torch.float64),
    )
    value = lower(chosen.expr, "torch", args=(t, y))(point, label)
    (gradient,) = torch.autograd.grad(value.sum(), point)
    total = torch.zeros(31, dtype=torch.float64)
    for piece in chosen.pieces():
        assert piece.argument in (t, y, t - y)
        argument = lower(piece.argument, "torch", args=(t, y))(point.detach(), label)
        total = total + lower(piece.function, "torch", args=(piece.variable,))(argument)
    torch.testing.assert_close(total, gradient, rtol=1e-12, atol=1e-13)


def test_linear_pieces_are_known() -> None:
    assert [piece.linear for piece in loss("square").pieces()] == [True]
    assert sorted(piece.linear for piece in loss("logistic").pieces()) == [False, True]


def test_pieces_in_all_three_arguments_are_found() -> None:
    mixed = Loss("mixed", t, y, (t - y) ** 4 + sp.exp(t) + t * sp.sin(y))
    assert {piece.argument for piece in mixed.pieces()} == {t, y, t - y}
    total = sum(piece.function.subs(piece.variable, piece.argument) for piece in mixed.pieces())
    assert sp.simplify(total - mixed.gradient) == 0


@pytest.mark.parametrize("expr", [(t * y) ** 2, sp.exp(t * y), sp.log(1 + t**2 * y**2)])
def test_a_loss_without_that_structure_is_refused(expr: sp.Expr) -> None:
    with pytest.raises(UsageError, match=r"loss 'mine': u = d ell/dt = .* is not a sum of functions of t, of y and of"):
        Loss("mine", t, y, expr).pieces()


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no activation 'tan'\. Did you mean tanh"):
        activation("tan")
    with pytest.raises(UsageError, match=r"no loss 'hinge'.*Available: square, huber"):
        loss("hinge")


def test_the_sigmoid_has_the_line_at_zero_that_the_rule_names() -> None:
    """With s = r (1 - r) <= 1/4 the third derivative is s (1 - 6 s), at most 1/8 in absolute value."""
    sigmoid = activation("sigmoid")
    at_zero = [sigmoid.derivative(k).subs(sigmoid.t, 0) for k in range(4)]
    assert at_zero == [sp.Rational(1, 2), sp.Rational(1, 4), 0, -sp.Rational(1, 8)]
    r, s = sigmoid.expr, sp.Symbol("s")
    share = r * (1 - r)
    assert sp.simplify(sigmoid.derivative(3) - share * (1 - 6 * share)) == 0
    ends = [(s * (1 - 6 * s)).subs(s, at) for at in (0, sp.Rational(1, 12), sp.Rational(1, 4))]
    assert max(map(abs, ends)) == sp.Rational(1, 8)


@pytest.mark.parametrize("name", [name for name, each in ACTIVATIONS.items() if each.values is not None])
def test_values_are_the_least_and_the_largest(name: str) -> None:
    chosen = ACTIVATIONS[name]
    low, high = chosen.values
    found = [float(chosen.expr.subs(chosen.t, sp.Rational(k, 10))) for k in range(-300, 301)]
    assert low <= min(found) < low + 1e-3
    assert max(found) <= high
    assert high == math.inf or max(found) > high - 1e-3
