"""The leading constants against the flows they come from, and the coordinates against the formulas of the paper."""

import pytest
import sympy as sp

from symbolic.statements.paths import limit_along, small
from symbolic.topics.induction import coordinates as c
from symbolic.topics.induction import phases_derivation as phases
from symbolic.topics.induction import training as tr

DIGITS = 60
POINT = {
    tr.L: 37,
    tr.g_star: sp.Rational(3, 5),
    tr.h_star: sp.Rational(2, 5),
    tr.v_star: sp.Rational(1, 5),
    tr.w_star: sp.sqrt(sp.Rational(1, 5)),
    tr.sigma_init: sp.Rational(1, 1000),
}
FLOWS = ("true", "printed")


def number(expression, **more):
    values = {**POINT, **{sp.Symbol(name): x for name, x in more.items()}}
    by_name = {s: next(v for k, v in values.items() if k.name == s.name) for s in expression.free_symbols}
    return sp.N(expression.subs(by_name, simultaneous=True), DIGITS)


def same(left, right, tolerance="1e-45"):
    return abs(left - right) <= sp.Float(tolerance) * max(abs(left), abs(right))


def test_the_comparison_can_fail():
    assert same(sp.Float(1, DIGITS), sp.Float(1, DIGITS))
    assert not same(sp.Float(1, DIGITS), sp.Float("1.0001", DIGITS))


@pytest.mark.parametrize("p", [sp.Rational(1, 9), sp.Integer(1), sp.Integer(7)])
@pytest.mark.parametrize("g", [sp.Rational(1, 50), sp.Rational(11, 10)])
def test_the_stable_gram_head_is_that_of_the_paper(p, g):
    for stable, plain in zip(c.GRAM_FLOW.field, tr.GRAM_FLOW.field, strict=True):
        assert same(number(stable, p=p, g=g), number(plain, p=p, g=g))
    assert same(number(c.GRAM_LOSS, p=p, g=g), number(tr.LOSS_GRAM, p=p, g=g))


def test_the_series_near_zero_meets_the_closed_form():
    p = sp.Rational(1, 100) / 40  # n p < 1/100 with n = 35
    series = number(c.slope_M(c.p), p=p)
    closed = number(tr.m(tr.p) / tr.M(tr.p), p=p)
    assert same(series, closed, "1e-16")
    assert not same(series, closed, "1e-30")  # it is the series that was taken


@pytest.mark.parametrize(("slope", "function"), [(c.psi_slope, tr.psi), (c.phi_slope, tr.phi)], ids=["psi", "phi"])
def test_divided_differences_are_what_they_divide(slope, function):
    a, b = sp.Rational(2, 7), sp.Rational(-1, 3)
    assert same(sp.N(slope(a, b), DIGITS), sp.N((function(a) - function(b)) / (a - b), DIGITS))
    x = sp.Symbol("x")
    assert same(sp.N(slope(a, a), DIGITS), sp.N(sp.diff(function(x), x).subs(x, a), DIGITS))


@pytest.mark.parametrize("v", [sp.Rational(1, 100), sp.Rational(19, 100), sp.Rational(3, 10)])
@pytest.mark.parametrize("h", [sp.Rational(1, 100), sp.Rational(1, 2)])
def test_the_head_loss_is_a_form_in_the_distances(v, h):
    plain = number((tr.L - 2) * tr.LOSS_HEAD, v=v, h=h)
    distances = {"delta": v - POINT[tr.v_star], "eta": h - POINT[tr.h_star]}
    assert same(number(c.HEAD_LOSS, v=v, **distances), plain)
    assert same(number(c.EARLY_LOSS, y=sp.log(v) / 2, h=h), plain)
    r, theta = sp.log(sp.sqrt(distances["delta"] ** 2 + distances["eta"] ** 2)), sp.atan2(*reversed(distances.values()))
    assert same(number(c.LATE_LOG_LOSS, r=r, theta=theta), sp.log(plain))


@pytest.mark.parametrize("flow", FLOWS)
def test_both_coordinates_move_as_the_flow_does(flow):
    w, h = sp.Rational(2, 5), sp.Rational(1, 2)
    rates = [number((tr.L - 2) * rate, w=w, h=h) for rate in tr.FLOWS[flow].flow.field]
    early = [number(rate, y=sp.log(w), h=h) for rate in c.early_flow(flow).field]
    assert same(early[0], rates[0] / w)
    assert same(early[1], rates[1])
    scaled = [number(rate, y=sp.log(w), eta=h - POINT[tr.h_star]) for rate in c.deviation_flow(flow).field]
    assert all(same(a, b) for a, b in zip(scaled, early, strict=True))
    away = (w**2 - POINT[tr.v_star], h - POINT[tr.h_star])
    distance, direction = sp.sqrt(away[0] ** 2 + away[1] ** 2), sp.atan2(away[1], away[0])
    late = [number(rate, r=sp.log(distance), theta=direction) for rate in c.late_flow(flow).field]
    moves = (2 * w * rates[0], rates[1])
    assert same(late[0], sp.N((away[0] * moves[0] + away[1] * moves[1]) / distance**2, DIGITS))
    assert same(late[1], sp.N((away[0] * moves[1] - away[1] * moves[0]) / distance**2, DIGITS))


