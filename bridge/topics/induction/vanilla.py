"""Theorem 4.1 of wang2024 on random, attacked and real prompts: the induction head IH_2 by a two-layer transformer."""

import math
from collections.abc import Mapping
from typing import Any

import flint
import numpy as np
import torch

from bridge.domains import Box
from bridge.domains.matrices import LARGEST_NORM, read_square
from bridge.limits.cost import EXPONENTIAL, NUMBER, PRODUCT, Cost, Count, Work
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Check, Sides
from bridge.theorems.parts import InputSearch, Knobs
from bridge.theorems.sources import Prediction, Textual
from bridge.theorems.sources.byte_signs import embedded_bytes, nearest_bytes
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from numeric.balls import ball_maximum, float_above
from numeric.networks.norms import infinity_to_one_norm, spectral_norm
from numeric.topics.induction import vanilla as networks
from symbolic.topics.induction import vanilla as theory
from symbolic.words.errors import UsageError

WIDEST_SEARCHED = 256  # coordinates: the exact norms of a d x d matrix take a tenth of a second there


def similarity(W_star: Any, d: int | None, seed: int) -> Any:
    """W* from its specification; d follows it where it is a matrix."""
    default = int(theory.VANILLA.parameter("d").default)
    return read_square("W_star", W_star, d, default=default, seed=seed, size_name="d")


def resolve(params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    spec = params.get("W_star", theory.VANILLA.parameter("W_star").default)
    d = int(theory.VANILLA.number("d", params["d"])) if "d" in params else None
    found = {**params, "W_star": spec, "d": len(similarity(spec, d, seed))}
    p, L = (theory.VANILLA.number(name, found[name]) for name in ("p", "L"))
    if p * L > LARGEST_NORM:
        raise UsageError(f"{theory.VANILLA.id}: p L is beyond {LARGEST_NORM:g}, where the position bias overflows")
    return found


def opening(W_star: Any, p: float, leak: float) -> float:
    """The gate that keeps the leak in its share, rounded up; infinite (a mask) for W* = 0."""
    if not W_star.any():
        return math.inf
    norm = sum((abs(flint.arb(w)) for w in W_star.flatten().tolist()), start=flint.arb(0))
    return float_above(evaluate_ball(theory.GATE, {theory.p: p, theory.leak: leak, theory.W_norm: norm}))


def spread(tokens: Any) -> Any:
    """The largest sup-norm distance of two tokens."""
    return (tokens.amax(0) - tokens.amin(0)).amax()


def lags(p: Any, count: int) -> Any:
    """The scores of layer 1 for the queries s = 2 .. L-1: key x_t at the distance s-1-t, (S, S)."""
    places = torch.arange(count, dtype=torch.int64, device=p.device)
    distances = places[:, None] - places
    scores = -p * places  # by distance
    return torch.where(distances >= 0, scores[distances.clamp(min=0)], -torch.inf)


def operands(p: Any, W_star: Any, x: Any) -> dict[str, Any]:
    return {"lags": lags(p, len(x) - 2), "context": x[:-2], "query": x[-1] @ W_star, "values": x[1:-1]}


def parameter_norms(p: float, W_star: Any) -> Sides:
    head = networks.vanilla(p, W_star).head(2, "match")
    norms = [spectral_norm(weights.dense()) for weights in (head.query, head.key) if weights is not None]
    return Sides(
        found=ball_maximum([flint.arb(norm.lower).union(flint.arb(norm.upper)) for norm in norms]), rounding=0.0
    )


def work(L: Count, d: Count) -> Work:
    norms = Cost(6 * NUMBER * d**2, 100 * PRODUCT * d**3)
    return Work(numbers=10 * L * (2 * d + 1), products=EXPONENTIAL * L * d, exact=L * d, before=norms)


def narrow(given: Mapping[str, Any]) -> dict[str, int]:
    """d, where W* is not a matrix, which has one."""
    spec = given.get("W_star", 0.25)
    is_matrix = isinstance(spec, list) or (isinstance(spec, str) and spec.strip()[:1] in ("[", "@"))
    return {} if is_matrix else {"d": 32}


def repeated(windows: np.ndarray) -> np.ndarray:
    """Whether the last byte occurred before, with a successor: x_{s-1} = x_L for some s in 2 .. L-1, (B)."""
    found: np.ndarray = (windows[:, :-2] == windows[:, -1:]).any(axis=1)
    return found


TEXT = Textual(
    "L",
    lambda windows, d: {"x": embedded_bytes(windows, d)},
    scored=repeated,
    where="windows whose last byte occurred before",
    defaults={"p": (2, 4, 8, 16), "L": (256,), "W_star": 0.25},
    suggested=narrow,
    predictions=(
        Prediction("network", "network: next byte right after a repeated context",
                   lambda network, d: nearest_bytes(network["output"], d)),
        Prediction("exact", "exact IH_2: next byte right after a repeated context",
                   lambda reference, d: nearest_bytes(reference["output"], d)),
    ),
)  # fmt: skip
VANILLA = Theorem(
    theory.VANILLA,
    main="output",
    inputs={"x": Box(theory.L, theory.d)},
    weights={"W_star": similarity, "gate": opening},
    network={
        "": Transformer(lambda p, W_star: networks.vanilla(p, W_star), read=networks.READ),
        "output.mask_3": Transformer(lambda p, W_star: networks.vanilla(p, W_star, gate=0)),
        "output.gated": Transformer(lambda p, W_star, gate: networks.vanilla(p, W_star, gate=gate)),
    },
    reference=networks.induction_head,
    knows={
        theory.W_norm: (lambda W_star: W_star.abs().sum(),),
        theory.W_frobenius: (lambda W_star: torch.linalg.vector_norm(W_star.flatten()),),
        # The norm of W*^T from sup to 1-norm, enclosed, is never above the paper's ||W*||_{1,1}.
        theory.omega: (
            lambda W_star: (
                W_star.abs()
                .sum()
                .minimum(
                    torch.tensor(
                        infinity_to_one_norm(W_star.midpoint()).upper, dtype=torch.float64, device=W_star.device
                    )
                )
            ),
            lambda x, W_star: (x[-1] @ W_star).abs().sum(),
        ),
        theory.diameter: (lambda x: spread(x[:-2]),),
        theory.radius: (lambda x: spread(x[1:-1]) / 2,),
    },
    handles=operands,
    checks=(Check(theory.VANILLA.quantity("weights"), parameter_norms),),
    search=InputSearch(starts=networks.prompt_starts),
    knobs=Knobs(resolve=resolve, implied=("d",), searched={"d": (1, WIDEST_SEARCHED)}),
    work=work,
    sources=(TEXT,),
)
