"""Continuing a chain of states (algoformer, Theorem 3.3): the next state against the true one, filter and counts."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
import torch

from bridge.check import Check, Sides
from bridge.domains import Ball, Box, Rows, SingularValues
from bridge.formula import ArrayFunction
from bridge.head_formats import pair_for, recommended, require_held
from bridge.lowering import lower
from bridge.theorem import Theorem
from bridge.transformer import Transformer
from numeric.looped import chain_of_thought as numeric
from numeric.looped.gradient_descent import descended
from symbolic.looped import chain_of_thought as theory
from symbolic.looped.chain_of_thought import CHAIN_OF_THOUGHT as STATEMENT

SECOND = "opposite"
# Of the chains in the table; with this seed the examples have conditions of at most 7 for all slopes of the tests.
CHAINS, STEPS, WIDTH, SEED, LOOPS = 10, 6, 2, 137, 128


# Parameters.


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """eta, c and C where they are not given. Raises UsageError for what the format does not hold."""
    known = {p.name: params.get(p.name, p.default) for p in STATEMENT.parameters}
    numbers = {name: STATEMENT.number(name, value) for name, value in known.items()}
    numbers["eta"] = params.get("eta", 1 / float(numbers["high"]) if numbers["high"] > 0 else 1.0)
    STATEMENT.check({**numbers})
    return {"eta": numbers["eta"], **knobs(numbers, params, dtype), **params}


def knobs(numbers: Mapping[str, Any], given: Mapping[str, Any], dtype: str) -> dict[str, float]:
    """c and C, as given or the best ones."""
    size = float(lower(theory.pair(sp.S.One, sp.S.One).size, "numpy")(**{k: numbers[k] for k in ("B", "N", "high")}))
    keys = numbers["N"] * (numbers["L"] + 1) + numbers["step"] + 1
    heads = pair_for(SECOND, dtype, keys=keys, size=size, width=numbers["d"])
    chosen = {name: float(given.get(name, best)) for name, best in recommended(heads, dtype).items()}
    require_held(STATEMENT.id, heads, dtype, **chosen)
    return chosen


# A loop multiplies the radius of a residual by eta/c times the weights of both heads.
def exact_bits(T: int, N: int, L: int, eta: float, c: float) -> int:
    return 64 + math.ceil(T * math.log2(1 + 2 * (N + 1) * (L + 1) * eta / c))


# Networks. Inputs: x (N, d) and s (d) at step l, W (d, d), and `others` (N + 1, K, d), all states of other steps.


def transformer(
    N: Any, L: Any, d: Any, leak: Any, eta: Any, c: Any, C: Any, tau: Any, B: Any, high: Any, T: int
) -> Any:
    reach = LONGEST(B, N, high)
    return numeric.transformer(numeric.Setting(int(N), int(L) + 1, int(d), leak, eta, c, C, tau, reach, SECOND), int(T))


def tokens(x: Any, s: Any, W: Any, others: Any, step: Any, leak: Any) -> Any:
    at, following = int(step), numeric.leaky(x @ W.mT, leak)
    examples = torch.cat([others[:-1, :at], x[:, None], following[:, None], others[:-1, at + 2 :]], 1)
    return numeric.tokens(examples, torch.cat([others[-1, :at], s[None]]))


def steps(x: Any, s: Any, W: Any, eta: Any, T: int, leak: Any) -> Any:
    return numeric.leaky(descended(x, x @ W.mT, eta, int(T)) @ s, leak)


def reference(x: Any, s: Any, W: Any, others: Any, step: Any, leak: Any) -> dict[str, Any]:
    at, following = int(step), numeric.leaky(W @ s, leak)
    kept = torch.cat([0 * others[:-1, :at], -1 * (x @ W.mT)[:, None], 0 * others[:-1, at + 1 :]], 1)
    residuals = torch.cat([0 * s[None], kept.flatten(0, 1), 0 * others[-1, : at + 1]])
    return {"next": following, "steps": following, "filter": residuals}


def largest_residual(x: Any, W: Any) -> Any:
    return torch.linalg.vector_norm(x @ W.mT, dim=0).max()


def least_coefficients(x: Any, s: Any) -> Any:
    return torch.linalg.vector_norm(x @ torch.linalg.solve(x.mT @ x, s))


# Checks.


def counted(part: str, what: str) -> Callable[..., Sides]:
    def sides(N: int, L: int, d: int, leak: float, eta: float, c: float, C: float, tau: float, B: float, high: float
              ) -> Sides:  # fmt: skip
        built = transformer(N, L, d, leak, eta, c, C, tau, B, high, 1)
        return Sides(getattr(built.sizes[part], what), rounding=0.0, proved=("printed",))

    return sides


LONGEST = ArrayFunction(theory.LONGEST, theory.B, theory.N, theory.high)
CHAIN_OF_THOUGHT = Theorem(
    STATEMENT,
    main="next",
    inputs={
        "x": SingularValues(
            theory.N, theory.d, low=sp.sqrt(theory.N * theory.low), high=sp.sqrt(theory.N * theory.high)
        ),
        "s": Ball(theory.d, radius=theory.B),
        "W": Rows(theory.d, Ball(theory.d)),
        "others": Box(theory.N + 1, theory.L + 1, theory.d, size=theory.B),
    },
    network={
        "": Transformer(transformer, tokens, {"next": lambda output: output, "filter": lambda filtered: filtered}),
        "steps": steps,
    },
    reference=reference,
    knows={theory.R: (largest_residual,), theory.alpha: (least_coefficients,)},
    checks=tuple(
        Check(STATEMENT.quantity(f"{what}.{part}"), counted(part, what))
        for part in ("pre", "loop", "post") for what in ("layers", "heads")
    ),
    resolve=resolve,
    exact_bits=exact_bits,
    implied=("eta", "c", "C"),
)  # fmt: skip
