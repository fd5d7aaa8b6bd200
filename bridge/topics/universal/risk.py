"""Theorem 1 (li2025) as a theorem: features, examples and noise drawn anew by each seed, its risk judged."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.limits.accepted import require_float64
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.parts import AtPoint, Knobs
from bridge.theorems.refusal import Refusal
from bridge.theorems.theorem import Theorem
from bridge.topics.universal import risk_tables
from bridge.topics.universal.members import known_family
from bridge.topics.universal.prompts import (
    POINTS,
    at_prompt,
    largest_value,
    learner,
    of_blocks,
    points,
    prompt,
    rho_star,
    rivals,
    roundings,
)
from bridge.topics.universal.risk_table import TABLE
from bridge.topics.universal.temperatures import CHOSEN as TEMPERATURES
from bridge.topics.universal.temperatures import refusal, require_held
from numeric.topics.universal.features import Family, draw_features
from numeric.topics.universal.risk import deep_network, with_idle
from symbolic.topics.universal import risk_derivation as theory
from symbolic.topics.universal import risk_weight as weight
from symbolic.topics.universal import transformer_derivation as transformer
from symbolic.topics.universal.features import DRAW, at_zero, mass, members
from symbolic.topics.universal.lasso import EXAMPLES, F
from symbolic.topics.universal.risk import RISK as STATEMENT
from symbolic.words.errors import UsageError

DRAWS = 40  # each takes a run of the network for each of these points
CHOSEN = ("lam", *TEMPERATURES)
DIGITS = 30  # of what is rounded to a float
UNKNOWN = "a random deep network is in no class of which `C_F` is known"


# Parameters.


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """lam, twice the noise level, and the temperatures of universal.transformer, where they are not given.

    Raises UsageError for another format than float64, for one that does not hold the temperatures that are given, and
    where no noise implies lam.
    """
    require_float64(STATEMENT.id, dtype)
    numbers = STATEMENT.numbers(params)
    _BEFORE_CHOICE.check(numbers)
    if "lam" not in params and numbers["sigma"] == 0:
        raise UsageError(f"{STATEMENT.id}: without noise (sigma = 0) no noise level implies lam; give lam")
    at = {"family": STATEMENT.parameter("family").default, **numbers, **params}
    family = known_family(*(at[name] for name in ("family", "d", "bumps", "width", "slope")))
    numbers["B"] = _at(theory.LARGEST_LABEL, {**numbers, "F": largest_value(family)})
    require_held(STATEMENT.id, {name: numbers[name] for name in TEMPERATURES if name in params}, numbers)
    formulas = {
        "lam": 2 * theory.NOISE,
        **dict(zip(TEMPERATURES, transformer.best_temperatures(), strict=True)),
    }
    return {**params, **{name: params.get(name, _at(formula, numbers)) for name, formula in formulas.items()}}


def _at(formula: sp.Expr, numbers: Mapping[str, Any]) -> float:
    return float(formula.xreplace({s: sp.Float(numbers[s.name], DIGITS) for s in formula.free_symbols}))


# That lam and temperatures meet theirs is checked once they are chosen.
_BEFORE_CHOICE = replace(
    STATEMENT,
    quantities=(),
    hypotheses=tuple(
        each for each in STATEMENT.hypotheses if not {str(s) for s in each.condition.free_symbols} & set(CHOSEN)
    ),
)


def unheld(
    N: int, n: int, sigma: float, delta: float, bits: int, tau_1: float, tau_2: float, largest: float
) -> Refusal | None:
    """What float64 does not hold of these temperatures, as in universal.transformer."""
    B = _at(theory.LARGEST_LABEL, {**locals(), "F": largest})
    found = refusal(N, n, B, bits, tau_1, tau_2, "float64")
    return None if found is None else replace(found, of_run=True)


# One draw: features, examples, their noise.


@lru_cache(maxsize=1024)
def drawn(
    N: int, n: int, L: int, sigma: float, delta: float, lam: float, tau: float, tau_1: float, tau_2: float, d: int,
    family: str, bumps: int, width: float, slope: float, seed: int,
) -> Tensor:  # fmt: skip
    """What one draw gives, of the function whose turn it is: the values of QUANTITIES, and then their roundings."""
    of, params = known_family(family, d, bumps, width, slope), locals()
    place, features = seed % len(of.members), draw_features(of, n - 1, seed)
    drawn_prompt = prompt(learner(with_idle(features), params), of.members[place].value, sigma, seed + 1, points(d))
    found = drawn_prompt.outcome
    bound = at_prompt(drawn_prompt, rivals(drawn_prompt, of, features, place), delta)
    share = found["risk"] / bound if bound else math.inf if found["risk"] else 0.0
    errors, rounding = {**found, "prompt": share}, roundings(drawn_prompt, bound)
    return torch.tensor(
        [each[name] for each in (errors, rounding) for name in QUANTITIES], dtype=torch.float64, device="cpu"
    )


def gap(
    N: int, n: int, L: int, sigma: float, lam: float, tau: float, tau_1: float, tau_2: float, d: int,
    members_of: Family, samples: int, seed: int,
) -> Sides:  # fmt: skip
    """The largest of the draws of `drawn`: exact steps, without the network. The bound is one for every prompt."""
    params, found = locals(), []
    for each in range(seed, seed + samples):
        place, features = each % len(members_of.members), draw_features(members_of, n - 1, each)
        steps = prompt(
            learner(with_idle(features), params), members_of.members[place].value, sigma, each + 1, points(d)
        )
        found.append(steps.gap(rho_star(members_of, features, place)))
    return Sides(within(max(found), 2.0**-30), measured=max(found), samples=samples, proved=("derived",))


def printed_weight(name: str) -> Check:
    """At the row's parameters, the error of the features as its bound."""
    formula = weight.at_row(weight.FORMULAS[name])

    def sides(N: int, n: int, L: int, sigma: float, delta: float, tau: float, eps: float, d: int,
              members_of: Family) -> Sides:  # fmt: skip
        letters = {mass: members_of.mass, at_zero: members_of.at_zero, members: len(members_of.members)}
        at = {**locals(), **{str(letter): number for letter, number in letters.items()}}
        found = evaluate_ball(formula, {letter: at[str(letter)] for letter in formula.free_symbols})
        return Sides(found, proved=("derived",), constant=weight.CONSTANTS[name])

    return Check(STATEMENT.quantity(name), sides)


