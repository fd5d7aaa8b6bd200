"""Theorem 1 (li2025) over sizes: one prompt of each, one network for several classes, the sizes of (25)."""

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
import torch

from bridge.theorems.record import NamedTable
from bridge.theorems.refusal import Refusal
from bridge.topics.universal.members import known_family
from bridge.topics.universal.prompts import at_prompt, learner, number, points, prompt, rivals
from numeric.topics.universal.features import Family, draw_features
from numeric.topics.universal.risk import deep_network, with_idle
from symbolic.topics.universal import risk_derivation as theory
from symbolic.topics.universal import transformer_derivation as transformer
from symbolic.topics.universal.features import at_zero, covered, mass, members
from symbolic.topics.universal.lasso import F
from symbolic.topics.universal.risk import RISK

SIZES = (256, 1024, 4096)
OF_UNION = 4  # bumps
ACCURACIES = (0.8, 0.4, 0.2, 0.1)
PARTS = 8  # of eps_pred, one for each of the first terms
LARGEST = 1 << 80
WIDTH = 2 * transformer.n + 7  # D - d
Rows = list[list[str | int | float | None]]


# At each N the weight of the 1-norm is in proportion to the noise level, 1/sqrt(N).
def by_size(
    N: int, n: int, L: int, sigma: float, delta: float, lam: float, tau: float, tau_1: float, tau_2: float, eps: float,
    d: int, members_of: Family, largest: float, unheld: Refusal | None,
) -> NamedTable | None:  # fmt: skip
    """One prompt of each size: the transformer's risk, its bound at the prompt and beforehand; None if none runs."""
    if unheld is not None:
        return None
    params, law, features = locals(), points(d), draw_features(members_of, n - 1, 0)
    f = members_of.members[0].value
    rows: Rows = []
    for size in SIZES:
        at = {**params, "N": size, "lam": lam * (N / size) ** 0.5}
        found = prompt(learner(with_idle(features), at), f, sigma, 1, law)
        here = at_prompt(found, rivals(found, members_of, features, 0), delta)
        rows.append([size, at["lam"], found.risk_of(found.y_hat), here, beforehand("risk", at, members_of, largest)])
    trivial = float((f(law) ** 2).mean())
    return NamedTable(
        title=f"One prompt of each size, bounded with probability `1 - delta`; `E f^2 = {trivial:.3g}`",
        columns=["N", "lam", "risk", "at the prompt", "beforehand"], rows=rows,
    )  # fmt: skip


def beforehand(name: str, at: Mapping[str, Any], family: Family, largest: float) -> float:
    """The derived bound for functions of that class."""
    bound = RISK.quantity(name).derived()
    letters = {p.symbol: at[p.name] for p in RISK.parameters if p.symbol is not None and p.name in at}
    letters |= {mass: family.mass, at_zero: family.at_zero, members: len(family.members), F: largest}
    assert bound is not None  # the quantity has one
    return number(bound, letters)


def by_class(
    N: int, n: int, L: int, sigma: float, lam: float, tau: float, tau_1: float, tau_2: float, d: int, width: float,
    slope: float, unheld: Refusal | None,
) -> NamedTable | None:  # fmt: skip
    """One network, whose features come from F^sup of the union, for functions of each class."""
    if unheld is not None:
        return None
    family, law = known_family("union", d, OF_UNION, width, slope), points(d)
    of = learner(with_idle(draw_features(family, n - 1, 0)), locals())
    functions = [(member.kind, member.value) for member in family.members]
    functions.append(("deep networks: outside", deep_network(d, 0)))
    found = [(kind, prompt(of, f, sigma, 1, law)) for kind, f in functions]
    rows: Rows = []
    for kind in dict.fromkeys(kind for kind, _ in found):
        own = [each for other, each in found if other == kind]
        risks = torch.tensor([each.risk_of(each.y_hat) for each in own], dtype=torch.float64, device="cpu")
        trivial = torch.tensor(
            [each.risk_of(torch.zeros(len(law), dtype=torch.float64, device="cpu")) for each in own],
            dtype=torch.float64,
            device="cpu",
        )
        rows.append([kind, len(own), float(risks.max()), float(trivial[risks.argmax()])])
    return NamedTable(
        title="One network with features of the union of classes, and its risk for functions of each",
        columns=["class", "functions", "largest risk", "`E f^2`"], rows=rows,
    )  # fmt: skip


# lam = eps_pred/(8 U) and terms of eps_pred/8 each for eps_dis^2 and eps_opt; the rest is left to N.
def sizes(sigma: float, delta: float, tau: float, eps: float, d: int, members_of: Family, largest: float) -> NamedTable:
    """The n, L and N at which the derived bound of the exact iterates meets an accuracy, over those of (25)."""
    known = {**locals(), "N": 1}
    size, letters = members_of.constant, {members: len(members_of.members), theory.delta: delta}
    logarithm = float(
        sp.log(covered()).subs({**letters, RISK.parameter("d").symbol: d, RISK.parameter("eps").symbol: eps})
    )
    norm = number(theory.WORST[theory.U], {mass: members_of.mass, at_zero: members_of.at_zero})
    rows: Rows = []
    for wanted in (share * largest**2 for share in ACCURACIES):
        n, T, N = _sizes_for(wanted, norm, known, members_of, largest)
        width, L = float(WIDTH.subs(transformer.n, n)), 2 * T + 1  # D - d, and layers
        printed = size**2 * logarithm / wanted, (size * (size + sigma) / wanted) ** 2
        depth = width * size * (size + sigma) / wanted
        rows.append([wanted, n, width / printed[0], N, N / printed[1], L, L / depth])
    return NamedTable(
        title="Sizes at which the bound of `T` exact steps meets `eps_pred`, over those of (25) with constants 1",
        columns=["eps_pred", "n", "over (25a)", "N", "over (25b)", "L", "over (25c)"], rows=rows,
    )  # fmt: skip


def _sizes_for(
    wanted: float, norm: float, known: Mapping[str, Any], family: Family, largest: float
) -> tuple[int, int, int]:
    """n, T and N, each the least after those before it."""
    part = wanted / PARTS
    n = least(lambda n: features_error({**known, "n": n}, family) ** 2 <= part, 2)
    T = least(lambda T: n * norm**2 / T <= part, 1)
    at = {**known, "n": n, "L": 2 * T + 1, "lam": part / norm}
    return n, T, least(lambda N: _holds({**at, "N": N}, family, largest, wanted), 1)


def features_error(at: Mapping[str, Any], family: Family) -> float:
    bound = theory.derive_features().error
    letters = {p.symbol: at[p.name] for p in RISK.parameters if p.name in at}
    letters |= {mass: family.mass, members: len(family.members)}
    return number(bound, letters)


def _holds(at: Mapping[str, Any], family: Family, largest: float, wanted: float) -> bool:
    noise = number(theory.NOISE, {RISK.parameter(name).symbol: at[name] for name in ("N", "n", "sigma", "delta")})
    return noise < at["lam"] and beforehand("risk.iterate", at, family, largest) <= wanted


def least(meets: Callable[[int], bool], low: int) -> int:
    """The least whole number from `low` on that meets a condition, which all larger ones meet too; at most LARGEST."""
    high = low
    while not meets(high) and high < LARGEST:
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle + 1, high)
    return high
