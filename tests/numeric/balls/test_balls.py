"""Arrays of balls: what an operation encloses, and what it refuses."""

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numeric.balls import BallArray, ball_maximum, float_above, float_below, working_precision

finite = st.floats(allow_nan=False, allow_infinity=False)


def thirds(bits: int = 80) -> BallArray:
    with working_precision(bits):
        return BallArray([flint.arb(n) / 3 for n in (1, -2, 4, -5)], (2, 2), bits)


def test_precision_is_restored_also_after_an_error():
    before = flint.ctx.prec
    with working_precision(333):
        assert flint.ctx.prec == 333
    with pytest.raises(ValueError, match="planted"), working_precision(333):
        raise ValueError("planted")
    assert flint.ctx.prec == before


@given(value=finite)
def test_floats_enter_exactly_and_leave_unchanged(value):
    balls = BallArray.exactly(np.array([value]))
    assert balls.midpoint()[0] == value
    assert balls.radius()[0] == 0
    assert float_above(flint.arb(value)) == value == float_below(flint.arb(value))


@given(numerator=st.integers(-(10**30), 10**30), exponent=st.integers(-1200, 900))
def test_rounded_ends_enclose_the_number(numerator, exponent):
    with working_precision(200):
        ball = flint.arb(numerator) / 7 * flint.arb(2) ** exponent
        assert flint.arb(float_below(ball)) <= ball <= flint.arb(float_above(ball))


def test_maximum_of_balls_encloses_what_python_misses():
    # Python's max keeps [0 +/- 1] whichever way, though the other number may be the larger one.
    wide, narrow = flint.arb(0, 1), flint.arb(0.5)
    largest = ball_maximum([wide, narrow])
    assert largest.contains(flint.arb(1))
    assert largest.contains(narrow)
    assert float_below(largest) >= 0.5 - 1e-6


def test_norms_of_differences_are_enclosures():
    with working_precision(200):
        third = flint.arb(1) / 3
        difference = thirds() - np.array([[1.0, -1.0], [1.0, -1.0]]) / 3  # 1/3 rounded to float64
        exact_sup = abs(flint.arb(-5) / 3 + flint.arb(1.0 / 3))
        exact_sum = sum(
            (abs(flint.arb(n) / 3 - flint.arb(s / 3)) for n, s in [(1, 1), (-2, -1), (4, 1), (-5, -1)]), flint.arb(0)
        )
        assert difference.sup_norm().overlaps(exact_sup)
        assert difference.one_norm().overlaps(exact_sum)
        assert float((exact_sum - difference.one_norm()).rad()) < 1e-20
        assert not difference[0, 0].sup_norm().contains(0)  # 1/3 is not a float64
        assert third.overlaps(thirds()[0, 0].balls[0])


def test_indexing_is_numpys():
    balls = thirds()
    for key in [0, -1, (slice(None), 1), (0, slice(0, 1)), (..., 0, slice(None)), slice(1, 2)]:
        np.testing.assert_array_equal(balls[key].midpoint(), balls.midpoint()[key])
        assert balls[key].shape == balls.midpoint()[key].shape
    assert balls.reshape(4, -1).shape == (4, 1)


def test_contains_and_overlaps_tell_places_apart():
    balls = thirds()
    exact_plus = BallArray.exactly(balls.midpoint())
    assert not balls.overlaps(exact_plus).any()  # at 80 bits the balls exclude the rounded thirds
    assert not balls.contains(balls.midpoint()).any()
    assert (balls - balls).contains(np.zeros((2, 2))).all()
    assert (balls + 1.0 - 1.0).overlaps(balls).all()


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"shapes \(2, 2\) and \(4,\) differ. Index or reshape"):
        thirds() - thirds().reshape(4)
    with pytest.raises(ValueError, match=r"1 balls for the shape \(2,\)"):
        BallArray([flint.arb(1)], (2,), 53)
