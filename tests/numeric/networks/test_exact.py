import dataclasses

import flint
import numpy as np
import pytest
import torch
from mpmath import mp

from numeric.balls import BallArray, exact_softmax, working_precision
from numeric.balls.limits import TooLargeForExact
from numeric.networks.exact import run_exact
from numeric.networks.exact_cost import exact_cost
from numeric.networks.network import Network
from numeric.networks.stream import StreamError
from numeric.topics.induction.vanilla import vanilla
from tests.counting import lines
from tests.numeric.by_definition import run_by_definition
from tests.numeric.cases import CASES, D, random_prompts


def prompt(length: int = 6) -> np.ndarray:
    return np.random.default_rng(5).uniform(-1, 1, (length, D))


def as_balls(values: np.ndarray, digits: int) -> BallArray:
    """Numbers of mpmath, correct to `digits` digits relative to 1, as balls."""
    with mp.workdps(digits + 20), working_precision(4 * digits):
        radius = flint.arb(10) ** -digits
        balls = [flint.arb(mp.nstr(value, digits + 10)) + radius * flint.arb(0, 1) for value in values.ravel()]
        return BallArray(balls, values.shape, 4 * digits)


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("case", CASES)
def test_balls_meet_the_definition_in_mpmath(case, bits):
    construction, x = CASES[case](), prompt()
    exact = run_exact(construction, x, bits=bits)
    expected = run_by_definition(construction, x, digits=60)
    assert exact.keys() == expected.keys()
    for name, value in expected.items():
        assert exact[name].shape == value.shape
        assert exact[name].overlaps(as_balls(value, 45)).all(), name
        assert exact[name].radius().max() < 2.0 ** (20 - bits)


@pytest.mark.parametrize("case", CASES)
def test_torch_is_within_rounding_of_the_balls(case):
    construction, x = CASES[case](), prompt(20)
    exact = run_exact(construction, x)
    for name, value in Network(construction).run(torch.tensor(x)[None]).items():
        difference = exact[name] - value[0].numpy()
        assert float(difference.sup_norm().upper()) <= 1e-13 * max(1.0, float(value.abs().max())), name


def test_a_changed_weight_is_noticed():
    x, bumped = prompt(), np.array(CASES["vanilla, masked"]().layers[1].heads[0].key.action["y", "y"])
    bumped[0, 0] = np.nextafter(bumped[0, 0], 9.0)
    left = run_exact(CASES["vanilla, masked"](), x)["output"]
    assert not left.overlaps(run_exact(vanilla(1.5, bumped), x)["output"]).any()


def test_more_bits_give_narrower_balls_inside_the_wider_ones():
    x = prompt(30)
    wide, narrow = (run_exact(CASES["vanilla, gated"](), x, bits=bits)["output"] for bits in (60, 240))
    assert wide.overlaps(narrow).all()
    assert narrow.radius().max() < 1e-60 < wide.radius().max()


def test_low_precision_widens_the_balls_and_never_lies():
    construction, x = CASES["softmax, alibi"](), prompt()
    coarse = run_exact(construction, x, bits=12)["output"]
    assert coarse.overlaps(run_exact(construction, x, bits=300)["output"]).all()


def test_softmax_pivot_does_not_widen():
    with working_precision(100):
        weights = exact_softmax([flint.arb(1000), flint.arb(1000, 1e-20), flint.arb(-1000)])
        assert all(ball.is_finite() for ball in weights)
        assert float(weights[0].rad()) < 1e-19
        assert weights[0].contains(flint.arb(1) / (2 + (flint.arb(-2000)).exp()))


def test_precision_of_the_caller_is_kept():
    before = flint.ctx.prec
    run_exact(CASES["relu"](), prompt(), bits=300)
    assert flint.ctx.prec == before


def test_work_grows_with_the_length_when_only_the_last_token_counts():
    def steps(length):
        x = random_prompts(length, 16, 1, seed=0)[0].numpy()
        return lines(lambda: run_exact(vanilla(2.0, np.eye(16) / 16), x))

    assert steps(512) < 2 * steps(256)  # four times with a weight for each pair of tokens


def test_too_large_is_said_before_starting():
    def refused():
        with pytest.raises(
            TooLargeForExact, match=r"a prompt of 20000 tokens needs [\d,]+ ball operations .*Take a shorter prompt"
        ):
            run_exact(construction, x)

    construction, x = CASES["softmax, alibi"](), prompt(20_000)
    assert lines(refused) < len(x)


def test_linear_attention_costs_a_matrix_for_each_head_and_no_scores():
    """It grows with the length, not with its square, but for the scores that are tapped."""
    construction, taps = CASES["linear"](), CASES["linear"]().taps
    costs = [exact_cost(construction, length, {}).operations for length in (100, 200)]
    assert costs[1] == 2 * costs[0]
    assert exact_cost(construction, 1000, {}).operations < exact_cost(CASES["relu"](), 1000, {}).operations / 20
    scores = exact_cost(construction, 200, {"s": taps["scores[1]"]}).operations - costs[1]
    assert scores >= 200**2
    assert exact_cost(construction, 200, {"w": taps["weights[1]"]}).exponentials == 0


def test_the_limit_counts_the_taps_that_are_asked_for():
    construction, x = CASES["free, alibi"](), prompt(100)
    run_exact(construction, x, taps=["y"], limit=200_000)
    with pytest.raises(TooLargeForExact, match=r"the limit is 200,000\. Take a shorter prompt, request fewer taps"):
        run_exact(construction, x, taps=["kernel"], limit=200_000)


@pytest.mark.parametrize("x", [np.ones((4, D + 1)), np.full((4, D), np.nan), np.ones((0, D))])
def test_inputs_that_do_not_fit_are_refused(x):
    with pytest.raises(StreamError, match=r"Give one prompt of finite numbers, of shape \(length, 3\)"):
        run_exact(CASES["relu"](), x)


def test_only_the_taps_asked_for_are_returned():
    assert run_exact(CASES["relu"](), prompt(), taps=["y[1]"]).keys() == {"y[1]", "output"}


def test_tap_on_a_block_that_nothing_writes_is_zero():
    construction = CASES["vanilla, masked"]()
    renamed = dataclasses.replace(construction, taps={"empty": dataclasses.replace(construction.taps["y"], layer=2)})
    assert run_exact(renamed, prompt())["empty"].sup_norm() == 0
