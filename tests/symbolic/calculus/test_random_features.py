"""Random cosine features: the bound in closed form, its events, and straight lines against a grid."""

import math

import numpy as np
import pytest
import sympy as sp

from symbolic.calculus import apply_to_pairs, given, within_budget
from symbolic.calculus.random_features import deviation_of_cosines, error_of_lines
from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.events import total_failure

AT = {"count": 1024, "dim": 4, "radius": 1, "mass": sp.Rational(3, 2), "largest": 5, "delta": sp.Rational(1, 10)}


def test_the_deviation_is_that_of_hoeffding_at_a_cover() -> None:
    found = deviation_of_cosines("g", over="the draw", **AT)
    size, cells = 1.5**4, 1 + 4 * 4 * 5 * 32
    wanted = size / 32 * (1 + math.sqrt(2 * math.log(2 * cells**4 / 0.1)))
    assert float(found.error) == pytest.approx(wanted, rel=1e-12)
    assert found.size == 0
    assert float(total_failure(found.events)) == pytest.approx(0.1)


def test_scores_pass_on_the_deviation_and_its_events() -> None:
    query, keys = given("q", dim=4, size=1, error=sp.Rational(1, 8)), given("k", dim=4, size=1)
    deviation = deviation_of_cosines("g", over="the draw", **AT)
    eps = sp.Rational(1, 16)
    scores = apply_to_pairs(query, keys, "s", count=9, slopes=(2, 3), size=1, eps=eps, radius=1, deviation=deviation)
    assert float(scores.error - deviation.error) == pytest.approx(2 / 8 + 1 / 16)
    assert scores.events == deviation.events
    assert scores.dim == 9


@pytest.mark.parametrize(
    ("deviation", "words"),
    [
        (given("d", dim=2, size=0), "the deviation 'd' has the dimension 2 and the size 0; give the error of one"),
        (given("d", dim=1, size=3), "the deviation 'd' has the dimension 1 and the size 3; give the error of one"),
    ],
)
def test_a_deviation_is_the_error_of_one_number(deviation: object, words: str) -> None:
    with pytest.raises(DerivationError) as error:
        apply_to_pairs(given("q", dim=1, size=1), given("k", dim=1, size=1), "s", count=2, slopes=(1, 1), size=1,
                       deviation=deviation)  # fmt: skip
    assert words in str(error.value)


def test_the_event_of_the_features_has_no_share_of_another_budget() -> None:
    with pytest.raises(DerivationError, match="has no event with a free share"):
        within_budget(deviation_of_cosines("g", over="the draw", **AT), "again", delta=sp.Rational(1, 2))


@pytest.mark.parametrize("cells", [6, 7, 40])
def test_straight_lines_err_by_no_more_than_their_bound_and_nearly_so(cells: int) -> None:
    t, knots = np.linspace(-3, 3, 2401), np.linspace(-3, 3, cells + 1)
    c, s = (np.interp(t, knots, wave(knots)) for wave in (np.cos, np.sin))
    largest = abs(np.outer(c, c) + np.outer(s, s) - np.cos(t[:, None] - t)).max()
    assert 0.9 * float(error_of_lines(3, cells)) < largest <= float(error_of_lines(3, cells))
