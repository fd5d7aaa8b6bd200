"""The gradient: rounding only, verdicts by exact arithmetic, and wrong formulas that are called wrong."""

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
import torch

from bridge.instances.instance import Instance
from bridge.instances.search import memory_of
from bridge.judging.judged import rows_at
from bridge.limits.run import Format, Run
from bridge.lowering.formula import ArrayFunction
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem import Theorem
from bridge.topics.icgd import gradient as own
from numeric.balls.limits import TooLargeForExact
from numeric.balls.running import run_on_balls
from numeric.tools.layered import Shape, relative_distance
from symbolic.calculus.activations import ACTIVATIONS, LOSSES
from symbolic.statements.result import Kind
from symbolic.topics.icgd.gradient import GRADIENT
from symbolic.words.errors import UsageError

SMALL = {"N": 3, "K": 4, "d_x": 3, "d_y": 2, "n": 2}
FORMS = ["recursion", "product"]
BUDGET = Run(samples=8, attack=3, restarts=4, seed=0)


def instance_at(dtype: str = "float64", theorem: Theorem = own.GRADIENT, **params: Any) -> Instance:
    return Instance.of(theorem, {**SMALL, **params}, Run(format=Format.named(dtype)))


def rows(at: Instance) -> dict[str, Row]:
    return {row.quantity: row for row in rows_at(at, BUDGET)}


SIZES = [
    {"N": 1, "K": 1, "d_x": 3, "d_y": 5, "n": 1},
    {"N": 2, "K": 64, "d_x": 1, "d_y": 7, "n": 3},
    {"N": 3, "K": 16, "d_x": 10, "d_y": 1, "n": 20},
    {"N": 4, "K": 1, "d_x": 2, "d_y": 2, "n": 5},
    {"N": 5, "K": 7, "d_x": 64, "d_y": 3, "n": 2},
    {"N": 6, "K": 64, "d_x": 64, "d_y": 64, "n": 1},
]
FUNCTIONS = [{"activation": activation, "loss": loss} for activation in ACTIVATIONS for loss in LOSSES]


@pytest.mark.parametrize("params", [*SIZES, *FUNCTIONS], ids=str)
def test_both_forms_are_autograd_up_to_rounding(params: dict[str, Any]) -> None:
    at = instance_at(**params)
    errors = at.runs.errors(at.inputs.sample(4, seed=1), FORMS)
    assert all(float(error.max()) <= 1e-12 for error in errors.values())


@pytest.mark.parametrize("params", [{}, {"N": 1}, {"activation": "sigmoid", "loss": "logistic"}], ids=str)
def test_identities_are_kept_and_judged_exactly(params: dict[str, Any]) -> None:
    found = rows(instance_at(**params))
    for name in FORMS:
        row = found[name]
        assert set(row.verdict) == {"printed", "derived", "instance"}
        assert set(row.verdict.values()) == {Verdict.KEPT}
        assert row.printed == row.derived == row.instance == 0.0
        assert row.exact is not None
        assert row.exact < 2.0**-60
        assert row.rounding is not None


def test_float32_differs_by_its_own_rounding_and_is_still_kept() -> None:
    row = rows(instance_at(dtype="float32"))["recursion"]
    assert 1e-9 < row.measured < 1e-4
    assert set(row.verdict.values()) == {Verdict.KEPT}


def test_a_slope_off_by_a_millionth_is_violated_with_a_witness() -> None:
    """The reference takes its slopes from difference quotients of r, so a wrong r' is not a part of it."""

    def off(activation: Any) -> ArrayFunction:
        right = own.GRADIENT.built["r1"](activation)
        return ArrayFunction(right.expr * sp.Rational(1000001, 1000000), *right.symbols)

    found = rows(instance_at(theorem=replace(own.GRADIENT, built={**own.GRADIENT.built, "r1": off})))
    for row in (found[form] for form in FORMS):
        assert set(row.verdict.values()) == {Verdict.VIOLATED}
        assert row.witness is not None
        assert row.witness.error_lower > 1e-7
        assert set(row.witness.inputs) == {"w", "x", "y"}


