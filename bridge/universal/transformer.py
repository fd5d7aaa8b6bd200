"""Lemma 4 (li2025) as a theorem: a block from any state, and T blocks from 0, beside exact proximal gradient steps."""

from collections.abc import Mapping
from typing import Any

import flint
import sympy as sp
import torch

from bridge.budget import Budget
from bridge.check import Check, Sides
from bridge.cost import Cost
from bridge.domains import Ball, Box, Rows, Sphere
from bridge.export.numbers import plain
from bridge.readings import Smooth
from bridge.record import NamedTable
from bridge.theorem import Theorem
from bridge.transformer import Transformer
from numeric.balls import BallArray
from numeric.universal import transformer as numeric
from symbolic.statements import UsageError
from symbolic.universal import transformer as theory
from symbolic.universal.transformer_statement import TRANSFORMER as STATEMENT
from symbolic.universal.transformer_statement import WORST

FORMATS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
CHOSEN = ("tau_1", "tau_2")
LEVELS = (17, 15, 13, 11, 9, 7, 5, 3)  # of a continued fraction
SEARCHES, EXACT_SECONDS = 10, 60.0  # attacks: each quantity in each scope; exact runs that take longer are not tried


# Parameters.


def resolve(params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The temperatures for the format, where they are not given. Raises UsageError for one beyond the format."""
    known = {p.name: params.get(p.name, p.default) for p in STATEMENT.parameters if p.name not in CHOSEN}
    numbers = {name: STATEMENT.number(name, value) for name, value in known.items()}
    STATEMENT.check({**numbers, **dict.fromkeys(CHOSEN, 1.0)})
    best = dict(zip(CHOSEN, theory.best_temperatures(), strict=True))
    found = {name: params.get(name, float(_at(tau, numbers))) for name, tau in best.items()}
    for name, needed in zip(CHOSEN, theory.bits_to_hold(), strict=True):
        _require_held(name, STATEMENT.number(name, found[name]), needed, numbers)
    return {**params, **found}


def _at(formula: sp.Expr, numbers: Mapping[str, Any]) -> sp.Expr:
    return formula.subs({s: sp.Rational(numbers[s.name]) for s in formula.free_symbols})


def _require_held(name: str, tau: float, needed: sp.Expr, numbers: Mapping[str, Any]) -> None:
    least = int(_at(needed, {**numbers, name: tau})) if tau > 0 else 0
    if least > numbers["bits"]:
        raise UsageError(
            f"{STATEMENT.id}: {name} = {plain(tau)} is beyond the format: what a block computes needs {least} bits to "
            f"exceed its rounding, the format has {numbers['bits']}; take a smaller {name}, or bits = {least} or more"
        )


# Networks.


def setting(
    directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, tau_1: Any, tau_2: Any, N: Any, printed: bool
) -> numeric.Setting:
    return numeric.Setting(directions, t, tau_ff, lam, 1 / (2 * n), tau_1, tau_2, N, printed)


def block(directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, tau_1: Any, tau_2: Any, N: Any) -> Any:
    return numeric.one_block(setting(directions, t, tau_ff, lam, n, tau_1, tau_2, N, False))


def printed_block(directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, tau_1: Any, tau_2: Any, N: Any) -> Any:
    return numeric.one_block(setting(directions, t, tau_ff, lam, n, tau_1, tau_2, N, True))


def path(directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, tau_1: Any, tau_2: Any, N: Any, L: Any) -> Any:
    return numeric.transformer(setting(directions, t, tau_ff, lam, n, tau_1, tau_2, N, False), L)


def state_tokens(x: Any, y: Any, rho: Any) -> Any:
    return torch.cat([numeric.tokens(x, y), torch.ones_like(x[:, :1]) * rho], 1)


def reference(x: Any, y: Any, rho: Any, directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, L: Any) -> Any:
    phi = numeric.ramp_features(x, directions, t, tau_ff)
    eta = 1 / (2 * n)
    half = numeric.gradient_step(rho, phi[:-1], y, eta)
    after = numeric.proximal_path(phi[:-1], y, eta, lam, numeric.blocks_of(L))
    return {
        "residual": half,
        "step": numeric.soft_threshold(half, eta * lam),
        "y_residual": phi[-1:] @ rho,
        "rho": after,
        "y_hat": phi[-1:] @ after,
    }


# Readings. (2 tau tanh(z/(2 tau)))' is 1 - tanh^2, at least 1 - (z/(2 tau))^2.


# tanh u = u/(1 + x) with x = u^2/(3 + u^2/(5 + ...)): u - tanh u = u x/(1 + x) does not cancel.
def gap(u: Any) -> Any:
    """u - tanh u; on tensors to their precision, also near 0."""
    direct: Any = u - torch.tanh(u)
    if isinstance(u, BallArray):
        return direct
    near, tail = u.clamp(-1, 1) ** 2, torch.full_like(u, float(LEVELS[0]))
    for odd in LEVELS[1:]:
        tail = odd + near / tail
    return torch.where(u.abs() < 1, u * (near / tail) / (1 + near / tail), direct)


def functions(tau_1: float, tau_2: float, n: int, B: float, P: float, lam: float) -> dict[str, Smooth]:
    """By handle, each on the range of its step."""
    S = float(WORST[theory.S].subs({theory.B: B, theory.lam: lam}))

    def short(z: Any, tau: float, count: int) -> Any:
        """z - count tau tanh(z/(count tau)), whose factors are exact on balls: count = 4n is 2/eta, and 2 in Attn2."""
        return count * (tau * gap(z / tau / count))

    def of_label(z: Any) -> Any:
        return -short(z, tau_1, 4 * n)

    # tanh a - tanh b = sinh(a - b)/(cosh a cosh b).
    def of_query(z: Any) -> Any:
        moved, at = -short(z, tau_2, 2) / tau_1 / (4 * n), z / tau_1 / (4 * n)
        return 4 * n * (tau_1 * torch.sinh(moved) / torch.cosh(at) / torch.cosh(at + moved))

    def deviation(hat: Any, radius: float) -> Smooth:
        return Smooth(lambda z: 0 * z, hat, radius=radius)

    def identity(radius: float, slope: float | None = None) -> Smooth:
        return Smooth(lambda z: z, lambda z: z - short(z, tau_2, 2), [lambda z: 1 + 0 * z], {2: 0},
                      slope_error=slope, deviation=lambda z: -short(z, tau_2, 2), radius=radius)  # fmt: skip

    return {
        **{f"{of}_labels": deviation(of_label, B) for of in ("block", "path")},
        "block_predictions": deviation(of_label, P),
        "block_query": deviation(of_query, P),
        "block_read": identity(P, min(1.0, (P / (2 * tau_2)) ** 2)),
        "path_predictions": deviation(of_label, S),
        "path_query": deviation(of_query, S),
        "path_read": identity(S),
    }


def handles(
    x: Any, y: Any, rho: Any, directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, N: Any, functions: Any
) -> dict[str, Any]:
    phi = numeric.ramp_features(x, directions, t, tau_ff)
    examples, query, eta = phi[:-1], phi[-1:], 1 / (2 * n)
    return {
        **functions,
        "rho_0": rho, "start": 0 * rho, "y": y, "phi": examples, "phi_query": query,
        "A": torch.eye(n + 1, dtype=torch.float64) - 2 * eta / N * (examples.mT @ examples),
        "b": 2 * eta / N * (y @ examples),
        "pull": 2 * eta / N * examples, "pull_query": 2 * eta / N * query,
        "threshold": eta * lam,
    }  # fmt: skip


# Checks and tables.


def logistic(P: float, tau_2: float) -> Sides:
    size, tau = flint.arb(P), flint.arb(tau_2)
    sigma = 1 / (1 + (-size / tau).exp())
    return Sides(size - 4 * tau * (sigma - flint.arb(0.5)), proved=("derived",), remark="increasing in |x|: at x = P")


def printed_bits(N: int, n: int, L: int, B: float) -> Sides:
    return Sides(int(_at(theory.bits_of_printed_tau(), {"N": N, "n": n, "L": L, "B": B})), computed=("derived",))


def formats(N: int, n: int, L: int, B: float) -> NamedTable:
    """The temperatures for each format, and whether anything of a block is left with them."""
    rows: list[list[str | int | float | None]] = []
    for name, bits in FORMATS.items():
        at = {"N": N, "n": n, "B": B, "bits": bits}
        tau_1, tau_2 = (_at(tau, at) for tau in theory.best_temperatures())
        least = max(int(_at(each, {**at, "tau_1": tau_1, "tau_2": tau_2})) for each in theory.bits_to_hold())
        held = "yes" if least <= bits else f"no: that takes {least} bits"
        rows.append([name, bits, float(tau_1), float(tau_2), held])
    return NamedTable(title="temperatures by format", columns=["format", "bits", *CHOSEN, "holds a block"], rows=rows)


# phi of each prompt, and a few arrays of its size; each block reads it some four times, and so does the reference.
def cost(sizes: Mapping[str, float], budget: Budget | None) -> Cost:
    features = sizes["N"] * sizes["n"]
    if budget is None:
        return Cost(48 * features)
    runs = budget.samples + budget.attack * budget.restarts * SEARCHES
    memory = 48 * features * (budget.samples + SEARCHES * budget.restarts)
    return Cost(memory, 1e-9 * runs * sizes["L"] * features + min(EXACT_SECONDS, 1e-4 * sizes["L"] * features))


PATH = Transformer(
    path, numeric.tokens, {"rho": lambda rho: rho[-1], "y_hat": lambda y_hat: y_hat[-1]}, shared=True
)  # fmt: skip
TRANSFORMER = Theorem(
    STATEMENT,
    main="y_hat",
    inputs={
        "x": Rows(theory.N + 1, Ball(theory.d)),
        "y": Box(theory.N, size=theory.B),
        "rho": Ball(theory.n + 1, norm=1, radius=theory.P),
    },
    weights={"directions": Rows(theory.n, Sphere(theory.d)), "t": Box(theory.n, low=-2, high=1)},
    network={
        "": Transformer(block, state_tokens, {
            "residual": lambda residual: residual[-1],
            "step": lambda step: step[-1],
            "y_residual": lambda y_residual: y_residual[-1],
        }, shared=True),
        "y_residual.printed": Transformer(
            printed_block, state_tokens, {"y_residual.printed": lambda y_residual: y_residual[-1]}, shared=True
        ),
        "rho": PATH,
        "y_hat": PATH,
    },
    reference=reference,
    built={"functions": functions},
    handles=handles,
    checks=(
        Check(STATEMENT.quantity("logistic"), logistic),
        Check(STATEMENT.quantity("tau.bits"), printed_bits),
    ),
    resolve=resolve,
    implied=CHOSEN,
    cost=cost,
    tables=(formats,),
)  # fmt: skip
