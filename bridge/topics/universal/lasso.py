"""Lemmas 2 and 6 (li2025) as a theorem: examples drawn anew by each seed, their Lasso solved, bounds judged."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.limits.accepted import require_float64
from bridge.lowering.formula import evaluate
from bridge.theorems.parts import Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.topics.universal.members import known_family
from numeric.balls import BallArray
from numeric.topics.universal import lasso as numeric
from numeric.topics.universal.covering import in_ball
from numeric.topics.universal.features import coefficients, draw_features
from numeric.topics.universal.lasso import Pool
from numeric.topics.universal.ramps import ramp
from symbolic.topics.universal import lasso as theory

POINTS = 512  # of the law of x
SIZES = (256, 1024, 4096, 16384)  # of the table
WEIGHTS = (0.003, 0.01, 0.03, 0.1)  # of the 1-norm, for the rivals of rho*


@lru_cache(maxsize=16)
def pool(n: int, d: int, tau: float, width: float) -> Pool:
    """The features of Lemma 1 for a bump with its centre in the ball, its coefficients (35), and points of the ball."""
    family = known_family("bumps", d, 1, width, 1.0)
    features = draw_features(family, n, 0)
    x = in_ball(POINTS, d, torch.Generator().manual_seed(3))
    phi = torch.cat([ramp(tau * (x @ features[:, 3:].T - features[:, 0])), x.new_ones(POINTS, 1)], 1)
    (member,) = family.members
    at_zero = member.value(x.new_zeros(d))
    rho = torch.cat([coefficients(family, features)[0] / n, at_zero[None]])
    return Pool.of(phi, member.value(x), rho)


def picked(N: int, seed: int) -> Tensor:
    return torch.randint(
        POINTS, (N,), generator=torch.Generator().manual_seed(2 * seed), dtype=torch.int64, device="cpu"
    )


def noise(N: int, sigma: float, seed: int) -> Tensor:
    return sigma * torch.randn(
        N, generator=torch.Generator().manual_seed(2 * seed + 1), dtype=torch.float64, device="cpu"
    )


@lru_cache(maxsize=1024)
def solution(
    N: int, sigma: float, lam: float, eps_opt: float, n: int, d: int, tau: float, width: float, seed: int
) -> Tensor:
    """Of the examples of that seed, with a duality gap of at most eps_opt."""
    known, chosen = pool(n, d, tau, width), picked(N, seed)
    return numeric.solve(known.phi[chosen], known.f[chosen] + noise(N, sigma, seed), lam, eps_opt)


def places(picked: Any) -> Tensor:
    """Whole numbers, as indices; on balls they are exact."""
    if isinstance(picked, BallArray):
        return torch.tensor([int(float(each)) for each in picked.balls], dtype=torch.int64, device="cpu")
    found: Tensor = picked.long()
    return found


def noise_level(picked: Any, z: Any, known: Pool) -> Any:
    return numeric.noise(known.phi[places(picked)], z)


def mean_squares(picked: Any, z: Any, B: Any, known: Pool) -> Any:
    chosen = places(picked)
    return numeric.mean_squares(known.phi[chosen], known.residual[chosen], z, B * _directions(known))


def _directions(known: Pool) -> Tensor:
    return numeric.directions(len(known.rho)).to(known.rho.device)


def expected_squares(B: Any, known: Pool) -> Any:
    moves = B * _directions(known)
    return ((known.residual[:, None] - known.phi @ moves.T) ** 2).mean(0)


def excess(picked: Any, z: Any, B: Any, known: Pool) -> Any:
    """How far the mean squares are below that of rho*."""
    chosen = places(picked)
    own = numeric.mean_squares(known.phi[chosen], known.residual[chosen], z, 0 * known.rho[None])
    return torch.relu(own - mean_squares(picked, z, B, known))


def reference(B: Any, known: Pool) -> dict[str, Any]:
    return {
        "noise": torch.zeros_like(known.rho),
        "deviation": expected_squares(B, known),
        "excess": known.rho.new_zeros(len(numeric.directions(len(known.rho)))),
        "norm": torch.zeros_like(known.rho),
        "risk": known.rho.new_zeros(1),
    }


# At a prompt: its own noise, its own norms, the duality gap, and the best of several vectors in the place of rho*.


def at_prompt(
    phi: Tensor, y: Tensor, z: Tensor, found: Tensor, rival: Pool, params: Mapping[str, Any]
) -> dict[str, float]:
    """The bounds on norm and risk of this solution of these examples, compared with that of the rival."""
    own = sp.Symbol("nu", nonnegative=True)
    letters = {theory.LASSO.parameter(name).symbol: value for name, value in params.items()}
    letters |= {own: float(numeric.noise(phi, z).abs().max()), theory.A: float(found.abs().sum()), theory.N: len(y)}
    letters |= {theory.eps_opt: max(numeric.duality_gap(phi, y, found, params["lam"]), 0.0), theory.F: rival.largest}
    letters |= {theory.U: rival.norm, theory.eps_dis: rival.eps_dis}
    errors = {each.error_symbol: each.error for each in theory.MOMENTS}
    bounds = {"norm": theory.norm_bound(own), "risk": theory.risk_at(theory.A, own).xreplace(errors)}
    return {name: _number(bound, letters) for name, bound in bounds.items()}


def beforehand(known: Pool, params: Mapping[str, Any]) -> dict[str, float | None]:
    """The derived bounds on norm and risk, None below the noise level."""
    letters = {theory.LASSO.parameter(name).symbol: value for name, value in params.items()}
    letters |= {theory.U: known.norm, theory.eps_dis: known.eps_dis, theory.F: known.largest}
    if _number(theory.NOISE, letters) >= params["lam"]:
        return dict.fromkeys(("norm", "risk"))
    return {name: _number(theory.LASSO.quantity(name).derived(), letters) for name in ("norm", "risk")}


def _number(bound: Any, letters: Mapping[sp.Symbol, Any]) -> float:
    return float(evaluate(bound, letters))


def by_size(
    n: int, d: int, tau: float, width: float, lam: float, sigma: float, delta: float, eps_opt: float
) -> NamedTable:
    """One prompt of each size: measured, bounded at the prompt, bounded beforehand."""
    known, params = pool(n, d, tau, width), {"n": n, "lam": lam, "sigma": sigma, "delta": delta}
    others = numeric.rivals(known, WEIGHTS)
    rows: list[list[str | int | float | None]] = []
    for N in SIZES:
        z, chosen = noise(N, sigma, 0), picked(N, 0)
        phi, y = known.phi[chosen], known.f[chosen] + z
        found = numeric.solve(phi, y, lam)
        bounds = [at_prompt(phi, y, z, found, rival, params) for rival in others]
        stated = beforehand(known, {**params, "N": N, "eps_opt": eps_opt})
        measured = {"norm": float(found.abs().sum()), "risk": float(known.risk(found))}
        for_both = ((measured[k], min(each[k] for each in bounds), stated[k]) for k in ("norm", "risk"))
        rows.append([N, *(each for triple in for_both for each in triple)])
    of_pool = {"E f^2": float((known.f**2).mean()), "||rho*||_1": known.norm, "eps_dis": known.eps_dis}
    return NamedTable(
        title="One prompt of each size, its risk bounded with probability `1 - delta`; "
        + ", ".join(f"`{name} = {x:.3g}`" for name, x in of_pool.items()),
        columns=["N", "1-norm", "at the prompt", "beforehand", "risk", "at the prompt", "beforehand"],
        rows=rows,
    )


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> Mapping[str, Any]:
    """The parameters as they are given. Raises UsageError for another format than float64."""
    require_float64(theory.LASSO.id, dtype)
    return params


LASSO = Theorem(
    theory.LASSO,
    main="risk",
    weights={"picked": picked, "z": noise, "solution": solution},
    random={theory.EXAMPLES: ("picked", "z", "solution")},
    network={
        "noise": noise_level,
        "deviation": mean_squares,
        "excess": excess,
        "norm": lambda solution: solution,
        "risk": lambda solution, known: known.risk(solution)[None],
    },
    reference=reference,
    built={"known": pool},
    knows={
        theory.U: (lambda known: known.norm,),
        theory.eps_dis: (lambda known: known.eps_dis,),
        theory.F: (lambda known: known.largest,),
    },
    knobs=Knobs(resolve=resolve),
    tables=(by_size,),
)
