"""Lemma 14 and Corollary 1.1: kept as derived, attained, and refuted where an erratum says so."""

import dataclasses
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp

from symbolic import UsageError
from symbolic.statements.errata import Weight
from symbolic.topics.icgd.exact_runs import WITNESSES, ExactRun, ExactWitness, descent_without_projection
from symbolic.topics.icgd.step import STEP
from symbolic.topics.icgd.symbols import L, N, eps, eta, n
from symbolic.topics.icgd.trajectory import (
    TRAJECTORY,
    L_f,
    derive_gradient_mapping,
    derive_path,
    gap,
    gradient_mapping_printed,
    path_printed,
    path_with_step_size,
    quantities_for,
    r_0,
    step_recursion,
    zero_quantity,
)

Map = Callable[[np.ndarray], np.ndarray]
DIM, STEPS = 4, 12


def box(w: np.ndarray) -> np.ndarray:
    return np.clip(w, -0.5, 0.5)


def ball(w: np.ndarray) -> np.ndarray:
    return w / max(1.0, 2 * float(np.linalg.norm(w)))


def everything(w: np.ndarray) -> np.ndarray:
    return w


def path_bound(steps: int, step: float, accuracy: float, smooth: float) -> float:
    return float(derive_path(steps).error.subs({eta: step, eps: accuracy, L_f: smooth}))


def mapping_bound(steps: int, step: float, accuracy: float, start: float) -> float:
    return float(derive_gradient_mapping(steps).error.subs({eta: step, eps: accuracy, gap: start}))


