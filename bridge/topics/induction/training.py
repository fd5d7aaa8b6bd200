"""The network of (9) and (10), trained with its own softmax, beside the closed-form flows that stand for it.

The paper analyses the flow of (22), in which exp over L - 2 replaces the softmax. Two predictions are made here: that
flow, and the flow of the loss to which the true softmax leads to first order in 1/L. `train` shows which one the
network follows.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from bridge.limits.run import Format
from bridge.topics.induction.trajectory import LEARNT, numbers_at
from bridge.topics.tools.flows import follow
from numeric.tools.flows import first_crossing
from numeric.topics.induction.training import Snapshot, Training, TrainingTask, TwoLayer, start_of_stage_two
from symbolic.dynamics import Flow, gradient_flow
from symbolic.topics.induction import training as theory
from symbolic.topics.induction.losses_derivation import derive_softmax_head
from symbolic.topics.induction.setting import HYPOTHESES
from symbolic.words.errors import UsageError

SIMPLIFIED, SOFTMAX = "simplified", "softmax"
RELATIVE, ABSOLUTE = 1e-9, 1e-13  # of the integration of the flows


@dataclass(frozen=True)
class LearningTimes:
    """T_o (first h = h*), the time at which w = w*/2, and T_III (Theorem 5.5); None for what was not reached."""

    observation: float | None
    half: float | None
    learnt: float | None


@dataclass(frozen=True)
class TrainingPath:
    """LearningTimes, the parameters by name and both partial losses, along one flow or one training. Each (T,)."""

    time: np.ndarray
    parameters: Mapping[str, np.ndarray]
    gram: np.ndarray
    head: np.ndarray

    def times(self, h_star: float, w_star: float) -> LearningTimes:
        observation = first_crossing(self.time, self.parameters["h"] - h_star)
        half = first_crossing(self.time, self.parameters["w"] - w_star / 2)
        learnt = None
        if observation is not None:
            level = LEARNT * float(np.interp(observation, self.time, self.head))
            after = self.time >= observation
            learnt = first_crossing(self.time[after], level - self.head[after])
        return LearningTimes(observation, half, learnt)

    def at(self, name: str, time: np.ndarray) -> np.ndarray:
        """A parameter at other times, between the points linearly."""
        return np.interp(time, self.time, self.parameters[name])


@dataclass(frozen=True)
class Learning:
    """A trained network's path, and what the two flows predict for it, by name."""

    network: TrainingPath
    flows: Mapping[str, TrainingPath]
    w_star: float
    h_star: float

    def times(self) -> dict[str, LearningTimes]:
        paths = {"network": self.network, **self.flows}
        return {name: path.times(self.h_star, self.w_star) for name, path in paths.items()}


def train(
    *,
    L: int = 64,
    alpha: float = 1.0,
    w_star: float = 0.6,
    sigma_init: float = 0.01,
    batch: int = 256,
    seed: int = 0,
    upper: str = "L-1",
    every: int = 10,
    margin: float = 1.5,
    dtype: str = "float64",
    device: str = "cpu",
    progress: Callable[[float], None] | None = None,
) -> Learning:
    """Stage II from sigma_init, by gradient steps on fresh Gaussian batches of the real network, beside both flows.

    The network is trained until its induction head is learnt (L_IH2 at 1 % of its value at T_o), or for `margin`
    times as long as the slower flow takes. Raises UsageError for parameters that do not meet the paper's hypotheses.
    """
    values = {"L": L, "alpha": alpha, "w_star": w_star, "sigma_init": sigma_init}
    check_setting("train", values)
    run = Format.named(dtype, device)
    task = TrainingTask(L, alpha, w_star)
    flows = predictions(task, sigma_init)
    learnt = [path.times(task.h_star, w_star).learnt for path in flows.values()]
    assert all(time is not None for time in learnt)  # `predictions` follows each flow until then
    network = TwoLayer(L, start_of_stage_two(sigma_init), upper=upper, dtype=run.dtype, device=run.device)
    training = Training(network, task, batch=batch, seed=seed)
    until = margin * max(time for time in learnt if time is not None)
    seen = training.run(until, every=every, progress=progress, stop=_learnt(task.h_star))
    return Learning(path_of(seen), flows, w_star, task.h_star)


