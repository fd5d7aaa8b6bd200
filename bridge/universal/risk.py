"""Theorem 1 (li2025) as a theorem: features, examples and noise drawn anew by each seed, the transformer's risk judged.

The law of x is uniform on points of the ball, so that the expectation over the query is a mean over these.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.check import Check, Sides
from bridge.cost import Cost
from bridge.lowering import lower
from bridge.record import NamedTable
from bridge.theorem import Theorem
from bridge.universal.members import known_family
from numeric.universal import lasso
from numeric.universal.covering import in_ball
from numeric.universal.features import Family, coefficients, draw_features
from numeric.universal.lasso import Pool
from numeric.universal.risk import Learner, deep_network, with_idle
from symbolic.universal import risk as theory
from symbolic.universal import transformer
from symbolic.universal.features import DRAW, at_zero, mass, members
from symbolic.universal.lasso import EXAMPLES, F, U, eps_dis, eps_opt
from symbolic.universal.risk_statement import RISK as STATEMENT

POINTS = 32  # of the law of x
DRAWS = 64  # each takes a run of the network for each of these points
WEIGHTS = (0.003, 0.03)  # of the 1-norm, for the rivals of rho*
RIVAL_ACCURACY = 1e-5  # of their duality gaps: any vector will do
CHOSEN = ("lam", "tau_1", "tau_2")
UNKNOWN = "a random deep network is in no class of which C_F is known"

Function = Callable[[Any], Any]


# Parameters.


def resolve(params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """lam, twice the noise level, and the temperatures of universal.transformer, where they are not given."""
    known = {p.name: params.get(p.name, p.default) for p in STATEMENT.parameters if p.name not in CHOSEN}
    numbers = {name: STATEMENT.number(name, value) for name, value in known.items() if name != "family"}
    STATEMENT.check({**numbers, **dict.fromkeys(CHOSEN, 1e100)})
    family = known_family(*(known[name] for name in ("family", "d", "bumps", "width", "slope")))
    largest = theory.LARGEST_LABEL.subs(F, largest_value(family))
    taus = dict(zip(CHOSEN[1:], transformer.best_temperatures(), strict=True))
    formulas = {"lam": 2 * theory.NOISE, **{name: tau.subs(theory.B, largest) for name, tau in taus.items()}}
    return {**params, **{name: params.get(name, _at(formula, numbers)) for name, formula in formulas.items()}}


def _at(formula: sp.Expr, numbers: Mapping[str, Any]) -> float:
    return float(formula.subs({s: sp.Rational(numbers[s.name]) for s in formula.free_symbols}))


# One draw: features, examples, their noise.


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
    def iterate(self) -> Tensor:
        return self.learner.iterate(self.x, self.y)

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
    places = torch.randint(len(law), (of.at.N,), generator=generator)
    z = sigma * torch.randn(of.at.N, generator=generator, dtype=torch.float64)
    return Prompt(of, f, law[places], z, law)


@lru_cache(maxsize=1024)
def drawn(
    N: int, n: int, L: int, sigma: float, delta: float, lam: float, tau: float, tau_1: float, tau_2: float, d: int,
    family: str, bumps: int, width: float, slope: float, seed: int,
) -> Tensor:  # fmt: skip
    """What one draw gives, of the function whose turn it is: the values of QUANTITIES, in their order."""
    of, params = known_family(family, d, bumps, width, slope), locals()
    place, features = seed % len(of.members), draw_features(of, n - 1, seed)
    drawn_prompt = prompt(learner(with_idle(features), params), of.members[place].value, sigma, seed + 1, points(d))
    found = drawn_prompt.outcome
    bound = at_prompt(drawn_prompt, rivals(drawn_prompt, of, features, place), delta)
    return torch.tensor([*found.values(), found["risk"] / bound], dtype=torch.float64)


# Bounds at a prompt.


def rivals(of: Prompt, family: Family, features: Tensor, place: int) -> list[Pool]:
    """rho*, and what the Lasso makes of the law."""
    member, none = family.members[place], torch.zeros(1, dtype=torch.float64)
    own = coefficients(family, features)[place] / len(features)
    start = torch.cat([own, none, member.value(none.expand(1, family.d))])  # (m); 0 for the idle feature
    others = [lasso.solve(of.phi_law, of.f(of.x_law), weight, RIVAL_ACCURACY) for weight in WEIGHTS]
    return [Pool.of(of.phi_law, of.f(of.x_law), rho) for rho in (start, *others)]


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
        _number(_AT_PROMPT, {
            **known, U: rival.norm, eps_dis: rival.eps_dis, theory.moved: float((rho - rival.rho).abs().sum())
        })
        for rival in rivals
    )  # fmt: skip


def emulation_at(of: Prompt) -> float:
    """|y_hat - phi^T rho_T| at most, by the largest label of the prompt."""
    at, largest = of.learner.at, float(of.y.abs().max())
    known = {theory.N: at.N, theory.n: len(at.t), theory.L: of.learner.L, theory.B: largest}
    known |= {theory.S: 2 * largest**2 / at.lam, transformer.tau_1: at.tau_1, transformer.tau_2: at.tau_2}
    return _number(_EMULATION, known)


_AT_PROMPT, _EMULATION = theory.derive_at_prompt().error, theory.derive_emulation().error


def _number(bound: sp.Expr, letters: Mapping[sp.Symbol, Any]) -> float:
    return float(_lowered(bound, tuple(letters))(*letters.values()))


@lru_cache(maxsize=8)
def _lowered(bound: sp.Expr, letters: tuple[sp.Symbol, ...]) -> Callable[..., Any]:
    return lower(bound, "mpmath", args=letters)


# A function outside the class, and tables.


def outside_class(
    N: int, n: int, L: int, sigma: float, lam: float, tau: float, tau_1: float, tau_2: float, d: int, members_of: Family
) -> Sides:
    """The network of seed 0 on a random deep network's function."""
    of = learner(with_idle(draw_features(members_of, n - 1, 0)), locals())
    found = prompt(of, deep_network(d, 0), sigma, 1, points(d))
    return Sides(found.risk_of(found.y_hat), rounding=0.0, outside=UNKNOWN, letters={F: 1})


QUANTITIES = ("risk", "risk.iterate", "emulation", "prompt")


def _of_draw(place: int) -> Callable[..., Tensor]:
    return lambda outcome: outcome[place : place + 1]


def cost(sizes: Mapping[str, float], budget: Budget | None) -> Cost:
    """A batch of POINTS prompts for each draw."""
    features = sizes["N"] * sizes["n"]
    if budget is None:
        return Cost()
    return Cost(48 * features * POINTS, 1e-8 * features * POINTS * sizes["L"] / 2 * budget.samples)


RISK = Theorem(
    STATEMENT,
    main="risk",
    weights={"outcome": drawn},
    random={DRAW: ("outcome",), EXAMPLES: ("outcome",)},
    network={name: _of_draw(place) for place, name in enumerate(QUANTITIES)},
    reference=lambda: dict.fromkeys(QUANTITIES, torch.zeros(1, dtype=torch.float64)),
    built={"members_of": known_family, "largest": lambda members_of: largest_value(members_of)},
    knows={
        mass: (lambda members_of: members_of.mass,),
        at_zero: (lambda members_of: members_of.at_zero,),
        members: (lambda members_of: len(members_of.members),),
        F: (lambda largest: largest,),
    },
    resolve=resolve,
    implied=CHOSEN,
    cost=cost,
    checks=(Check(STATEMENT.quantity("risk.outside"), outside_class),),
    settings={"samples": DRAWS},
)
