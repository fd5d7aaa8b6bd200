"""Gradients of the torch backend: against differences of the references, against SymPy, at kinks, behind masks."""

import mpmath as mp
import pytest
import sympy as sp
import torch

from bridge.lowering import lower
from tests.bridge.lowering.lowering_cases import CASES, MATRIX_CASES, Case, condition, k, x, y

DIFFERENTIABLE = [case for case in CASES if case.variables]


def leaf(value: object) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def torch_gradient(case: Case, points: list[dict]) -> dict[str, torch.Tensor]:
    """The gradients at several points at once: the batch must not mix them."""
    inputs = {name: leaf([point[name] for point in points]) for name in points[0]}
    function = lower(case.expr, "torch")
    values = [function(**{name: inputs[name][row] for name in inputs}) for row in range(len(points))]
    batched = function(**inputs) if not case.whole else torch.stack(values)
    gradients = torch.autograd.grad(batched.sum(), [inputs[name] for name in case.variables])
    return dict(zip(case.variables, gradients, strict=True))


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradients_agree_with_differences_of_the_reference(case: Case) -> None:
    points = [point for point in case.random_points(len(case.special) + 4, seed=8) if not case.at_kink(**point)]
    gradients = torch_gradient(case, points)
    for name in case.variables:
        for row, point in enumerate(points):
            with mp.workdps(case.digits):
                exact = case.gradient(name)(**{key: mp.mpf(value) for key, value in point.items()})
            margin = (
                1e-12
                * max(mp.mpf(1), abs(exact))
                * (1 + condition(case.gradient(name), case.variables, point, case.digits))
            )
            assert abs(mp.mpf(gradients[name][row].item()) - exact) <= margin, (
                name,
                point,
                gradients[name][row],
                exact,
            )


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradients_agree_with_the_sympy_derivative(case: Case) -> None:
    points = case.random_points(len(case.special) + 3, seed=9)[len(case.special) :]
    gradients = torch_gradient(case, points)
    for name in case.variables:
        (letter,) = (each for each in case.expr.free_symbols if each.name == name)
        derivative = sp.diff(case.expr, letter).replace(sp.DiracDelta, lambda *_: sp.S.Zero)
        exact = lower(derivative, "mpmath", args=sorted(case.expr.free_symbols, key=str), bits=3 * case.digits)
        for row, point in enumerate(points):
            expected = exact(**point)
            margin = (
                1e-12
                * max(mp.mpf(1), abs(expected))
                * (1 + condition(case.gradient(name), case.variables, point, case.digits))
            )
            assert abs(mp.mpf(gradients[name][row].item()) - expected) <= margin, (name, point)


SMOOTH = [
    sp.log(1 + sp.exp(x)), 1 / (1 + sp.exp(-x)), sp.gamma(x), sp.loggamma(x), sp.digamma(x), sp.LambertW(x),
    (1 - x**9) / (1 - x), sp.erf(x), sp.Piecewise((sp.log(x), x > 1), (x**2, True)),
]  # fmt: skip


@pytest.mark.parametrize("expr", SMOOTH, ids=str)
def test_second_derivatives_exist_and_are_right(expr: sp.Expr) -> None:
    for value in (0.3, 1 + 1e-9, 2.5):
        point = leaf(value)
        (first,) = torch.autograd.grad(lower(expr, "torch")(point), point, create_graph=True)
        (second,) = torch.autograd.grad(first, point)
        expected = float(lower(sp.diff(expr, x, 2), "mpmath", bits=400)(value))
        assert second.item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("case", MATRIX_CASES, ids=str)
def test_matrices_pass_gradcheck(case: Case) -> None:
    (point,) = case.random_points(1, seed=10)
    function = lower(case.expr, "torch")
    inputs = [leaf(point[name]) for name in function.args if name not in case.whole]
    fixed = [torch.tensor(point[name], dtype=torch.float64) for name in function.args if name in case.whole]
    assert torch.autograd.gradcheck(lambda *values: function(*fixed, *values), inputs)


def gradient_at(expr: sp.Expr, value: float) -> float:
    point = leaf([value, 5.0])
    lower(expr, "torch")(point).sum().backward()
    return point.grad[0].item()


@pytest.mark.parametrize(
    ("expr", "at", "expected"),
    [
        (sp.Max(x, 0), 0.0, 0.0),
        (sp.Min(x, 0), 0.0, 0.0),
        (sp.Max(x, 0) ** 2 / 2 + sp.Max(2 * x, 0), 0.0, 0.0),
        (sp.Abs(x), 0.0, 0.0),
        (sp.sign(x), 0.0, 0.0),
        (sp.Heaviside(x), 0.0, 0.0),
        (sp.Max(x, 1), 1.0, 0.0),
        (sp.Max(x, 2 - x), 1.0, 0.0),  # a tie of two variables: half of +1 and half of -1
    ],
)
def test_derivatives_at_kinks_follow_the_convention(expr: sp.Expr, at: float, expected: float) -> None:
    assert gradient_at(expr, at) == expected


MASKED = [
    sp.Piecewise((sp.log(x), x > 0), (0, True)),
    sp.Piecewise((sp.sqrt(x), x > 0), (0, True)),
    sp.Piecewise((1 / x, x > 0), (0, True)),
    sp.Piecewise((x ** sp.Rational(-3, 2) * sp.log(sp.sqrt(x)), x > 0), (0, True)),
    sp.Piecewise((sp.Piecewise((sp.log(x - 1), x > 1), (sp.log(x), True)), x > 0), (0, True)),
    sp.Piecewise((0, x <= 0), (sp.exp(1 / x) * sp.gamma(x), True)),
    sp.Piecewise((x**x + sp.acosh(1 + x) + sp.LambertW(x - 1), x > 0), (0, True)),
    sp.Piecewise((sp.sqrt(sp.log(x)) / sp.log(x), sp.And(x > 1, x < 9)), (0, True)),
    sp.Piecewise((sp.Sum(sp.log(x) ** k, (k, 0, 40)), x > 0), (0, True)),
]  # fmt: skip


@pytest.mark.parametrize("expr", MASKED, ids=str)
@pytest.mark.parametrize("at", [0.0, -1.0, -1000.0])
def test_an_untaken_branch_leaves_the_gradient_alone(expr: sp.Expr, at: float) -> None:
    assert gradient_at(expr, at) == 0.0


def test_an_untaken_branch_that_overflows_leaves_the_gradient_alone() -> None:
    assert gradient_at(sp.Piecewise((sp.exp(x) ** 2 * x**90 * sp.exp(x**2), x < 1), (3 * x, True)), 1e200) == 3.0


def test_nothing_is_lost_through_an_explicit_matrix() -> None:
    matrix = sp.Matrix([[sp.sin(x), x * y], [1, y]])
    first, second = leaf([0.3, 0.4]), leaf([1.0, 2.0])
    lower(matrix, "torch")(first, second).sum().backward()
    torch.testing.assert_close(first.grad, torch.cos(first) + second)
    torch.testing.assert_close(second.grad, first.detach() + 1)


def test_batched_transforms_of_torch_work() -> None:
    function = lower(sp.Piecewise((sp.log(x) * y, x > 0), (y, True)), "torch")
    slopes = torch.func.vmap(torch.func.grad(function))(
        torch.tensor([-1.0, 2.0], dtype=torch.float64), torch.tensor([1.0, 3.0], dtype=torch.float64)
    )
    torch.testing.assert_close(slopes, torch.tensor([0.0, 1.5], dtype=torch.float64))
