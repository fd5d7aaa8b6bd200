"""Every block of the transformer of Li et al. 2025 beside the exact step from its own state, in floats and in balls."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from bridge.lowering.formula import ArrayFunction
from bridge.readings import Emulated, Operands, read
from bridge.topics.universal.transformer import functions, handles
from numeric.balls.running import run_on_balls
from numeric.networks.exact import run_exact
from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.universal import transformer as numeric
from symbolic.topics.universal import transformer_derivation as theory

LETTERS = theory.P, theory.B, theory.n, theory.N, theory.tau_1, theory.tau_2
DERIVED = {"step": theory.derive_step(), "y_residual": theory.derive_y_residual()}
BOUNDS = {name: ArrayFunction(value.error, *LETTERS) for name, value in DERIVED.items()}
DERIVATIONS = {name: value.derivation for name, value in DERIVED.items()}


@dataclass(frozen=True)
class Prompt:
    """x (N + 1, d) in the ball, y (N), and the weights of a network for them."""

    x: Tensor
    y: Tensor
    at: numeric.LassoSetting

    @property
    def tokens(self) -> Tensor:
        return numeric.tokens(self.x, self.y)

    def bounds(self, states: Tensor) -> dict[str, float]:
        """The derived residuals of a block, at the largest 1-norm of the states (T, n + 1) and the largest label."""
        P, B = states.abs().sum(1).max(), self.y.abs().max()
        letters = float(P), float(B), len(self.at.t), self.at.N, self.at.tau_1, self.at.tau_2
        return {name: float(bound(*letters)) for name, bound in BOUNDS.items()}


@dataclass(frozen=True)
class Largest:
    """Over all blocks: the error of a run against the exact step, what of it is the residual, and what is rounding.

    The residual is that of the logistic function at the state of each block, to the precision of float64.
    """

    error: float
    residual: float
    rounding: float
    bound: float

    @property
    def kept(self) -> bool:
        return self.residual <= self.bound and self.error <= self.bound + self.rounding

    def __str__(self) -> str:
        return (
            f"{self.error:.2g}: residual {self.residual:.2g} (at most {self.bound:.2g}), rounding {self.rounding:.2g}"
            f"{'' if self.kept else ' NOT KEPT'}"
        )


def blocks(prompt: Prompt, T: int, dtype: torch.dtype = torch.float64) -> dict[str, Largest]:
    """`step` and `y_residual` of each of the T blocks of a run in that format."""
    taps = [f"{name}[{number}]" for name in ("rho", "y_hat") for number in range(1, T + 1)]
    run = SharedNetwork(numeric.transformer(prompt.at, 2 * T + 1), dtype).run(prompt.tokens.to(dtype)[None], taps)
    rho = torch.stack([torch.zeros_like(run["rho[1]"][0, 0]), *(run[tap][0, 0] for tap in taps[:T])]).double()
    y_hat = torch.stack([run[tap][0, -1] for tap in taps[T:]]).double()
    bounds = prompt.bounds(rho)
    known = {"step": (rho[:-1], rho[1:]), "y_residual": (rho[1:], y_hat)}  # states, and what the run makes of them
    return {
        name: _largest(found, _emulated(prompt, name, states), bounds[name]) for name, (states, found) in known.items()
    }


def _largest(found: Tensor, values: Emulated, bound: float) -> Largest:
    pairs = (found, values.exact), (values.emulated, values.exact), (found, values.emulated)
    error, residual, rounding = (float((one - other).abs().max()) for one, other in pairs)
    return Largest(error, residual, rounding, bound)


def _emulated(prompt: Prompt, name: str, states: Tensor) -> Emulated:
    """What a block computes of each state (T, n + 1), without its differences of large numbers, beside the exact."""
    at, n = prompt.at, len(prompt.at.t)
    P, B = float(states.abs().sum(1).max()), float(prompt.y.abs().max())
    own = functions(at.tau_1, at.tau_2, n, at.N, 3, B, P, at.lam)
    lam = torch.tensor(at.lam, dtype=torch.float64)
    bound = handles(prompt.x, prompt.y, states[0], at.directions, at.t, at.tau_ff, lam, n, at.N, own)
    found = [read(DERIVATIONS[name], Operands({**bound, "rho_0": state}, {}, None), [name])[name] for state in states]
    return Emulated(torch.stack([each.exact for each in found]), torch.stack([each.emulated for each in found]))


def blocks_in_balls(prompt: Prompt, T: int, bits: int = 160) -> dict[str, tuple[float, float]]:
    """The largest error of all T blocks, which is proved to be at most the first number, and the derived bound.

    1/(2n) is taken as the weight of the network has it.
    """
    found = run_exact(numeric.transformer(prompt.at, 2 * T + 1), prompt.tokens.numpy(), bits)
    zero = 0 * found["rho[1]"][0]
    rho = [zero, *(found[f"rho[{number}]"][0] for number in range(1, T + 1))]
    y_hat = [found[f"y_hat[{number}]"][-1, 0] for number in range(1, T + 1)]

    def errors(states: Any, predictions: Any, x: Tensor, y: Tensor, directions: Tensor, t: Tensor) -> dict[str, Any]:
        phi = numeric.ramp_features(x, directions, t, prompt.at.tau_ff)
        steps = [numeric.proximal_step(each, phi[:-1], y, prompt.at.eta, prompt.at.lam) for each in states[:-1]]
        return {
            "step": torch.stack([abs(after - step).amax(-1) for after, step in zip(states[1:], steps, strict=True)]),
            "y_residual": abs(torch.stack(list(predictions)) - torch.stack(list(states[1:])) @ phi[-1]),
            "P": torch.stack([abs(each).sum(-1) for each in states]),
        }

    given = {"x": prompt.x, "y": prompt.y, "directions": prompt.at.directions, "t": prompt.at.t}
    known = run_on_balls(errors, {"states": tuple(rho), "predictions": tuple(y_hat), **given}, bits)
    states = torch.tensor([[float(ball.upper()) for ball in known["P"].balls]], dtype=torch.float64).T
    return {name: (max(float(ball.upper()) for ball in known[name].balls), bound)
            for name, bound in prompt.bounds(states).items()}  # fmt: skip
