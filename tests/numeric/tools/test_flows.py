"""Integration against solutions in closed form, and every refusal."""

import numpy as np
import pytest
from scipy.linalg import expm

from numeric.tools.flows import difference_jacobian, first_crossing, integrate
from numeric.tools.integration_error import IntegrationError

STIFF = np.array([[-1000.0, 1.0], [0.0, -1e-3]])


def logistic(x: np.ndarray) -> np.ndarray:
    return x * (1 - x)


def logistic_crossing(start: float, level: float) -> float:
    """The time at which x' = x (1 - x) reaches `level`."""
    return float(np.log(level / (1 - level)) - np.log(start / (1 - start)))


def reaches(level: float):
    return lambda states: states[0] - level


def test_a_stiff_linear_flow_agrees_with_the_matrix_exponential():
    path = integrate(lambda x: STIFF @ x, [1.0, 1.0], 5e3, jacobian=lambda _: STIFF, absolute=1e-14)
    for time in (1e-3, 1.0, 100.0, 5e3):
        exact = expm(STIFF * time) @ np.array([1.0, 1.0])
        np.testing.assert_allclose(path.exactly(time), exact, rtol=1e-8)
        np.testing.assert_allclose(path.at(time)[:, 0], exact, rtol=1e-6)
    assert len(path.times) < 2000


@pytest.mark.parametrize("start", [1e-3, 1e-8, 1e-30])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.999])
def test_the_first_crossing_is_that_of_the_closed_form(start, level):
    path = integrate(logistic, [start], 200.0, absolute=1e-40)
    crossing = path.first(reaches(level))
    assert crossing == pytest.approx(logistic_crossing(start, level), rel=1e-8)
    assert crossing != pytest.approx(logistic_crossing(start, level * 0.9999), rel=1e-9)  # the comparison can fail


def test_a_crossing_is_looked_for_from_a_time_on():
    path = integrate(lambda x: np.array([x[1], -x[0]]), [0.0, 1.0], 20.0)  # (sin, cos)
    assert path.first(reaches(0.5)) == pytest.approx(np.pi / 6, rel=1e-8)
    assert path.first(reaches(0.5), after=4.0) == pytest.approx(2 * np.pi + np.pi / 6, rel=1e-8)
    assert path.first(reaches(0.5), after=1.0) == 1.0  # it is above there
    assert path.first(reaches(1.5)) is None


def test_the_jacobian_by_differences_is_of_fourth_order():
    """Of (sin x + y, x y): exact slopes, and sixteen times nearer at half the step."""

    def field(at: np.ndarray) -> np.ndarray:
        return np.array([np.sin(at[0]) + at[1], at[0] * at[1]])

    at = np.array([0.7, -0.4])
    exact = np.array([[np.cos(0.7), 1.0], [-0.4, 0.7]])
    far, near = (abs(difference_jacobian(field, at, step) - exact).max() for step in (0.1, 0.05))
    assert far / near == pytest.approx(16, rel=0.05)
    np.testing.assert_allclose(difference_jacobian(field, at, 1e-3), exact, atol=1e-12)


def test_first_crossings() -> None:
    time = np.array([0.0, 1.0, 2.0, 4.0])
    assert first_crossing(time, np.array([-1.0, -1.0, 1.0, -5.0])) == 1.5
    assert first_crossing(time, np.array([0.0, -1.0, 1.0, 1.0])) == 0.0
    assert first_crossing(time, np.array([-1.0, -1.0, -1.0, -1.0])) is None


def test_a_run_stops_at_its_event():
    path = integrate(logistic, [0.1], 1e3, stop=reaches(0.5))
    assert path.end == pytest.approx(logistic_crossing(0.1, 0.5), rel=1e-8)
    assert path.steps[0, -1] == pytest.approx(0.5, rel=1e-8)


def test_stiffness_that_is_overlooked_costs_time_but_no_digits(monkeypatch):
    """With next to no evaluations allowed the first method always gives up."""
    monkeypatch.setattr("numeric.tools.flows.MOST_EVALUATIONS", 5)
    path = integrate(lambda x: STIFF @ x, [1.0, 1.0], 100.0, jacobian=lambda _: STIFF, absolute=1e-14)
    np.testing.assert_allclose(path.steps[:, -1], expm(STIFF * 100.0) @ np.array([1.0, 1.0]), rtol=1e-8)


def test_what_cannot_be_integrated_is_refused_with_the_place():
    with pytest.raises(IntegrationError, match="not finite at the state"):
        integrate(lambda x: np.array([np.nan]), [1.0], 1.0)
    noise = np.random.default_rng(0)
    with pytest.raises(IntegrationError, match=r"followed to t = .* of 2, state"):
        integrate(lambda x: 1e6 * noise.standard_normal(1), [1.0], 2.0)  # no step is small enough
    with pytest.raises(ValueError, match="end = 0"):
        integrate(logistic, [0.1], 0.0)
    with pytest.raises(ValueError, match="outside of the run"):
        integrate(logistic, [0.1], 1.0).at([0.5, 2.0])
