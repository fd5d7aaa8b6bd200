"""Theorem D.6 on circuits: printed <= derived, each below the attack; the nine constants."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import torch

from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem import Theorem
from bridge.topics.machines.margin import MARGIN, moves_of, network_of, resolve
from bridge.topics.machines.netlists import bits_of
from bridge.topics.machines.nine_constants import NAMES, NineConstants, best_constants, constants
from numeric.topics.machines.circuit_attack import ChangeError, flips, tied, untied
from numeric.topics.machines.layer_moves import Moves, deviations, largest_deviation, smallest_error_left
from symbolic import UsageError
from symbolic.topics.machines import margin as theory
from symbolic.topics.machines import perturbed_layers as layers
from tests.bridge.defaults import default_run
from tests.bridge.topics.machines.changed import changed, rows_of, written

BITS = "10110"


def compared(theorem: Theorem = MARGIN, **more: object) -> dict[str, Row]:
    point = {"netlist": "c17", "input": BITS, "attack": 8, "restarts": 2}
    return rows_of(compare(theorem, **{**point, **more}))


@pytest.fixture(scope="module")
def c17() -> dict[str, Row]:
    return compared()


@pytest.mark.long
def test_every_lower_bound_is_below_the_attack(c17: dict[str, Row]) -> None:
    for name in ("margin", "shared"):
        row = c17[name]
        assert 0 < row.printed < row.derived < row.instance < row.attacked
        assert row.instance > row.attacked / 20  # not vacuous
        assert set(row.verdict.values()) == {Verdict.PROVED}
    for name in NAMES:
        assert set(c17[name].verdict.values()) <= {Verdict.PROVED}
    assert c17["width_exponent"].verdict == {"printed": Verdict.CONSISTENT, "derived": Verdict.PROVED}
    printed = MARGIN.latex(part="theorem", tier="printed")
    assert r"\log b / \log r = \mathcal{O}\left(1\right)" in printed  # a polynomial, whatever its degree


def test_layers_stay_within_a_third_by_lemma_d8_and_beyond_it_where_they_move_twice_as_far() -> None:
    found = compared(attack=40, restarts=4)
    deviation, corrected = found["deviation"], found["corrected"]
    assert deviation.printed == pytest.approx(1 / 3, rel=1e-12)
    assert 0.7 / 3 < deviation.attacked < deviation.derived <= 1 / 3 + 1e-12
    assert {*deviation.verdict.values(), *corrected.verdict.values()} == {Verdict.PROVED}
    assert corrected.measured < 1e-14
    network = network_of("c17")
    weights, bits = MARGIN.built["weights"](network), bits_of("c17", BITS, 5)
    layers_at = MARGIN.built["layers"](network, weights, bits)
    at = moves_of(MARGIN.built["for_printed"](network, MARGIN.built["norms"](layers_at)))
    twice = Moves(2 * at.first, 2 * at.theta, 2 * at.xi)
    moves = largest_deviation(network, weights, bits, twice, steps=40, restarts=4, seed=0)
    raw, left = deviations(network, weights, {name: move[None] for name, move in moves.items()}, bits)
    assert raw.max() > deviation.printed
    assert left.max() < 1e-14  # no coordinate is off by 1/3 yet
    _, left = deviations(network, weights, {name: 4 * move[None] for name, move in moves.items()}, bits)
    assert left.max() > 0.01
    assert {*twice.of(network).values()} == {twice.first, twice.theta, twice.xi}
    for name, radius in twice.of(network).items():
        squares = sum(float((move**2).sum()) for key, move in moves.items() if key.startswith(f"{name}."))
        assert squares**0.5 <= radius * (1 + 1e-12)


class Larger(NineConstants):
    """Constants whose least term is 1/5: above every flip of c17."""

    def least(self, terms: Iterable[sp.Expr]) -> float:
        return 0.2


def of_larger(*names: str) -> Theorem:
    """The theorem with too large a bound in the place of those that the constants of these names give."""
    forged = {
        name: lambda network, norms, best=MARGIN.built[name]: Larger(best(network, norms).values) for name in names
    }
    return changed(MARGIN, **forged)


@pytest.mark.long
def test_a_printed_bound_above_a_flip_is_refuted_by_a_witness_that_replays() -> None:
    rows = compared(of_larger("for_printed"), attack=0, restarts=1)
    row = rows["shared"]
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED, "instance": Verdict.PROVED}
    assert rows["margin"].verdict == row.verdict
    assert row.witness is not None
    again = replay_witness(row.witness, theorem=of_larger("for_printed"))
    assert (again.verdict, again.attacked) == (row.verdict, row.attacked)
    change = {part: torch.tensor(values, dtype=torch.float64) for part, values in row.witness.inputs.items()}
    assert np.sqrt(sum(float((part**2).sum()) for part in change.values())) == pytest.approx(row.attacked)
    network = network_of("c17")
    assert flips(network, bits_of("", BITS, 5), change, shared=True)
    nearer = row.witness.model_copy(update={"inputs": {part: (x / 9).tolist() for part, x in change.items()}})
    kept = replay_witness(nearer, theorem=of_larger("for_printed"))
    assert (kept.attacked, kept.verdict["printed"]) == (None, Verdict.UNDECIDED)
    assert "no perturbation that flips" in kept.remark


def test_a_bound_of_ours_above_a_flip_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "joint_width_exponent", lambda: sp.Rational(-1, 2))
    rows = compared(of_larger("for_derived"), attack=0, restarts=1)
    margin = rows["margin"]
    assert margin.verdict == {"printed": Verdict.PROVED, "derived": Verdict.UNDECIDED, "instance": Verdict.PROVED}
    assert rows["width_exponent"].verdict == {"printed": Verdict.CONSISTENT}


def test_tied_roundings_are_the_untied_ones_at_rest() -> None:
    network = network_of("c17")
    own = {name: torch.tensor(value) for name, value in network.parameters().items()}
    again = untied(network)(tied(network, own))
    assert set(again) == set(own)
    assert all(torch.equal(again[name], own[name]) for name in own)
    with pytest.raises(ChangeError, match=r"no parameter 'zeta\[1\]\.b2' of shape"):  # all corrections share one
        flips(network, bits_of("", BITS, 5), {"zeta[1].b2": own["zeta[1].b2"]}, shared=True)


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
    small = constants((4, 9, 3), ((2.0, 1.5), (1.0, 1.0)), 1e-12)  # sqrt(||W_2||^2 (||h||^2 + 1) + H^2 + 1) of bits
    assert small.of("mu_0") == pytest.approx(np.sqrt(1.5**2 * (4 + 1) + 9 + 1))
    both = constants((2, 2, 3, 7), ((9.0, 1.0), (2.0, 1.0), (1.5, 1.0)), 0.1)
    assert wide.of("kappa_theta") == both.of("kappa_theta")


@pytest.mark.long
def test_the_bounds_of_the_shipped_circuits(c17: dict[str, Row]) -> None:
    # Worked out a second time, apart from this code, from Theorem D.6 with lambda, mu, kappa_theta of layers i >= 1.
    majority = next(iter(default_run("machines.margin")))
    for row, bounds in ((c17["margin"], (3.306e-3, 0.010578)), (majority, (1.3043e-3, 4.628e-3))):
        assert (row.printed, row.derived) == pytest.approx(bounds, rel=1e-3)


def test_one_layer_of_gates_has_f_0_alone(tmp_path: Path) -> None:
    file = written(tmp_path, "INPUT(a)\nINPUT(b)\nOUTPUT(y)\ny = AND(a, b)\n", "and.bench")
    rows = compared(netlist=file, input="11")
    margin = rows["margin"]
    assert margin.printed == pytest.approx(rows["sigma_zeta"].printed / rows["mu_0"].printed, rel=1e-9)
    assert margin.printed <= margin.derived <= margin.attacked
    for name in ("mu", "kappa_theta", "kappa_xi", "sigma_xi"):
        assert (rows[name].derived, rows[name].verdict) == (None, {})


def test_an_input_that_is_drawn_is_shown_and_moves_with_the_seed() -> None:
    drawn = [resolve({"netlist": "adder8"}, seed)["input"] for seed in (0, 1)]
    assert drawn[0] != drawn[1]
    assert set("".join(drawn)) == {"0", "1"}
    assert next(iter(default_run("machines.margin"))).params["input"] == resolve({}, 0)["input"]


def test_rounding_undoes_a_third_and_no_more() -> None:
    assert smallest_error_left(torch.float64) == pytest.approx(1 / 3, abs=1e-9)


@pytest.mark.parametrize("point", [{"input": "101"}, {"input": "1012x"}, {"netlist": "products8"}], ids=str)
def test_inputs_that_do_not_fit_are_refused(point: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="gates wide" if "netlist" in point else "the circuit takes 5 bits"):
        compare(MARGIN, **{"netlist": "c17", **point})
