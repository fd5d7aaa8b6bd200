"""Continuing a chain of states (algoformer, Theorem 3.3): the next state against the true one, filter and counts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Ball, Box, Rows, SingularValues
from bridge.instances.letters import number_where_it_holds
from bridge.limits.arguments import arguments_of
from bridge.lowering import lower
from bridge.lowering.formula import ArrayFunction
from bridge.theorems.head_formats import held, pair_for
from bridge.theorems.parts import ExactRuns, Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from bridge.topics.looped.size_counts import checks_of_parts
from numeric.networks.network import Network
from numeric.topics.looped import chain_of_thought as numeric
from numeric.topics.looped.gradient_descent import descended
from symbolic.topics.looped import chain_of_thought as theory
from symbolic.topics.looped.chain_of_thought import CHAIN_OF_THOUGHT as STATEMENT

SECOND = "opposite"
# Of the chains in the table: with this seed the examples have conditions of at most 13 for slopes from 0.01 to 1.
CHAINS, STEPS, WIDTH, SEED = 10, 6, 2, 137


# Parameters.


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """eta, c and C where they are not given. Raises UsageError for what the format does not hold."""
    numbers = STATEMENT.numbers(params)
    numbers["eta"] = params.get("eta", 1 / float(numbers["high"]) if numbers["high"] > 0 else 1.0)
    STATEMENT.check(numbers)
    return {"eta": numbers["eta"], **params, **knobs(numbers, params, dtype)}


def knobs(numbers: Mapping[str, Any], given: Mapping[str, Any], dtype: str) -> dict[str, float]:
    """c and C, as given or the best ones."""
    size = float(lower(theory.pair(sp.S.One, sp.S.One).size, "numpy")(**{k: numbers[k] for k in ("B", "N", "high")}))
    keys = numbers["N"] * (numbers["L"] + 1) + numbers["step"] + 1
    heads = pair_for(SECOND, dtype, keys=keys, size=size, width=numbers["d"])
    return held(STATEMENT.id, heads, dtype, given)


# A loop multiplies the radius of a residual by eta/c times the weights of both heads.
def exact_bits(T: int, N: int, L: int, eta: float, c: float) -> int:
    return 64 + math.ceil(T * math.log2(1 + 2 * (N + 1) * (L + 1) * eta / c))


# Networks. Inputs: x (N, d) and s (d) at step l, W (d, d), and `others` (N + 1, K, d), all states of other steps.


def transformer(
    N: Any, L: Any, d: Any, leak: Any, eta: Any, c: Any, C: Any, tau: Any, B: Any, high: Any, T: int
) -> Any:
    reach = LONGEST(B, N, high) * (1 + 2.0**-20)  # states in floats may be above theirs
    setting = numeric.ChainSetting(int(N), int(L) + 1, int(d), leak, eta, c, C, tau, reach, SECOND)
    return numeric.transformer(setting, int(T))


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


# Chains of data.


@dataclass(frozen=True)
class Continued:
    """What follows states s (P, d), with examples x (P, N, d): of T loops and of T exact steps, (P, d) each.

    All prompts share eta, 1 / the largest eigenvalue of an X^T X / N, and the weights; `low` (P) are the least ones.
    """

    x: Tensor
    s: Tensor
    low: Tensor
    network: Tensor
    exact: Tensor
    params: Mapping[str, Any]

    def bounds(self, W: Tensor) -> list[float]:
        """On the errors of the network, where the next states are leaky(W s); infinite where the loops add too much."""
        letters = {p.name: p.symbol for p in STATEMENT.parameters}
        found = []
        for x, s, low in zip(self.x, self.s, self.low, strict=True):
            point = {letter: {**self.params, "low": float(low)}[name] for name, letter in letters.items()}
            own = {theory.R: float(largest_residual(x, W)), theory.alpha: float(least_coefficients(x, s))}
            bound = number_where_it_holds(STATEMENT.quantity("next"), point, own)
            found.append(math.inf if bound is None else bound)
        return found


def continued(examples: Sequence[Tensor], begun: Tensor, leak: float, T: int) -> Continued:
    """The state after `begun` (l + 1, d), from chains (K, d) each. Raises StreamError for chains that do not fit."""
    numeric.require_chains(examples, begun)
    return _continued(torch.stack(list(examples))[None], begun[None], leak, T)


def _continued(examples: Tensor, begun: Tensor, leak: float, T: int) -> Continued:
    """From examples (P, N, K, d) and begun (P, l + 1, d)."""
    step = begun.shape[1] - 1
    x, s = examples[:, :, step], begun[:, -1]
    eigenvalues = torch.linalg.eigvalsh(x.mT @ x / x.shape[1])  # (P, d)
    _, N, K, d = examples.shape
    given = {"N": N, "L": K - 1, "step": step, "d": d, "T": T, "leak": leak}
    given |= {"low": float(eigenvalues.min()), "high": float(eigenvalues.max())}
    given["B"] = max(float(torch.linalg.vector_norm(each, dim=-1).max()) for each in (examples, begun))
    params = {**{p.name: p.default for p in STATEMENT.parameters}, **resolve(given, 0)}
    network = Network(transformer(**{name: params[name] for name in arguments_of(transformer)}))
    prompts = torch.stack([numeric.tokens(*each) for each in zip(examples, begun, strict=True)])
    with torch.no_grad():
        found = network(prompts)
    labels = numeric.unleaky(examples[:, :, step + 1], leak)
    fitted = torch.stack([descended(*each, params["eta"], T) for each in zip(x, labels, strict=True)])
    exact = numeric.leaky((fitted @ s[..., None])[..., 0], leak)
    return Continued(x, s, eigenvalues[:, 0], found, exact, params)


def held_out(states: Tensor, step: int, leak: float, T: int) -> Continued:
    """The state after `step` of each of the chains (M, K, d), from the others."""
    others = [torch.cat([states[:place], states[place + 1 :]]) for place in range(len(states))]
    return _continued(torch.stack(others), states[:, : step + 1], leak, T)


def seeded(leak: float) -> tuple[Tensor, Tensor]:
    """The chains (M, K, d) of the table, and their weights (L, d, d)."""
    generator = torch.Generator().manual_seed(SEED)
    weights = torch.linalg.qr(torch.randn(STEPS, WIDTH, WIDTH, generator=generator, dtype=torch.float64, device="cpu"))[
        0
    ]
    starts = 2 * torch.rand(CHAINS, WIDTH, generator=generator, dtype=torch.float64, device="cpu") - 1
    return numeric.chains(starts, weights, leak), weights


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def chains(leak: float, T: int) -> NamedTable:
    """Every state of ten chains, each from those before it and the other chains, against the true one."""
    states, weights = seeded(leak)
    rows: list[list[str | int | float | None]] = []
    for step, W in enumerate(weights):
        found = held_out(states, step, leak, T)
        errors = [float((each - states[:, step + 1]).abs().max()) for each in (found.network, found.exact)]
        rows.append([step + 1, found.params["high"] / found.params["low"], *errors, _finite(max(found.bounds(W)))])
    return NamedTable(
        title=f"States of {CHAINS} chains, each from the others: largest errors; `T = {T}`, `d = {WIDTH}`",
        columns=["state", "condition", "network", "exact steps", "largest bound"], rows=rows,
    )  # fmt: skip


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
    checks=checks_of_parts(STATEMENT, transformer, ("pre", "loop", "post")),
    tables=(chains,),
    knobs=Knobs(resolve=resolve, implied=("eta", "c", "C")),
    exact=ExactRuns(bits=exact_bits),
    settings={"samples": 32, "attack": 20, "restarts": 2},
)  # fmt: skip
