"""Prompts of the transformer of Theorem 1 (li2025): examples of a law of x, what it predicts, bounds at the prompt.

The law of x is uniform on points of the ball, so that the expectation over the query is a mean over these.
Shapes: S points of the law, N examples, m = n + 1 coordinates.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.limits.cost import Count, Work
from bridge.lowering.formula import evaluate
from numeric.topics.universal import lasso
from numeric.topics.universal.covering import in_ball
from numeric.topics.universal.features import Family, coefficients
from numeric.topics.universal.lasso import Pool
from numeric.topics.universal.proximal import objective
from numeric.topics.universal.risk import Learner
from symbolic.topics.universal import risk_derivation as theory
from symbolic.topics.universal import transformer_derivation as transformer
from symbolic.topics.universal.lasso import U, eps_dis, eps_opt

POINTS = 32  # of the law of x
WEIGHTS = (0.003, 0.03)  # of the 1-norm, for the rivals of rho*
ROOMS = 8  # of scores, each twice the one before
BITS = 53  # of the format in which prompts are run
RIVAL_ACCURACY = 1e-4  # of their duality gaps: any vector will do

Function = Callable[[Any], Any]


def of_blocks(N: Count, n: Count, L: Count) -> Work:
    """Features of N examples in a few arrays; each layer multiplies by them, or by their transpose."""
    return Work(numbers=10 * N * n, products=2 * N * n * L)


@lru_cache(maxsize=8)
def points(d: int, count: int = POINTS) -> Tensor:
    return in_ball(count, d, torch.Generator().manual_seed(3))


def largest_value(family: Family) -> float:
    """sup |f| over the law and the class."""
    return max(float(member.value(points(family.d)).abs().max()) for member in family.members)


@dataclass(frozen=True)
class Prompt:
    """Examples x (N, d), y (N) of f with noise z (N), and the network that reads them; `x_law` (S, d) is the law."""

    learner: Learner
    f: Function
    x: Tensor
    z: Tensor
    x_law: Tensor

    @property
    def y(self) -> Tensor:
        found: Tensor = self.f(self.x) + self.z
        return found

    @cached_property
    def phi(self) -> Tensor:
        return self.learner.features(self.x)

    @cached_property
    def y_hat(self) -> Tensor:
        """At each point of the law, (S)."""
        return self.learner.predictions(self.x, self.y[None], self.x_law)[0][0]

    @cached_property
    def iterates(self) -> Tensor:
        return self.learner.iterates(self.x, self.y)

    @property
    def iterate(self) -> Tensor:
        return self.iterates[-1]

    def gap(self, rho: Tensor) -> float:
        """ell of the last iterate less ell(rho)."""
        last, other = (objective(self.phi, self.y, each, self.learner.at.lam) for each in (self.iterate, rho))
        return float(last - other)

    @cached_property
    def phi_law(self) -> Tensor:
        return self.learner.features(self.x_law)

    def risk_of(self, predictions: Tensor) -> float:
        return float(((predictions - self.f(self.x_law)) ** 2).mean())

    @property
    def outcome(self) -> dict[str, float]:
        steps = self.phi_law @ self.iterate
        return {
            "risk": self.risk_of(self.y_hat),
            "risk.iterate": self.risk_of(steps),
            "emulation": float((self.y_hat - steps).abs().max()),
        }


def learner(features: Tensor, params: Mapping[str, Any]) -> Learner:
    p = params
    return Learner.of(features, p["N"], p["L"], p["tau"], p["lam"], (p["tau_1"], p["tau_2"]))


def prompt(of: Learner, f: Function, sigma: float, seed: int, law: Tensor) -> Prompt:
    generator = torch.Generator().manual_seed(seed)
    places = torch.randint(len(law), (of.at.N,), generator=generator, dtype=torch.int64, device="cpu")
    z = sigma * torch.randn(of.at.N, generator=generator, dtype=torch.float64, device="cpu")
    return Prompt(of, f, law[places], z, law)


# Bounds at a prompt.


def rho_star(family: Family, features: Tensor, place: int) -> Tensor:
    """rho* (35) of that member, (m); 0 for the idle feature."""
    member, none = family.members[place], torch.zeros(1, dtype=torch.float64, device="cpu")
    own = coefficients(family, features)[place] / len(features)
    return torch.cat([own, none, member.value(none.expand(1, family.d))])


def rivals(of: Prompt, family: Family, features: Tensor, place: int) -> list[Pool]:
    """rho*, and what the Lasso makes of the law."""
    start = rho_star(family, features, place)
    return lasso.rivals(Pool.of(of.phi_law, of.f(of.x_law), start), WEIGHTS, RIVAL_ACCURACY)


def at_prompt(of: Prompt, rivals: list[Pool], delta: float) -> float:
    """The bound on the risk by what the prompt has, the least over the rivals."""
    at, rho, y = of.learner.at, of.iterate, of.y
    known = {
        theory.nu: float(lasso.noise(of.phi, of.z).abs().max()),
        eps_opt: max(0.0, lasso.duality_gap(of.phi, y, rho, at.lam)),
        theory.A: float(rho.abs().sum()), theory.lam: at.lam, theory.delta: delta, theory.rivals: len(rivals),
        theory.N: at.N, theory.n: len(at.t), theory.e_y: emulation_at(of),
    }  # fmt: skip
    return min(
        number(_AT_PROMPT, {
            **known, U: rival.norm, eps_dis: rival.eps_dis, theory.moved: float((rho - rival.rho).abs().sum())
        })
        for rival in rivals
    )  # fmt: skip


# Predictions of the network stay within S = R + room if the error with that S is at most `room`.
def emulation_at(of: Prompt) -> float:
    """|y_hat - phi^T rho_T| at most, by the largest label of the prompt and the largest 1-norm R of its iterates.

    Infinite if no score is known to stay in a range.
    """
    at, largest = of.learner.at, float(of.iterates.abs().sum(1).max())
    known = {
        theory.N: at.N,
        theory.n: len(at.t),
        transformer.L: of.learner.L,
        theory.B: float(of.y.abs().max()),
    }
    known |= {transformer.tau_1: at.tau_1, transformer.tau_2: at.tau_2}
    rooms = (2.0**k * max(largest, known[theory.B]) for k in range(ROOMS))
    found = ((room, number(_EMULATION, {**known, theory.S: largest + room})) for room in rooms)
    return next((error for room, error in found if error <= room), math.inf)


# A change dy of a prediction changes the risk by at most 2 sqrt(risk) dy + dy^2, and so the risk of an iterate.
def roundings(of: Prompt, bound: float) -> dict[str, float]:
    """How far each quantity may be from that of real arithmetic: an estimate; infinite where `bound` is, or is 0."""
    at, risk = of.learner.at, of.risk_of(of.y_hat)
    known = {
        theory.N: at.N,
        theory.n: len(at.t),
        transformer.L: of.learner.L,
        transformer.bits: BITS,
    }
    of_y_hat = number(_ROUNDING, {**known, transformer.tau_1: at.tau_1, transformer.tau_2: at.tau_2})
    of_risk, of_iterate = (2 * risk**0.5 * moved + moved**2 for moved in (of_y_hat, 2.0**-40))
    of_ratio = of_risk / bound if 0 < bound < math.inf else math.inf
    return {"risk": of_risk, "risk.iterate": of_iterate, "emulation": of_y_hat, "prompt": of_ratio}


_AT_PROMPT, _EMULATION = theory.derive_at_prompt().error, theory.derive_emulation().error
_ROUNDING = transformer.rounding_of_blocks()


def number(bound: sp.Expr, letters: Mapping[sp.Symbol, Any]) -> float:
    return float(evaluate(bound, letters))
