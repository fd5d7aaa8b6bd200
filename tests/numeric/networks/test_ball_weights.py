"""Weights that are balls: the real number 1/3, run exactly and refused in torch; and `Construction.of`."""

import flint
import numpy as np
import pytest
import torch

from numeric.balls import BallArray, working_precision
from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.layers import FeedForward, Head, LinearAttention
from numeric.networks.maps import BlockMap
from numeric.networks.network import Network
from numeric.networks.stream import Block, Stream, StreamError

BITS = 128
TINY = flint.arb(2) ** -100
STREAM = Stream([Block("x", 2), Block("y", 1)])


def third() -> BallArray:
    with working_precision(BITS):
        return BallArray([flint.arb(1) / 3], (), BITS)


def matrix() -> BallArray:
    """(2, 1): a third and two thirds."""
    with working_precision(BITS):
        return BallArray([flint.arb(1) / 3, flint.arb(2) / 3], (2, 1), BITS)


def attention(value: BlockMap) -> Construction:
    scores = BlockMap(STREAM, Stream([Block("x", 2)]), {("x", "x"): 1.0})
    return Construction.of("attention", STREAM, LinearAttention((Head("h", scores, scores, value),), residual=True))


TOKENS = np.array([[0.5, -1.0, 1.0], [1.0, 0.25, -3.0]])  # the last one asks


def output(construction: Construction) -> list[flint.arb]:
    return list(run_exact(construction, TOKENS, BITS)["output"].balls)


def is_near(ball: flint.arb, numerator: int, denominator: int) -> bool:
    with working_precision(BITS):
        exact = flint.arb(flint.fmpq(numerator, denominator))
        return bool(ball.overlaps(exact) and ball.rad() < TINY)


def test_a_scaled_block_by_an_exact_third() -> None:
    """<x_1, x_2> = 1/4 and <x_2, x_2> = 17/16: y + (1/4 - 3 * 17/16) / 3 = -3 - 47/48."""
    found = output(attention(BlockMap(STREAM, STREAM, {("y", "y"): third()})))
    assert [float(each) for each in found[:2]] == [1.0, 0.25]
    assert is_near(found[2], -191, 48)


def test_the_float_next_to_a_third_gives_another_number() -> None:
    found = output(attention(BlockMap(STREAM, STREAM, {("y", "y"): 1 / 3})))
    assert not is_near(found[2], -191, 48)
    assert abs(float(found[2]) + 191 / 48) < 1e-15


def test_a_matrix_of_balls() -> None:
    """x gains (1/3, 2/3) times sum_j y_j <x_j, x_2> = 1/4 - 3 * 17/16 = -47/16."""
    found = output(attention(BlockMap(STREAM, STREAM, {("x", "y"): matrix()})))
    assert is_near(found[0], 48 - 47, 48)
    assert is_near(found[1], 12 - 94, 48)


@pytest.mark.parametrize("action", [third, lambda: third().balls[0]], ids=["an array", "a ball"])
def test_torch_refuses_balls_as_weights(action: object) -> None:
    construction = attention(BlockMap(STREAM, STREAM, {("y", "y"): action()}))  # type: ignore[operator]
    with pytest.raises(StreamError, match=r"weights that are balls. Run it exactly, or build it from numbers"):
        Network(construction)


def test_a_bias_of_balls_is_run_exactly_and_refused_in_torch() -> None:
    hidden = Stream([Block("h", 1)])
    inner, outer = BlockMap(STREAM, hidden, {}), BlockMap(hidden, STREAM, {("y", "h"): 1.0})
    bias = np.array(third().balls, dtype=object)
    layer = FeedForward(inner, {"h": bias}, outer, residual=True)
    construction = Construction.of("bias", STREAM, layer)
    assert is_near(output(construction)[2], -8, 3)
    with pytest.raises(StreamError, match="balls"):
        Network(construction)


def test_a_ball_that_is_not_finite_is_refused() -> None:
    with pytest.raises(StreamError, match="finite"):
        BlockMap(STREAM, STREAM, {("y", "y"): flint.arb("inf")})


def test_layers_on_one_stream_take_tokens_and_give_the_last_one() -> None:
    construction = attention(BlockMap(STREAM, STREAM, {("y", "y"): 0.5}))
    assert construction.stream(0) == construction.stream(-1) == STREAM
    assert construction.last_token_only
    tokens = torch.tensor(TOKENS, dtype=torch.float64)[None]
    found = Network(construction).run(tokens, [])["output"]
    assert found.shape == (1, 3)
    expected = torch.tensor([[1.0, 0.25, -3 + 0.5 * (0.25 - 3 * 17 / 16)]], dtype=torch.float64)
    assert torch.allclose(found, expected, rtol=1e-15)


def test_a_construction_of_no_layers_is_refused() -> None:
    with pytest.raises(StreamError, match=r"no layers\. Give at least one"):
        Construction.of("nothing", STREAM)
