"""Autoregression by a looped transformer (algoformer, Lemma A.3, Theorem 3.2), beside exact gradient descent."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.check import Check, Sides
from bridge.cost import Cost
from bridge.domains import Box
from bridge.formula import ArrayFunction
from bridge.head_formats import pair_for, recommended, require_held
from bridge.looped.positions import searched
from bridge.theorem import Theorem
from bridge.transformer import Transformer
from numeric.looped import autoregression as numeric
from numeric.looped import positions
from symbolic.looped import autoregression as theory
from symbolic.looped.autoregression import AUTOREGRESSION as STATEMENT
from symbolic.statements import UsageError

NUMBERS = theory.N, theory.q, theory.d, theory.T, theory.B, theory.eta, theory.eps, theory.beta, theory.c, theory.C


# Knobs.


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """beta for the accuracy, c and C for the format, where they are not given. Raises UsageError for those beyond it."""
    known = {p.name: STATEMENT.number(p.name, params.get(p.name, p.default)) for p in STATEMENT.parameters}
    STATEMENT.check(known)
    F = int(known["q"]) * int(known["d"])
    pair = pair_for("opposite", dtype, keys=int(known["N"]) + 2, size=F * known["B"] ** 2 / known["N"], width=F)
    found = {"beta": sharpness(**{name: known[name] for name in ("N", "B", "eps", "accuracy")}),
             **recommended(pair, dtype), **params}  # fmt: skip
    require_held(STATEMENT.id, pair, dtype, c=float(found["c"]), C=float(found["C"]))
    return found


def sharpness(N: float, B: float, eps: float, accuracy: float) -> float:
    at = {theory.N: int(N), theory.B: B, theory.eps: eps, theory.accuracy: accuracy}
    return float(theory.sharpness().value.xreplace({s: sp.sympify(x) for s, x in at.items()}))


# Weights.


def signs(N: int, q: int, eps: float, m: int, seed: int) -> Tensor:
    """The positions of -q..N+1, up to a factor. Raises UsageError where a search finds too few."""
    count = N + q + 2
    found = positions.found_signs(count, m, Fraction(eps), seed) if m else searched(count, eps, 1.0, seed)
    if found is None:
        raise UsageError(
            f"{STATEMENT.id}: too few positions for N = {N}: no draw of seed {seed} has {count} in dimension m = {m} "
            f"with the gap {eps:g}; take m = 0, or a smaller gap"
        )
    return found.double()


def layers(q: int, d: int, L: int, seed: int) -> Tensor:
    """Matrices of the representation, (L, F, F), whose rows have 1-norms of at most 1."""
    drawn = torch.randn(L, q * d, q * d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn / (drawn.abs().sum(2, keepdim=True) * (1 + 2.0**-40))


def gap(signs: Any) -> Any:
    products = signs @ signs.mT - (signs.shape[1] + 1) * torch.eye(len(signs), dtype=torch.float64)
    return 1 - products.max() / signs.shape[1]


# Networks.


def built(signs: Any, layers: Any, N: int, q: int, d: int, T: int, B: Any, eta: Any, beta: Any, c: Any, C: Any) -> Any:
    return numeric.transformer(numeric.Setting(signs, N, q, beta, B, eta, c, C, d, tuple(layers)), T)


def tokens(x: Any, N: int, signs: Any) -> Any:
    return numeric.tokens(torch.cat([x, 0 * x[:1]]), N, signs)


def reference(x: Any, layers: Any, N: int, q: int, eta: Any, T: int) -> Any:
    lags = numeric.lagged(torch.cat([x, 0 * x[:1]]), q)
    predicted = numeric.path(numeric.represented(lags, layers), x, N, eta, T)[-1]
    return {"copy": lags, "state": (predicted[1 : N + 1] - x[1:]).mT, "x_hat": predicted[N + 1]}


# Letters at a prompt.


def largest(x: Any) -> Any:
    return x.abs().max()


def first_norm(x: Any) -> Any:
    """That of R_0, of its largest coordinate."""
    return torch.linalg.vector_norm(x[1:], dim=0).max()


def largest_exact(x: Any, layers: Any, N: int, q: int, eta: Any, T: int) -> Any:
    lags = numeric.lagged(torch.cat([x, 0 * x[:1]]), q)
    found = numeric.path(numeric.represented(lags, layers), x, N, eta, T)
    return torch.stack([each[N + 1].abs().max() for each in found]).max()


_AT = {theory.delta: theory.DELTA}
X_HAT = ArrayFunction(theory.largest_prediction().subs(_AT), theory.Q, theory.P, *NUMBERS)
STATE = ArrayFunction(theory.derive_state().error.subs(_AT), theory.X_hat, theory.P, *NUMBERS)


def largest_prediction(
    x: Any, layers: Any, N: int, q: int, d: int, T: int, eta: Any, signs: Any, beta: Any, c: Any, C: Any
) -> Any:
    at = N, q, d, T, largest(x), eta, gap(signs), beta, c, C
    return X_HAT(largest_exact(x, layers, N, q, eta, T), first_norm(x), *at)


def largest_error(
    x: Any, layers: Any, N: int, q: int, d: int, T: int, eta: Any, signs: Any, beta: Any, c: Any, C: Any
) -> Any:
    at = N, q, d, T, largest(x), eta, gap(signs), beta, c, C
    return STATE(largest_prediction(x, layers, N, q, d, T, eta, signs, beta, c, C), first_norm(x), *at)


# Counts.


def layer_count(signs: Any, layers: Any, N: int, q: int, d: int, T: int, B: float, eta: float, beta: float, c: float, C: float) -> Sides:
    sizes = built(signs, layers, N, q, d, T, B, eta, beta, c, C).sizes.values()
    return Sides(sum(each.layers for each in sizes), rounding=0.0)


def head_count(signs: Any, layers: Any, N: int, q: int, d: int, T: int, B: float, eta: float, beta: float, c: float, C: float) -> Sides:
    sizes = built(signs, layers, N, q, d, T, B, eta, beta, c, C).sizes.values()
    return Sides(max(each.heads for each in sizes), rounding=0.0)


def cost(sizes: Mapping[str, float], budget: Budget | None) -> Cost:
    weights = sizes["N"] ** 2 * (sizes["T"] + sizes["q"])
    if budget is None:
        return Cost(48 * sizes["N"] ** 2)
    runs = budget.samples + 3 * budget.attack * budget.restarts
    return Cost(48 * sizes["N"] ** 2 * budget.samples, 1e-8 * runs * weights)


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
        theory.P: (first_norm,),
        theory.Q: (largest_exact,),
        theory.X_hat: (largest_prediction,),
        theory.E: (largest_error,),
    },
    checks=(Check(STATEMENT.quantity("layers"), layer_count), Check(STATEMENT.quantity("heads"), head_count)),
    resolve=resolve,
    implied=("beta", "c", "C"),
    cost=cost,
    tokens=True,
)  # fmt: skip
