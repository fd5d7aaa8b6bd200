"""`solve`: the knob that it returns is enough, and a little less of it is not."""

import math

import pytest

from bridge import solve
from symbolic import UsageError


@pytest.mark.parametrize("tier", ["derived", "printed", "instance"])
@pytest.mark.parametrize("error", [1e-1, 1e-6, 1e-12])
def test_the_slope_is_the_least_that_meets_the_error(tier: str, error: float) -> None:
    solution = solve("induction.vanilla", for_="p", error=error, tier=tier, L=64, W_star="random:1")
    assert solution.bound <= error
    short = solve("induction.vanilla", for_="error", tier=tier, L=64, W_star="random:1", p=0.999 * solution.value)
    assert short.bound > error


def test_the_closed_form_agrees_with_bisection() -> None:
    solution = solve("induction.vanilla", for_="p", error=1e-3, tier="printed")
    assert solution.closed_form == "log((4*W_norm + error)/error)"
    assert solution.value == pytest.approx(math.log((4 + 1e-3) / 1e-3), rel=1e-9)


def test_for_a_rising_bound_the_largest_whole_number_is_returned() -> None:
    solution = solve("induction.vanilla", for_="L", error=0.267, p=2)
    assert solution.bound <= 0.267
    assert solve("induction.vanilla", for_="error", L=solution.value + 1, p=2).bound > 0.267


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"for_": "p"}, "error = None has to be a positive number"),
        ({"for_": "p", "error": -1}, "error = -1 has to be a positive number"),
        ({"for_": "p", "error": math.nan}, "error = nan"),
        ({"for_": "error", "error": 1.0}, "leave out error"),
        ({"for_": "W_star", "error": 0.1}, "W_star is not a number"),
        ({"for_": "pp", "error": 0.1}, "no parameter 'pp'"),
        ({"for_": "p", "error": 0.1, "p": 3}, "do not set it"),
        ({"for_": "p", "error": 0.1, "L": (3, 4)}, "L has several values"),
        ({"for_": "p", "error": 0.1, "tier": "best"}, "tier 'best'"),
        ({"for_": "p", "error": 0.1, "quantity": "weights"}, "no derived bound"),
        ({"for_": "p", "error": 0.1, "quantity": "outptu"}, "no quantity 'outptu'"),
        ({"for_": "d", "error": 0.1, "W_star": "random:1"}, "does not speak of d"),
    ],
)
def test_what_cannot_be_solved_is_refused(call: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solve("induction.vanilla", **call)


@pytest.mark.parametrize("id", ["induction.lyapunov_head", "induction.phases", "induction.karamata"])
def test_results_that_bound_no_error_have_nothing_to_solve(id: str) -> None:
    with pytest.raises(UsageError, match="bounds no error that a parameter could bring down"):
        solve(id, for_="alpha", error=0.1)
