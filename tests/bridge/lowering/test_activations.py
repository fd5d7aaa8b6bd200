"""Activations and losses as functions and their suprema: against torch's own, dense samples, and refusals."""

import pytest
import torch
from torch import Tensor

import boundsmith as bs
from bridge.lowering.activations import argument_radius, loss_quotient, piece_supremum, slope_quotient
from numeric.balls import BallArray
from symbolic.calculus.activations import ACTIVATIONS, LOSSES

GRID = torch.linspace(-2, 2, 4001, dtype=torch.float64)
OF_TORCH = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "gelu": torch.nn.functional.gelu,
    "softplus": torch.nn.functional.softplus,
    "sin": torch.sin,
    "relu": torch.relu,
}
LOSS_OF_TORCH = {
    "square": lambda t, y: (t - y) ** 2,
    "huber": lambda t, y: torch.sqrt(1 + (t - y) ** 2) - 1,
    "log_cosh": lambda t, y: torch.log(torch.cosh(t - y)),
    "logistic": lambda t, y: torch.nn.functional.softplus(t) - y * t,
}


def slope(f: object, t: Tensor) -> Tensor:
    t = t.clone().requires_grad_(True)
    (found,) = torch.autograd.grad(f(t).sum(), t)
    return found


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_formulas_and_suprema_of_activations_are_those_of_torch(name: str) -> None:
    chosen, f = ACTIVATIONS[name], OF_TORCH[name]
    for order, expected in enumerate((f(GRID), slope(f, GRID))):
        for given in (name, chosen):
            torch.testing.assert_close(bs.formulas.activation_formula(given, order)(GRID), expected)
        above = float(bs.formulas.activation_supremum(chosen, order, 2.0))
        assert float(expected.abs().max()) <= above * (1 + 1e-12)
        assert above <= 1.002 * float(expected.abs().max())


@pytest.mark.parametrize("name", LOSSES)
def test_suprema_of_losses_are_above_all_samples(name: str) -> None:
    chosen, f = LOSSES[name], LOSS_OF_TORCH[name]
    t, y = torch.meshgrid(GRID[::20], torch.linspace(-0.5, 0.5, 101, dtype=torch.float64), indexing="ij")
    torch.testing.assert_close(bs.formulas.loss_formula(name)(t, y), f(t, y))
    u = slope(lambda t: f(t, y), t)
    torch.testing.assert_close(bs.formulas.loss_formula(chosen, 1)(t, y), u)
    assert float(u.abs().max()) <= float(bs.formulas.loss_supremum(chosen, 0, 2.0, 0.5)) * (1 + 1e-12)
    bend = slope(lambda t: bs.formulas.loss_formula(chosen, 1)(t, y), t)
    above = float(bs.formulas.loss_supremum(chosen, 1, 2.0, 0.5))
    assert float(bend.abs().max()) * (1 - 1e-12) <= above <= 1.002 * float(bend.abs().max())


def test_pieces_of_a_loss_have_ranges_of_their_own() -> None:
    square, logistic = LOSSES["square"], LOSSES["logistic"]
    (difference,) = square.pieces()
    assert argument_radius(square, difference, 2.0, 0.5) == 2.5
    of_y = next(piece for piece in logistic.pieces() if piece.argument == logistic.y)
    assert argument_radius(logistic, of_y, 2.0, 0.5) == 0.5
    assert piece_supremum(logistic, of_y, 1, 2.0, 0.5) == 0


def test_quotients_enclose_slopes_and_nothing_else() -> None:
    z, y = BallArray.exactly(GRID[::500], 400), BallArray.exactly(GRID[::500] / 7, 400)
    for found, exact in (
        (slope_quotient("tanh", z), bs.formulas.activation_formula("tanh", 1)(z)),
        (loss_quotient("huber", z, y), bs.formulas.loss_formula("huber", 1)(z, y)),
    ):
        assert found.overlaps(exact).all()
        assert not (found + 2.0**-60).overlaps(exact).any()
    assert slope_quotient("relu", BallArray.exactly([-1.0, 2.0], 64)).midpoint().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", [name for name, each in ACTIVATIONS.items() if each.smoothness >= 3])
def test_difference_quotients_enclose_the_derivative(name: str) -> None:
    z = BallArray.exactly([-3.0, -0.1, 0.0, 0.7, 5.0], 800)
    enclosed, derivative = slope_quotient(name, z), bs.formulas.activation_formula(name, 1)(z)
    assert enclosed.overlaps(derivative).all()
    assert enclosed.radius().max() < 1e-60
    assert not (enclosed + 2.0**-100).overlaps(derivative).any()


@pytest.mark.parametrize(
    ("what", "call"), [("activation", bs.formulas.activation_formula), ("loss", bs.formulas.loss_formula)]
)
def test_unknown_names_are_refused(what: str, call: object) -> None:
    with pytest.raises(bs.UsageError, match=f"there is no {what} 'tahn'.*Available"):
        call("tahn")
