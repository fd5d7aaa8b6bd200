"""Autoregression by a looped transformer (algoformer, Lemma A.3, Theorem 3.2), beside exact gradient descent."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Box
from bridge.limits.cost import Count, Work, attention
from bridge.theorems.composed import ComposedLetter
from bridge.theorems.head_formats import held, pair_for
from bridge.theorems.parts import Knobs
from bridge.theorems.theorem import Function, Theorem
from bridge.theorems.transformer import Transformer
from bridge.topics.looped.autoregression_series import SERIES
from bridge.topics.looped.copies import sharpness, signs, signs_cost
from bridge.topics.looped.series import of_synthetic
from bridge.topics.looped.size_counts import checks_of_whole
from numeric.topics.looped import autoregression as numeric
from symbolic.topics.looped import autoregression as theory
from symbolic.topics.looped.autoregression import AUTOREGRESSION as STATEMENT

# Knobs.


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """beta for the accuracy, c and C for the format, unless they are given. Raises UsageError for those beyond it."""
    known = STATEMENT.numbers(params)
    STATEMENT.check(known)
    F = int(known["q"]) * int(known["d"])
    pair = pair_for("opposite", dtype, keys=int(known["N"]) + 2, size=F * known["B"] ** 2 / known["N"], width=F)
    beta = sharpness(int(known["N"]), known["B"], known["eps"], known["accuracy"])
    return {"beta": beta, **params, **held(STATEMENT.id, pair, dtype, params)}


# Weights.


def layers(q: int, d: int, L: int, seed: int) -> Tensor:
    """Matrices of the representation, (L, F, F), whose rows have 1-norms of at most 1."""
    drawn = torch.randn(
        L, q * d, q * d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64, device="cpu"
    )
    return drawn / (drawn.abs().sum(2, keepdim=True) * (1 + 2.0**-40))


def gap(signs: Any) -> Any:
    products = signs @ signs.mT - (signs.shape[1] + 1) * torch.eye(len(signs), dtype=torch.float64, device=signs.device)
    return 1 - products.max() / signs.shape[1]


# Networks.


def built(signs: Any, layers: Any, N: int, q: int, d: int, T: int, B: Any, eta: Any, beta: Any, c: Any, C: Any) -> Any:
    return numeric.transformer(numeric.SeriesSetting(signs, N, q, beta, B, eta, c, C, d, tuple(layers)), T)


def tokens(x: Any, N: int, signs: Any) -> Any:
    return numeric.tokens(torch.cat([x, 0 * x[:1]]), N, signs)


def reference(x: Any, layers: Any, N: int, q: int, eta: Any, T: int) -> Any:
    lags = numeric.lagged(torch.cat([x, 0 * x[:1]]), q)
    predicted = numeric.path(numeric.represented(lags, layers), x, N, eta, T)[-1]
    return {"copy": lags, "state": (predicted[1 : N + 1] - x[1:]).mT, "x_hat": predicted[N + 1]}


# Letters at a prompt.


def features(x: Any, layers: Any, q: int) -> Any:
    """Phi at t = 0, ..., N + 1, (N + 2, F)."""
    return numeric.represented(numeric.lagged(torch.cat([x, 0 * x[:1]]), q), layers)


def largest(x: Any) -> Any:
    return x.abs().max()


def first_norm(x: Any) -> Any:
    """That of R_0, of its largest coordinate."""
    return torch.linalg.vector_norm(x[1:], dim=0).max()


def row_norm(x: Any, layers: Any, N: int, q: int) -> Any:
    phi = features(x, layers, q)
    return torch.linalg.vector_norm(phi[1:-1] @ phi[-1]) / N


def largest_exact(x: Any, layers: Any, N: int, q: int, eta: Any, T: int) -> Any:
    found = numeric.path(features(x, layers, q), x, N, eta, T)
    return torch.stack([each[-1].abs().max() for each in found]).max()


def largest_product(x: Any, layers: Any, q: int) -> Any:
    phi = features(x, layers, q)
    return (phi @ phi.mT).abs().max()


WORST_DELTA = ComposedLetter(theory.OF_NETWORK[theory.delta], {theory.eps: gap})
WORST_X_HAT = ComposedLetter(theory.OF_NETWORK[theory.X_hat], {theory.delta: WORST_DELTA})
NORMS: Mapping[sp.Symbol, Function] = {theory.Q: largest_exact, theory.P: first_norm, theory.G: row_norm}
DELTA = ComposedLetter(theory.DELTA, {theory.X: largest_product, theory.B: largest, theory.eps: gap})
X_HAT = ComposedLetter(theory.largest_prediction(), {**NORMS, theory.delta: DELTA})
STATE = ComposedLetter(theory.derive_state().error, {**NORMS, theory.delta: DELTA, theory.X_hat: X_HAT})


def work(N: Count, q: Count, T: Count, eps: Count, m: Count) -> Work:
    return replace(attention(N, q + T), before=signs_cost(N, q, eps, m))


AUTOREGRESSION = Theorem(
    STATEMENT,
    main="x_hat",
    inputs={"x": Box(theory.N + 1, theory.d, size=theory.B)},
    weights={"signs": signs, "layers": layers},
    network=Transformer(built, tokens, {
        "copy": lambda copy: copy[:-1],
        "state": lambda state: state[1:-2].mT,
        "x_hat": lambda x_hat: x_hat[-2],
    }),
    reference=reference,
    knows={
        theory.eps: (gap,),
        theory.B: (largest,),
        theory.delta: (WORST_DELTA, DELTA),
        **{letter: (function,) for letter, function in NORMS.items()},
        theory.X_hat: (WORST_X_HAT, X_HAT),
        theory.E: (STATE,),
    },
    checks=checks_of_whole(STATEMENT, built),
    knobs=Knobs(resolve=resolve, implied=("beta", "c", "C")),
    work=work,
    tables=(lambda: of_synthetic(seed=0),),
    sources=(SERIES,),
    tokens=True,
)  # fmt: skip
