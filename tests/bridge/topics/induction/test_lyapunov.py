"""The decays of Appendix C: derived flows against the definitions, proofs, constants, and what is refuted."""

import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

from bridge.questions.certify import Status, prove
from bridge.questions.certify.certificate import digest
from bridge.questions.certify.checks import MOST_BOXES
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.search import smallest
from bridge.questions.certify.shipped import shipped_proof
from bridge.questions.certify.stating import inequalities_of
from bridge.theorems.record import Verdict
from bridge.theorems.registry import find_theorem
from bridge.topics.induction.lyapunov import GRAM_PROOFS, HEAD_PROOFS, quadratic_at
from bridge.topics.induction.phase_times import slow_rate
from symbolic.derivations.inequalities import Inequality, written_out
from symbolic.topics.induction import lyapunov as theory
from symbolic.topics.induction import lyapunov_gram as gram
from symbolic.topics.induction import lyapunov_head as head
from symbolic.topics.induction.training import g_star, h, h_star, u, v, v_star
from symbolic.words.prose import marked
from tests.bridge.defaults import default_run
from tests.bridge.topics.induction.rows import default_rows, printed_as, rows_at

# ---- The derivations, against the definitions evaluated in 50 digits


def gram_rates(u_value, g_value, g_opt, length):
    """du/dt and dg/dt from (19) itself, by numerical differentiation."""

    def loss(p, g):
        M = lambda q: sum(mpmath.exp(-q * k) for k in range(length - 2))  # noqa: E731
        return g_opt**2 / 2 + g**2 * M(2 * p) / (2 * M(p) ** 2) - g_opt * g / M(p)

    p_value = -mpmath.log(u_value)
    dp, dg = (-mpmath.diff(loss, (p_value, g_value), order) for order in ((1, 0), (0, 1)))
    return -u_value * dp, dg


@pytest.mark.parametrize("length", [7, 12, 40])
@pytest.mark.parametrize("u_value", ["0.15", "0.45", "0.8"])
def test_the_form_of_the_gram_decay_is_the_derivative_along_the_flow(length, u_value):
    with mpmath.workdps(40):
        u_0, g_opt, ratio = mpmath.mpf(u_value), mpmath.mpf("0.7"), mpmath.mpf("1.3")
        du, dg = gram_rates(u_0, ratio * g_opt, g_opt, length)
        v_0 = g_opt * (1 + u_0 - ratio)
        dG = u_0 * du + v_0 * (g_opt * du - dg)
        expected = -dG - g_opt**2 * ((u_0**2 + v_0**2) / 2) ** 2 / 65
        s_0 = u_0 ** (length - 5)
        at = {u: u_0, gram.gamma: ratio, g_star: g_opt, gram.s: s_0, gram.q: (length - 2) * s_0 * (1 - u_0)}
        formula = gram.decay_inequality(gram.PRINTED_CONSTANT).expression
        got = sp.lambdify(tuple(at), formula, "mpmath")(*at.values())
        assert abs(got - expected) < mpmath.mpf(10) ** -15 * abs(expected)


@pytest.mark.parametrize("length", [5, 6, 20, 300, 10**5])
def test_the_ranges_of_the_tail_hold_wherever_the_condition_does(length):
    for place in range(1, 200):
        u_0 = place / 200
        s_0 = u_0 ** (length - 5)
        if 0 < s_0 <= 1e-4:
            assert (length - 2) * s_0 * (1 - u_0) <= float(gram.RANGE_OF_Q[1])
    # near the largest u that a length allows the bound is nearly attained
    longest = 1e-4 ** (1 / (10**5 - 5))
    assert (10**5 - 2) * 1e-4 * (1 - longest) > 0.7 * float(gram.RANGE_OF_Q[1])


@pytest.mark.parametrize("which", ["printed", "true"])
def test_the_form_of_the_head_decay_is_the_derivative_along_the_flow(which):
    head.check_derivation(which)
    decay, loss = head.head_decay(which), head.loss_and_candidate(which)
    fifth = sp.Rational(1, 5)
    point = {v_star: fifth, h_star: 2 * fifth, head.x: sp.Rational(1, 3), head.y: sp.Rational(1, 70)}
    state = {v: (v_star * (1 - head.x)).subs(point), h: (h_star * (1 + head.y)).subs(point)}
    direct = -decay.derivative.subs(state | point) / point[h_star] ** 2
    assert float(loss[0].subs(point)) == pytest.approx(float(direct), rel=1e-12)
    candidate = (decay.scale * decay.candidate).subs(state | point) / point[h_star] ** 2
    assert float(loss[1].subs(point)) == pytest.approx(float(candidate), rel=1e-12)


def test_a_wrong_function_does_not_pass_as_the_derivation(monkeypatch):
    right = head.head_decay("true")
    wrong = replace(right, candidate=right.candidate + (v - v_star) * (h - h_star) / 1000)
    head.check_derivation.cache_clear()
    monkeypatch.setattr(head, "head_decay", lambda which: wrong)
    with pytest.raises(ValueError, match="not the decay"):
        head.check_derivation("true")
    head.check_derivation.cache_clear()


