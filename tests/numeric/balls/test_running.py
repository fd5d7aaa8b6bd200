"""Functions written once in torch, run on tensors and on balls; what is exact, what is refused."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from numeric.balls import BallArray, BallsError, dispatch, elementwise, working_precision
from numeric.balls.limits import TooLargeForExact
from numeric.balls.running import run_on_balls

WEIGHT = torch.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=torch.float64)


def attention(X, x, y, scale):
    mask = torch.tril(torch.ones(X.shape[0], X.shape[0], dtype=torch.float64)) > 0
    scores = (X @ X.mT / scale).masked_fill(~mask, -math.inf)
    return {"causal": torch.softmax(scores, -1) @ y, "last": torch.softmax(X @ x, 0) @ y}


def network(x, W, layers):
    for _ in range(layers):
        x = torch.tanh(W @ x) + WEIGHT.sum() / x.shape[0]
    return x.abs().max()


def ridge(X, y, penalty):
    d = X.shape[1]
    w = torch.linalg.solve(X.T @ X + penalty * torch.eye(d, dtype=torch.float64), X.T @ y)
    return w, torch.linalg.norm(X @ w - y, math.inf)


def clipped_step(W, x, eta, n):
    return torch.clamp(W - eta / n * torch.outer(torch.relu(W @ x), x), -1, 1)


def draws(*shape):
    return torch.rand(shape, dtype=torch.float64) * 2 - 1


@pytest.mark.parametrize(
    ("function", "batch", "rest"),
    [
        (attention, {"X": (5, 3), "x": (3,), "y": (5,)}, {"scale": 3}),
        (network, {"x": (3,), "W": (3, 3)}, {"layers": 4}),
        (ridge, {"X": (6, 3), "y": (6,)}, {"penalty": 0.1}),
        (clipped_step, {"W": (3, 3), "x": (3,)}, {"eta": 0.3, "n": 7}),
    ],
)
def test_a_function_runs_alike_under_vmap_and_on_balls(function, batch, rest):
    inputs = {name: draws(4, *shape) for name, shape in batch.items()}
    floats = torch.func.vmap(lambda given: function(**given, **rest))(inputs)
    for prompt in range(4):
        exact = run_on_balls(function, {**{name: value[prompt] for name, value in inputs.items()}, **rest})
        pairs = zip(
            floats.values() if isinstance(floats, dict) else floats if isinstance(floats, tuple) else [floats],
            exact.values() if isinstance(exact, dict) else exact if isinstance(exact, tuple) else [exact],
            strict=True,
        )
        for found, balls in pairs:
            np.testing.assert_allclose(balls.midpoint(), found[prompt].numpy(), atol=1e-12)
            assert balls.radius().max() < 1e-30


def test_factories_inside_give_exact_thirds():
    def thirds():
        return (
            torch.ones(3, dtype=torch.float64) / 3,
            torch.tensor(1) / 3,
            torch.arange(3) / 3,
            torch.tensor([1.0], dtype=torch.float64)[0] / torch.full((), 3),
        )

    for balls in run_on_balls(thirds, {}, bits=200):
        with working_precision(400):
            errors = [3 * ball - round(3 * float(ball.mid())) for ball in balls.balls]
        assert all(error.contains(0) for error in errors)
        assert 0 < balls.radius().max() < 2.0**-199


def test_numbers_enter_exactly():
    big = 2**62 + 1
    with working_precision(53):
        assert BallArray.exactly(torch.tensor([big])).balls[0] == flint.arb(big)
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        tensor = torch.tensor([0.1, -3.7], dtype=dtype)
        balls = BallArray.exactly(tensor)
        assert balls.midpoint().tolist() == tensor.double().tolist()
        assert balls.radius().max() == 0
    assert (BallArray.exactly(np.array([1.0])) * Fraction(1, 3) * 3).contains(np.ones(1)).all()


def test_python_floats_are_divided_exactly():
    step = run_on_balls(lambda eta, n: eta / n, {"eta": 0.1, "n": 3})
    assert (step * 3).contains(np.array(0.1)).all()
    assert step.radius() > 0


@pytest.mark.parametrize(
    "left", [torch.eye(2, dtype=torch.float64), np.eye(2), WEIGHT.float(), torch.eye(2, dtype=torch.int64)]
)
def test_tensors_and_arrays_on_the_left(left):
    balls = BallArray.exactly(np.array([[1.0, 2.0], [3.0, 4.0]]))
    same = BallArray.exactly(left)
    for found, expected in [
        (left @ balls, same @ balls),
        (left * balls, same * balls),
        (left - balls, same - balls),
        (left / balls, same / balls),
    ]:
        assert isinstance(found, BallArray)
        assert found.overlaps(expected).all()
        assert found.radius().max() < 1e-30
    assert (left < balls).entries.tolist() == (same < balls).entries.tolist()


FUNCTIONS = ["exp", "expm1", "sin", "cos", "tanh", "sinh", "cosh", "atan", "erf", "erfc", "sqrt", "log", "log1p"]


@pytest.mark.parametrize("name", FUNCTIONS)
@given(value=st.floats(2.0**-40, 30.0), width=st.sampled_from([0.0, 1e-12, 0.25]))
def test_balls_contain_the_values_of_mpmath(name, value, width):
    with working_precision(100):
        ball = flint.arb(value) + flint.arb(0, width * value)
    image = getattr(torch, name)(BallArray([ball], (1,), 100)).balls[0]
    with mp.workdps(60), working_precision(250):
        for point in (value, value * (1 - width / 2), value * (1 + width / 2)):
            true = flint.arb(mp.nstr(getattr(mp, name)(mp.mpf(point)), 55))
            assert image.overlaps(true + flint.arb(0, abs(true.mid()) * flint.arb(10) ** -50))


def array(*balls):
    return BallArray([flint.arb(*each) for each in balls], (len(balls),), 100)


def test_wide_balls_stay_as_narrow_as_the_function():
    wide = array((0, 1))
    for found, low, high in [
        (wide**2, 0, 1),
        (wide**3, -1, 1),
        (wide.abs(), 0, 1),
        (wide.relu(), 0, 1),
        (wide.sign(), -1, 1),
        (wide.clamp(0.5, 2), 0.5, 1),
        (torch.tanh(array((0, 1e300))), -1, 1),
        (torch.sqrt(array((0, 4))), 0, 2),
        (torch.sigmoid(array((0, 1e6))), 0, 1),
        (torch.where(wide > 0, 5.0, 3.0), 3, 5),
        (wide.norm(), 0, 1),
    ]:
        (ball,) = found.balls
        assert ball.contains(flint.arb(low))
        assert ball.contains(flint.arb(high))
        assert float(ball.rad()) < (high - low) / 2 + 1e-6


NARROWING = {"sin", "cos", "tanh", "atan", "erf", "erfc", "sigmoid", "sign"}  # bounded, whatever the argument


@pytest.mark.parametrize("name", sorted(elementwise.UNARY))
def test_a_ball_without_a_value_stays_without(name):
    for lost in (flint.arb.nan(), flint.arb(float("nan")), 1 / flint.arb(0, 1)):
        image = dispatch.call_named(name, (BallArray([lost], (1,), 100),), {})
        assert not image.balls[0].is_finite() or name in NARROWING
        assert torch.isfinite(image).entries.tolist() == [None] or name in NARROWING


def test_only_infinities_are_infinite():
    balls = array((1,), (float("inf"),), (0, float("inf")), (float("nan"),))
    assert torch.isfinite(balls).entries.tolist() == [True, False, None, None]


def test_large_even_powers_of_undecided_signs():
    (ball,) = (array((0, 1)) ** (2**21)).balls
    assert ball.contains(flint.arb(1))
    assert not (array((-2, 0.5)) ** (2**21) < 1).entries[0]


@pytest.mark.parametrize("exponent", [0.5, 1.5, 0.25])
def test_a_fractional_power_of_a_base_across_0_runs_from_0(exponent):
    (ball,) = (array((1.5, 2.5)) ** exponent).balls  # [-1, 4], of which [0, 4] has powers
    assert all(ball.contains(flint.arb(value) ** exponent) for value in (0, 1, 4))
    assert float(ball.rad()) < 4**exponent / 2 + 1e-6


def test_maximum_holds_the_larger_of_undecided_balls():
    balls = array((0, 1), (0.5,))
    for largest in (balls.max(), torch.amax(balls, 0), torch.maximum(balls[0], balls[1])):
        assert largest.contains(np.array(1.0)).all()
        assert not largest.contains(np.array(0.0)).all()


def test_softmax_of_huge_logits_is_narrow_and_of_none_is_empty():
    weights = torch.softmax(array((1000,), (1000, 1e-20), (-1000,)), 0)
    assert weights.radius().max() < 1e-19
    assert (weights.sum() - 1).contains(np.array(0.0)).all()


def test_undecided_comparisons_refuse_a_branch():
    with pytest.raises(BallsError, match=r"cannot be decided at 100 bits. Write torch.where or torch.clamp"):
        bool(array((0, 1)) > 0)
    with pytest.raises(BallsError, match="indexing by a comparison: the comparison cannot be decided"):
        array((0, 1))[array((0, 1)) > 0]
    assert bool(array((2, 1)) > 0)
    assert not bool(array((2, 1)) < 0)
    balls = array((1,), (-1,))
    assert balls[balls > 0].midpoint().tolist() == [1.0]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda x: torch.argmax(x), r"torch.argmax: not available on balls. .*torch.amax, torch.amin or torch.where"),
        (lambda x: x.argmax(), r"torch.argmax: not available on balls"),
        (lambda x: x.sort(), r"torch.sort: not available"),
        (lambda x: x.max(0), r"torch.max: dim=0. Use torch.amax"),
        (lambda x: x.item(), r"torch.item: not available on balls. A ball is not a float"),
        (lambda x: float(x[0]), r"Tensor.__float__: not available on balls. A ball is not a float"),
        (lambda x: int(x[0]), r"Tensor.__int__: not available on balls. A ball is not an integer: .*write n // 2"),
        (lambda x: range(x.shape[0] / 2), r"Tensor.__index__: .*write n // 2"),
        (lambda x: math.sqrt(x[0]), r"A ball is not a float"),
        (lambda x: x.floor(), r"torch.floor: .*The function jumps: use torch.where"),
        (lambda x: x.long(), r"torch.long: .*integer tensors"),
        (lambda x: x.add_(1), r"Tensor.add_: .*never change in place: use torch.add"),
        (lambda x: x.__setitem__(0, 1.0), r"Tensor.__setitem__: .*torch.stack, torch.cat or torch.where"),
        (lambda x: np.tanh(x), r"numpy.tanh: .*Use torch.tanh"),
        (lambda x: np.sum(x), r"numpy.sum: .*Use torch.sum"),
        (lambda x: np.asarray(x), r"numpy.asarray: "),
        (lambda x: torch.linalg.eigvalsh(torch.diag(x)), r"torch.linalg.eigvalsh: .*spectral_norm"),
        (lambda x: torch.linalg.norm(torch.diag(x), 2), r"torch.linalg.matrix_norm: ord=2. Give 'fro', 1 or inf"),
        (
            lambda x: torch.linalg.solve(torch.outer(x, x), x),
            r"torch.linalg.solve: .*proved invertible at 128 bits",
        ),
        (lambda x: torch.randn(2, dtype=torch.float64), r"torch.randn: .*Draw random numbers outside"),
        (lambda x: torch.empty(2, dtype=torch.float64), r"torch.empty: .*torch.zeros"),
        (lambda x: torch.softmax(x, 0, out=x), r"torch.softmax: .*out.*Leave the option out"),
        (lambda x: torch.allclose(x, x), r"torch.allclose: .*overlaps\(\) and contains\(\)"),
        (
            lambda x: torch.special.bessel_j0(x),
            r"torch.special.bessel_j0: .*Write it with the \d+ operations",
        ),
        (lambda x: x.sqrt_(), r"Tensor.sqrt_: .*use torch.sqrt"),
        (lambda x: x.to(torch.int64), r"Tensor.to: dtype=torch.int64"),
        (
            lambda x: x + torch.ones(3, dtype=torch.float64),
            r"BallArray: shapes \(2,\) and \(3,\) differ. Index or reshape",
        ),
        (lambda x: x @ torch.ones(3, dtype=torch.float64), r"shapes \(2,\) and \(3,\) differ"),
        (lambda x: x.sum(1), r"torch.sum: dim=1 of an array with 1 axes"),
        (lambda x: x + "a", r"BallArray: str is not a real number"),
        (lambda x: x[x], r"indexing: the index is an array of balls"),
        (lambda x: x.gather(0, x), r"indexing: the index is an array of balls"),
        (lambda x: x.reshape(3), r"torch.reshape: shape \(2,\): .*\[3\].*. Give axes and sizes that fit."),
        (lambda x: torch.stack([x, x[:1]]), r"torch.stack: shapes \(2,\) and \(1,\): "),
        (lambda x: torch.cat([x, x], out=x), r"torch.cat: out=... .*Leave the option out"),
        (lambda x: "text", r"run_on_balls\(<lambda>\): returned str. Return an array"),
    ],
)
def test_what_balls_refuse(use, message):
    with pytest.raises(BallsError, match=message):
        run_on_balls(use, {"x": torch.tensor([1.0, 2.0], dtype=torch.float64)})


def test_attributes_that_tensors_lack_are_missing():
    assert not hasattr(array((1,)), "no_such_name")
    assert not hasattr(array((1,)), "__array_interface__")


def test_large_runs_are_refused_before_they_are_computed():
    with pytest.raises(TooLargeForExact, match=r"run_on_balls\(<lambda>\): more than 1,000 ball operations"):
        run_on_balls(lambda: torch.ones(10**6, 10**6, dtype=torch.float64), {}, limit=1000)
    with pytest.raises(TooLargeForExact, match=r"more than 1,000 ball operations"):
        run_on_balls(lambda x: x.repeat(10**6, 10**6), {"x": torch.ones(1, dtype=torch.float64)}, limit=1000)
    with pytest.raises(TooLargeForExact, match="Take smaller arguments, or pass a higher limit"):
        run_on_balls(lambda x: x @ x, {"x": torch.ones(20, 20, dtype=torch.float64)}, limit=50_000)
    assert run_on_balls(lambda x: x @ x, {"x": torch.ones(20, 20, dtype=torch.float64)}, limit=100_000).shape == (
        20,
        20,
    )


def test_precision_is_restored_and_integers_stay_integers():
    before = flint.ctx.prec

    def chosen(x, places, n):
        assert isinstance(places, torch.Tensor)
        assert isinstance(n, int)
        return [x[places], x[torch.arange(n)], x[[0]]]

    parts = run_on_balls(
        chosen, {"x": torch.tensor([0.5, 0.25], dtype=torch.float64), "places": torch.tensor([1, 0]), "n": 1}, bits=300
    )
    assert [part.midpoint().tolist() for part in parts] == [[0.25, 0.5], [0.5], [0.5]]
    assert parts[0].bits == 300
    assert flint.ctx.prec == before
