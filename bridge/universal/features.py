"""Lemma 1 (li2025) as a theorem: features drawn from Lambda, judged over many draws, for a class of functions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.check import Check, Sides
from bridge.lowering import lower
from bridge.record import NamedTable
from bridge.theorem import Theorem
from bridge.universal.classes import parts_of
from numeric.universal import features as numeric
from numeric.universal.covering import in_ball
from numeric.universal.features import Family, Member
from numeric.universal.sampling import Draw
from symbolic.statements import UsageError
from symbolic.universal import barron
from symbolic.universal import features as theory
from symbolic.universal.barron import BarronClass, r

DRAWS = 20  # of the table, and of the 1-norm
POINTS = 256  # of the ball
RESTARTS, STEPS = 8, 40  # of the attack
FAMILIES = ("bumps", "union")
OWN = ("n", "tau", "eps", "delta")  # parameters of a class of one's own
LINEAR = 0.5  # the largest coefficient of the linear functions


# Functions of known classes. Their phases are those of F_f: exp(-i omega^T c) for a centre c, 1/(i omega) for ridges.


def bump(centre: Sequence[float], width: float, spectrum: BarronClass) -> Member:
    at = torch.tensor(centre, dtype=torch.float64)
    density = barron.bump(len(at), sp.Rational(width)).radial
    ratio = lower(sp.simplify(density / spectrum.radial), "torch", args=(r,))
    return Member(
        "bumps",
        lambda x: torch.exp(-((x - at) ** 2).sum(-1) / (2 * width**2)),
        lambda found: torch.where(found.part == 0, ratio(found.radius), 0.0),
        lambda found: -found.radius * (found.direction @ at),
    )


def ridge(line: int, slope: float, spectrum: BarronClass) -> Member:
    """The logistic neuron on that line of the spectrum."""
    direction = torch.tensor([float(each) for each in spectrum.lines[line][0]], dtype=torch.float64)
    return Member(
        "ridges",
        lambda x: torch.sigmoid(slope * (x * direction).sum(-1)),
        lambda found: (found.part == 1 + line).double(),
        lambda found: -torch.pi / 2 * torch.sign(found.direction @ direction),
    )


def linear(slopes: Sequence[float], spectrum: BarronClass) -> Member:
    """sum_i a_i u_i^T x over the directions of the limits."""
    at = torch.tensor(slopes, dtype=torch.float64)
    directions = torch.tensor([[float(each) for each in u] for u, _ in spectrum.limits], dtype=torch.float64)
    sizes = torch.tensor([float(size) for _, size in spectrum.limits], dtype=torch.float64)
    first = 1 + len(spectrum.lines)

    def of_limit(found: Draw, numbers: Tensor) -> Tensor:
        place = found.part - first
        return torch.where(place >= 0, numbers[place.clamp_min(0)], 0.0)

    def phase(found: Draw) -> Tensor:
        signs = of_limit(found, torch.ones_like(at)) * (
            found.direction * directions[(found.part - first).clamp_min(0)]
        ).sum(1)
        return -torch.pi / 2 * torch.sign(signs * of_limit(found, at))

    return Member(
        "linear", lambda x: x @ (at @ directions), lambda found: of_limit(found, at.abs() / sizes), phase
    )  # fmt: skip


def family_of(spectrum: BarronClass, members: Sequence[Member]) -> Family:
    return Family(int(spectrum.d), tuple(parts_of(spectrum)), tuple(members), float(spectrum.at_zero))


@lru_cache(maxsize=16)
def known_family(family: str, d: int, bumps: int, width: float, slope: float) -> Family:
    """Bumps with centres in the ball; of the union, ridges in two directions and linear functions too."""
    if family not in FAMILIES:
        raise UsageError(f"universal.features: no family {family!r}; choose {' or '.join(FAMILIES)}")
    centres = in_ball(bumps, d, torch.Generator().manual_seed(0)).tolist()
    spectrum = barron.bump(d, sp.Rational(width))
    if family == "bumps":
        return family_of(spectrum, [bump(centre, width, spectrum) for centre in centres])
    axes = [tuple(int(place == axis) for place in range(d)) for axis in range(d)]
    lines = [axes[0], tuple(1 / sp.sqrt(d) for _ in range(d))] if d > 1 else axes[:1]
    parts = [spectrum, *(barron.logistic(line, sp.Rational(slope)) for line in lines)]
    spectrum = barron.union([*parts, barron.linear(axes, [LINEAR] * d)])
    slopes = [[LINEAR] * d, [-LINEAR, *([0.0] * (d - 1))]]
    members = [bump(centre, width, spectrum) for centre in centres]
    members += [ridge(line, slope, spectrum) for line in range(len(lines))]
    return family_of(spectrum, members + [linear(each, spectrum) for each in slopes])


# The theorem.


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
    return torch.cat([in_ball(POINTS - 1, d, torch.Generator().manual_seed(1)), torch.zeros(1, d, dtype=torch.float64)])


def network(points: Any, features: Any, members_of: Family, tau: Any) -> Any:
    return numeric.approximations(points, features, numeric.coefficients(members_of, features), tau)


def reference(points: Any, members_of: Family) -> Any:
    return numeric.increments(points, members_of.members)


def one_norm(n: int, members_of: Family, seed: int, samples: int) -> Sides:
    """The largest over the functions and over some draws."""
    draws = [numeric.draw_features(members_of, n, seed + place) for place in range(min(samples, DRAWS))]
    norms = [numeric.coefficients(members_of, features).abs().mean(1).max() for features in draws]
    origin = torch.zeros(members_of.d, dtype=torch.float64)
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
    if bool((norms > 1).any()):
        row = int((norms > 1).nonzero()[0])
        raise UsageError(f"{id}: row {row} of the points has the norm {float(norms[row]):.6g}, outside the unit ball")
    kept = [each for each in theory.FEATURES.parameters if each.name in OWN]
    statement = replace(
        theory.FEATURES,
        id=id,
        title=id,
        parameters=tuple(replace(each, default=defaults.get(each.name, each.default)) for each in kept),
        hypotheses=tuple(each for each in theory.FEATURES.hypotheses if each.parameter in OWN),
    )
    return replace(
        FEATURES,
        statement=statement,
        weights={"points": lambda: places, "features": lambda n, seed: numeric.draw_features(family, n, seed)},
        built={"members_of": lambda n, eps: covered_by(family, n, eps)},
        knows={**KNOWS, theory.d: (lambda members_of: members_of.d,)},
    )
