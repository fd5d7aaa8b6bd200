"""Flows: derivatives along them, new coordinates, invariant sets."""

import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics import Flow, gradient_flow
from symbolic.topics.induction.training import (
    GRAM_FLOW,
    HEAD_FLOW,
    HEAD_FLOW_FULL,
    HEAD_FLOW_PRINTED,
    L,
    g,
    g_star,
    h,
    p,
    w,
    w_K,
    w_Q,
)

x, y, r = sp.symbols("x y r", positive=True)


def test_a_loss_falls_along_its_gradient_flow_by_the_square_of_its_gradient():
    loss = x**4 + sp.exp(x * y)
    flow = gradient_flow(loss, (x, y))
    assert sp.simplify(flow.along(loss) + sp.diff(loss, x) ** 2 + sp.diff(loss, y) ** 2) == 0


def test_new_coordinates_commute_with_the_derivative_along_the_flow():
    flow = Flow((x, y), (-x * y, x - y))
    changed = flow.changed({r: x**2, y: y}, {x: sp.sqrt(r), y: y})
    assert sp.simplify(changed.rate(r) - flow.along(x**2).subs(x, sp.sqrt(r))) == 0
    with pytest.raises(DerivationError, match="does not give 'r' back"):
        flow.changed({r: x**2, y: y}, {x: r, y: y})


def test_a_set_that_the_flow_leaves_is_no_restriction():
    flow = Flow((x, y), (-x, -2 * y))
    with pytest.raises(DerivationError, match="leaves the set"):
        flow.restricted({y: x})
    assert Flow((x, y), (-x, -y)).restricted({y: x}).field == (-x,)


def test_letters_are_replaced_all_at_once_and_coordinates_are_not():
    a, b = sp.symbols("a b", positive=True)
    flow = Flow((x, y), (a * x, b * y + a))
    assert flow.with_letters({a: b, b: 2}).field == (b * x, 2 * y + b)
    with pytest.raises(DerivationError, match="with_letters: y is a coordinate; `restricted` holds it fast"):
        flow.with_letters({a: 1, y: 0})


def test_what_is_no_flow_is_refused():
    with pytest.raises(DerivationError, match="one derivative"):
        Flow((x, y), (x,))
    with pytest.raises(DerivationError, match="is not a coordinate of this flow"):
        Flow((x,), (x,)).rate(y)


def test_the_rate_of_w_is_half_of_what_the_paper_prints():
    assert sp.simplify(2 * HEAD_FLOW.rate(w) - HEAD_FLOW_PRINTED.rate(w)) == 0
    assert sp.simplify(HEAD_FLOW.rate(h) - HEAD_FLOW_PRINTED.rate(h)) == 0
    assert sp.simplify(HEAD_FLOW_FULL.along(w_Q**2 - w_K**2)) == 0


# The flow of (p, g) as Appendix C.1 prints it, below (19).
def test_the_gram_flow_is_the_printed_one():
    from symbolic.topics.induction.training import M, m

    dg = (g_star - g * M(2 * p) / M(p)) / M(p)
    dp = m(p) * g / M(p) ** 2 * (g_star - g * M(2 * p) / M(p) + g * m(2 * p) / m(p))
    for length in (5, 9):
        at = {L: length}
        for derived, printed in ((GRAM_FLOW.rate(g), dg), (GRAM_FLOW.rate(p), dp)):
            difference = (derived - printed).subs(at)
            assert (
                abs(sp.N(difference.subs({p: sp.Rational(3, 7), g: sp.Rational(2, 9), g_star: sp.Rational(1, 2)}), 40))
                < 1e-30
            )
    assert GRAM_FLOW.latex().count(r"\dot") == 2