# ---- What is shown


@pytest.mark.long
def test_each_proof_takes_few_boxes():
    for row in (*default_run("induction.lyapunov_gram"), *default_run("induction.lyapunov_head")):
        took = [int(boxes) for boxes in re.findall(r": (\d+) boxes", row.remark)]
        assert max(took, default=0) < MOST_BOXES  # without the shipped certificates, too
        assert len(took) == list(row.verdict.values()).count(Verdict.PROVED), row.remark


def test_each_inequality_is_stated_once():
    for name, printed in (("lyapunov_gram", theory.gram_inequalities()), ("lyapunov_head", theory.head_inequalities())):
        stated = inequalities_of(find_theorem(f"induction.{name}"), {"alpha": 1.0, "w_star": 0.49})
        names = [each.name for each in stated]
        assert len(set(names)) == len(names)
        assert {each.name for both in printed.values() for part in both for each in part} <= set(names)


def gram_point(u_0, gamma, g_opt, s_0, q_0=None):
    tail = dict.fromkeys(gram.xi, 0) if q_0 is None else {gram.q: q_0}
    return {u: u_0, gram.gamma: gamma, g_star: g_opt, gram.s: s_0, **tail}


def head_gap(which, constant):
    loss, candidate = head.loss_and_candidate(which)
    return Inequality(which, loss - sp.Rational(constant) * candidate, {**head.REGION, head.y: (0, head.TOP)})


# Constants that a point of the region refutes, in the decay itself: those proved are at least 0.998 of them.
BEYOND = {
    "decay": ("1.03891", gram.decay_inequality, gram_point("0.57991", 2, 1, 0, 0)),
    "decay.reached": (
        "2.00485",
        gram.reached_inequality,
        gram_point("0.4272905", 2, "0.9999997", "0.00000017", "0.00122104"),
    ),
    "decay.perturbed": ("3.6188", gram.perturbed_inequality, gram_point("0.42725", "1.48633", "0.99805", "0.00005")),
    "decay.printed_flow": (
        "1.9949",
        lambda c: head_gap("printed", c),
        {head.x: "0.75", head.y: "0.00024", v_star: "0.02686", h_star: 1},
    ),
    "decay.true_flow": (
        "0.9897",
        lambda c: head_gap("true", c),
        {head.x: "0.75", head.y: "0.00098", v_star: "0.05407", h_star: 1},
    ),
}


@pytest.mark.parametrize("quantity", sorted(theory.CERTIFIED))
def test_certified_constants_are_close_to_those_that_a_point_refutes(quantity):
    row = {**default_rows("lyapunov_gram"), **default_rows("lyapunov_head")}[quantity]
    assert row.verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}
    beyond, build, at = BEYOND[quantity]
    inequality = build(sp.Rational(beyond))
    point = [Fraction(at[letter]) for letter in inequality.box]
    enclosures = Enclosures(inequality, 192)
    assert enclosures.inside(point)
    assert enclosures.value_at(point) < 0
    assert 0.998 * float(beyond) <= theory.CERTIFIED[quantity] < sp.Rational(beyond)
    assert 0.99 * row.measured <= row.derived <= row.measured


# A search takes twice as long; a result whose inequality changes falls back on it.
def test_the_shipped_certificates_prove_what_is_stated_now():
    for path, printed in ((GRAM_PROOFS, theory.gram_inequalities()), (HEAD_PROOFS, theory.head_inequalities())):
        ours = [each for _, ours in printed.values() for each in ours]
        assert ours
        for each in ours:
            if each.name.startswith("decay.perturbed"):  # the row is that proof
                continue
            assert shipped_proof(each, path).status is Status.PROVED


def test_a_shipped_certificate_proves_no_other_inequality(tmp_path):
    proved = theory.head_inequalities()["decay.true_flow"][1][2]
    wrong = replace(proved, expression=proved.expression - sp.Rational(1, 10**9))
    assert shipped_proof(wrong, HEAD_PROOFS) is None
    content = json.loads(HEAD_PROOFS.read_text())
    claim = next(each for each in content["claims"] if each["inequality"]["name"] == proved.name)
    claim["tree"] = [["form", 1]]  # one box for all
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps({**content, "digest": digest(content)}))
    assert shipped_proof(proved, forged) is None
    claim["tree"] = [[0], ["form", 1]]  # half of it
    forged = tmp_path / "half.json"
    forged.write_text(json.dumps({**content, "digest": digest(content)}))
    assert shipped_proof(proved, forged) is None


REFUTED = ("estimate.phi", "estimate.psi_difference", "estimate.joined")


def test_the_verdicts_on_the_printed_steps():
    rows = {**default_rows("lyapunov_gram"), **default_rows("lyapunov_head")}
    assert printed_as(Verdict.VIOLATED, rows) == set(REFUTED)
    others = {row.verdict["printed"] for name, row in rows.items() if "printed" in row.verdict and name not in REFUTED}
    assert others == {Verdict.PROVED}


