"""The floor of Newton's iteration by two heads: c and C for a format, and predictions beside runs."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.format_limits import FORMATS
from bridge.head_formats import largest_sink
from bridge.lowering import lower
from bridge.record import NamedTable
from numeric.looped import newton as numeric
from numeric.network import Network
from symbolic.looped import newton_floor as theory
from symbolic.looped.newton import C, N, T, c, d, kappa
from symbolic.looped.newton_statement import SECONDS
from symbolic.operations import Second

CONDITIONS = (1.0, 4.0, 472.0)
APART = 2.0**7  # of c from the best one, in the regimes of truncation and of rounding
Letters = Mapping[sp.Symbol, float]


def unit_of(dtype: str) -> float:
    return 2.0 ** -FORMATS[dtype]


# C as far as 2 n e^C is in the range of the format, and c to the next power of 2, by which scaling is exact.
def recommended(second: Second, dtype: str, **sizes: float) -> dict[str, float]:
    """c and C for random directions of this condition, before a run."""
    at = {_SYMBOLS[name]: each for name, each in sizes.items()} | {theory.unit: unit_of(dtype)}
    at[C] = min(float(_value(theory.enough_C(), at)), largest_sink(2 * sizes["N"] + 1, dtype))
    best = _value(theory.in_condition(theory.best_c(second), second), at)
    return {"c": 2.0 ** round(math.log2(best)), "C": at[C]}


def floor_in_condition(second: Second, dtype: str, **at: float) -> float:
    letters = {_SYMBOLS[name]: each for name, each in at.items()} | {theory.unit: unit_of(dtype)}
    return float(_value(theory.in_condition(theory.floor(second), second), letters))


_SYMBOLS = {symbol.name: symbol for symbol in (N, d, T, kappa, c, C)}


@cache
def _lowered(formula: sp.Expr, letters: tuple[sp.Symbol, ...]) -> Any:
    return lower(formula, "numpy", args=letters)


def _value(formula: sp.Expr, at: Mapping[sp.Symbol, Any]) -> Any:
    letters = tuple(sorted(formula.free_symbols, key=str))
    return _lowered(formula, letters)(*(at[letter] for letter in letters))


def predicted(X: Tensor, second: Second, at: Letters) -> float:
    """The floor in the basis of these data, before a run."""
    spectrum = numeric.Spectrum.of(X, theory.order(second) + 1)
    of_data = {theory.lam: spectrum.values, theory.start: spectrum.start, theory.spread: spectrum.spread}
    known = {**at, **{letter: each.numpy() for letter, each in of_data.items()}, theory.trace: float((X * X).sum())}
    return spectrum.combined(torch.as_tensor(_value(theory.floor(second), known)))


def measured(X: Tensor, y: Tensor, x: Tensor, second: Second, loops: int, c: float, C: float, dtype: str) -> Tensor:
    """Of the state, the relative error after each loop 0 .. T; at last the error of the prediction, (T + 2)."""
    network = numeric.transformer(*X.shape, loops, 1.0, c, C, 32.0, second)
    taps = Network(network, dtype=getattr(torch, dtype)).run(numeric.tokens(X, y, x).to(getattr(torch, dtype))[None])
    exact = numeric.reference(X, y, x, 1.0, loops)
    apart = [
        torch.linalg.vector_norm(taps[f"m[{k}]"][0].double() - exact[f"m[{k}]"])
        / torch.linalg.vector_norm(exact[f"m[{k}]"])
        for k in range(loops + 1)
    ]
    return torch.stack([*apart, (taps["y_hat"][0, -2].double() - exact["y_hat"]).abs().amax()])


def directions(N: int, d: int, condition: float) -> tuple[Tensor, Tensor, Tensor]:
    """Random examples whose eigenvalues are evenly apart in their logarithms, a label of each and a query."""
    generator = torch.Generator().manual_seed(0)
    draw = [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((N, d), (d, d), (N,), (d,))]
    left, right = (torch.linalg.qr(each).Q for each in draw[:2])
    singular = torch.logspace(0, -math.log10(condition) / 2, d, dtype=torch.float64)
    return left * singular @ right, torch.tanh(draw[2]), draw[3] / torch.linalg.vector_norm(draw[3])


def floors(N: int, d: int, T: int, dtype: str) -> NamedTable:
    """Predictions before a run beside runs, at c where each regime rules and at the best."""
    rows: list[list[str | int | float | None]] = []
    for condition in CONDITIONS:
        X, y, x = directions(N, d, condition)
        for second in SECONDS:
            best = recommended(second, dtype, N=N, d=d, T=T, kappa=condition)
            for regime, factor in (("rounding", 1 / APART), ("best c", 1.0), ("truncation", APART)):
                at = {**best, "c": best["c"] * factor}
                letters = {_SYMBOLS[name]: each for name, each in {**at, "N": N, "d": d, "T": T}.items()}
                floor = predicted(X, second, letters | {theory.unit: unit_of(dtype)})
                found = float(measured(X, y, x, second, T, **at, dtype=dtype)[-2])
                rows.append([condition, str(second), regime, at["c"], floor, found])
    title = f"Floor of the state after T = {T} loops, relative, predicted before the run; N = {N}, d = {d}, {dtype}"
    columns = ["condition", "second head", "regime", "c", "predicted", "measured"]
    return NamedTable(title=title, columns=columns, rows=rows)
