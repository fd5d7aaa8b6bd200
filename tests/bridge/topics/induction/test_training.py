"""The trained network beside both flows: which one it follows, and that the flows are what they say."""

import math

import numpy as np
import pytest
import sympy as sp
import torch

from bridge.topics.induction.training import (
    SIMPLIFIED,
    SOFTMAX,
    _learnt,
    balanced_flow,
    followed,
    head_losses,
    predicted,
    predictions,
    train,
)
from numeric.topics.induction.training import (
    Snapshot,
    Training,
    TrainingTask,
    TwoLayer,
    population_gram,
    start_of_stage_two,
)
from symbolic.topics.induction import training as theory
from symbolic.words.errors import UsageError


@pytest.mark.long
def test_the_network_follows_the_flow_of_the_softmax_and_not_that_of_the_paper() -> None:
    """At L = 26 w gets half way 12 % later than the first order in 1/L says, and 70 % later than (22) says."""
    learning = train(L=26, w_star=0.65, sigma_init=0.1, batch=128)
    times = learning.times()
    for name in ("half", "learnt"):
        measured, softmax, simplified = (getattr(times[which], name) for which in ("network", SOFTMAX, SIMPLIFIED))
        assert 1.0 < measured / softmax < 1.3, name
        assert measured / simplified > 1.6, name
    assert learning.network.parameters["w"][-1] == pytest.approx(0.65, rel=0.1)
    assert learning.network.gram[-1] < 0.01 * learning.network.gram[0]


def test_the_gradient_is_that_of_the_softmax_to_first_order() -> None:
    """Autograd on 100,000 contexts of the real network against both closed forms."""
    task = TrainingTask(82, 1.0, 0.6)
    point = {"p_first": math.inf, "p": 1.0, "g": 0.4, "w_Q": 0.3, "w_K": 0.3, "h": 0.4}
    network = TwoLayer(82, point)
    autograd = Training(network, task, batch=100_000).gradient()
    known = {theory.L: 82, theory.v_star: 0.36, theory.h_star: 0.5, theory.w_Q: 0.3, theory.w_K: 0.3, theory.h: 0.4}
    off = {}
    for name, loss in head_losses().items():
        form = loss.subs(theory.v, theory.w_Q * theory.w_K)
        for parameter in (theory.w_Q, theory.h):
            slope = float(sp.diff(form, parameter).subs(known))
            off[name, parameter.name] = abs(float(autograd[parameter.name]) / slope - 1)
    assert off[SOFTMAX, "w_Q"] < 0.08
    assert off[SIMPLIFIED, "w_Q"] > 0.25
    assert off[SOFTMAX, "h"] < 0.08


def test_the_flow_of_the_gram_head_is_the_gradient_flow_of_the_network_s_exact_loss() -> None:
    """Runge-Kutta over autograd of the network's own population loss."""
    task, sigma = TrainingTask(9, 1.5, 0.6), 0.1

    def field(state: np.ndarray) -> np.ndarray:
        network = TwoLayer(9, {**start_of_stage_two(sigma), "p": float(state[0]), "g": float(state[1])})
        slopes = torch.autograd.grad(population_gram(network, task), [network.p, network.g])
        return np.array([-float(slope) for slope in slopes])

    state, step = np.array([sigma, sigma]), 0.1
    for _ in range(100):
        k1 = field(state)
        k2 = field(state + step / 2 * k1)
        k3 = field(state + step / 2 * k2)
        k4 = field(state + step * k3)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    path = followed(task, sigma, theory.LOSS_HEAD, 10.0, points=11)
    assert path.time[-1] == 10.0
    np.testing.assert_allclose([path.parameters["p"][-1], path.parameters["g"][-1]], state, rtol=1e-6)


def test_the_balanced_flow_of_the_printed_loss_is_that_of_the_theory() -> None:
    flow = balanced_flow(theory.LOSS_HEAD)
    assert flow.state == theory.HEAD_FLOW.state
    assert [sp.simplify(a - b) for a, b in zip(flow.field, theory.HEAD_FLOW.field, strict=True)] == [0, 0]


def test_with_the_softmax_the_observation_time_grows_with_the_logarithm_of_the_start() -> None:
    """With exp, h rises to h* psi(v*) > h* at once; with the softmax only to h*, which it passes when w has grown."""
    task = TrainingTask(1000, 1.0, 0.49)
    observed: dict[str, list[float]] = {SIMPLIFIED: [], SOFTMAX: []}
    for sigma in (1e-2, 1e-4):
        for name, path in predictions(task, sigma).items():
            reached = path.times(task.h_star, 0.49).observation
            assert reached is not None
            observed[name].append(reached / 998)
    assert observed[SIMPLIFIED][1] == pytest.approx(observed[SIMPLIFIED][0], rel=0.02)
    assert observed[SOFTMAX][1] > 1.5 * observed[SOFTMAX][0]


def test_the_flow_is_followed_until_it_has_learnt() -> None:
    task = TrainingTask(20, 3.0, 0.4)
    path = predicted(task, 1e-2, theory.LOSS_HEAD)
    times = path.times(task.h_star, 0.4)
    assert times.observation is not None
    assert times.half is not None
    assert times.learnt is not None
    assert 0 < times.observation < times.half < times.learnt <= path.time[-1]
    level = np.interp(times.observation, path.time, path.head)
    assert np.interp(times.learnt, path.time, path.head) == pytest.approx(0.01 * level, rel=1e-3)


def test_a_head_is_learnt_at_a_hundredth_of_its_loss_when_h_first_reached_h_star() -> None:
    reached = _learnt(0.5)
    seen = [Snapshot(0, 0.0, {"h": h}, 0.0, head) for h, head in ((0.4, 0.001), (0.5, 1.0), (0.6, 0.02), (0.4, 0.009))]
    assert [reached(each) for each in seen] == [False, False, False, True]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"L": 4, "w_star": 0.71, "sigma_init": 0.0}, "L = 4 does.*w_star = 0.71 does.*sigma_init = 0.0 does not meet"),
        ({"sigma_init": 1.0, "alpha": -1.0}, "alpha = -1.0 does not meet.*sigma_init = 1.0 does not meet"),
        ({"device": "tpu"}, "device 'tpu'"),
        ({"dtype": "int8"}, "dtype 'int8'"),
    ],
    ids=["L, w_star, sigma_init", "alpha, sigma_init", "device", "dtype"],
)
def test_bad_input_gets_one_clear_sentence(params: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        train(**params)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_thousand_tokens_learn_on_a_gpu_when_the_softmax_s_flow_says() -> None:
    times = train(L=1000, w_star=0.65, sigma_init=0.05, batch=512, every=100, device="cuda").times()
    measured, softmax, simplified = (times[which].learnt for which in ("network", SOFTMAX, SIMPLIFIED))
    assert measured is not None
    assert softmax is not None
    assert simplified is not None
    assert measured / softmax == pytest.approx(1.0, abs=0.03)
    assert measured / simplified > 1.3
