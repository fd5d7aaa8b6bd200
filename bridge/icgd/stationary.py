"""The start w = 0 of Corollary 1.1: whether descent moves from there, and how far the network strays."""

from dataclasses import replace

import torch
from torch import Tensor

from bridge.balls import as_exact, evaluate_ball
from bridge.check import Sides, sides_at
from bridge.icgd.chain import Chain
from bridge.icgd.emulation import Emulation
from bridge.icgd.iterates import network, reference
from bridge.icgd.setting import Setting
from bridge.icgd.smoothness import accuracy_here, smoothness_here
from bridge.readings.arrays import Array
from symbolic.icgd import symbols
from symbolic.icgd import trajectory as theory
from symbolic.statements import Quantity, UsageError

ZERO, ZERO_PATH = "start.zero", "start.zero.path"


def zeros(samples: int, seed: int, setting: Setting, n: int, chain: Chain) -> dict[str, Tensor]:
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
    found = sides_at(lambda *at: torch.linalg.vector_norm(chain.values(*at, ["gradient"])["gradient"]), w, x, y)
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
    bound = evaluate_ball(theory.derive_path(L).error, {**letters, symbols.eta: as_exact(setting.eta)})

    def apart(w: Array, x: Array, y: Array) -> Array:
        near, exact = network(w, x, y, emulation, chain, L), reference(w, x, y, chain, L)
        return torch.linalg.vector_norm(near[last] - exact[last])

    return replace(sides_at(apart, w, x, y), instance=bound)


def _require_zero(w: Tensor) -> None:
    if bool(w.any()):
        raise UsageError(f"icgd.trajectory: '{ZERO}' and '{ZERO_PATH}' are about the start w = 0; got another w")
