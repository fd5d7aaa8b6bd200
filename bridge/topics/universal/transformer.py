"""Lemma 4 (li2025) as a theorem: a block from any state, and T blocks from 0, beside exact proximal gradient steps."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import flint
import sympy as sp
import torch

from bridge.domains import Ball, Box, Rows, Sphere
from bridge.limits.run import FORMATS
from bridge.lowering.ball_values import BASE_BITS
from bridge.lowering.formula import ArrayFunction
from bridge.readings import Smooth
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.composed import ComposedLetter
from bridge.theorems.parts import AtPoint, Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from bridge.topics.universal.logistic import functions_of
from bridge.topics.universal.prompts import of_blocks
from bridge.topics.universal.temperatures import CHOSEN, at_numbers, recommended, refusal, require_held
from numeric.balls import BallArray, working_precision
from numeric.networks.layers import LogisticAttention
from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.universal import transformer as numeric
from symbolic.statements.landau import Constant, order_constant
from symbolic.statements.result import Order
from symbolic.topics.universal import transformer_derivation as theory
from symbolic.topics.universal.transformer import HEADS, WORST
from symbolic.topics.universal.transformer import TRANSFORMER as STATEMENT

ETA = ArrayFunction(theory.eta, theory.n)


# Formats.


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """Bits and temperatures for the format, where they are not given. Raises UsageError for one beyond its bits."""
    params = {"bits": FORMATS[dtype], **params}
    numbers = STATEMENT.numbers(params)
    STATEMENT.check({**numbers, **dict.fromkeys(CHOSEN, 1.0)})
    require_held(STATEMENT.id, {name: numbers[name] for name in CHOSEN if name in params}, numbers)
    return {**recommended(numbers, dtype), **params}


# Networks.


def eta(n: Any) -> Any:
    """On balls for the whole numbers of a run there."""
    found = ETA(n)
    return found if isinstance(found, BallArray) else float(found)


def setting(
    directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, tau_1: Any, tau_2: Any, N: Any
) -> numeric.LassoSetting:
    return numeric.LassoSetting(directions, t, tau_ff, lam, eta(n), tau_1, tau_2, N)


def of_setting(build: Callable[[numeric.LassoSetting], Any]) -> Callable[..., Any]:
    """The construction as a function of what a setting is made of."""

    @wraps(setting)
    def built(**known: Any) -> Any:
        return build(setting(**known))

    return built


def path(directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, tau_1: Any, tau_2: Any, N: Any, L: Any) -> Any:
    return numeric.transformer(setting(directions, t, tau_ff, lam, n, tau_1, tau_2, N), L)


def state_tokens(x: Any, y: Any, rho: Any) -> Any:
    return torch.cat([numeric.tokens(x, y), torch.ones_like(x[:, :1]) * rho], 1)


def reference(x: Any, y: Any, rho: Any, directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, L: Any) -> Any:
    phi = numeric.ramp_features(x, directions, t, tau_ff)
    half = numeric.gradient_step(rho, phi[:-1], y, eta(n))
    after = numeric.proximal_path(phi[:-1], y, eta(n), lam, numeric.blocks_of(L))
    return {
        "residual": half,
        "step": numeric.soft_threshold(half, eta(n) * lam),
        "y_residual": phi[-1:] @ rho,
        "rho": after,
        "y_hat": phi[-1:] @ after,
    }


# Readings.


def functions(tau_1: float, tau_2: float, n: int, N: int, L: int, B: float, P: float, lam: float) -> dict[str, Smooth]:
    """By handle, each on the range of its step."""
    numbers = {"tau_1": tau_1, "tau_2": tau_2, "n": n, "N": N, "L": L, "B": B, "lam": lam}
    S = float(at_numbers(WORST[theory.S], numbers))
    ranges = (("block", P), ("path", S))
    return {
        handle: each
        for name, radius in ranges
        for handle, each in functions_of(name, radius, B, tau_1, tau_2, n).items()
    }


def handles(
    x: Any, y: Any, rho: Any, directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, N: Any, functions: Any
) -> dict[str, Any]:
    phi, step = numeric.ramp_features(x, directions, t, tau_ff), eta(n)
    examples, query = phi[:-1], phi[-1:]
    pull = 2 * step / N
    return {
        **functions,
        "rho_0": rho, "start": 0 * rho, "y": y, "phi": examples, "phi_query": query,
        "A": torch.eye(n + 1, dtype=torch.float64, device=phi.device) - pull * (examples.mT @ examples),
        "b": pull * (y @ examples),
        "pull": pull * examples, "pull_query": pull * query,
        "threshold": step * lam,
    }  # fmt: skip


# R and S at a prompt.


def largest_norm(x: Any, y: Any, directions: Any, t: Any, tau_ff: Any, lam: Any, n: Any, L: Any) -> Any:
    """That of the exact iterates in the 1-norm."""
    phi = numeric.ramp_features(x, directions, t, tau_ff)[:-1]
    rho, found = 0 * phi[0], 0 * phi[0, 0]
    for _ in range(numeric.blocks_of(L)):
        rho = numeric.proximal_step(rho, phi, y, eta(n), lam)
        found = torch.maximum(found, rho.abs().sum())
    return found


# Checks and tables.


# P (P/tau)^2 is what is left: sigma and 1/2 share log2(tau/P) leading bits, P and 4 tau (sigma - 1/2) twice as many.
def logistic(P: float, tau_2: float) -> Sides:
    cancelled = 3 * max(0, math.ceil(math.log2(tau_2) - math.log2(P)))
    with working_precision(BASE_BITS + cancelled):
        size, tau = flint.arb(P), flint.arb(tau_2)
        sigma = 1 / (1 + (-size / tau).exp())
        found = size - 4 * tau * (sigma - flint.arb(0.5))
    return Sides(found, proved=("derived",), remark="increasing in `|x|`: at `x = P`")


def printed_bits(N: int, n: int, L: int, B: float) -> Sides:
    return Sides(int(at_numbers(theory.bits_of_printed_tau(), {"N": N, "n": n, "L": L, "B": B})), computed=("derived",))


def of_blocks_held(
    directions: Any, t: Any, tau_ff: float, lam: float, n: int, tau_1: float, tau_2: float, N: int, L: int, B: float,
    bits: int,
) -> Any:  # fmt: skip
    """Makes the network of all blocks; None where float64, in which it is run here, does not hold its temperatures."""
    unheld = refusal(N, n, B, bits, tau_1, tau_2, "float64")
    return None if unheld else partial(path, directions, t, tau_ff, lam, n, tau_1, tau_2, N, L)


def norm(
    held: Any, N: int, n: int, L: int, d: int, B: float, lam: float, tau_1: float, tau_2: float, samples: int, seed: int
) -> Sides:
    """At random examples, with all labels B at every other prompt; in float64."""
    numbers = {"N": N, "n": n, "L": L, "B": B, "lam": lam, "tau_1": tau_1, "tau_2": tau_2}
    outside = "" if at_numbers(theory.room_of_scores(), numbers) >= 0 else "no score leaves `[-S, S]`"
    generator = torch.Generator().manual_seed(seed)
    x, y = Rows(N + 1, Ball(d)).sample(samples, generator), Box(N, size=B).sample(samples, generator)
    y[::2] = B
    names = [f"rho[{block}]" for block in range(1, numeric.blocks_of(L) + 1)]
    found = SharedNetwork(held()).run(torch.stack(list(map(numeric.tokens, x, y))), names)
    largest = max(float(each[:, 0].abs().sum(-1).max()) for each in found.values())
    proved = () if outside else ("derived",)
    return Sides(within(largest, 2.0**-30), measured=largest, samples=samples, proved=proved, outside=outside)


def sizes() -> tuple[Check, ...]:
    """Width, layers and heads of the network, counted."""

    def check(name: str, count: Callable[[Any], int], constant: Constant | None = None) -> Check:
        @wraps(path)
        def sides(**known: Any) -> Sides:
            return Sides(count(path(**known)), rounding=0.0, constant=constant)

        return Check(STATEMENT.quantity(name), sides)

    return (
        check("width", lambda built: built.stream(-1).width),
        check("layers", lambda built: len(_heads(built))),
        check("heads", lambda built: max(_heads(built)), order_constant(Order.O, HEADS, sp.S.One, {})),
    )


def _heads(built: Any) -> list[int]:
    """Of each layer of attention."""
    return [len(each.heads) for each in built.layers if isinstance(each, LogisticAttention)]


def formats(N: int, n: int, L: int, B: float, lam: float, bits: int, dtype: str) -> NamedTable:
    """The temperatures for each format, and what is left with them of a block, and of T blocks."""
    at = {"N": N, "n": n, "L": L, "B": B, "lam": lam}
    least = [int(at_numbers(each(), at)) for each in (theory.bits_of_a_block, theory.bits_of_all_blocks)]
    rows: list[list[str | int | float | None]] = []
    for name, has in FORMATS.items():
        held = ["yes" if each <= has else f"no: that takes {each} bits" for each in least]
        rows.append([name, has, *recommended({**at, "bits": has}, name).values(), *held])
    columns = ["format", "bits", *CHOSEN, "holds a block", "holds `T` blocks"]
    title = f"temperatures by format (here: for bits = {bits}, run in {dtype}"
    return NamedTable(title=f"{title}, which decides what is held)", columns=columns, rows=rows)


PATH = Transformer(path, numeric.tokens, {"rho": lambda rho: rho[-1], "y_hat": lambda y_hat: y_hat[-1]}, shared=True)
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
        "": Transformer(of_setting(numeric.one_block), state_tokens, {
            "residual": lambda residual: residual[-1],
            "step": lambda step: step[-1],
            "y_residual": lambda y_residual: y_residual[-1],
        }, shared=True),
        "y_residual.printed": Transformer(
            of_setting(lambda at: numeric.one_block(replace(at, printed=True))), state_tokens,
            {"y_residual.printed": lambda y_residual: y_residual[-1]}, shared=True,
        ),
        "rho": PATH,
        "y_hat": PATH,
    },
    reference=reference,
    built={"functions": functions, "held": of_blocks_held},
    handles=handles,
    checks=(
        Check(STATEMENT.quantity("logistic"), logistic),
        Check(STATEMENT.quantity("tau.bits"), printed_bits),
        Check(STATEMENT.quantity("norm"), norm),
        *sizes(),
    ),
    knows={
        theory.R: (largest_norm,),
        theory.S: (ComposedLetter(theory.largest_score(theory.R), {theory.R: largest_norm}),),
    },
    knobs=Knobs(resolve=resolve, implied=("bits", *CHOSEN)),
    at_point=AtPoint(refusal=refusal),
    work=lambda N, n, L: replace(of_blocks(N, n, L), exact=L * N * n),
    tables=(formats,),
    by_rules=False,
)  # fmt: skip
