"""Lemma 3 (li2025) as a theorem: planted errors, random and attacked, beside the bounds of every step."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Ball, Box, Rows
from bridge.lowering.formula import evaluate
from bridge.theorems.check import Check, Sides
from bridge.theorems.parts import Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from numeric.topics.universal import proximal as numeric
from symbolic.calculus import ProximalSteps
from symbolic.topics.universal import proximal as theory

WITNESS = {"n": 7, "lam": 0.25, "L": 5}  # rho_1 = (1/8, ..., 1/8) fits the examples exactly
LONGEST = 2000  # steps of the table
SHOWN = (1, 2, 10, 100, 1000, LONGEST)


def network(phi: Any, y: Any, rho: Any, errors: Any, thresholds: Any, lam: Any, eta: Any) -> dict[str, Any]:
    """phi (N, n), y (N), rho (n + 1), errors (T, n + 1), thresholds (T)."""
    features = with_one(phi)
    found = numeric.inexact(features, y, lam, eta, errors, thresholds)
    values = (numeric.objective(features, y, each, lam) for each in (found, rho))
    return {"gap": torch.relu(next(values) - next(values))[None], "iterates": found}


def reference(rho: Any) -> dict[str, Any]:
    """The bounds are on the gap and on the norm themselves."""
    return {"gap": 0 * rho[:1], "iterates": 0 * rho}


def with_one(phi: Any) -> Any:
    """The features and the constant 1, (N, n + 1)."""
    return torch.cat([phi, 1 + 0 * phi[:, :1]], 1)


def resolve(given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The longest step that Lemma 3 allows, rounded down, if none is given."""
    n = int(given.get("n", theory.PROXIMAL.parameter("n").default))
    return {"eta": math.nextafter(1 / (2 * (n + 1)), 0), **given}


# The step from rho_1 towards y = 1, all features 1, against rho* = (0, ..., 0, 1).


def exact_step(n: int, lam: float | Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """The weight of the 1-norm, and the entries before and after."""
    weight = Fraction(lam)
    _, before, after = numeric.constant_steps(n, weight, 2)
    return weight, before, after


def letters(n: int, before: Fraction, after: Fraction) -> dict[sp.Symbol, Fraction]:
    apart = [n * each**2 + (1 - each) ** 2 for each in (before, after)]
    return dict(zip((theory.old, theory.new, theory.moved), (*apart, (n + 1) * (after - before) ** 2), strict=True))


def decrease(n: int, lam: float) -> Sides:
    weight, before, after = exact_step(n, lam)
    return Sides(
        numeric.constant_objective(n, weight, after) - weight, letters=letters(n, before, after), proved=("derived",),
        remark="`t = 1`; the repaired bound is attained",
    )  # fmt: skip


def descent(n: int, lam: float) -> Sides:
    weight, before, after = exact_step(n, lam)
    values = [numeric.constant_objective(n, weight, each) for each in (before, after)]
    return Sides(values[1] - values[0], letters=letters(n, before, after), proved=("derived",), remark="`t = 1`")


# Every step beside both bounds.


def by_step(
    n: int, N: int, lam: float, eta: float, C: float, B_y: float, eps: float, eps_threshold: float
) -> NamedTable:
    """Gap and norm along two long runs, beside the bounds for every prompt and those of the run itself."""
    generator = torch.Generator().manual_seed(0)
    phi = with_one(torch.rand(N, n, generator=generator, dtype=torch.float64, device="cpu"))
    y = torch.full((N,), min(B_y, C), dtype=torch.float64, device="cpu")
    rho = C * torch.nn.functional.one_hot(torch.tensor(n, dtype=torch.int64, device="cpu"), n + 1).double()
    at = {theory.n: n, theory.lam: lam, theory.eta: eta, theory.C: C, theory.B_y: B_y}
    at |= {theory.eps: eps, theory.eps_threshold: eps_threshold}
    error = float(theory.derive_update().error.subs({theory.e: eps, theory.e_threshold: eps_threshold, theory.n: n}))
    rows: list[list[str | int | float | None]] = []
    for kind, push in (("random", numeric.at_random(generator)), ("steepest", numeric.steepest)):
        path = numeric.path(phi, y, lam, eta, error, LONGEST, push)
        gaps, own, norms = along(phi, y, rho, path, error, lam, eta)
        for t in SHOWN:
            gap, norm = (_bound(name, {**at, theory.L: 2 * t + 1}) for name in ("gap", "iterates"))
            rows.append([kind, t, gaps[t - 1], own[t - 1], gap, norms[t - 1], norm])
    return NamedTable(
        title=f"Planted errors of 1-norm {error:.3g}, {LONGEST} steps",
        columns=["errors", "t", "gap", "bound of this run", "bound", "1-norm", "bound of the norm"],
        rows=rows,
    )


def along(
    phi: Tensor, y: Tensor, rho: Tensor, path: Tensor, error: float, lam: float, eta: float
) -> tuple[list[float], list[float], list[float]]:
    """After 1, 2, ... steps of a path (T, n + 1): gap, its bound by the run's own distances and slopes, 1-norm."""
    left, norms = path @ phi.T - y, path.abs().sum(1)  # (T, N), (T)
    slopes = (2 / len(y) * left @ phi + lam * path.sign()).abs().amax(1)
    gaps = (left**2).mean(1) + lam * norms - numeric.objective(phi, y, rho, lam)
    reaches, distance = (path - rho).abs().amax(1), float(torch.linalg.vector_norm(rho))
    own = ProximalSteps(theory.eta).run(distance, [error] * len(path), reaches.tolist(), slopes.tolist(), eta)
    return gaps.tolist(), own, norms.tolist()


def _bound(name: str, at: Mapping[sp.Symbol, Any]) -> float:
    bound = theory.PROXIMAL.quantity(name).derived()
    return float(evaluate(bound, at))


STEPS = (theory.L - 1) / 2
PROXIMAL = Theorem(
    theory.PROXIMAL,
    main="gap",
    inputs={
        "phi": Box(theory.N, theory.n, low=0, high=1),
        "y": Ball(theory.N, radius=sp.sqrt(theory.N) * theory.B_y),
        "rho": Ball(theory.n + 1, norm=1, radius=theory.C),
        "errors": Rows(STEPS, Ball(theory.n + 1, norm=1, radius=theory.eps)),
        "thresholds": Box(STEPS, size=theory.eps_threshold),
    },
    network=network,
    reference=reference,
    knows={
        theory.U: (lambda rho: torch.linalg.vector_norm(rho),),
        theory.mean_y: (lambda y: torch.abs(y).sum() / len(y),),
        theory.mean_square: (lambda y: (y * y).sum() / len(y),),
        theory.e: (lambda errors: torch.abs(errors).sum(1).amax(),),
        theory.e_threshold: (lambda thresholds: torch.abs(thresholds).amax(),),
    },
    knobs=Knobs(resolve=resolve, implied=("eta",)),
    checks=tuple(
        Check(theory.PROXIMAL.quantity(name), sides, params=WITNESS)
        for name, sides in (("decrease", decrease), ("descent", descent))
    ),
    tables=(by_step,),
)
