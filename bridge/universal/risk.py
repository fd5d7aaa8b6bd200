"""Theorem 1 (li2025) as a theorem: features, examples and noise drawn anew by each seed, its risk judged."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.check import Check, Sides
from bridge.cost import Cost
from bridge.theorem import Theorem
from bridge.universal import risk_tables
from bridge.universal.members import known_family
from bridge.universal.prompts import POINTS, at_prompt, largest_value, learner, points, prompt, rivals
from numeric.universal.features import Family, draw_features
from numeric.universal.risk import deep_network, with_idle
from symbolic.universal import risk as theory
from symbolic.universal import transformer
from symbolic.universal.features import DRAW, at_zero, mass, members
from symbolic.universal.lasso import EXAMPLES, F
from symbolic.universal.risk_statement import RISK as STATEMENT

DRAWS = 40  # each takes a run of the network for each of these points
CHOSEN = ("lam", "tau_1", "tau_2")
UNKNOWN = "a random deep network is in no class of which C_F is known"


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


# A function outside the class.


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
    tables=(risk_tables.by_size, risk_tables.by_class, risk_tables.sizes),
)