@pytest.mark.parametrize("quantity", REFUTED)
def test_an_estimate_fails_inside_the_open_region(quantity):
    row = default_rows("lyapunov_head")[quantity]
    box = theory.head_inequalities()[quantity][0][0].box
    for symbol, (low, high) in box.items():
        above, below = row.witness.inputs[str(symbol)]
        assert low < sp.Rational(int(above), int(below)) < high
    assert row.witness.error_lower < 0  # the value that is claimed to be >= 0
    assert "fails at x = " in row.remark
    assert row.measured < row.witness.error_lower  # the search goes up to the ends of the region
    assert marked(row.finding).startswith("at the point of the witness, the difference of the sides of ")


def test_the_joined_line_with_its_terms_repaired_is_proved_term_by_term():
    """loss = v*^3 A x^2 - v*^2 B x y + C y^2 with A = 4 (1-x)(1+y) F >= 1, as F >= 1 is proved, and C = psi >= 1."""
    A, C = (each.expression for each in head.decay_inequalities("printed", sp.Integer(0))[:2])
    loss, _ = head.loss_and_candidate("printed")
    B = (v_star**3 * A * head.x**2 + C * head.y**2 - loss) / (v_star**2 * head.x * head.y)
    box = {key: head.REGION[key] for key in (head.x, head.y, v_star)}
    assert prove(Inequality("B", sp.Rational(877, 100) - B, box)).status is Status.PROVED
    assert prove(Inequality("B", sp.Rational(866, 100) - B, box)).status is Status.REFUTED
    at = {head.x: sp.Rational(1, 3), head.y: sp.Rational(1, 60), v_star: sp.Rational(1, 5)}
    F = next(each.expression + 1 for each in head.printed_estimates() if each.name == "estimate.phi_difference")
    assert float((A - 4 * (1 - head.x) * (1 + head.y) * F).subs(at)) == pytest.approx(0, abs=1e-12)
    assert float((C - head.psi(2 * v_star * (1 - head.x))).subs(at)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("which", ["printed", "true"])
def test_our_constants_are_certified_beyond_the_printed_top_of_h(which):
    """R(w*), the largest h/h*, is 1.0697 at v* = 0.3; the printed 1.02 is exceeded from w* = 0.444 on."""
    name = f"decay.{which}_flow"
    printed, ours = theory.head_inequalities()[name]
    assert {each.box[head.y][1] for each in printed} == {sp.Rational(1, 50)}
    assert {each.box[head.y][1] for each in ours} == {sp.Rational(7, 100)}
    assert "1.07 h*" in default_rows("lyapunov_head")[name].remark


@pytest.mark.parametrize(("alpha", "w_star"), [(1.0, 0.49), (2.0, 0.3), (20.0, 0.5), (30.0, 0.1), (100.0, 0.05)])
def test_a_quadratic_of_the_linearisation_decays_faster_than_the_paper_s(alpha, w_star):
    found = quadratic_at({"alpha": alpha, "w_star": w_star})
    assert found.best > found.sampled["plain"]
    assert found.fastest == pytest.approx(2 * slow_rate({"alpha": alpha, "w_star": w_star, "flow": "true"}))
    assert found.best <= found.fastest * (1 + 1e-6)  # no quadratic function decays faster than the linear flow
    assert prove(found.inequality).status is Status.PROVED
    assert found.constant >= 0.9 * found.best


def test_the_flow_gets_into_the_region_that_is_called_reached():
    from bridge.topics.induction.trajectory import run

    for alpha in (1.0001, 3.0, 100.0):
        path = run(2000, alpha, 0.3, 0.01, end=400.0).at(np.linspace(0, 400, 500))
        optimum = alpha / (1 + alpha)
        for p_value, g_value in zip(path.p, path.g, strict=True):
            if g_value > optimum:
                assert math.exp(p_value) - 1 - p_value >= 0.49 * optimum**2
                assert optimum <= g_value < 2 * optimum


# What the remark of `estimate` says of the exact 1/M.
def test_the_proof_s_step_fails_with_the_exact_normaliser():
    exact = (1 - u) / (1 + u) - (1 + u) / 2 - sp.Rational(2, 5)
    assert prove(Inequality("exact", exact, {u: (0, sp.Rational(1, 2))})).status is Status.REFUTED


def test_smaller_regions_allow_larger_constants():
    inequality = gram.decay_inequality(gram.PRINTED_CONSTANT)
    reached = gram.reached_inequality(gram.PRINTED_CONSTANT)
    ratio = gram.largest_constant(inequality, gram.PRINTED_CONSTANT)
    assert smallest(ratio, reached) > 1.9 * smallest(ratio, inequality)
    assert written_out(reached.form) == reached.expression


@pytest.mark.long
def test_a_point_beyond_the_region_is_outside():
    rows = rows_at("induction.lyapunov_head", w_star=0.6)
    assert rows["decay.printed_flow"].verdict == {"printed": Verdict.OUTSIDE, "derived": Verdict.OUTSIDE}
    assert "above 3/10" in rows["decay.printed_flow"].remark
    assert rows["quadratic"].verdict == {"derived": Verdict.PROVED}  # speaks of this very point
