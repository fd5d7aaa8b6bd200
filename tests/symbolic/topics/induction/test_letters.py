"""The flows in the paper's letters are those of `training`, term by term."""

import pytest
import sympy as sp

from symbolic.dynamics import Flow
from symbolic.topics.induction import letters, lyapunov_gram
from symbolic.topics.induction import phases_derivation as phases
from symbolic.topics.induction.lyapunov import gram_derivative, head_derivative
from symbolic.topics.induction.lyapunov_head import head_decay
from symbolic.topics.induction.phases import overshoot_share_by_psi
from symbolic.topics.induction.training import (
    GRAM_FLOW,
    HEAD_FLOW,
    HEAD_FLOW_FULL,
    HEAD_FLOW_PRINTED,
    LOSS_GRAM,
    LOSS_HEAD,
    L,
    h_star,
    p,
    sigma_init,
    u,
    v_star,
)
from tests.symbolic.topics.induction.spelling import spelt_out

FLOWS = {
    "gram": (letters.gram_flow, GRAM_FLOW),
    "full": (letters.head_flow_full, HEAD_FLOW_FULL.slowed(L - 2)),
    "true": (lambda: letters.head_flow("true"), HEAD_FLOW.slowed(L - 2)),
    "printed": (lambda: letters.head_flow("printed"), HEAD_FLOW_PRINTED.slowed(L - 2)),
}


def is_zero(expression: sp.Expr) -> bool:
    return bool(sp.simplify(expression) == 0)


def size(expression: sp.Expr) -> float:
    """At one point, L = 9 and small fractions."""
    letters = sorted(expression.free_symbols - {L}, key=str)
    at = {letter: sp.Rational(1, 4 + place) for place, letter in enumerate(letters)}
    return abs(float(expression.subs({**at, L: 9})))


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_in_letters_is_the_flow(name: str) -> None:
    lettered, flow = FLOWS[name][0](), FLOWS[name][1]
    assert lettered.state == flow.state
    assert all(is_zero(spelt_out(a) - b) for a, b in zip(lettered.field, flow.field, strict=True))
    doubled = Flow(flow.state, tuple(2 * rate for rate in flow.field))
    assert all(size(spelt_out(a) - b) > 1e-6 for a, b in zip(lettered.field, doubled.field, strict=True))


def test_losses_in_letters() -> None:
    assert is_zero(spelt_out(letters.gram_loss()) - LOSS_GRAM)
    assert is_zero(spelt_out(letters.head_loss()) - (L - 2) * LOSS_HEAD)


@pytest.mark.parametrize("which", ["true", "printed"])
def test_decay_of_the_head_in_letters(which: str) -> None:
    assert is_zero(spelt_out(head_derivative(which)) - head_decay(which).derivative)


def test_decay_of_the_gram_head_in_letters() -> None:
    at = {p: sp.Rational(3, 4), L: 9}
    lettered = spelt_out(gram_derivative()).subs(u, sp.exp(-p)).subs(at)
    derived = lyapunov_gram.gram_decay().derivative.subs(u, sp.exp(-p)).subs(at)
    point = dict(zip(sorted(derived.free_symbols, key=str), (sp.Rational(1, 3), sp.Rational(2, 5)), strict=True))
    assert abs(sp.N((lettered - derived).subs(point), 30)) < 1e-25
    assert abs(sp.N(derived.subs(point))) > 1e-3


def test_the_share_of_the_overshoot_in_psi() -> None:
    by_psi, derived = spelt_out(overshoot_share_by_psi()), phases.overshoot_share()
    for at in (sp.Rational(1, 10), sp.Rational(2, 5)):
        assert abs(sp.N((by_psi - derived).subs(v_star, at), 30)) < 1e-20


def test_the_ramp_passes_its_optimum_at_the_observation_time() -> None:
    at = {v_star: sp.Rational(1, 5), h_star: sp.Rational(1, 2), sigma_init: sp.Rational(1, 100)}
    times = [sp.N(each.subs(at), 30) for each in (phases.ramp_of_h().passage(h_star).time, phases.observation_time())]
    assert abs(times[0] - times[1]) < 1e-20
    assert times[0] > 1
