"""The study of the gradient: rounding only, verdicts by exact arithmetic, and wrong formulas that are called wrong."""

from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import torch
from torch import Tensor

from bridge import replay
from bridge.budget import Budget
from bridge.formula import ArrayFunction
from bridge.icgd import gradient as study
from bridge.measure import measure
from bridge.record import Row, Verdict
from bridge.rows import quantity_rows
from bridge.theorem_case import TheoremCase
from bridge.theorem_study import TheoremStudy
from numeric.balls import BallArray
from numeric.balls.running import run_on_balls
from numeric.exact_cost import TooLargeForExact
from numeric.layered import Shape, relative_distance
from symbolic.activations import ACTIVATIONS, LOSSES
from symbolic.errata import Weight
from symbolic.gradients import Backward, NetworkLayer, gradient_by_recursion
from symbolic.icgd.gradient import GRADIENT
from symbolic.statements import Kind, UsageError

SMALL = {"N": 3, "K": 4, "d_x": 3, "d_y": 2, "n": 2}
FORMS = ["recursion", "product"]
BUDGET = Budget(samples=8, attack=3, restarts=4, seed=0)


def case(dtype: str = "float64", **params: Any) -> TheoremCase:
    return TheoremStudy(study.GRADIENT).case({**SMALL, **params}, seed=0, dtype=dtype, device="cpu")


def rows(at: TheoremCase) -> dict[str, Row]:
    measured = [q for q in at.result.quantities if q.scopes]
    measurement = measure(at, measured, BUDGET)
    found = [row for q in measured for row in quantity_rows(at, q, measurement, BUDGET)]
    return {row.quantity: row for row in found + at.checks(BUDGET)}


def one(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value[0] for name, value in inputs.items()}


