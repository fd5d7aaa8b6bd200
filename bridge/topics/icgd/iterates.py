"""L steps of the network and of projected gradient descent from one start, on tensors and on balls.

Corollary 1.1 starts at w = 0: whether descent moves from there, and how far the network strays, are checks.

Shapes, of one prompt: n examples, D_w weights.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from bridge.lowering.ball_values import evaluate_ball
from bridge.readings.arrays import Array, at_each
from bridge.theorems.check import Sides, sides_at
from bridge.topics.icgd.chain import Chain
from bridge.topics.icgd.emulation import Emulation
from bridge.topics.icgd.setting import StepSetting
from bridge.topics.icgd.smoothness import accuracy_here, smoothness_here
from symbolic.statements.result import Quantity
from symbolic.topics.icgd import symbols
from symbolic.topics.icgd import trajectory as theory
from symbolic.words.errors import UsageError

MAPPING = "gradient_mapping"
ZERO, ZERO_PATH = "start.zero", "start.zero.path"


def iterates(w: Array, x: Array, y: Array, emulation: Emulation, L: int) -> list[Array]:
    """wbar^0 .. wbar^L. Raises TooLargeForExact on balls."""
    L, tap = int(L), "trajectory" if L > 1 else "w"
    found = emulation.run(w, x, y, (tap,), steps=L)[tap]
    return [w, *found.reshape(L, -1).unbind(0)]


def network(w: Array, x: Array, y: Array, emulation: Emulation, chain: Chain, L: int) -> dict[str, Array]:
    return measured(chain, iterates(w, x, y, emulation, L), x.double(), y.double())


def envelope(w: Tensor, x: Tensor, y: Tensor, chain: Chain, L: int) -> dict[str, Tensor]:
    points = [w]
    for _ in range(L):
        points.append(chain.values(points[-1], x, y, ["w"], functions=chain.envelopes)["w"])
    return measured(chain, points, x, y)


def measured(chain: Chain, points: Sequence[Array], x: Array, y: Array) -> dict[str, Array]:
    """The iterates, and the mean of ||G||^2 over all but the last."""
    near = [each.double() for each in points]
    eta = chain.array(chain.setting.eta, like=x)
    mappings = at_each(lambda w: (w - chain.values(w, x, y, ["w"])["w"]) / eta, near[:-1])
    mean = torch.stack([(each * each).sum() for each in mappings]).mean()
    return {MAPPING: mean, **{f"path[{l}]": w for l, w in enumerate(near) if l}}  # noqa: E741 - the paper's letter


def reference(w: Array, x: Array, y: Array, chain: Chain, L: int) -> dict[str, Array]:
    """Projected gradient descent, and 0 for the mean of squares."""
    found: dict[str, Array] = {MAPPING: torch.zeros((), dtype=torch.float64, device=w.device)}
    for l in range(1, int(L) + 1):  # noqa: E741 - the paper's letter
        w = found[f"path[{l}]"] = chain.values(w, x, y, ["w"])["w"]
    return found


# The start w = 0.


def zeros(samples: int, seed: int, setting: StepSetting, n: int, chain: Chain) -> dict[str, Tensor]:
    """The prompt, of random ones, at which the gradient at w = 0 is largest."""
    drawn = setting.prompts(n, samples, seed)
    x, y = drawn["x"], drawn["y"]
    w = torch.zeros_like(drawn["w"])
    gradients = torch.func.vmap(lambda w, x, y: chain.values(w, x, y, ["gradient"])["gradient"])(w, x, y)
    worst = int(torch.linalg.vector_norm(gradients, dim=-1).argmax())
    return {"w": w[worst], "x": x[worst], "y": y[worst]}


def gradient_at_zero(w: Tensor, x: Tensor, y: Tensor, chain: Chain) -> Sides:
    """Its norm at one prompt; 0 wherever the derived bound is 0."""
    _require_zero(w)

    def size(w: Array, x: Array, y: Array) -> Array:
        return torch.linalg.vector_norm(chain.values(w, x, y, ["gradient"])["gradient"])

    found = sides_at(size, w, x, y)
    moves = "0 is not a stationary point: gradient descent moves from there"
    still = "0 is a stationary point: projected gradient descent from it never moves, and the statement holds vacuously"
    return replace(found, remark=still if found.found == 0 else moves)


def path_from_zero_quantity(steps: int) -> Quantity:
    last = theory.path_quantity(steps, name=f"path[{steps}]")
    return replace(last, name=ZERO_PATH, meaning=f"{last.meaning}, after {steps} steps from w = 0", scopes=())


def path_from_zero(w: Tensor, x: Tensor, y: Tensor, emulation: Emulation, chain: Chain, L: int) -> Sides:
    """L steps from 0, at one prompt."""
    _require_zero(w)
    setting, last = chain.setting, f"path[{L}]"
    letters = {theory.L_f: smoothness_here(setting, emulation), symbols.eps: accuracy_here(setting, emulation)}
    bound = evaluate_ball(theory.derive_path(L).error, {**letters, symbols.eta: setting.eta})

    def apart(w: Array, x: Array, y: Array) -> Array:
        near, exact = network(w, x, y, emulation, chain, L), reference(w, x, y, chain, L)
        return torch.linalg.vector_norm(near[last] - exact[last])

    return replace(sides_at(apart, w, x, y), instance=bound)


def _require_zero(w: Tensor) -> None:
    if bool(w.any()):
        raise UsageError(f"icgd.trajectory: '{ZERO}' and '{ZERO_PATH}' are about the start w = 0; got another w")