@pytest.mark.parametrize("flow", FLOWS)
def test_the_growth_rate_is_the_eigenvalue_at_the_saddle(flow):
    chosen = tr.FLOWS[flow].flow.slowed(tr.L - 2)
    saddle = {tr.w: sp.Integer(0), tr.h: phases.plateau()}
    assert all(sp.simplify(rate.subs(saddle)) == 0 for rate in chosen.field)
    linear = chosen.linearised(saddle)
    assert sp.simplify(linear[0, 0] - phases.growth_rate(flow)) == 0
    assert sp.simplify(linear[0, 1]) == 0
    assert same(
        number(phases.growth_rate(flow)),
        {"true": 1, "printed": 2}[flow] * number(phases.growth_rate("true")),
    )


@pytest.mark.parametrize("flow", FLOWS)
def test_the_slow_rate_is_the_smaller_eigenvalue_at_the_optimum(flow):
    linear = tr.FLOWS[flow].flow.slowed(tr.L - 2).linearised({tr.w: tr.w_star, tr.h: tr.h_star})
    numbers = linear.applyfunc(number)
    trace, determinant = -numbers.trace(), numbers.det()
    mu = number(phases.slow_rate(flow))
    assert same(mu * (trace - mu), determinant)
    assert 0 < mu < trace / 2
    assert not same(mu * sp.Float("1.001") * (trace - mu), determinant)


@pytest.mark.parametrize("flow", FLOWS)
def test_the_orbit_out_of_the_saddle_starts_along_its_series(flow):
    """Invariance of h = plateau + c v, off by O(v^2) only."""
    misses = []
    for share in (sp.Rational(1, 10**4), sp.Rational(1, 10**6)):
        h = number(phases.plateau() + phases.manifold_slope(flow) * share)
        growth, rise = (number(rate, y=sp.log(share) / 2, h=h) for rate in c.early_flow(flow).field)
        misses.append(abs(rise - number(phases.manifold_slope(flow)) * 2 * growth * share))
    assert misses[1] / misses[0] < sp.Float("1.1e-4")


def test_the_ramp_solves_its_equation_and_delays_by_one():
    rest = c.early_flow("true").field[1].subs(sp.exp(2 * c.y), 0)
    assert sp.simplify(sp.diff(phases.ramp(), phases.tau) - rest.subs(c.h, phases.ramp())) == 0
    assert phases.ramp().subs(phases.tau, 0) == tr.sigma_init
    assert sp.limit(phases.delay(), tr.sigma_init, 0) == 1


def test_observation_and_overshoot_times_are_where_the_loss_says():
    """The ramp put into (22) with w = 0: no formula of `phases` but the two times."""
    observed = number(phases.observation_time())
    assert same(number(phases.ramp(), tau=observed), POINT[tr.h_star], "1e-40")
    loss = (tr.L - 2) * tr.LOSS_HEAD.subs(tr.v, 0)
    for w_star, overshoots in (
        (sp.Rational(49, 100), True),
        (sp.Rational(30, 100), False),
        (sp.Rational(69, 100), False),
    ):
        point = {**POINT, tr.w_star: w_star, tr.v_star: w_star**2}
        share = number(phases.overshoot_share().subs(tr.v_star, w_star**2))
        at = {s: point[s] for s in (tr.L, tr.h_star, tr.v_star)}
        start = sp.N(loss.subs(at).subs(tr.h, point[tr.h_star]), DIGITS)
        least = sp.N(loss.subs(at).subs(tr.h, phases.plateau().subs(at)), DIGITS)
        assert same(share, 1 - least / start, "1e-40")
        assert (share > sp.Rational(1, 100)) == overshoots
        low, high = phases.overshoot_range()
        assert (low < w_star < high) == overshoots
        if overshoots:
            late = sp.N(phases.overshoot_time().subs(point), DIGITS)
            there = sp.N(phases.ramp().subs(point).subs(phases.tau, late), DIGITS)
            assert same(sp.N(loss.subs(at).subs(tr.h, there), DIGITS) / start, sp.Rational(99, 100), "1e-40")


def test_the_long_flow_is_the_limit_of_the_flow():
    place = {"p": sp.Rational(1, 3), "g": sp.Rational(2, 3)}
    for long, rate in zip(phases.long_flow().field, tr.GRAM_FLOW.field, strict=True):
        assert same(number(long, **place), number(rate.subs(tr.L, 2002), **place))
    assert same(number(phases.long_loss(), **place), number(tr.LOSS_GRAM.subs(tr.L, 2002), **place))


def test_the_inner_flow_is_the_limit_of_the_flow_scaled():
    n = 10**12
    place = {tr.p: sp.Rational(3, 2) / n, tr.g: sp.Rational(2, 3) / n, tr.L: n + 2, tr.g_star: sp.Rational(3, 5)}
    for inner, rate in zip(phases.inner_flow().field, tr.GRAM_FLOW.field, strict=True):
        scaled = sp.N(n * rate.subs(place, simultaneous=True) / POINT[tr.g_star], DIGITS)
        assert same(number(inner, p=sp.Rational(3, 2), g=sp.Rational(2, 3)), scaled, "1e-10")


def test_the_gram_loss_tends_to_a_quarter_over_t():
    assert sp.simplify(phases.gram_tail() - 1 / (4 * tr.t)) == 0


def test_limits_along_paths():
    ratio = ((tr.L - 2) * phases.head_time_leading("true") / phases.THETA).subs(tr.OPTIMA)
    path = {tr.alpha: 1, tr.w_star: sp.Rational(49, 100), tr.L: 1000, tr.sigma_init: small}
    expected = (1 - sp.Rational(49, 100) ** 4) ** 2 * sp.Rational(998, 1000)
    assert abs(limit_along(ratio, path) - expected) < 1e-15
    assert limit_along(ratio * tr.L, {**path, tr.L: 1 / small}) == sp.oo
