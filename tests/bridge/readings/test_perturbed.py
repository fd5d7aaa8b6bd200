"""Perturbed maps, corrections, foreign keys and joint perturbations, where no random program leads."""

import pytest
import sympy as sp
import torch

from bridge.readings import Emulated, Operands, Smooth, at, read
from bridge.readings.values import emulates
from symbolic.calculus import (
    Approximated,
    Norm,
    correct,
    exclude,
    given,
    linear_map,
    perturbed_function,
    perturbed_map,
    pool,
    pooled_sum,
)

every_arithmetic = pytest.mark.parametrize("bits", [None, 128])
MATRIX = torch.tensor([[0.5, -0.25], [0.25, 0.5]], dtype=torch.float64)
NEAR = MATRIX + torch.tensor([[0.0, 0.125], [0.0, 0.0]], dtype=torch.float64)
X = Emulated([1.0, -2.0], [1.25, -2.5])


def start(norm: Norm = Norm.INF, error: float = 0.5) -> Approximated:
    return given("x", dim=2, norm=norm, size=3, error=sp.Rational(error))


# --- one joint perturbation -------------------------------------------------------------------------------------------


# Of declared errors of 2 per unit, two that are 1 here come from a perturbation of length 1/sqrt(2): they add up to 2,
# which is more than the root of 1 + 1.
@every_arithmetic
def test_errors_at_hand_of_a_joint_perturbation_are_not_pooled(bits: int | None) -> None:
    x, y = (given(name, dim=1, size=3, error=2) for name in "xy")
    pair = Emulated([1.0], [2.0])
    row = at(pooled_sum(x, y, name="x + y"), {"x": pair, "y": pair}, bits=bits)["x + y"]
    assert (row.error, row.bound) == (2, 2)


def test_unnamed_parts_leave_the_pooled_bound_of_all_perturbations() -> None:
    x, y = (linear_map(given(name, dim=1, size=3, error=2), f"2 {name}", operator_norm=2, dim=1) for name in "xy")
    pair = Emulated([1.0], [2.0])
    row = at(pooled_sum(x, y, name="sum"), {"x": pair, "y": pair})["sum"]
    assert (row.by, row.bound) == ("rule", pytest.approx(32**0.5))


def test_a_pooled_map_has_the_bound_of_all_perturbations() -> None:
    x = given("x", dim=1, size=3, error=2)
    product = perturbed_map(x, "A x", operator_norm=1, perturbation=1, dim=1, perturbed_norm=1, pooled=True)
    assert at(product, {"x": Emulated([1.0], [1.0])})["A x"].bound == pytest.approx(13**0.5)


def test_groups_that_are_moved_together_keep_the_value() -> None:
    t = sp.Symbol("t", nonnegative=True)
    x = given("x", dim=2, size=3, error=t)
    pooled = pool(x, "pooled", groups=(t,), total=1)
    row = at(pooled, {"x": X}, {t: 0.5})["pooled"]
    assert (row.error, row.bound, row.by) == (0.5, 0.5, "enclosure")


# --- perturbed maps ---------------------------------------------------------------------------------------------------


@every_arithmetic
def test_a_known_pair_of_matrices_is_followed_exactly(bits: int | None) -> None:
    product = perturbed_map(start(), "A x", operator_norm=1, perturbation=1, dim=2, matrix="A")
    row = at(product, {"x": X, "A": Emulated(MATRIX, NEAR)}, bits=bits)["A x"]
    moved = NEAR @ torch.tensor(X.emulated, dtype=torch.float64) - MATRIX @ torch.tensor(X.exact, dtype=torch.float64)
    assert row.error == pytest.approx(moved.abs().max().item())
    assert row.ratio == pytest.approx(1)


@every_arithmetic
def test_a_matrix_alone_is_within_its_perturbation(bits: int | None) -> None:
    product = perturbed_map(start(), "A x", operator_norm=1, perturbation=sp.Rational(1, 8), dim=2, matrix="A")
    known = {"x": X, "A": MATRIX}
    assert not emulates(product.derivation.steps, Operands(known))
    row = at(product, known, bits=bits)["A x"]
    through = MATRIX @ torch.tensor([0.25, -0.5], dtype=torch.float64)
    assert row.bound == pytest.approx(through.abs().max().item() + 2.5 / 8)  # ||x_hat|| = 2.5


@every_arithmetic
def test_a_function_of_vectors(bits: int | None) -> None:
    """F(x) = x / 2 + 1 and F_hat = F + 1/8, from the sup norm to the 2-norm."""
    norm = sp.sqrt(2) / 2
    mapped = perturbed_function(start(), "F(x)", lipschitz=norm, eps=sp.sqrt(2) / 8, size=3, target=2, function="F")
    function = Smooth(lambda v: v / 2 + 1, lambda v: v / 2 + 1.125)
    row = at(mapped, {"x": X, "F": function}, bits=bits)["F(x)"]
    assert row.error == pytest.approx(((0.125 + 0.125) ** 2 + (-0.25 + 0.125) ** 2) ** 0.5)
    assert row.bound == pytest.approx(2**0.5 / 2 * 0.5 + 2**0.5 / 8)
    assert (row.by, row.stopped) == ("enclosure", "")
    far = Smooth(lambda v: v / 2 + 1, radius=2.0)
    stopped = at(mapped, {"x": X, "F": far}, bits=bits)["F(x)"]
    assert stopped.by == "rule"


# --- foreign keys and corrections -------------------------------------------------------------------------------------


@every_arithmetic
def test_a_foreign_key_takes_its_weight_of_the_difference(bits: int | None) -> None:
    out = exclude(start(), "out", count=2, lead=0, diameter=9, foreign="v", leads="l")
    known = {"x": X, "v": [4.0, 4.0], "l": [0.0, 0.0]}
    row = at(out, known, bits=bits)["out"]
    moved = [2 / 3 * near + 4 / 3 - exact for exact, near in zip(X.exact, X.emulated, strict=True)]
    assert row.error == pytest.approx(max(map(abs, moved)))
    assert row.ratio == pytest.approx(1)


@every_arithmetic
def test_a_correction_undoes_what_it_may_and_promises_nothing_beyond(bits: int | None) -> None:
    sigma = sp.Symbol("sigma", positive=True)
    corrected = correct(start(), "C(x)", sigma=sigma)
    row = at(corrected, {"x": X}, {sigma: 0.5}, bits=bits)["C(x)"]
    assert (row.error, row.bound, row.by) == (0, 0, "enclosure")
    found = read(corrected.derivation, Operands({"x": X_ARRAYS}, {sigma: 0.25}))["C(x)"]
    assert found.emulated.isnan().all()


X_ARRAYS = Emulated(*(torch.tensor(each, dtype=torch.float64) for each in (X.exact, X.emulated)))
