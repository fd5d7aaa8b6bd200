"""Theorem 4.1 (algoformer) at the rows of a table: the prediction for a held-out row, and the error of each loop.

Columns are standardised by the prompt and divided by the largest singular value, labels are scaled into [-1, 1].
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import sympy as sp
import torch
from torch import Tensor

from bridge.limits.cost import Count, Work, attention
from bridge.theorems.data import ScaledTable
from bridge.theorems.record import NamedTable
from bridge.theorems.sources import Prediction, Tabular
from bridge.theorems.sources.programs import least_squares
from bridge.theorems.theorem import Theorem
from bridge.topics.looped import newton_tables as tables
from bridge.topics.looped.newton_tables import LoopErrors
from symbolic.calculus.heads import Second
from symbolic.statements.result import Quantity
from symbolic.topics.looped.newton import NEWTON as STATEMENT
from symbolic.topics.looped.newton import quantities_of
from symbolic.words.errors import UsageError

LOOPS = 30
ABOVE = 1 + 1e-9  # for rounding: no singular value is above 1, and none of S below 1/kappa


@dataclass(frozen=True)
class Conditioned:
    """X (N, d) with singular values in [kappa^(-1/2), 1], y (N) in [-1, 1], x (d)."""

    X: Tensor
    y: Tensor
    x: Tensor
    kappa: float

    @classmethod
    def of(cls, data: ScaledTable) -> Self:
        X, y, x = (
            torch.as_tensor(each, dtype=torch.float64, device="cpu") for each in (data.x, data.y[:, 0], data.x_query)
        )
        singular = torch.linalg.svdvals(X)
        unit = singular[0] * ABOVE
        return cls(X / unit, y, x / unit, float((unit / singular[-1]) ** 2) * ABOVE)


def knobs(N: int, T: int, second: str, given: Mapping[str, Any], data: ScaledTable, dtype: str) -> dict[str, float]:
    """kappa, and c and C for these data, where they are not given.

    Raises UsageError where the floor is above the state.
    """
    prompt, pair = Conditioned.of(data), Second(second)
    C = given.get("C", tables.enough_C(N, dtype))
    c = given.get("c", tables.best_c(prompt.X, pair, T, C, dtype))
    floor = tables.predicted(prompt.X, pair, T, c, C, dtype)
    if not floor <= 1:
        raise UsageError(
            f"{STATEMENT.id}: S = X^T X of {data.source} is nearly singular for {dtype}: its least eigenvalue is "
            f"{1 / prompt.kappa:.3g} times the largest, and the floor is {floor:.3g} times the state with c = "
            f"{c:.3g}; leave out columns that others determine"
        )
    return {"kappa": prompt.kappa, "c": c, "C": C}


def prompt(data: ScaledTable) -> dict[str, Tensor]:
    found = Conditioned.of(data)
    return {"X": found.X, "y": found.y, "x": found.x}


def loops(
    X: Tensor, y: Tensor, x: Tensor, T: int, alpha: float, c: float, C: float, second: str, dtype: str
) -> LoopErrors:
    return LoopErrors.of(X, y, x, T, alpha, c, C, second, dtype)


def by_loop(
    X: Tensor, params: Mapping[str, Any], dtype: str, loops: LoopErrors, letters: Mapping[sp.Symbol, Any]
) -> NamedTable:
    """The error of the whole state after each loop beside both bounds."""
    second, T, c, C = (params[name] for name in ("second", "T", "c", "C"))
    instance = {letter: float(ball) for letter, ball in letters.items()}
    bounds = [tables.bounds(Second(second), params, known) for known in ({}, instance)]
    rows: list[list[str | int | float | None]] = [
        [k + 1, error, *of_loop] for k, (error, *of_loop) in enumerate(zip(loops.errors[1:], *bounds, strict=True))
    ]
    floor = tables.predicted(X, Second(second), T, c, C, dtype) * loops.sizes[-1]
    title = (
        f"State of all tokens after each loop, 2-norm; condition {params['kappa']:.4g}, {dtype}; predicted floor of "
        f"the last: {floor:.3g}"
    )
    return NamedTable(title=title, columns=["loop", "measured, with rounding", "derived", "instance"], rows=rows)


def last_loop(second: str) -> tuple[Quantity, ...]:
    """Of some hundred rows nothing tells what positions leak from rounding."""
    return tuple(each for each in quantities_of(second, 1) if each.name != "labels")


def of_last_loop(theorem: Theorem) -> Theorem:
    search = replace(theorem.search, leading=())
    return replace(theorem, tables=(), search=search).with_at_point(quantities=last_loop)


def loop_work(N: Count, T: Count) -> Work:
    return attention(2 * N + 2, T)


TABLE = Tabular(
    "N", "d", (1.0, 1.0), prompt,
    spanning=True,
    far=True,
    defaults={"T": LOOPS},
    implied=knobs,
    instead=of_last_loop,
    built={"loops": loops},
    predictions=(
        Prediction("network", "prediction of the transformer", lambda loops: loops.y_hat),
        Prediction("exact", "prediction of T exact steps", lambda loops: loops.exact),
        Prediction("least_squares", "least squares", lambda X, y, x: least_squares(X, y) @ x),
    ),
    tables=(by_loop,),
    work=lambda N, T: loop_work(N, T).times(4),  # of the network, exact, and each again for the bounds
)  # fmt: skip
