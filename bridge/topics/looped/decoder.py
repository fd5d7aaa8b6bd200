"""A decoder that descends on each token's past (algoformer, Lemma A.5, Theorem 4.2), beside exact gradient descent."""

from collections.abc import Mapping
from typing import Any

import torch

from bridge.domains import Ball, Box, Rows
from bridge.limits.cost import attention
from bridge.lowering.formula import ArrayFunction
from bridge.theorems.check import Check, Sides
from bridge.theorems.head_formats import held, pair_for
from bridge.theorems.parts import Knobs
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from numeric.topics.looped import decoder as numeric
from symbolic.topics.looped import decoder as theory
from symbolic.topics.looped.decoder import DECODER as STATEMENT

KEYS = 3  # of each example that a token sees, for the leak
KNOWN = theory.B_x, theory.T, theory.eta, theory.c, theory.C
WORST_S, WORST_V = (
    ArrayFunction(theory.OF_NETWORK[each], theory.N, theory.B_y, *KNOWN) for each in (theory.S, theory.V)
)
S = ArrayFunction(theory.largest_residual(), theory.R, *KNOWN)
V = ArrayFunction(theory.largest_prediction(), theory.W, theory.R, *KNOWN)


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """c and C for the format, where they are not given. Raises UsageError for those that it does not hold."""
    known = STATEMENT.numbers(params)
    STATEMENT.check(known)
    size = float(theory.LARGEST.subs({theory.N: known["N"], theory.B_y: known["B_y"]}))
    pair = pair_for("opposite", dtype, keys=KEYS, size=size, width=int(known["d"]) + 1)
    return {**params, **held(STATEMENT.id, pair, dtype, params)}


def setting(d: int, eta: Any, c: Any, C: Any) -> numeric.DecoderSetting:
    return numeric.DecoderSetting(d, eta, c, C)


def built(d: Any, N: Any, T: Any, eta: Any, c: Any, C: Any) -> Any:
    return numeric.transformer(setting(d, eta, c, C), N, T)


def built_as_printed(d: Any, eta: Any, c: Any, C: Any) -> Any:
    return numeric.printed_layer(setting(d, eta, c, C), strict=True)


def reference(x: Any, y: Any, v: Any, eta: Any, T: Any) -> Any:
    w = numeric.path(x, y, eta, T)[-1]
    return {"w": w, "y_hat": (w * x).sum(1, keepdim=True), "gradient": numeric.gradients(v, x, y)}


# Letters at a prompt.


def largest_norm(x: Any) -> Any:
    return torch.linalg.vector_norm(x, dim=1).max()


def longest(x: Any, y: Any, eta: Any, T: Any) -> Any:
    return torch.stack([largest_norm(w) for w in numeric.path(x, y, eta, T)]).max()


def largest_residual(x: Any, y: Any, eta: Any, T: Any) -> Any:
    return torch.stack([numeric.residuals(w, x, y).abs().max() for w in numeric.path(x, y, eta, T)]).max()


def worst_residual(N: int, B_y: Any, B_x: Any, T: int, eta: Any, c: Any, C: Any) -> Any:
    return WORST_S(N, B_y, B_x, T, eta, c, C)


def worst_prediction(N: int, B_y: Any, B_x: Any, T: int, eta: Any, c: Any, C: Any) -> Any:
    return WORST_V(N, B_y, B_x, T, eta, c, C)


def of_all_iterates(x: Any, y: Any, eta: Any, T: Any, c: Any, C: Any) -> Any:
    return S(largest_residual(x, y, eta, T), largest_norm(x), T, eta, c, C)


def largest_prediction(x: Any, y: Any, eta: Any, T: Any, c: Any, C: Any) -> Any:
    sizes = longest(x, y, eta, T), largest_residual(x, y, eta, T)
    return V(*sizes, largest_norm(x), T, eta, c, C)


def of_scores(x: Any, y: Any, v: Any) -> Any:
    return torch.maximum((v @ x.mT).abs().max(), y.abs().max())


# Counts.


def layers(d: int, N: int, T: int, eta: float, c: float, C: float) -> Sides:
    sizes = built(d, N, T, eta, c, C).sizes.values()
    return Sides(sum(each.layers for each in sizes), rounding=0.0, remark="no pre-transformer")


def heads(d: int, N: int, T: int, eta: float, c: float, C: float) -> Sides:
    sizes = built(d, N, T, eta, c, C).sizes.values()
    return Sides(max(each.heads for each in sizes), rounding=0.0)


DECODER = Theorem(
    STATEMENT,
    main="y_hat",
    inputs={
        "x": Rows(theory.N, Ball(theory.d, radius=theory.B_x)),
        "y": Box(theory.N, size=theory.B_y),
        "v": Rows(theory.N, Ball(theory.d, radius=theory.P)),
    },
    network={
        "": Transformer(built, numeric.tokens, {
            "w": lambda w: numeric.at_features(w),
            "y_hat": lambda y_hat: numeric.at_features(y_hat),
        }),
        "gradient.printed": Transformer(built_as_printed, numeric.printed_tokens, {
            "gradient.printed": lambda gradient: gradient[0::2],
        }),
    },
    reference=reference,
    knows={
        theory.B_x: (largest_norm,),
        theory.R: (largest_residual,),
        theory.S: (worst_residual, of_all_iterates),
        theory.W: (longest,),
        theory.V: (worst_prediction, largest_prediction),
        theory.Z: (of_scores,),
    },
    checks=(Check(STATEMENT.quantity("layers"), layers), Check(STATEMENT.quantity("heads"), heads)),
    knobs=Knobs(resolve=resolve, implied=("c", "C")),
    work=lambda N, T: attention(2 * N + 1, T),
    tokens=True,
)  # fmt: skip
