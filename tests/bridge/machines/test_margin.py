"""Theorem D.6 on circuits: printed <= derived, each below the attack; the nine constants; rule 11's inversion."""

from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import torch

from bridge.budget import Budget
from bridge.machines.largest_move import Condition, largest_move
from bridge.machines.margin import MarginCase, MarginStudy, smallest_error_left
from bridge.machines.nine_constants import NAMES, best_constants, constants
from bridge.record import Verdict
from numeric.machines.circuit_attack import tied, untied
from symbolic import UsageError
from symbolic.machines import margin as theory
from symbolic.machines import perturbed_layers as layers

BUDGET = Budget(samples=1, attack=25, restarts=3, seed=0)


def case(netlist: str = "c17", **more: str) -> MarginCase:
    return MarginStudy().case({"netlist": netlist, **more}, seed=0, dtype="float64", device="cpu")


@pytest.fixture(scope="module")
def c17() -> MarginCase:
    return case(input="10110")


def test_every_lower_bound_is_below_the_attack(c17: MarginCase) -> None:
    rows = {row.quantity: row for row in c17.rows(BUDGET)}
    assert set(rows) == {quantity.name for quantity in c17.result.quantities}
    for name in ("margin", "shared"):
        row = rows[name]
        assert 0 < row.printed < row.derived < row.instance < row.attacked
        assert row.instance > row.attacked / 20  # not vacuous
        assert set(row.verdict.values()) == {Verdict.PROVED}
    for name in NAMES:
        assert set(rows[name].verdict.values()) <= {Verdict.PROVED}


def test_the_attack_turns_the_answer_and_a_bound_that_is_too_large_is_found_out(c17: MarginCase) -> None:
    for shared in (False, True):
        flip = c17.attacked(BUDGET, shared=shared)
        own = {name: torch.tensor(value) for name, value in c17.network.parameters().items()}
        start = tied(c17.network, own) if shared else own
        end = {name: value + flip.delta[name] if name in flip.delta else value for name, value in start.items()}
        one = torch.tensor(c17.bits, dtype=torch.float64)
        spread = untied(c17.network) if shared else dict
        before, after = (c17.network.run_dense(spread(parameters), one)[0] for parameters in (start, end))
        assert float(before) * float(after) <= 0
        assert np.sqrt(sum(float((d**2).sum()) for d in flip.delta.values())) == pytest.approx(flip.distance)
        assert 10 * c17.instance_margin.move > flip.distance / 3  # ten times the bound would be refuted or nearly so


def test_tied_roundings_are_the_untied_ones_at_rest(c17: MarginCase) -> None:
    own = {name: torch.tensor(value) for name, value in c17.network.parameters().items()}
    again = untied(c17.network)(tied(c17.network, own))
    assert set(again) == set(own)
    assert all(torch.equal(again[name], own[name]) for name in own)


def test_the_derived_minimum_is_never_below_the_printed_one() -> None:
    rng = np.random.default_rng(0)
    every = (theory.PRINTED_TERMS, theory.derived_margin().args)
    printed, derived = ([sp.lambdify(theory.CONSTANTS, term, "math") for term in terms] for terms in every)
    for _ in range(200):
        values = {symbol: float(np.exp(rng.normal())) for symbol in theory.CONSTANTS}
        values |= {theory.lam: 1 + values[theory.lam], layers.sigma_zeta: float(rng.uniform(0.01, 1))}
        at = [values[symbol] for symbol in theory.CONSTANTS]
        least = [min(term(*at) for term in terms) for terms in (printed, derived)]
        assert least[0] <= least[1] * (1 + 1e-12)


def test_the_chosen_radius_is_the_least_term() -> None:
    sizes, norms = (5, 6, 3), ((2.0, 1.0), (1.8, 1.0))
    best = best_constants(sizes, norms)
    value = best.least(theory.PRINTED_TERMS)
    assert value == pytest.approx(best.of("sigma_theta"), rel=1e-9)
    for other in (0.5, 2.0):
        assert constants(sizes, norms, other * value).least(theory.PRINTED_TERMS) < value


def test_only_what_condition_d3_asks_enters_the_constants() -> None:
    # f_0 is the first layer of gates: its norms and the width of the input enter mu_0 alone, F's width nothing.
    wide = constants((99, 2, 3, 7), ((9.0, 1.0), (2.0, 1.0), (1.5, 1.0)), 0.1)
    narrow = constants((2, 2, 3, 1), ((1.0, 1.0), (2.0, 1.0), (1.5, 1.0)), 0.1)
    assert wide.of("lambda") == narrow.of("lambda") == pytest.approx(np.sqrt(3))
    assert wide.of("mu") == narrow.of("mu")
    assert wide.of("mu_0") > narrow.of("mu_0")
    both = constants((2, 2, 3, 7), ((9.0, 1.0), (2.0, 1.0), (1.5, 1.0)), 0.1)
    assert wide.of("kappa_theta") == both.of("kappa_theta")