class Wave:
    """sum of a_k sin(b_k . w + c_k) with a quadratic part, and a Lipschitz constant of its gradient."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.a, self.b, self.c = rng.normal(size=3), rng.normal(size=(3, DIM)), rng.normal(size=3)
        root = rng.normal(size=(DIM, DIM)) / 3
        self.hessian = root + root.T
        largest = float(np.abs(np.linalg.eigvalsh(self.hessian)).max())
        self.smooth = largest + float(np.sum(np.abs(self.a) * np.sum(self.b**2, axis=1)))

    def value(self, w: np.ndarray) -> float:
        return float(self.a @ np.sin(self.b @ w + self.c) + w @ self.hessian @ w / 2)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        return (self.a * np.cos(self.b @ w + self.c)) @ self.b + self.hessian @ w


def iterate(f: Wave, project: Map, step: float, errors: np.ndarray) -> list[np.ndarray]:
    points = [np.zeros(DIM)]
    for error in errors:
        points.append(project(points[-1] - step * f.gradient(points[-1]) + error))
    return points


def directions(rng: np.random.Generator, length: float) -> np.ndarray:
    errors = rng.normal(size=(STEPS, DIM))
    if rng.random() < 0.5:
        errors[:] = errors[0]  # pushes one way
    return length * errors / np.linalg.norm(errors, axis=1, keepdims=True)


@pytest.mark.long
@pytest.mark.parametrize("project", [box, ball])
def test_no_random_path_leaves_the_derived_bounds(project: Map) -> None:
    rng = np.random.default_rng(11)
    for _ in range(150):
        f = Wave(rng)
        step, accuracy = float(rng.uniform(0.1, 1.0)) / f.smooth, float(rng.choice([1e-3, 0.1, 1.0]))
        near = iterate(f, project, step, directions(rng, step * accuracy))
        exact = iterate(f, project, step, np.zeros((STEPS, DIM)))
        for l in range(1, STEPS + 1):  # noqa: E741 - the paper's letter
            distance = float(np.linalg.norm(near[l] - exact[l]))
            assert distance <= path_bound(l, step, accuracy, f.smooth) * (1 + 1e-9)
        squares = []
        for w, after in itertools.pairwise(near):
            mapping = (w - project(w - step * f.gradient(w))) / step
            squares.append(float(mapping @ mapping))
            # the one inequality that is summed
            assert f.value(after) <= f.value(w) - step / 2 * squares[-1] + step / 2 * accuracy**2 + 1e-12
        decrease = f.value(near[0]) - f.value(near[-1])  # at most f(0) - inf f
        assert np.mean(squares) <= mapping_bound(STEPS, step, accuracy, max(decrease, 0.0)) * (1 + 1e-9) or decrease < 0


def test_the_path_bound_is_attained_and_its_mutant_fails() -> None:
    """f = -L_f w^2/2: w_GD stays at 0."""
    smooth, step, accuracy, w = 3.0, 0.2, 0.01, 0.0
    for l in range(1, 8):  # noqa: E741 - the paper's letter
        w += step * smooth * w + step * accuracy
        assert w == pytest.approx(path_bound(l, step, accuracy, smooth), rel=1e-12)
        assert w > 0.999 * path_bound(l, step, accuracy, smooth)


@pytest.mark.parametrize("accuracy", [0.0, 0.25])
def test_the_mapping_bound_is_attained_and_its_mutant_fails(accuracy: float) -> None:
    """f = w^2/(2 eta) from 1, one step to eta eps: |G| = 1/eta, f falls by 1/(2 eta) - eta eps^2/2, down to there."""
    step = 0.5
    start, reached = 1 / (2 * step), (step * accuracy) ** 2 / (2 * step)
    bound = mapping_bound(1, step, accuracy, start - reached)
    assert (1 / step) ** 2 == pytest.approx(bound, rel=1e-12)
    assert (1 / step) ** 2 > 0.999 * bound


def test_a_step_beyond_one_over_the_constant_can_break_the_descent() -> None:
    """So that the condition of the derivation is needed: f = w^2 L_f/2 with eta L_f = 3 climbs."""
    condition = derive_gradient_mapping().derivation.obligations[0].condition
    assert condition.subs({eta: 3, L_f: 1}) == sp.false
    assert condition.subs({eta: 1, L_f: 1}) == sp.true
    run = ExactRun.of(x=1, y=0, width=100, step=3, steps=1)
    start = run.iterates(sp.Integer(1))[-1]
    assert run.value(start - 3 * run.gradient(start)) > run.value(start)


def test_the_path_is_its_recursion_at_every_depth() -> None:
    recursion = step_recursion()
    at = {eta: sp.Rational(1, 5), eps: sp.Rational(1, 100), L_f: 3}
    factor, offset = recursion.factor.subs(at), recursion.offset.subs(at)
    assert (factor, offset) == (sp.Rational(8, 5), sp.Rational(1, 500))
    stepped = recursion.run([factor] * 9, [offset] * 9, sp.Integer(0))[-1]
    assert sp.simplify(derive_path().error.subs(L, 9).subs(at) - stepped) == 0


def test_derived_is_below_the_printed_statements_where_these_hold() -> None:
    for steps in (1, 2, 5, 40):
        for step in (0.01, 0.3, 2.0):
            at = {eta: step, eps: 0.1, L_f: 0.7, gap: 3.0, n: math.ceil(step)}
            derived = float(derive_path(steps).error.subs(at))
            assert derived < float(path_with_step_size(steps).subs(at)) <= float(path_printed(steps).subs(at))
            mapping = float(derive_gradient_mapping(steps).error.subs(at))
            assert mapping < float(gradient_mapping_printed(steps).subs(at))


@pytest.mark.parametrize("witness", WITNESSES, ids=lambda witness: witness.__name__)
def test_every_erratum_of_a_path_has_a_witness(witness: Callable[[], ExactWitness]) -> None:
    found = witness()
    assert found.attained > found.printed
    assert found.repaired_attained <= found.repaired
    assert witness.__doc__
    assert found.attained.is_Rational
    assert found.run.smoothness > 0  # the function's own L_f


def clipped(gradient: Callable[[float], float], width: float, step: float, error: float, steps: int) -> list[float]:
    points = [0.0]
    for _ in range(steps):
        points.append(min(width, max(-width, points[-1] - step * gradient(points[-1]) + error)))
    return points


def test_the_witnesses_are_what_a_plain_loop_finds() -> None:
    by_name = {witness.__name__: float(witness().attained) for witness in WITNESSES}
    assert by_name["examples_for_step_size"] == pytest.approx(clipped(lambda w: w, 1, 10, 0.1, 1)[-1])
    assert by_name["constant_of_the_risk"] == pytest.approx(-clipped(lambda w: 9 * w, 1 / 9, 1, 1e-3, 2)[-1])
    stopped, free = clipped(lambda w: w - 2, 1, 1, 1e-3, 4)[-1], clipped(lambda w: w - 2, 1e9, 1, 0.0, 4)[-1]
    assert by_name["descent_without_projection"] == pytest.approx(free - stopped)
    jumps = clipped(lambda w: 4 * (w - 0.1), 1, 4, 4e-3, 20)[1:-1]
    moves = [(w - min(1, max(-1, w - 16 * (w - 0.1)))) / 4 for w in jumps]
    assert by_name["steps_up_to_the_constant"] == pytest.approx(min(m**2 for m in moves))
    slow = clipped(lambda w: 0.01 * w - 0.1, 10, 0.01, 0.0, 4)[1:-1]
    assert by_name["least_against_the_sum"] == pytest.approx(min((0.01 * w - 0.1) ** 2 for w in slow))


@pytest.mark.parametrize(("x", "y", "width"), [(2, 1, 2), (-3, 1, 2), (1, 9, 2), (1, 2, 1)])
def test_a_neuron_knows_its_infimum_and_constants(x: int, y: int, width: int) -> None:
    """Its risk is L_n of the paper: the mean of (r(x w) - y)^2 over equal examples, halved, with r(t) = t."""
    neuron = ExactRun.of(x=x, y=y, width=width, step=1, steps=1)
    points = np.linspace(-width, width, 81)
    risk = np.mean([(x * points - y) ** 2 for _ in range(3)], axis=0) / 2
    assert [float(neuron.value(sp.Rational(w))) for w in points] == pytest.approx(risk.tolist())
    assert float(neuron.value(sp.Integer(0)) - neuron.gap) == pytest.approx(risk.min(), abs=5e-3)
    slopes = np.gradient(risk, points, edge_order=2)
    assert [float(neuron.gradient(sp.Rational(w))) for w in points] == pytest.approx(slopes.tolist())
    assert float(neuron.steepest) == pytest.approx(abs(slopes).max())
    assert float(neuron.smoothness) == pytest.approx(abs(np.diff(slopes) / np.diff(points)).max())


def test_descent_without_projection_needs_no_error_of_the_network() -> None:
    """eps > 0 is in the hypotheses, but the distance is all of the missing projection."""
    found = descent_without_projection()
    exact = descent_without_projection(dataclasses.replace(found.run, accuracy=sp.Integer(0)))
    assert found.attained == exact.attained == 1
    inside = descent_without_projection(dataclasses.replace(found.run, width=sp.Integer(3)))  # W holds both paths
    assert inside.attained <= inside.printed


def test_each_witness_has_the_weight_of_its_erratum() -> None:
    weights = {witness.__name__: witness().erratum.weight for witness in WITNESSES}
    assert weights == {
        "examples_for_step_size": Weight.NOTATION,
        "constant_of_the_risk": Weight.DEFINITION,
        "descent_without_projection": Weight.DEFINITION,
        "steps_up_to_the_constant": Weight.NOTATION,
        "least_against_the_sum": Weight.DEFINITION,
    }


def test_the_result_is_complete_and_prints() -> None:
    assert {q.name for q in TRAJECTORY.quantities} == {"path[L]", "gradient_mapping"}
    parameters = {parameter.symbol for parameter in TRAJECTORY.parameters}
    for quantity in TRAJECTORY.quantities:
        assert quantity.derived().free_symbols <= parameters | {L_f, gap}  # values, which the theorem certifies
        assert quantity.printed.bound.free_symbols <= parameters | {L_f, gap}
    assert {L_f, gap} <= set(TRAJECTORY.symbols)
    assert r"L_f^{-1} (1 + n L_f)^l \epsilon" in TRAJECTORY.latex()
    assert sp.simplify(TRAJECTORY.quantity("path[L]").printed.bound - (1 + n * L_f) ** L * eps / L_f) == 0


def test_the_parameters_are_those_of_one_step_and_the_number_of_steps() -> None:
    names = [parameter.name for parameter in TRAJECTORY.parameters]
    assert names == ["L", *(parameter.name for parameter in STEP.parameters)]
    assert {h.parameter for h in TRAJECTORY.hypotheses} == {p.name for p in TRAJECTORY.parameters if p.symbol}


@pytest.mark.parametrize("witness", WITNESSES, ids=lambda witness: witness.__name__)
def test_a_witness_is_its_numbers(witness: Callable[..., ExactWitness]) -> None:
    found = witness()
    found.run.check()
    assert witness(ExactRun.of(**vars(found.run))) == found
    with pytest.raises(UsageError, match="width > 0, accuracy >= 0"):
        ExactRun.of(**{**vars(found.run), "width": 0, "accuracy": -1}).check()


def test_the_gradient_at_zero_is_zero_only_where_it_should_be() -> None:
    bound = zero_quantity().derived()
    assert bound.subs(r_0, 0).subs(N, 3) == 0
    assert bound.subs(r_0, 0).subs(N, 1) != 0
    assert bound.subs(r_0, sp.Rational(1, 2)).subs(N, 2) != 0


def test_the_quantities_of_a_given_number_of_steps() -> None:
    names = [quantity.name for quantity in quantities_for(3)]
    assert names == ["path[1]", "path[2]", "path[3]", "gradient_mapping"]
    assert quantities_for(3)[0].derived() == eta * eps
    with pytest.raises(UsageError, match="steps = 0: give at least one step"):
        quantities_for(0)