# A function outside the class.


def outside_class(
    N: int, n: int, L: int, sigma: float, lam: float, tau: float, tau_1: float, tau_2: float, d: int,
    members_of: Family, unheld: Refusal | None,
) -> Sides:  # fmt: skip
    """The network of seed 0 on a random deep network's function, in floats."""
    if unheld is not None:
        return Sides(outside=UNKNOWN, letters={F: 1})
    of = learner(with_idle(draw_features(members_of, n - 1, 0)), locals())
    found = prompt(of, deep_network(d, 0), sigma, 1, points(d))
    return Sides(found.risk_of(found.y_hat), outside=UNKNOWN, letters={F: 1})


QUANTITIES = ("risk", "risk.iterate", "emulation", "prompt")


def _of_draw(place: int) -> Callable[..., Tensor]:
    return lambda outcome: outcome[place : place + 1]


def _rounding_of(place: int) -> Callable[..., Tensor]:
    return lambda outcome: outcome[len(QUANTITIES) + place]


RISK = Theorem(
    STATEMENT,
    main="risk",
    weights={"outcome": drawn},
    random={DRAW: ("outcome",), EXAMPLES: ("outcome",)},
    network={name: _of_draw(place) for place, name in enumerate(QUANTITIES)},
    rounding={name: _rounding_of(place) for place, name in enumerate(QUANTITIES)},
    reference=lambda outcome: dict.fromkeys(QUANTITIES, 0 * outcome[:1]),
    built={"members_of": known_family, "largest": lambda members_of: largest_value(members_of), "unheld": unheld},
    knows={
        mass: (lambda members_of: members_of.mass,),
        at_zero: (lambda members_of: members_of.at_zero,),
        members: (lambda members_of: len(members_of.members),),
        F: (lambda largest: largest,),
    },
    knobs=Knobs(resolve=resolve, implied=CHOSEN),
    at_point=AtPoint(refusal=lambda unheld: unheld),
    work=lambda N, n, L: of_blocks(POINTS * N, n, L),  # a batch for each draw
    checks=(
        Check(STATEMENT.quantity("risk.outside"), outside_class),
        Check(STATEMENT.quantity("gap"), gap),
        *map(printed_weight, weight.FORMULAS),
    ),
    settings={"samples": DRAWS},
    tables=(risk_tables.by_size, risk_tables.by_class, risk_tables.sizes),
    sources=(TABLE,),
)