def test_the_exact_gradient_is_autograd_up_to_rounding() -> None:
    at = instance_at()
    inputs = at.inputs.sample(1, seed=5)
    prompt = {name: value[0] for name, value in inputs.items()}
    exact = at.networks.exact_reference(prompt, ["recursion"], 600)["recursion"]
    floats = at.networks.reference(inputs, ["recursion"])["recursion"][0]
    assert float(relative_distance(torch.tensor(exact.midpoint()), floats, at.known.built["shape"])) < 1e-14


@pytest.mark.long
def test_a_run_that_is_too_large_for_balls_is_given_up() -> None:
    at = instance_at(N=4, K=64, d_x=64, d_y=64, n=4)
    with pytest.raises(TooLargeForExact, match="more than 200,000,000 ball operations"):
        at.runs.exact(at.inputs.sample(1, seed=0), ["product"], 96)


DISTANCES = [([0.0] * 6, [0.0] * 6, 0.0), ([1.0] * 6, [1.0] * 3 + [-1.0] * 3, 2.0), ([0.0] * 6, [1.0] * 6, 1.0)]


@pytest.mark.parametrize(("found", "truth", "expected"), DISTANCES)
def test_distances_of_zero_blocks_and_of_opposite_ones(found: list[float], truth: list[float], expected: float) -> None:
    arguments = {
        "found": torch.tensor(found, dtype=torch.float64),
        "truth": torch.tensor(truth, dtype=torch.float64),
        "shape": Shape(2, 1, 3, 3),
    }
    assert float(relative_distance(**arguments)) == expected
    assert abs(run_on_balls(relative_distance, arguments).balls[0] - expected) < 1e-14


# ---- counts, calls


@pytest.mark.parametrize("N", [2, 5])
def test_the_printed_counts_of_two_layers_and_more(N: int) -> None:
    found = rows(instance_at(N=N, K=5, d_x=3, d_y=2))
    assert (found["parameters"].measured, found["parameters"].erratum) == (0, None)
    assert found["parameters"].verdict == {"printed": Verdict.KEPT}
    assert (found["slopes"].measured, found["slopes"].printed) == ((N - 1) * 5 + 2, (N - 2) * 5 + 2)
    assert found["slopes"].verdict == {"printed": Verdict.VIOLATED}


def test_definition_1_has_a_hidden_layer_and_no_counts_without_one() -> None:
    assert set(rows(instance_at(N=1, K=5, d_x=3, d_y=2))) == {"recursion", "product"}


def test_the_result_is_complete() -> None:
    assert {q.kind for q in GRADIENT.quantities} == {Kind.EXACT}
    text = GRADIENT.latex()
    assert r"\odot" in text
    assert r"\left(R_{i}(j - 1) V_{j + 1}^{\top} B(j + 1)^{\top} u\right)" not in text  # flat products
    assert "D_N" in text


def test_inputs_outside_the_box_and_sizes_below_1_are_refused() -> None:
    with pytest.raises(UsageError, match=r"N = 0 does not meet.*B_v = -1.* does not meet"):
        instance_at(N=0, B_v=-1)
    at = instance_at()
    inputs = at.inputs.sample(1, 0)
    with pytest.raises(UsageError, match=r"w: part 0: entry .* is outside"):
        at.inputs.require({**inputs, "w": 10 + inputs["w"]})


def test_memory_grows_with_the_sizes_and_with_the_prompts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="lower N, K, d_x, d_y, n"):
        instance_at(K=1_000_000)
    together = memory_of(instance_at(K=64), BUDGET)
    assert together > memory_of(instance_at(K=4), BUDGET)
    monkeypatch.setattr("bridge.instances.known.LARGEST_PART", 1)
    assert together > memory_of(instance_at(K=64), BUDGET)