SIZES = [
    {"N": 1, "K": 1, "d_x": 3, "d_y": 5, "n": 1},
    {"N": 2, "K": 64, "d_x": 1, "d_y": 7, "n": 3},
    {"N": 3, "K": 16, "d_x": 10, "d_y": 1, "n": 20},
    {"N": 4, "K": 1, "d_x": 2, "d_y": 2, "n": 5},
    {"N": 5, "K": 7, "d_x": 64, "d_y": 3, "n": 2},
    {"N": 6, "K": 64, "d_x": 64, "d_y": 64, "n": 1},
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_both_forms_are_autograd_up_to_rounding(sizes: dict[str, int]) -> None:
    at = case(**sizes)
    errors = at.errors(at.sample(3, seed=1), FORMS)
    assert all(float(error.max()) <= 1e-12 for error in errors.values())


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_activation_with_every_loss(activation: str, loss: str) -> None:
    at = case(activation=activation, loss=loss)
    errors = at.errors(at.sample(4, seed=2), FORMS)
    assert all(float(error.max()) <= 1e-12 for error in errors.values())


def test_prompts_run_in_parts_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    at, parts = case(), case()
    inputs = at.sample(5, seed=3)
    assert at.runner.part > 5
    monkeypatch.setattr("bridge.running.LARGEST_PART", 1)
    assert parts.runner.part == 1
    assert at.memory(BUDGET) > parts.memory(BUDGET)
    whole, pieces = at.errors(inputs, FORMS), parts.errors(inputs, FORMS)
    assert all(pieces[name].shape == (5,) for name in FORMS)
    assert all(float((pieces[name] - whole[name]).abs().max()) < 1e-12 for name in FORMS)


@pytest.mark.parametrize("params", [{}, {"N": 1}, {"activation": "sigmoid", "loss": "logistic"}], ids=str)
def test_identities_are_kept_and_judged_exactly(params: dict[str, Any]) -> None:
    found = rows(case(**params))
    for name in FORMS:
        row = found[name]
        assert set(row.verdict) == {"printed", "derived", "instance"}
        assert set(row.verdict.values()) == {Verdict.KEPT}
        assert row.printed == row.derived == row.instance == 0.0
        assert row.exact is not None
        assert row.exact < 2.0**-60
        assert row.rounding is not None


def test_float32_differs_by_its_own_rounding_and_is_still_kept() -> None:
    row = rows(case(dtype="float32"))["recursion"]
    assert 1e-9 < row.measured < 1e-4
    assert set(row.verdict.values()) == {Verdict.KEPT}


# ---- what is wrong has to be called wrong


class Transposed(Backward):
    """V_{j+1} where (3.7) has its transpose."""

    @cached_property
    def step(self) -> sp.MatrixExpr:
        return sp.HadamardProduct(self.here.slope, self.next.V * self.next.s)


def wrong_rule() -> Backward:
    k = sp.Symbol("k", integer=True, positive=True)
    return Transposed(NetworkLayer(sp.Integer(1), k, k), NetworkLayer(sp.Integer(2), k, k))


def test_a_wrong_recursion_is_violated_with_a_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(study.FORMS, "recursion", partial(gradient_by_recursion, rule=wrong_rule()))
    row = rows(case(K=2, d_x=2, d_y=2))["recursion"]
    assert set(row.verdict.values()) == {Verdict.VIOLATED}
    assert row.witness is not None
    assert row.witness.error_lower > 1e-3
    assert set(row.witness.inputs) == {"w", "x", "y"}


def test_a_wrong_slope_is_seen_by_the_exact_reference() -> None:
    """The reference takes its slopes from difference quotients of r, so a wrong r' is no part of it."""
    r1 = study.GRADIENT.built["r1"]

    def wrong(activation: Any) -> ArrayFunction:
        right = r1(activation)
        return ArrayFunction(right.expr * sp.Rational(1000001, 1000000), *right.symbols)

    planted = replace(study.GRADIENT, built={**study.GRADIENT.built, "r1": wrong})
    at, off = case(), TheoremStudy(planted).case(SMALL, seed=0, dtype="float64", device="cpu")
    inputs = at.sample(1, seed=4)
    assert at.exact(inputs, ["recursion"], 96)["recursion"][0] < 2.0**-60
    assert off.exact(inputs, ["recursion"], 96)["recursion"][0] > 1e-7


@pytest.mark.parametrize("name", [n for n, a in ACTIVATIONS.items() if a.smoothness >= 3])
def test_difference_quotients_enclose_the_derivative(name: str) -> None:
    chosen = ACTIVATIONS[name]
    z = BallArray.exactly([-3.0, -0.1, 0.0, 0.7, 5.0], 800)
    enclosed, derivative = study.slope_quotient(name, z), ArrayFunction(chosen.derivative(1), chosen.t)(z)
    assert enclosed.overlaps(derivative).all()
    assert enclosed.radius().max() < 1e-60
    assert not (enclosed + 2.0**-100).overlaps(derivative).any()


def test_the_exact_gradient_is_autograd_up_to_rounding() -> None:
    at = case()
    inputs = at.sample(1, seed=5)
    exact = at.runner.exact_reference(one(inputs), ["recursion"], 600)["recursion"]
    floats = at.runner.reference(inputs, ["recursion"])["recursion"][0]
    shape = at.runner.built["shape"]
    assert float(relative_distance(torch.tensor(exact.midpoint()), floats, shape)) < 1e-14


@pytest.mark.long
def test_too_large_for_exact_is_undecided_never_violated() -> None:
    at = case(N=4, K=64, d_x=64, d_y=64, n=4)
    with pytest.raises(TooLargeForExact, match="more than 200,000,000 ball operations"):
        at.exact(at.sample(1, seed=0), ["product"], 96)
    measured = [at.result.quantity("product")]
    budget = Budget(samples=1, attack=0, restarts=1, seed=0)
    (row,) = quantity_rows(at, measured[0], measure(at, measured, budget), budget)
    assert set(row.verdict.values()) == {Verdict.UNDECIDED}
    assert "too large for exact arithmetic" in row.remark


DISTANCES = [([0.0] * 6, [0.0] * 6, 0.0), ([1.0] * 6, [1.0] * 3 + [-1.0] * 3, 2.0), ([0.0] * 6, [1.0] * 6, 1.0)]


@pytest.mark.parametrize(("found", "truth", "expected"), DISTANCES)
def test_distances_of_zero_blocks_and_of_opposite_ones(found: list[float], truth: list[float], expected: float) -> None:
    arguments = {"found": torch.tensor(found), "truth": torch.tensor(truth), "shape": Shape(2, 1, 3, 3)}
    assert float(relative_distance(**arguments)) == expected
    assert abs(run_on_balls(relative_distance, arguments).balls[0] - expected) < 1e-14


# ---- counts, calls


@pytest.mark.parametrize("N", [2, 5])
def test_the_printed_counts_of_two_layers_and_more(N: int) -> None:
    found = rows(case(N=N, K=5, d_x=3, d_y=2))
    assert (found["parameters"].measured, found["parameters"].erratum) == (0, None)
    assert found["parameters"].verdict == {"printed": Verdict.KEPT}
    assert (found["slopes"].measured, found["slopes"].printed) == ((N - 1) * 5 + 2, (N - 2) * 5 + 2)
    assert found["slopes"].verdict == {"printed": Verdict.VIOLATED}
    assert found["slopes"].erratum.weight == Weight.DEFINITION


def test_definition_1_has_a_hidden_layer_and_no_counts_without_one() -> None:
    assert set(rows(case(N=1, K=5, d_x=3, d_y=2))) == {"recursion", "product"}


def test_the_erratum_of_a_length_replays(tmp_path: Path) -> None:
    row = rows(case(N=3))["slopes"]
    path = tmp_path / "witness.json"
    path.write_text(row.witness.model_dump_json())
    again = replay(str(path))
    assert again.verdict == {"printed": Verdict.VIOLATED}
    assert again.erratum == row.erratum


def test_the_result_is_complete() -> None:
    assert {q.kind for q in GRADIENT.quantities} == {Kind.EXACT}
    text = GRADIENT.latex()
    assert r"\odot" in text
    assert r"\left(R_{i}(j - 1) V_{j + 1}^{\top} B(j + 1)^{\top} u\right)" not in text  # flat products
    assert "D_N" in text


def test_calls_that_cannot_be_answered() -> None:
    with pytest.raises(UsageError, match="no activation 'tan'"):
        case(activation="tan")
    with pytest.raises(UsageError, match="no loss 'hinge'"):
        case(loss="hinge")
    with pytest.raises(UsageError, match=r"N = 0 does not meet.*B_v = -1.* does not meet"):
        case(N=0, B_v=-1)
    with pytest.raises(UsageError, match=r"K = 2.5 is not a whole number"):
        case(K=2.5)
    at = case()
    inputs = at.sample(1, 0)
    at.check_inputs(inputs)
    with pytest.raises(UsageError, match="expected w, x, y; got w"):
        at.check_inputs({"w": inputs["w"]})
    with pytest.raises(UsageError, match=r"w: part 0: entry .* is outside"):
        at.check_inputs({**inputs, "w": 10 + inputs["w"]})


def test_memory_is_asked_for_before_it_is_taken() -> None:
    with pytest.raises(UsageError, match="lower N, K, d_x, d_y, n"):
        case(K=1_000_000)
    assert case(K=64).memory(BUDGET) > case(K=4).memory(BUDGET)
