"""Flows followed at numbers, against solutions in closed form; and every refusal."""

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp

import boundsmith as bs
from bridge.topics.tools.flows import JoinedTrajectory, Trajectory, follow
from symbolic.dynamics import Flow
from symbolic.words.errors import UsageError

x, y = sp.symbols("x y", real=True)
rate, level = sp.symbols("rate level", positive=True)
logit = sp.Symbol("logit", real=True)
LOGISTIC = Flow((x,), (rate * x * (1 - x),))


def logistic(times: Any, start: float, speed: float) -> np.ndarray:
    return 1 / (1 + (1 / start - 1) * np.exp(-speed * np.asarray(times)))


def crossing(start: float, speed: float, height: float) -> float:
    """The time at which x' = rate x (1 - x) reaches a height."""
    return float(np.log(height / (1 - height)) - np.log(start / (1 - start))) / speed


def grown(start: float = 1e-3, end: float = 30.0, **more: Any) -> Trajectory:
    return follow(LOGISTIC, {x: start}, end, {rate: 2.0}, **more)


def test_formulas_in_coordinates_letters_and_views_read_the_run() -> None:
    run, times = grown(views={logit: sp.log(x / (1 - x))}), np.array([0.0, 2.5, 7.0])
    found = run.at(times, x, rate * x**2, logit, sp.Integer(3))
    exact = logistic(times, 1e-3, 2.0)
    np.testing.assert_allclose(found, [exact, 2 * exact**2, np.log(exact / (1 - exact)), np.full(3, 3.0)], rtol=1e-6)
    assert run.exactly(2.5, logit) == pytest.approx(np.log(1e-3 / (1 - 1e-3)) + 5.0, abs=1e-8)
    assert run.last(x) == pytest.approx((logistic(30.0, 1e-3, 2.0),), rel=1e-9)


@pytest.mark.parametrize("height", [0.01, 0.5, 0.999])
def test_an_event_is_where_a_formula_turns_positive(height: float) -> None:
    run, exact = grown(), crossing(1e-3, 2.0, height)
    assert run.first(x - level, letters={level: height}) == pytest.approx(exact, rel=1e-8)
    assert run.first(x - level, letters={level: height * 0.9999}) != pytest.approx(exact, rel=1e-9)
    assert run.first(x - level, after=exact + 1.0, letters={level: height}) == exact + 1.0
    assert run.first(x - 2) is None


def test_a_run_stops_where_a_formula_says() -> None:
    run = grown(end=1e3, stop=logit, views={logit: sp.log(x / (1 - x))})
    assert run.end == pytest.approx(crossing(1e-3, 2.0, 0.5), rel=1e-8)


def test_a_gradient_flow_of_a_quadratic_decays_along_its_eigenvectors() -> None:
    """Stiff: the rates are 1000 and 1. The loss of the slow direction is e^(-2 t) / 2."""
    fast = sp.Symbol("fast", positive=True)
    loss = fast * x**2 / 2 + y**2 / 2
    run = bs.dynamics.follow(bs.dynamics.gradient_flow(loss, (x, y)), {x: 1, y: 1}, 10, {fast: 1000})
    assert run.exactly(5.0, loss) == pytest.approx(np.exp(-10.0) / 2, rel=1e-7)
    assert len(run.path.times) < 2000


@pytest.mark.parametrize("height", [0.01, 0.999])
def test_joined_runs_are_one(height: float) -> None:
    """First as x, then as log x: both read as x."""
    log_x, seen = sp.symbols("log_x seen", real=True)
    first = grown(end=3.0, views={seen: x})
    second = follow(
        Flow((log_x,), (rate * (1 - sp.exp(log_x)),)), {log_x: np.log(first.last(x)[0])}, 50, {rate: 2.0},
        views={seen: sp.exp(log_x)},
    )  # fmt: skip
    joined, whole = JoinedTrajectory((first, second)), grown(end=53.0)
    assert joined.end == 53.0
    exact = crossing(1e-3, 2.0, height)
    assert joined.first(seen - level, letters={level: height}) == pytest.approx(exact, rel=1e-8)
    assert joined.first(seen - level, after=20.0, letters={level: height}) == 20.0
    assert joined.first(seen - 2) is None
    for times in (np.array([0.0, 2.9, 3.0, 3.1, 30.0]), np.array([30.0])):
        np.testing.assert_allclose(joined.at(times, seen), whole.at(times, x), rtol=1e-6)
    for time in (1.0, 4.0):
        assert joined.exactly(time, seen) == pytest.approx(whole.exactly(time, x), rel=1e-8)


@pytest.mark.parametrize(
    ("start", "letters", "end", "message"),
    [
        ({}, {rate: 1.0}, 1.0, r"follow: start=\{\}; give a finite number for each coordinate, also for x"),
        ({x: np.inf}, {rate: 1.0}, 1.0, "follow: start=.x: inf.; give a finite number for each coordinate"),
        ({x: 0.1}, {}, 1.0, r"follow: letters=\{\}; give a finite number for each letter, also for rate"),
        ({x: 0.1}, {rate: 1.0}, 0.0, "follow: end = 0.0; give a positive finite number"),
    ],
    ids=["start", "infinite", "letters", "end"],
)
def test_what_cannot_be_followed_is_refused(start: dict, letters: dict, end: float, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        follow(LOGISTIC, start, end, letters)


def test_formulas_and_times_that_a_run_does_not_have_are_refused() -> None:
    run = grown()
    with pytest.raises(UsageError, match="evaluate: y has no value in x \\+ y; got values for rate, x; add it"):
        run.at([1.0], x + y)
    with pytest.raises(UsageError, match=r"Trajectory.at: times 31 .. 31 are outside of the run, 0 .. 30"):
        run.at([31.0], x)
    with pytest.raises(UsageError, match=r"times 30\.0000001 .. 30\.0000001 are outside of the run, 0 .. 30$"):
        run.at([30.0000001], x)
    with pytest.raises(UsageError, match="evaluate: y has no value"):
        grown(stop=x - y)


def test_no_times_give_no_values() -> None:
    run = grown()
    for each in (run, JoinedTrajectory((run, run))):
        assert each.at([], x, rate * x).shape == (2, 0)
    with pytest.raises(UsageError, match=r"JoinedTrajectory.at: times 61 .. 61 are outside of the run, 0 .. 60"):
        JoinedTrajectory((run, run)).at([61.0], x)


@pytest.mark.parametrize("time", [-1.0, 2.0, math.nan])
def test_a_time_outside_of_the_run_is_refused(time: float) -> None:
    run = follow(Flow((x,), (-x,)), {x: 1}, 1.0)
    for call in (lambda: run.exactly(time, x), lambda: run.first(x, time)):
        with pytest.raises(UsageError, match=r"is outside of the run, 0 \.\. 1"):
            call()
