"""Fixed points of stage II: numbers, signs, and a search of the plane that finds no others."""

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import fsolve

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics import Stability
from symbolic.topics.induction import fixed_point as theory
from symbolic.topics.induction.training import GRAM_FLOW, L, alpha, g, g_star, h, h_star, p, u, v_star, w

AT = {v_star: 0.2, h_star: 0.4, g_star: 0.6, L: 12, theory.SHARE: 0.7}
STABILITIES = {
    "minimiser": Stability.SINK,
    "mirror": Stability.SINK,
    "saddle": Stability.SADDLE,
    "curve": Stability.NEUTRAL,
    "full_saddle": Stability.SADDLE,
    "gram_end": Stability.NEUTRAL,
    "gram_start": Stability.NEUTRAL,
}
POINTS = (*theory.head_points(), *theory.gram_points())


def field_of(flow: theory.Flow) -> object:
    numbers = dict.fromkeys(theory.LENGTHS, AT[L] - 5) | AT
    rates = [sp.lambdify(flow.state, rate.subs(numbers)) for rate in flow.field]
    return lambda at: np.array([float(rate(*at)) for rate in rates])


@pytest.mark.parametrize("found", POINTS, ids=lambda each: each.name)
def test_eigenvalues_agree_with_a_numeric_jacobian(found: theory.NamedFixedPoint) -> None:
    field, step = field_of(found.point.flow), 1e-5
    at = np.array([float(found.point.at[x].subs(AT)) for x in found.point.flow.state])
    assert abs(field(at)).max() < 1e-14
    jacobian = np.array([(field(at + e) - field(at - e)) / (2 * step) for e in step * np.eye(len(at))]).T
    exact = sorted(float(value.subs(AT)) for value in found.point.eigenvalues)
    assert np.allclose(sorted(np.linalg.eigvals(jacobian).real), exact, rtol=1e-6, atol=1e-8)
    assert found.stability is STABILITIES[found.name]


@pytest.mark.parametrize("at", [(0.05, 0.9), (0.2, 0.4), (0.49, 0.05)], ids=str)
def test_the_proved_signs_are_those_at_numbers(at: tuple[float, float]) -> None:
    numbers = {**AT, v_star: at[0], h_star: at[1]}
    for found in theory.head_points():
        values = [float(value.subs(numbers)) for value in found.point.eigenvalues]
        signs = (sum(x > 1e-12 for x in values), sum(abs(x) <= 1e-12 for x in values), sum(x < -1e-12 for x in values))
        assert signs == (found.inertia.positive, found.inertia.zero, found.inertia.negative)


def test_a_search_from_many_starts_finds_no_other() -> None:
    field = field_of(theory.HEAD)
    known = [np.array([float(each.point.at[x].subs(AT)) for x in (w, h)]) for each in theory.head_points()[:3]]
    starts = np.random.default_rng(0).uniform((-0.65, -1), (0.65, 2), (60, 2))
    with np.errstate(invalid="ignore"):  # a step beyond 2 w^2 = 1 has no rate
        ends = [fsolve(field, start, full_output=True) for start in starts]
    found = [end for end, _, ok, _ in ends if ok == 1 and 2 * end[0] ** 2 < 1]
    assert len(found) > 20
    assert all(min(abs(end - each).max() for each in known) < 1e-6 for end in found)


def test_the_4_gram_head_moves_at_every_finite_p() -> None:
    rates = sp.lambdify((p, g), [rate.subs(AT) for rate in GRAM_FLOW.field])
    speeds = [np.hypot(*rates(x, y)) for x in np.linspace(-1, 3, 30) for y in np.linspace(0, 1.2, 25)]
    assert min(speeds) > 1e-5
    theory.gram_is_complete()
    theory.head_is_complete()


def test_the_slow_rate_is_that_of_the_flow() -> None:
    flow = theory.regular(theory.gram_flow_at_end())
    field = field_of(flow)
    small = 1e-3
    on_nullcline = AT[g_star] * (1 + small) / (1 + small ** (AT[L] - 2))
    assert np.isclose(field((small, on_nullcline))[0] / small**3, float(theory.slow_rate().subs(AT)), rtol=1e-2)


def test_the_point_of_10_as_printed_is_left() -> None:
    assert theory.rate_as_printed() == -g_star
    assert "halves" in theory.minimiser_is_global()


def test_a_step_of_the_argument_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "phi", lambda x: x)
    theory.head_is_complete.cache_clear()
    with pytest.raises(DerivationError, match="the rate of w_Q is off by"):
        theory.head_is_complete()
    theory.head_is_complete.cache_clear()


def test_the_chart_covers_the_hypotheses() -> None:
    r = next(iter(theory.CHART[v_star].free_symbols))
    assert (sp.limit(theory.CHART[v_star], r, 0), sp.limit(theory.CHART[v_star], r, sp.oo)) == (sp.Rational(1, 2), 0)
    assert sp.limit(theory.CHART[h_star], alpha, sp.oo) == 0
    assert theory.CHART[L].subs(dict.fromkeys(theory.LENGTHS, 0)) == 5
    assert u not in theory.CHART
