"""Lemma 1 (li2025) as a theorem: features drawn from Lambda, judged over many draws, for a class of functions."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.domains.vectors import band
from bridge.theorems.check import Check, Sides
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.topics.universal.members import known_family
from numeric.balls.digits import apart
from numeric.topics.universal import features as numeric
from numeric.topics.universal.covering import in_ball
from numeric.topics.universal.features import Family
from symbolic.topics.universal import features as theory
from symbolic.words.errors import UsageError

DRAWS = 20  # of the table, and of the 1-norm
POINTS = 256  # of the ball
RESTARTS, STEPS = 8, 40  # of the attack
OWN = ("n", "tau", "eps", "delta")  # parameters of a class of one's own


def drawn(n: int, family: str, d: int, bumps: int, width: float, slope: float, seed: int) -> Tensor:
    return numeric.draw_features(known_family(family, d, bumps, width, slope), n, seed)


def checked_family(family: str, d: int, bumps: int, width: float, slope: float, n: int, eps: float) -> Family:
    return covered_by(known_family(family, d, bumps, width, slope), n, eps)


def covered_by(family: Family, n: int, eps: float) -> Family:
    """The family. Raises UsageError for fewer features than the logarithm of its cover."""
    at = {theory.members: len(family.members), theory.d: family.d, theory.eps: eps}
    needed = math.ceil(float(sp.log(theory.covered().subs(at))))
    if n < needed:
        raise UsageError(
            f"universal.features: n = {n} is below log |N_eps| = {needed}, and Lemma 1 needs n >= c_0 log |N_eps|; "
            f"take n >= {needed}, or a coarser cover"
        )
    return family


def points(d: int) -> Tensor:
    """Where errors are measured: points of the ball, and 0."""
    return torch.cat(
        [in_ball(POINTS - 1, d, torch.Generator().manual_seed(1)), torch.zeros(1, d, dtype=torch.float64, device="cpu")]
    )


def network(points: Any, features: Any, members_of: Family, tau: Any) -> Any:
    return numeric.approximations(points, features, numeric.coefficients(members_of, features), tau)


def reference(points: Any, members_of: Family) -> Any:
    return numeric.increments(points, members_of.members)


def one_norm(n: int, members_of: Family, seed: int, samples: int) -> Sides:
    """The largest over the functions and over some draws."""
    draws = [numeric.draw_features(members_of, n, seed + place) for place in range(min(samples, DRAWS))]
    norms = [numeric.coefficients(members_of, features).abs().mean(1).max() for features in draws]
    origin = torch.zeros(members_of.d, dtype=torch.float64, device="cpu")
    largest = max(float(member.value(origin).abs()) for member in members_of.members)
    return Sides(largest + float(max(norms)), proved=("derived",), remark=f"the largest of {len(draws)} draws")


def by_class(n: int, tau: float, members_of: Family, points: Tensor) -> NamedTable:
    """The sup errors by class: of DRAWS sets of features at the points, and of the first one attacked."""
    sets = [numeric.draw_features(members_of, n, seed) for seed in range(DRAWS)]
    found = torch.stack([numeric.errors(members_of, features, points, tau).amax(0) for features in sets])  # (draws, K)
    attacked = numeric.attacked_errors(members_of, sets[0], points[:RESTARTS], tau, STEPS)  # (K)
    kinds = [member.kind for member in members_of.members]
    rows: list[list[str | int | float | None]] = []
    for kind in dict.fromkeys(kinds):
        own = [place for place, each in enumerate(kinds) if each == kind]
        largest = found[:, own].amax(1)
        rows.append([kind, len(own), *map(float, (largest.median(), largest.max(), largest[0], attacked[own].max()))])
    return NamedTable(
        title=f"Sup error by class, {DRAWS} draws of {n} features, each for all classes",
        columns=["class", "functions", "median", "largest", "first draw", "attacked"], rows=rows,
    )  # fmt: skip


KNOWS: Mapping[sp.Symbol, tuple[Any, ...]] = {
    theory.mass: (lambda members_of: members_of.mass,),
    theory.at_zero: (lambda members_of: members_of.at_zero,),
    theory.members: (lambda members_of: len(members_of.members),),
}
FEATURES = Theorem(
    theory.FEATURES,
    main="features",
    weights={"points": points, "features": drawn},
    random={theory.DRAW: ("features",)},
    network=network,
    reference=reference,
    built={"members_of": checked_family},
    knows=KNOWS,
    checks=(Check(theory.FEATURES.quantity("one_norm"), one_norm),),
    tables=(by_class,),
)


def represented(id: str, family: Family, at: Tensor | None = None, **defaults: Any) -> Theorem:
    """Lemma 1 for a class of one's own: a theorem with the parameters n, tau, eps and delta, and `defaults` of them.

    Errors are measured `at` points (P, d) of the unit ball. Raises UsageError for a point outside it, naming the row.
    """
    places = points(family.d) if at is None else at
    norms = torch.linalg.vector_norm(places, dim=1)
    outside = norms > 1 + band(family.d)  # a point of the sphere is rounded, and so is its norm
    if bool(outside.any()):
        row = int(outside.nonzero()[0])
        norm = apart(float(norms[row]), 1.0)[0]
        raise UsageError(f"{id}: row {row} of the points has the norm {norm}, outside the unit ball")
    kept = [each for each in theory.FEATURES.parameters if each.name in OWN]
    statement = replace(
        theory.FEATURES,
        id=id,
        title=id,
        parameters=tuple(replace(each, default=defaults.get(each.name, each.default)) for each in kept),
        hypotheses=tuple(each for each in theory.FEATURES.hypotheses if each.parameter in OWN),
        symbols={**theory.FEATURES.symbols, theory.d: "dimension of `x`"},
    )
    return replace(
        FEATURES,
        statement=statement,
        weights={"points": lambda: places, "features": lambda n, seed: numeric.draw_features(family, n, seed)},
        built={"members_of": lambda n, eps: covered_by(family, n, eps)},
        knows={**KNOWS, theory.d: (lambda members_of: members_of.d,)},
    )
