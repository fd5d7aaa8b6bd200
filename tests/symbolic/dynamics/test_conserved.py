"""Conserved quantities: found where there are some, none invented, and all of them."""

import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics import Flow, conserved, conserved_quantities, gradient_flow, is_conserved
from symbolic.topics.induction.training import GRAM_FLOW, HEAD_FLOW, HEAD_FLOW_FULL, w_K, w_Q

x, y, z, a, b = sp.symbols("x y z a b")
layers = sp.symbols("w1:4")
NET = gradient_flow((a * sp.prod(layers) - b) ** 2 / 2, layers)
CASES = {
    "induction_head": (HEAD_FLOW_FULL, 2, [w_Q**2 - w_K**2]),
    "on_the_diagonal": (HEAD_FLOW, 2, []),
    "gram_head": (GRAM_FLOW, 2, []),
    "linear_net": (NET, 2, [layers[0] ** 2 - layers[1] ** 2, layers[0] ** 2 - layers[2] ** 2]),
    "prey_into_predators": (Flow((x, y), (-x * y, x * y)), 2, [x + y, (x + y) ** 2]),
    "rates_differ": (Flow((x, y), (a * x * y, -b * x * y)), 1, [b * x + a * y]),
    "lotka_volterra": (Flow((x, y), (x * (1 - y), y * (x - 1))), 3, []),
    "oscillator": (Flow((x, y), (y, -3 * x)), 2, [3 * x**2 + y**2]),
    "rigid_body": (
        Flow((x, y, z), (y * z, -2 * x * z, x * y)),
        2,
        [2 * x**2 + y**2, x**2 - z**2],
    ),
    "decay": (Flow((x, y), (-x, -2 * y)), 3, []),
}


@pytest.mark.parametrize(("flow", "degree", "known"), CASES.values(), ids=CASES.keys())
def test_exactly_the_conserved_polynomials_are_found(flow: Flow, degree: int, known: list[sp.Expr]) -> None:
    found = conserved_quantities(flow, degree)
    assert len(found) == len(known)
    monomials = conserved._monomials(flow.state, degree)
    rows = [[sp.Poly(q, *flow.state).coeff_monomial(m) for m in monomials] for q in (*found, *known)]
    assert not rows or sp.Matrix(rows).rank(simplify=True) == len(known)  # they span the same space
    assert all(is_conserved(flow, quantity) for quantity in found)


@pytest.mark.long
def test_a_wrong_sign_is_not_conserved() -> None:
    assert not is_conserved(HEAD_FLOW_FULL, w_Q**2 + w_K**2)
    assert not is_conserved(HEAD_FLOW_FULL, w_Q**2 - sp.Rational(1001, 1000) * w_K**2)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_sample_points_do_not_matter(seed: int) -> None:
    assert conserved_quantities(HEAD_FLOW_FULL, seed=seed) == conserved_quantities(HEAD_FLOW_FULL)


def test_what_cannot_be_proved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conserved, "is_conserved", lambda flow, quantity: False)
    with pytest.raises(DerivationError, match="cannot prove it"):
        conserved_quantities(Flow((x, y), (y, -x)))


def test_bad_calls_are_refused() -> None:
    with pytest.raises(DerivationError, match="degree has to be 1"):
        conserved_quantities(HEAD_FLOW, 0)
    with pytest.raises(DerivationError, match="is not a rational number"):  # y^2 + sqrt(2) x^2
        conserved_quantities(Flow((x, y), (y, -sp.sqrt(2) * x)))
