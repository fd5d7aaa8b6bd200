"""The numbers at which the tiers are evaluated: the paper's on the paper's ranges, ours on those that are needed."""

import flint
import numpy as np
import pytest
import torch

from bridge.judging.measure import rounding_estimate
from bridge.lowering.relu_sums import interpolate
from bridge.readings.arrays import bounding
from bridge.topics.icgd.values import _cube, printed_letters
from symbolic.calculus.activations import LOSSES, activation
from symbolic.topics.icgd import symbols as letters
from tests.bridge.topics.icgd.built import emulation_of, instance_at, prompt_bounds, setting_of


def test_printed_bounds_speak_of_the_papers_ranges() -> None:
    # R = 0.2 is enough here; the paper's R_1 is at least 1, and its eps_r' is a supremum there.
    sizes = {"N": 2, "K": 64, "d": 64, "B_v": 0.05, "activation": "sigmoid", "relus": 64}
    small, whole = (instance_at("icgd.step", **sizes, R=R) for R in (0.0, 1.0))
    assert emulation_of(small).r.radius < 0.3 < 1.0 == emulation_of(whole).r.radius
    gradient = small.quantity("gradient")
    on_small, on_whole = small.bounds.printed(gradient), whole.bounds.printed(gradient)
    assert on_small is not None
    assert on_whole is not None
    assert on_small.ball > 10 * on_whole.ball  # a sum of ReLUs built for 0.2 is far off at 1
    derived = small.bounds.derived(gradient)
    assert derived is not None
    assert derived.ball < on_whole.ball
    on_paper = printed_letters("gradient", setting_of(small), emulation_of(small))
    assert on_paper[letters.eps_r1] > small.letters.numbers[letters.eps_r1]
    for loss in LOSSES.values():
        for piece in loss.pieces():  # of t, of y and of t - y: each is largest at a corner of |t|, |y| <= 3
            assert _cube(piece, 3.0) == abs(float(piece.argument.subs({loss.t: 3, loss.y: -3})))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("B_y", [1.0, 1e4, 1e9])
def test_the_estimate_of_rounding_is_one_from_above(B_y: float, dtype: str) -> None:
    found = instance_at("icgd.step", N=2, K=8, d=4, n=3, B_y=B_y, relus=64, dtype=dtype)
    names = [quantity.name for quantity in found.bounds.measured]
    exact = found.runs.exact({key: value[:1] for key, value in found.inputs.sample(1, seed=0).items()}, names, 192)
    assert max(rounding for _, rounding in exact.values()) <= rounding_estimate(found)


def test_what_overflows_bounds_nothing() -> None:
    assert float(bounding(torch.tensor([torch.nan], dtype=torch.float64)[0])) == torch.inf
    found = instance_at("icgd.step", N=6, K=2, d=3, n=2, B_v=30.0, loss="log_cosh", relus=64, relus_r1=4)
    drawn = found.inputs.sample(64, seed=1)
    bounds = prompt_bounds(found, found.quantity("gradient"), drawn, "prompt")
    assert bool((bounds > 0).all())


def test_balls_near_a_kink_stay_as_narrow_as_their_argument() -> None:
    # The square loss: two ReLUs that open at t - y = 0, on a range of 1000.
    found = interpolate(activation("tanh").t * 2, activation("tanh").t, 1000.0, cells=2)
    for middle in (1e-3, 1e-7, 1e-12, -1e-5):
        ball = found.relu_sum.exact(flint.arb(middle, 1e-40))
        assert float(ball.rad()) < 1e-14 * abs(middle) + 1e-30
        assert abs(float(ball) - 2 * middle) < 1e-15 * abs(middle) + 1e-30
    assert np.isclose(float(found.relu_sum.exact(flint.arb(0, 1e-20)).rad()), 2e-20, rtol=1.0)
