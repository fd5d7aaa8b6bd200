"""The floor of Newton's iteration by two heads: c and C for a format, and predictions beside runs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.limits.run import FORMATS, Format
from bridge.lowering.formula import evaluate
from bridge.theorems.head_formats import largest_sink
from bridge.theorems.record import NamedTable
from numeric.networks.network import Network
from numeric.topics.looped import newton as numeric
from symbolic.calculus.heads import Second
from symbolic.topics.looped import newton_floor as theory
from symbolic.topics.looped.newton import KNOWN, SECONDS, largest_error
from symbolic.topics.looped.newton import NEWTON as STATEMENT
from symbolic.topics.looped.newton_derivation import C, E, T, derive_state, kappa

LOOPS, TEMPERATURE = 30, 32.0
CONDITIONS = (1.0, 4.0, 472.0)
CANCELLED = 2.0**4  # so much larger is the best c where rows x and -x cancel in the truncation
LARGEST_C = 2.0**-4  # beyond it scores are no longer small
APART = 2.0**7  # of c from the best one, in the regimes of truncation and of rounding


def unit_of(dtype: str) -> float:
    return 2.0 ** -FORMATS[dtype]


# Before a run: for random directions of a condition, or in the basis of the data.


def enough_C(N: int, dtype: str) -> float:
    """As far as 2 n e^C is in the range of the format."""
    enough = evaluate(theory.enough_C(), {_SYMBOLS["N"]: N, theory.unit: unit_of(dtype)})
    return min(float(enough), float(largest_sink(2 * N + 1, dtype)))


def recommended(second: Second, dtype: str, **sizes: Any) -> dict[str, float]:
    at = {**_letters(sizes), C: enough_C(int(sizes["N"]), dtype), theory.unit: unit_of(dtype)}
    return {"c": _power_of_2(evaluate(theory.in_condition(theory.best_c(second), second), at)), "C": at[C]}


def floor_in_condition(second: Second, dtype: str, **at: Any) -> float:
    known = {**_letters(at), theory.unit: unit_of(dtype)}
    return float(evaluate(theory.in_condition(theory.floor(second), second), known))


def predicted(X: Tensor, second: Second, loops: int, c: float, C: float, dtype: str) -> float:
    """The floor in the basis of these data."""
    spectrum, known = _at_data(X, second, loops, {"c": c, "C": C}, dtype)
    return spectrum.combined(torch.as_tensor(evaluate(theory.floor(second), known), dtype=torch.float64, device="cpu"))


def best_c(X: Tensor, second: Second, loops: int, C: float, dtype: str) -> float:
    """At the least eigenvalue of these data; where their leading order cancels, that of random directions."""
    _, known = _at_data(X, second, loops, {"C": C}, dtype)
    best = evaluate(theory.best_c(second), known)[-1]
    at = {**known, kappa: 1 / known[theory.lam][-1]}
    random = evaluate(theory.in_condition(theory.best_c(second), second), at)
    return _power_of_2(random if best > CANCELLED * random else best)


def _at_data(
    X: Tensor, second: Second, loops: int, knobs: Mapping[str, Any], dtype: str
) -> tuple[numeric.Spectrum, dict[sp.Symbol, Any]]:
    spectrum, (count, dim) = numeric.Spectrum.of(X, theory.order(second) + 1), X.shape
    of_data = {theory.lam: spectrum.values, theory.start: spectrum.start, theory.spread: spectrum.spread}
    known = {**_letters({"N": count, "d": dim, "T": loops, **knobs}), theory.unit: unit_of(dtype)}
    trace = {theory.trace: float((X * X).sum())}
    return spectrum, known | {letter: each.numpy() for letter, each in of_data.items()} | trace


# Scaling by it is exact.
def _power_of_2(number: Any) -> float:
    return float(2.0 ** round(math.log2(number)))


def _letters(numbers: Mapping[str, Any]) -> dict[sp.Symbol, Any]:
    return {_SYMBOLS[name]: each for name, each in numbers.items()}


_SYMBOLS = {p.name: p.symbol for p in STATEMENT.parameters if p.symbol is not None}


# Bounds of each loop.


def bounds(second: Second, params: Mapping[str, Any], known: Mapping[sp.Symbol, float]) -> list[float]:
    """On the state after the loops 1 .. T, with what a prompt knows, or with the worst case."""
    at = {**_letters({name: each for name, each in params.items() if name in _SYMBOLS}), **known}
    for letter, value in {**KNOWN, E: largest_error(second)}.items():
        at.setdefault(letter, float(evaluate(value, at)))
    bound = derive_state(second).error
    return [float(evaluate(bound, {**at, T: k})) for k in range(1, int(params["T"]) + 1)]


# Runs.


@dataclass(frozen=True)
class LoopErrors:
    """2-norms of the error of the state and of the state itself after the loops 0 .. T, and both predictions."""

    errors: list[float]
    sizes: list[float]
    y_hat: float
    exact: float

    @classmethod
    def of(
        cls, X: Tensor, y: Tensor, x: Tensor, T: int, alpha: float, c: float, C: float, second: str, dtype: str
    ) -> "LoopErrors":
        network = Network(
            numeric.transformer(len(y), len(x), T, alpha, c, C, TEMPERATURE, second), dtype=Format.named(dtype).dtype
        )
        taps = network.run(numeric.tokens(X, y, x).to(Format.named(dtype).dtype)[None])
        exact = numeric.reference(X, y, x, alpha, T)
        apart = [float((taps[f"m[{k}]"][0].double() - exact[f"m[{k}]"]).norm()) for k in range(T + 1)]
        sizes = [float(exact[f"m[{k}]"].norm()) for k in range(T + 1)]
        return cls(apart, sizes, float(taps["y_hat"][0, -2]), float(exact["y_hat"]))


def directions(N: int, d: int, condition: float) -> tuple[Tensor, Tensor, Tensor]:
    """Random examples whose eigenvalues are evenly apart in their logarithms, a label of each and a query."""
    generator = torch.Generator().manual_seed(0)
    draw = [
        torch.randn(*shape, generator=generator, dtype=torch.float64, device="cpu")
        for shape in ((N, d), (d, d), (N,), (d,))
    ]
    left, right = (torch.linalg.qr(each).Q for each in draw[:2])
    singular = torch.logspace(0, -math.log10(condition) / 2, d, dtype=torch.float64, device="cpu")
    return left * singular @ right, torch.tanh(draw[2]), draw[3] / torch.linalg.vector_norm(draw[3])


def floors(N: int, d: int, dtype: str) -> NamedTable:
    """Predictions before a run beside runs, at the best c and where each regime rules."""
    rows: list[list[str | int | float | None]] = []
    for condition, second in product(CONDITIONS, SECONDS):
        X, y, x = directions(N, d, condition)
        best = recommended(second, dtype, N=N, d=d, T=LOOPS, kappa=condition)
        for regime, factor in (("rounding", 1 / APART), ("best `c`", 1.0), ("truncation", APART)):
            c, C = min(best["c"] * factor, max(best["c"], LARGEST_C)), best["C"]
            found = LoopErrors.of(X, y, x, LOOPS, 1.0, c, C, second, dtype)
            floor = predicted(X, second, LOOPS, c, C, dtype)
            error = found.errors[-1] / found.sizes[-1]
            rows.append([condition, str(second), regime, c, floor, error if math.isfinite(error) else None])
    title = f"Floor after {LOOPS} loops, in ratio to the state, predicted before the run; `N = {N}`, `d = {d}`, {dtype}"
    columns = ["condition", "second head", "regime", "c", "predicted", "measured"]
    return NamedTable(title=title, columns=columns, rows=rows)