@pytest.mark.parametrize(
    ("name", "printed", "derived"), [("c17", 3.306e-3, 0.010578), ("majority5", 1.3043e-3, 4.628e-3)]
)
def test_the_bounds_of_the_shipped_circuits(name: str, printed: float, derived: float) -> None:
    # Worked out a second time, apart from this code, from Theorem D.6 with lambda, mu, kappa_theta of layers i >= 1.
    one = case(name)
    assert (one.printed_margin, one.derived_margin) == pytest.approx((printed, derived), rel=1e-3)


def test_one_layer_of_gates_has_f_0_alone(tmp_path: Path) -> None:
    file = tmp_path / "and.bench"
    file.write_text("INPUT(a)\nINPUT(b)\nOUTPUT(y)\ny = AND(a, b)\n")
    one = case(str(file), input="11")
    rows = {row.quantity: row for row in one.rows(BUDGET)}
    assert one.printed_margin == pytest.approx(one.chosen.of("sigma_zeta") / one.chosen.of("mu_0"), rel=1e-9)
    assert one.printed_margin <= one.derived_margin <= rows["margin"].attacked
    for name in ("mu", "kappa_theta", "kappa_xi", "sigma_xi"):
        assert (rows[name].derived, rows[name].verdict) == (None, {})


def test_a_printed_bound_above_a_flip_is_refuted_by_a_witness_that_replays(
    c17: MarginCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    flip = c17.attacked(BUDGET, shared=True)
    monkeypatch.setattr(c17, "printed_margin", 2 * flip.distance)
    row = c17._margin("shared", flip, "")
    assert row.verdict["printed"] is Verdict.VIOLATED
    assert row.witness is not None
    inputs = {name: torch.tensor(part) for name, part in row.witness.inputs.items()}
    again = c17.replay_check("shared", inputs)
    assert again.verdict == row.verdict
    assert again.attacked == pytest.approx(flip.distance)
    with pytest.raises(UsageError, match="does not flip the prediction"):
        c17.replay_check("shared", {name: part / 9 for name, part in inputs.items()})
    with pytest.raises(UsageError, match=r"no parameter 'zeta\.W1'"):
        c17.replay_check("margin", {"zeta.W1": torch.zeros(2, 2)})
    monkeypatch.setattr("bridge.machines.margin.LARGEST_WITNESS", 3)
    unwritten = c17._margin("shared", flip, "")
    assert (unwritten.verdict["printed"], unwritten.witness) == (Verdict.UNDECIDED, None)


def test_a_bound_of_ours_above_a_flip_proves_nothing(c17: MarginCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c17, "derived_margin", 0.5)
    assert c17._verdicts(0.2) == {
        "printed": Verdict.KEPT,
        "derived": Verdict.UNDECIDED,
        "instance": Verdict.PROVED,
    }
    monkeypatch.setattr(theory, "joint_width_exponent", lambda: sp.Rational(-1, 2))
    assert c17._exponent().verdict["derived"] is Verdict.UNDECIDED
    monkeypatch.undo()
    assert c17._exponent().verdict["derived"] is Verdict.PROVED


def test_a_drawn_input_is_shown_and_large_networks_are_attacked_less(c17: MarginCase) -> None:
    drawn = case("adder8")
    assert set(drawn.params["input"]) <= {"0", "1"}
    assert drawn.drawn
    full = Budget(samples=1, attack=100, restarts=12, seed=0)
    less, more = drawn.within(full), c17.within(full)
    assert less.attack * less.restarts < more.attack * more.restarts <= 100 * 12
    assert less.attack >= 15
    assert drawn.within(Budget(samples=1, attack=0, restarts=2, seed=0)).attack == 0


def test_rounding_undoes_a_third_and_no_more() -> None:
    assert smallest_error_left(torch.float64) == pytest.approx(1 / 3, abs=1e-9)


def test_the_largest_move_is_certified_and_names_what_decides() -> None:
    x, a = sp.symbols("x a", positive=True)
    conditions = [Condition("square", a * x**2, {a: 2}, 1), Condition("line", x, {}, sp.Rational(9, 10))]
    found = largest_move(conditions, x)
    assert found.move == pytest.approx(np.sqrt(0.5), rel=1e-8)
    assert found.move**2 * 2 <= 1 < found.above**2 * 2
    assert found.above == pytest.approx(found.move, rel=1e-7)
    assert found.binding == "square"
    assert largest_move(conditions[1:], x).binding == "line"
    assert largest_move(conditions[1:], x, most=0.5).above == np.inf  # no condition decides it
    with pytest.raises(ValueError, match="'never' decides"):
        largest_move([Condition("never", x + 1, {}, 1, strict=True)], x)


def test_inputs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="the circuit takes 5 bits"):
        case(input="101")
    with pytest.raises(UsageError, match="the circuit takes 5 bits"):
        case(input="1012x")
    with pytest.raises(UsageError, match="gates wide"):
        case("products8")
