"""Softmax weights as linear functions (algoformer, (7), (8)) and one gradient step with them, by theorem and format."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from bridge.domains import Ball, Box, Rows
from bridge.limits.run import FORMATS
from bridge.theorems.head_formats import held, largest_sink, pair_for, recommended
from bridge.theorems.parts import Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.sources import Tabular
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from numeric.networks.network import Network
from numeric.topics.looped import linearised as numeric
from symbolic.calculus.head_knobs import HeadPair
from symbolic.calculus.heads import Second
from symbolic.topics.looped import linearised as theory
from symbolic.topics.looped.linearised import LINEARISED as STATEMENT

FORMATS_SHOWN = ("float64", "float32", "bfloat16")
SCANNED = tuple((2.0**k, j) for k in range(-6, 7, 2) for j in (-6, 0, 6))  # factors of c, terms of C
WORDS = {Second.CONSTANT: "scores 0", Second.OPPOSITE: "opposite"}
NAMES = {second: (c.name, C.name) for second, (c, C) in theory.KNOBS.items()}


# Formats.


def pair(second: Second, N: int, d: int, B: float, dtype: str) -> HeadPair:
    return pair_for(second, dtype, keys=2 * N + 1, size=B**2 / N, width=d)


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """c and C of both pairs for the format, where they are not given. Raises UsageError for what it does not hold."""
    numbers = STATEMENT.numbers(params)
    STATEMENT.check(numbers)
    found = dict(params)
    for second, names in NAMES.items():
        heads = pair(second, int(numbers["N"]), int(numbers["d"]), float(numbers["B"]), dtype)
        found |= held(STATEMENT.id, heads, dtype, params, names=names)
    return found


# Network, reference and readings.


def constant(d: int, eta: Any, c: Any, C: Any) -> Any:
    return numeric.step(numeric.LinearisedSetting(d, c, C, "constant", eta))


def opposite(d: int, eta: Any, c_odd: Any, C_odd: Any) -> Any:
    return numeric.step(numeric.LinearisedSetting(d, c_odd, C_odd, "opposite", eta))


def reference(x: Any, r: Any, eta: Any, c: Any) -> dict[str, Any]:
    z, step = numeric.products(x), numeric.stepped(x, r, eta)[:, None]
    return {"weights.one": 1 + c * z, "weights": z, "weights.opposite": z, "step": step, "step.opposite": step}


def handles(x: Any, r: Any, eta: Any, c: Any, c_odd: Any) -> dict[str, Any]:
    z = numeric.products(x)
    return {
        "scores": c * z, "scores.opposite": c_odd * z, "scale": 1 / c, "scale.opposite": 1 / c_odd,
        "residuals": r[:, None], "pull": eta * numeric.values(r),
    }  # fmt: skip


# Tables.


def relative_error(x: Any, r: Any, second: str, dtype: str, c: float, C: float) -> float:
    """Of the gradient that the heads write, in the sup norm over the tokens, for a prompt that the format holds.

    nan where the format holds nothing of the prompt.
    """
    kind = getattr(torch, dtype)
    x, r = x.to(kind), r.to(kind)
    network = Network(numeric.step(numeric.LinearisedSetting(x.shape[1], c, C, second, 1.0)), kind, x.device)
    with torch.no_grad():
        found = numeric.at_features(network.run(numeric.tokens(x, r)[None], ["gradient"])["gradient"][0])
    exact = r.double() - numeric.stepped(x.double(), r.double(), 1.0)
    return float((found[:, 0].double() / c - exact).abs().max() / exact.abs().max())


def scanned(x: Any, r: Any, second: str, dtype: str, c: float, C: float) -> float:
    """The least relative error over c and C around these, as far as the format holds them."""
    most = largest_sink(2 * len(x) - 1, dtype)
    pairs = [(c * factor, C + more) for factor, more in SCANNED if 0 < C + more <= most]
    found = (relative_error(x, r, second, dtype, *each) for each in pairs)
    return min((error for error in found if not math.isnan(error)), default=math.nan)


def formats(N: int, d: int, B: float, x: Any, r: Any) -> NamedTable:
    """The gradient of one prompt at the c and C computed beforehand, and at the best of a scan of both."""
    rows: list[list[str | int | float | None]] = []
    for dtype in FORMATS_SHOWN:
        for second, name in WORDS.items():
            u, at = 2.0 ** -FORMATS[dtype], recommended(pair(second, N, d, B, dtype), dtype)
            found = [each(x, r, str(second), dtype, **at) for each in (relative_error, scanned)]
            measured, least = (None if math.isnan(error) else error for error in found)
            ratio = measured / least if measured is not None and least else None
            rows.append([dtype, name, *at.values(), measured, least, ratio, u, u ** (1 / 2), u ** (2 / 3)])
    return NamedTable(
        title="Gradient of one prompt, relative error at the `c` and `C` computed beforehand and at the best of a scan",
        columns=["format", "second head", "c", "C", "error", "least", "ratio", "u", "`u^(1/2)`", "`u^(2/3)`"],
        rows=rows,
    )  # fmt: skip


OPPOSITE = Transformer(opposite, numeric.tokens, {
    "weights.opposite": lambda linear, second, c_odd, C_odd: numeric.scaled(linear - second, C_odd) / (2 * c_odd),
    "step.opposite": lambda step: numeric.at_features(step),
})  # fmt: skip
TABULAR = Tabular(
    rows="N", columns="d", bounds=("B", "R"),
    prompt=lambda data: {"x": np.concatenate([data.x, data.x_query[None]]), "r": np.append(-data.y[:, 0], 0.0)},
)  # fmt: skip
LINEARISED = Theorem(
    STATEMENT,
    main="step",
    inputs={"x": Rows(theory.N + 1, Ball(theory.d, radius=theory.B)), "r": Box(theory.N + 1, size=theory.R)},
    network={
        "": Transformer(constant, numeric.tokens, {
            "weights.one": lambda linear, C: numeric.scaled(linear, C),
            "weights": lambda linear, second, c, C: numeric.scaled(linear - second, C) / c,
            "step": lambda step: numeric.at_features(step),
        }),
        "weights.opposite": OPPOSITE,
        "step.opposite": OPPOSITE,
    },
    reference=reference,
    handles=handles,
    knows={
        theory.B: (lambda x: torch.linalg.vector_norm(x, dim=1).amax(),),
        theory.R: (lambda r: r.abs().amax(),),
    },
    knobs=Knobs(resolve=resolve, implied=tuple(name for names in NAMES.values() for name in names)),
    settings={"samples": 64, "attack": 40, "restarts": 4},
    tables=(formats,),
    sources=(TABULAR,),
)  # fmt: skip