def check_setting(call: str, values: Mapping[str, float | int]) -> None:
    """Raises UsageError with every hypothesis of section 5 that the values do not meet."""
    complaints = [complaint for each in HYPOTHESES if (complaint := each.complaint(values))]
    if complaints:
        raise UsageError(f"{call}: " + "; ".join(complaints) + ".")


def _learnt(h_star: float) -> Callable[[Snapshot], bool]:
    """Whether the loss is at 1 % of what it was when h first reached h*."""
    level: list[float] = []

    def reached(seen: Snapshot) -> bool:
        if not level and seen.parameters["h"] >= h_star:
            level.append(LEARNT * seen.head)
        return bool(level) and seen.head <= level[0]

    return reached


def path_of(seen: Sequence[Snapshot]) -> TrainingPath:
    """A training's snapshots as a path; w is the mean of w_Q and w_K, which start equal."""
    parameters = {name: np.array([each.parameters[name] for each in seen]) for name in ("p", "g", "w_Q", "w_K", "h")}
    parameters["w"] = (parameters["w_Q"] + parameters["w_K"]) / 2
    return TrainingPath(
        np.array([each.time for each in seen]),
        parameters,
        np.array([each.gram for each in seen]),
        np.array([each.head for each in seen]),
    )


def head_losses() -> dict[str, sp.Expr]:
    """The two losses of the induction head, in the letters of symbolic.topics.induction.training."""
    return {SIMPLIFIED: theory.LOSS_HEAD, SOFTMAX: derive_softmax_head()}


def balanced_flow(loss: sp.Expr) -> Flow:
    """The flow (12) of (w_Q, w_K, h) on w_Q = w_K = w (Lemma 5.4), for a loss in v = w_Q w_K and h."""
    full = gradient_flow(loss.subs(theory.v, theory.w_Q * theory.w_K), (theory.w_Q, theory.w_K, theory.h))
    balanced = full.restricted({theory.w_K: theory.w_Q})
    return balanced.changed({theory.w: theory.w_Q, theory.h: theory.h}, {theory.w_Q: theory.w, theory.h: theory.h})


def predictions(task: TrainingTask, sigma: float) -> dict[str, TrainingPath]:
    """Both flows from sigma, each followed until its induction head is learnt."""
    return {name: predicted(task, sigma, loss) for name, loss in head_losses().items()}


def predicted(task: TrainingTask, sigma: float, head_loss: sp.Expr) -> TrainingPath:
    """The flow of (19) plus that loss of the induction head, followed until T_III."""
    # h rises in one unit of t / (L-2); w then grows from sigma at a rate of h*^2 v* or more, and settles.
    growth = (task.h_star * task.w_star) ** 2
    until = (task.length - 2) * (1 + (max(0.0, math.log(task.w_star / sigma)) + 3) / growth)
    while True:
        path = followed(task, sigma, head_loss, until)
        if path.times(task.h_star, task.w_star).learnt is not None:
            return path
        until *= 2


def followed(task: TrainingTask, sigma: float, head_loss: sp.Expr, until: float, points: int = 4001) -> TrainingPath:
    letters, time = numbers_at(L=task.length, alpha=task.alpha, w_star=task.w_star), np.linspace(0.0, until, points)
    gram, head = (
        follow(flow, dict.fromkeys(flow.state, sigma), until, letters, relative=RELATIVE, absolute=ABSOLUTE)
        for flow in (theory.GRAM_FLOW, balanced_flow(head_loss))
    )
    p, g, gram_loss = gram.at(time, theory.p, theory.g, theory.LOSS_GRAM)
    w, h, loss = head.at(time, theory.w, theory.h, head_loss.subs(theory.v, theory.w**2))
    return TrainingPath(time, {"p": p, "g": g, "w": w, "w_Q": w, "w_K": w, "h": h}, gram_loss, loss)
