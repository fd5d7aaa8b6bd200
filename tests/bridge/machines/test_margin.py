"""Theorem D.6 on circuits: printed <= derived, each below the attack; the nine constants; rule 11's inversion."""

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
        assert 0 < row.printed < row.derived < row.instance < row.measured
        assert row.instance > row.measured / 20  # not vacuous
        assert set(row.verdict.values()) == {Verdict.KEPT}
    for name in NAMES:
        assert rows[name].verdict == {"derived": Verdict.PROVED}


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


def test_rounding_undoes_a_third_and_no_more() -> None:
    assert smallest_error_left(torch.float64) == pytest.approx(1 / 3, abs=1e-9)


def test_the_largest_move_is_certified_and_names_what_decides() -> None:
    x, a = sp.symbols("x a", positive=True)
    conditions = [Condition("square", a * x**2, {a: 2}, 1), Condition("line", x, {}, sp.Rational(9, 10))]
    found = largest_move(conditions, x)
    assert found.move == pytest.approx(np.sqrt(0.5), rel=1e-8)
    assert found.move**2 * 2 <= 1
    assert found.binding == "square"
    assert largest_move(conditions[1:], x).binding == "line"
    with pytest.raises(ValueError, match="'never' stands in the way"):
        largest_move([Condition("never", x + 1, {}, 1, strict=True)], x)


def test_inputs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="the circuit takes 5 bits"):
        case(input="101")
    with pytest.raises(UsageError, match="the circuit takes 5 bits"):
        case(input="1012x")
    with pytest.raises(UsageError, match="gates wide"):
        case("products8")
