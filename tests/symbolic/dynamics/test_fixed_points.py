"""Fixed points: eigenvalues against numpy's on the Jacobian, signs that are proved, and refusals."""

import numpy as np
import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics import FixedPoint, Flow, Inertia, Stability, gradient_flow, proved_sign, require_increasing

x, y, z = sp.symbols("x y z", real=True)
k = sp.Symbol("k", positive=True)
POSITIVE = {k: k}
ORIGIN = {x: sp.Integer(0), y: sp.Integer(0)}


def gradient_of(*scales: sp.Expr) -> FixedPoint:
    coordinates = (x, y, z)[: len(scales)]
    loss = sum(scale * c**2 for scale, c in zip(scales, coordinates, strict=True)) / 2 + sp.prod(coordinates)
    return FixedPoint(gradient_flow(loss, coordinates), dict.fromkeys(coordinates, sp.Integer(0)))


@pytest.mark.parametrize(
    ("scales", "inertia", "stability"),
    [
        ((1, k, 2 * k), Inertia(0, 0, 3), Stability.SINK),
        ((-1, -k, -3), Inertia(3, 0, 0), Stability.SOURCE),
        ((1, -k, 0), Inertia(1, 1, 1), Stability.SADDLE),
        ((1, k, 0), Inertia(0, 1, 2), Stability.NEUTRAL),
    ],
    ids=["sink", "source", "saddle", "neutral"],
)
def test_inertia_counts_the_signs(scales: tuple, inertia: Inertia, stability: Stability) -> None:
    found = gradient_of(*scales)
    assert found.inertia(POSITIVE) == inertia
    assert inertia.stability is stability


def test_eigenvalues_are_those_of_the_jacobian() -> None:
    flow = gradient_flow(2 * x**2 + 3 * x * y + k * y**2 / 2 - z**2 + z**3, (x, y, z))
    found = FixedPoint(flow, {x: sp.Integer(0), y: sp.Integer(0), z: sp.Integer(0)})
    at = {k: 5}
    exact = sorted(float(value.subs(at)) for value in found.eigenvalues)
    numeric = sorted(np.linalg.eigvalsh(np.array(flow.linearised(found.at).subs(at), dtype=float)))
    assert np.allclose(exact, numeric, rtol=1e-12)


def test_what_is_not_at_rest_or_not_whole_is_refused() -> None:
    flow = Flow((x, y), (x - 1, y))
    with pytest.raises(DerivationError, match="the rate of x is -1 there"):
        FixedPoint(flow, ORIGIN)
    with pytest.raises(DerivationError, match="give every coordinate, x, y"):
        FixedPoint(flow, {x: sp.Integer(1)})


def test_a_complex_spectrum_is_refused_and_a_sign_that_changes() -> None:
    spiral = FixedPoint(Flow((x, y), (-x - y, x - y)), ORIGIN)
    with pytest.raises(DerivationError, match="not shown to be real"):
        spiral.inertia({})
    with pytest.raises(DerivationError, match="that of k - 1 is not shown"):
        proved_sign(k - 1, POSITIVE)
    assert proved_sign(k - 1, {k: 1 + k}) == 1
    assert proved_sign(1 - k, {k: k / (1 + k)}) == 1


def test_monotonicity_is_proved_on_the_chart_only() -> None:
    inside = {x: (k - 1) / (k + 1)}
    require_increasing(x / (1 - x**2), x, inside)
    with pytest.raises(DerivationError, match="is not shown"):
        require_increasing(x**2, x, inside)
    with pytest.raises(DerivationError, match="does not increase"):
        require_increasing(-x, x, inside)
