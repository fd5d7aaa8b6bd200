"""The toy of Section 3.1 and the ramp loss: closed forms against brute force, and each check seen to fail."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize

from symbolic.derivations.derivation import DerivationError
from symbolic.topics.machines import approximation, rounding
from symbolic.topics.machines.approximation import APPROXIMATION, gamma, rho
from symbolic.topics.machines.rounding import ROUNDING, THIRD, D


def rounded_exactly(x: Fraction) -> Fraction:
    return Fraction(0) if 3 * x < 1 else Fraction(1) if 3 * x >= 2 else 3 * x - 1


def test_the_net_is_round_and_undoes_errors_up_to_a_third() -> None:
    assert rounding.rounding_gap() == 0
    for k in range(-40, 80):
        x = Fraction(k, 30)
        assert rounding.rounding_net(sp.Rational(x)) == rounded_exactly(x)
    for bit in (0, 1):
        assert {rounding.rounding_net(bit + sp.Rational(k, 30)) for k in range(-10, 11)} == {bit}
    assert rounding.rounding_net(1 - THIRD - sp.Rational(1, 1000)) != 1  # a third is the most


def test_another_net_is_not_round(monkeypatch: pytest.MonkeyPatch) -> None:
    true = rounding.rounding_net
    monkeypatch.setattr(rounding, "rounding_net", lambda x: true(x) + rounding.relu(x - 1))
    assert rounding.rounding_gap.__wrapped__() != 0


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
def test_the_plain_margin_is_the_smallest_change(depth: int) -> None:
    exact = float(rounding.plain_margin().subs(D, depth))
    flips = {"type": "ineq", "fun": lambda d: 0.5 - np.prod(1 + d)}
    rng = np.random.default_rng(depth)
    found = [
        minimize(lambda d: d @ d, rng.normal(size=depth), constraints=flips, options={"ftol": 1e-14}) for _ in range(8)
    ]
    reached = [float(np.linalg.norm(each.x)) for each in found if each.success]
    assert min(reached) == pytest.approx(exact, rel=1e-5)


def test_the_plain_margin_decays_as_printed() -> None:
    assert rounding.plain_order() == sp.log(2)
    for depth in (1, 2, 3, 4, 50):  # the printed change flips at every depth, the small ones included
        assert rounding.all_alike(rounding.PRINTED_CHANGE).subs(D, depth) < 0


def test_weights_follow_the_recursion() -> None:
    (kappa,) = rounding.weight_of_next().free_symbols
    value = sp.Integer(1)
    for depth in range(1, 7):
        assert rounding.weight().subs(D, depth) == value
        value = rounding.weight_of_next().subs(kappa, value)
    assert rounding.every_weight() == sp.Rational(8, 9)
    assert rounding.rounded_margin().subs(D, 1) == sp.Rational(1, 2)
    assert rounding.rounded_margin_every_depth() == sp.sqrt(2) / 3 > THIRD


def invariant_holds(weight_after: float, weight: float) -> bool:
    """weight_after r(z)^2 <= (1 - a/z)^2 + weight r(round(a))^2 on a grid, r(z) = 1 - 1/(2z)."""
    z, a = np.meshgrid(np.linspace(0.5, 1, 401), np.linspace(-0.5, 1.5, 2001))
    after = np.clip(3 * a - 1, 0, 1)
    rest = np.where(after > 0.5, (1 - 0.5 / np.maximum(after, 0.5)) ** 2, 0.0)
    return bool((weight_after * (1 - 0.5 / z) ** 2 <= (1 - a / z) ** 2 + weight * rest + 1e-12).all())


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_the_lower_bound_of_what_is_to_come_holds_and_is_tight(depth: int) -> None:
    weights = [float(rounding.weight().subs(D, k)) for k in (depth, depth + 1)]
    assert invariant_holds(weights[1], weights[0])
    assert not invariant_holds(1.02 * weights[1], weights[0])


def test_the_number_of_the_rounding_layers_is_the_formula_rounded_down() -> None:
    number, exact = float(rounding.rounding_layers_number()), float(rounding.rounding_layers_margin())
    assert exact - 10**-rounding.DIGITS < number <= exact
    assert number in [float(each.expression) for each in ROUNDING.formulas if each.expression.is_Float]


def test_moved_rounding_layers_stay_within_a_third() -> None:
    safe = float(rounding.rounding_layers_margin())
    assert 0.04 < safe < THIRD
    worst = {factor: largest_error(factor * safe) for factor in (1, 3)}
    assert worst[1] <= 1 / 3 < worst[3]
    assert rounding.rounding_layer_corrected().error == 0


def largest_error(eps: float) -> float:
    """|W round_hat(z) - 1| over z within 1/3 of 1, all parameters moved by eps along the gradient and at random."""
    rng = np.random.default_rng(0)
    theta = np.array([1, 1, -1 / 3, -2 / 3, 3, -3, 0, 1.0])  # U, b, V, c and the next W

    def run(p: np.ndarray, z: float) -> float:
        return float(p[7] * (p[4:6] @ np.maximum(p[:2] * z + p[2:4], 0) + p[6]))

    errors = []
    for z in (2 / 3, 1.0, 4 / 3):
        slope = np.array([run(theta + 1e-6 * step, z) - run(theta - 1e-6 * step, z) for step in np.eye(8)])
        moves = [slope, -slope, *rng.normal(size=(200, 8))]
        errors += [abs(run(theta + eps * move / np.linalg.norm(move), z) - 1) for move in moves]
    return max(errors)


# The ramp loss.


def test_the_ramp_is_what_its_statements_say() -> None:
    assert approximation.ramp_gap() == 0
    assert approximation.ramp_excess() == 0
    assert sp.simplify(approximation.ramp_slope() - 1 / gamma) == 0


@pytest.mark.parametrize(
    ("ramp", "broken"),
    [
        (sp.Piecewise((1, rho <= 0), (1 - 2 * rho / gamma, rho <= gamma), (0, True)), "ramp_gap"),
        (sp.Piecewise((1, rho <= 0), (1 - rho / gamma, rho <= gamma), (sp.Rational(1, 9), True)), "ramp_excess"),
        (sp.Piecewise((sp.Rational(9, 8), rho <= 0), (1 - rho / gamma, rho <= gamma), (0, True)), "ramp_slope"),
    ],
    ids=["negative", "late", "jump"],
)
def test_another_ramp_is_noticed(ramp: sp.Expr, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approximation, "RAMP", ramp)
    approximation.ramp_pieces.cache_clear()
    try:
        if broken == "ramp_slope":
            with pytest.raises(DerivationError, match="jumps at rho = 0"):
                approximation.ramp_slope.__wrapped__()
        else:
            assert getattr(approximation, broken).__wrapped__() > 0
    finally:
        approximation.ramp_pieces.cache_clear()


@pytest.mark.parametrize("result", [ROUNDING, APPROXIMATION], ids=lambda result: result.id)
def test_results_print_their_hypotheses_and_formulas(result: object) -> None:
    shown = result.latex()  # type: ignore[attr-defined]
    assert "True" not in shown
    assert r"\cite" in shown
