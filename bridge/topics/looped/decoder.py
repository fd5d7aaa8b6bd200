"""A decoder that descends on each token's past (algoformer, Lemma A.5, Theorem 4.2), beside exact gradient descent."""

from collections.abc import Mapping
from typing import Any

import sympy as sp
import torch

from bridge.domains import Ball, Box, Rows
from bridge.limits.cost import attention
from bridge.lowering.formula import ArrayFunction
from bridge.theorems.composed import ComposedLetter
from bridge.theorems.head_formats import held, pair_for
from bridge.theorems.parts import Knobs
from bridge.theorems.theorem import Function, Theorem
from bridge.theorems.transformer import Transformer
from bridge.topics.looped.size_counts import checks_of_whole
from numeric.topics.looped import decoder as numeric
from symbolic.topics.looped import decoder as theory
from symbolic.topics.looped.decoder import DECODER as STATEMENT

KEYS = 3  # of each example that a token sees, for the leak


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


def of_scores(x: Any, y: Any, v: Any) -> Any:
    return torch.maximum((v @ x.mT).abs().max(), y.abs().max())


SIZES: Mapping[sp.Symbol, Function] = {theory.B_x: largest_norm, theory.R: largest_residual, theory.W: longest}


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
        **{letter: (function,) for letter, function in SIZES.items()},
        theory.S: (ArrayFunction(theory.OF_NETWORK[theory.S]), ComposedLetter(theory.largest_residual(), SIZES)),
        theory.V: (ArrayFunction(theory.OF_NETWORK[theory.V]), ComposedLetter(theory.largest_prediction(), SIZES)),
        theory.Z: (of_scores,),
    },
    checks=checks_of_whole(STATEMENT, built, remark="no pre-transformer"),
    knobs=Knobs(resolve=resolve, implied=("c", "C")),
    work=lambda N, T: attention(2 * N + 1, T),
    tokens=True,
)  # fmt: skip
