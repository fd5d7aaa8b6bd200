"""Lemma A.2 and Theorem 3.1 (algoformer) as a theorem: T loops of a transformer beside T steps of gradient descent."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bridge.check import Check, Sides
from bridge.data import ScaledTable
from bridge.domains import Ball, Box, Rows
from bridge.export.numbers import plain
from bridge.format_limits import FORMATS
from bridge.formula import ArrayFunction
from bridge.head_formats import pair_for, recommended, require_held
from bridge.readings.sinks import HEADS
from bridge.record import NamedTable, Verdict
from bridge.study import Refusal
from bridge.tabular import Tabular
from bridge.theorem import Theorem
from bridge.transformer import Transformer
from numeric.looped import gradient_descent as numeric
from numeric.shared_blocks import SharedNetwork
from symbolic.looped import gradient_descent as theory
from symbolic.looped import gradient_descent_statement as stated
from symbolic.operations import Second
from symbolic.statements import UsageError

STATEMENT = stated.GRADIENT_DESCENT
PAIRS = tuple(str(each) for each in (Second.CONSTANT, Second.OPPOSITE))
EXACT_LIMIT = 5_000_000  # at some hundred bits a loop
OF_WEIGHTS = theory.N, theory.d, theory.B_x, theory.c, theory.C, theory.bits
TRUNCATION, ROUNDING = (
    {second: ArrayFunction(bound(theory.pair(Second(second)))(theory.c, theory.C), *OF_WEIGHTS) for second in PAIRS}
    for bound in (lambda heads: heads.truncation, lambda heads: heads.rounding)
)
EXACT_STATE = ArrayFunction(theory.EXACT_STATE, theory.R, theory.H)
LARGEST_ERROR = ArrayFunction(
    theory.LARGEST_ERROR, theory.R, theory.H, theory.a, theory.q, theory.rho, theory.N, theory.T, theory.eta,
    theory.B_y, theory.tau, theory.bits,
)  # fmt: skip


# Formats.


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """high, bits, c and C where they are not given. Raises UsageError for a pair or knobs that do not fit."""
    found = {"bits": FORMATS[dtype], **params}
    known = {p.name: found.get(p.name, p.default) for p in STATEMENT.parameters}
    if known["second"] not in PAIRS:
        raise UsageError(f"{STATEMENT.id}: second = {known['second']!r}; give {' or '.join(PAIRS)}")
    numbers = {name: STATEMENT.number(name, value) for name, value in known.items() if name != "second"}
    numbers["high"] = found["high"] = params.get("high", numbers["B_x"] ** 2)
    STATEMENT.check({**numbers, "second": known["second"]})
    return {**knobs(known["second"], numbers, params, dtype), **found}


def knobs(second: str, numbers: Mapping[str, Any], given: Mapping[str, Any], dtype: str) -> dict[str, float]:
    """c and C. Raises UsageError for those that the format does not hold."""
    size = numbers["B_x"] ** 2 / numbers["N"]
    heads = pair_for(second, dtype, keys=2 * numbers["N"] + 1, size=size, width=numbers["d"])
    best = recommended(heads, dtype)
    chosen = {**best, "c": above_best(numbers["N"]) * best["c"]}
    chosen |= {name: given[name] for name in best if name in given}
    require_held(STATEMENT.id, heads, dtype, **chosen)
    return chosen


def refusal(high: float, B_x: float) -> Refusal | None:
    """Where the domain of the inputs does not keep the eigenvalues below `high`."""
    reason = f"high = {plain(high)} is below B_x^2 = {plain(B_x**2)}, which eigenvalues may reach; leave high out"
    return Refusal(Verdict.OUTSIDE, reason) if high < B_x**2 else None


# With the best c the worst truncation of N weights is as large as their rounding. At a prompt it is followed with its
# signs, and is less by some powers of N; rounding is bounded by norms.
def above_best(N: int) -> float:
    """The power of 2 next to sqrt(N)."""
    return 2.0 ** round(math.log2(N) / 2)


# Networks.


def setting(
    N: Any, d: Any, m: Any, eta: Any, c: Any, C: Any, tau: Any, B_x: Any, B_y: Any, second: str, mlp: Any
) -> numeric.Setting:
    layers = tuple((each[:, :-1], each[:, -1]) for each in mlp)
    return numeric.Setting(N, int(d), int(m), eta, c, C, tau, B_x, B_y, second, layers)


def network(
    N: Any, d: Any, m: Any, eta: Any, c: Any, C: Any, tau: Any, B_x: Any, B_y: Any, second: str, mlp: Any, T: int
) -> Any:
    return numeric.transformer(setting(N, d, m, eta, c, C, tau, B_x, B_y, second, mlp), int(T))


def features(x: Any, mlp: Any) -> Any:
    return numeric.represented(x, [(each[:, :-1], each[:, -1]) for each in mlp])


def reference(x: Any, y: Any, mlp: Any, eta: Any, T: int) -> dict[str, Any]:
    phi = features(x, mlp)
    A = numeric.descended(phi[:-1], y, eta, int(T))
    return {"prediction": A @ phi[-1], "residuals": A @ phi[:-1].mT - y.mT}


# Letters at a prompt.


@dataclass(frozen=True)
class AtPrompt:
    """Phi(x) of all N + 1 rows, its products over N with those of the examples, and W - G."""

    phi: Any  # (N + 1, D)
    products: Any  # (N + 1, N)
    missed: Any  # (N + 1, N + 1)

    @classmethod
    def of(cls, x: Any, mlp: Any, N: Any, c: Any, C: Any, second: str) -> "AtPrompt":
        phi = features(x, mlp)
        products = phi @ phi[:-1].mT / N
        zeros = torch.cat([0 * products, 0 * products[:, :1]], 1)  # of labels and x_test
        scores = torch.cat([c * products, zeros], 1)
        weights = HEADS[Second(second)](scores, scores, torch.exp(-C + 0 * products[0, 0]))[:, : len(phi)] / c
        return cls(phi, products, weights - torch.cat([products, zeros[:, :1]], 1))

    def exact(self, s: Any) -> Any:
        """G s, from s (N + 1, m)."""
        return self.products @ s[:-1]

    def influence(self, eta: Any, T: int) -> Any:
        """The rows e_p^T B^j, j = 0 .. T: (T + 1, N + 1)."""
        row = torch.cat([0 * self.products[0], 1 + 0 * self.products[0, :1]])
        rows = [row]
        for _ in range(T):
            row = row - eta * torch.cat([row @ self.products, 0 * row[:1]])
            rows.append(row)
        return torch.stack(rows)

    # delta_{k+1} = B delta_k - eta (W - G) s_k.
    def first_order(self, y: Any, eta: Any, T: int) -> Any:
        """What W - G makes of the exact states in T loops, (N + 1, m)."""
        s = torch.cat([-1 * y, 0 * y[:1]])
        moved = 0 * s
        for _ in range(T):
            moved = moved - eta * (self.exact(moved) + self.missed @ s)
            s = s - eta * self.exact(s)
        return moved


def largest_labels(y: Any) -> Any:
    return torch.linalg.vector_norm(y.mT, dim=1).max()


def largest_influence(x: Any, mlp: Any, N: Any, eta: Any, T: int) -> Any:
    phi = features(x, mlp)
    products = phi @ phi[:-1].mT / N
    rows = AtPrompt(phi, products, None).influence(eta, int(T))
    return torch.linalg.vector_norm(rows[:, :-1], dim=1).max()


def missed_in_residuals(x: Any, mlp: Any, N: Any, c: Any, C: Any, second: str) -> Any:
    return torch.linalg.matrix_norm(AtPrompt.of(x, mlp, N, c, C, second).missed[:-1])


def missed_in_prediction(x: Any, mlp: Any, N: Any, c: Any, C: Any, second: str, eta: Any, T: int) -> Any:
    here = AtPrompt.of(x, mlp, N, c, C, second)
    return torch.linalg.vector_norm(here.influence(eta, int(T))[:-1] @ here.missed, dim=1).max()


def first_order_residuals(x: Any, y: Any, mlp: Any, N: Any, c: Any, C: Any, second: str, eta: Any, T: int) -> Any:
    found = AtPrompt.of(x, mlp, N, c, C, second).first_order(y, eta, int(T))[:-1]
    return torch.linalg.vector_norm(found.mT, dim=1).max()


def first_order_prediction(x: Any, y: Any, mlp: Any, N: Any, c: Any, C: Any, second: str, eta: Any, T: int) -> Any:
    return abs(AtPrompt.of(x, mlp, N, c, C, second).first_order(y, eta, int(T))[-1]).max()


def truncation(N: Any, d: Any, B_x: Any, c: Any, C: Any, bits: Any, second: str) -> Any:
    return TRUNCATION[second](N, d, B_x, c, C, bits)


def rounding(N: Any, d: Any, B_x: Any, c: Any, C: Any, bits: Any, second: str) -> Any:
    return ROUNDING[second](N, d, B_x, c, C, bits)


def largest_error(
    x: Any, y: Any, mlp: Any, N: Any, d: Any, c: Any, C: Any, second: str, eta: Any, T: Any, B_x: Any, B_y: Any,
    tau: Any, bits: Any,
) -> Any:  # fmt: skip
    return LARGEST_ERROR(
        largest_labels(y), largest_influence(x, mlp, N, eta, T), missed_in_residuals(x, mlp, N, c, C, second),
        missed_in_prediction(x, mlp, N, c, C, second, eta, T), rounding(N, d, B_x, c, C, bits, second),
        N, T, eta, B_y, tau, bits,
    )  # fmt: skip


def largest_state(
    x: Any, y: Any, mlp: Any, N: Any, d: Any, c: Any, C: Any, second: str, eta: Any, T: Any, B_x: Any, B_y: Any,
    tau: Any, bits: Any,
) -> Any:  # fmt: skip
    exact = EXACT_STATE(largest_labels(y), largest_influence(x, mlp, N, eta, T))
    return exact + largest_error(x, y, mlp, N, d, c, C, second, eta, T, B_x, B_y, tau, bits)


# Checks.


def counted(part: str, what: str) -> Callable[..., Sides]:
    def sides(
        N: int, d: int, m: int, eta: float, c: float, C: float, tau: float, B_x: float, B_y: float, second: str,
        mlp: torch.Tensor,
    ) -> Sides:  # fmt: skip
        built = network(N, d, m, eta, c, C, tau, B_x, B_y, second, mlp, 1)
        return Sides(getattr(built.sizes[part], what), rounding=0.0, proved=("printed",))

    return sides


def by_loop(
    N: int, d: int, m: int, T: int, L: int, eta: float, B_x: float, B_y: float, high: float, second: str, bits: int,
    c: float, C: float, tau: float, mlp: torch.Tensor,
) -> NamedTable:  # fmt: skip
    """The whole state after each of 1, 2, 4, ... loops, at one seeded prompt."""
    numbers = {"N": N, "d": d, "m": m, "L": L, "eta": eta, "B_x": B_x, "B_y": B_y, "high": high, "bits": bits, "c": c,
               "C": C, "tau": tau}  # fmt: skip
    generator = torch.Generator().manual_seed(0)
    x = Rows(N + 1, Ball(d, radius=B_x)).sample(1, generator)[0]
    y = Rows(N, Box(m, size=B_y)).sample(1, generator)[0]
    built = network(N, d, m, eta, c, C, tau, B_x, B_y, second, mlp, T)
    states = SharedNetwork(built).run(numeric.tokens(x, y)[None])
    phi, A = features(x, mlp), torch.zeros(m, d, dtype=torch.float64)
    rows: list[list[str | int | float | None]] = []
    for k in range(1, T + 1):
        A = numeric.descend(A, phi[:-1], y, eta)
        if k & (k - 1) == 0 or k == T:
            missed = states[f"r[{k}]"][0, ::2].mT - A @ phi.mT  # (m, N + 1)
            errors = torch.linalg.vector_norm(missed[:, :-1] + y.mT, dim=1).max(), abs(missed[:, -1]).max()
            bounds = (derived(name, second, {**numbers, "T": k}) for name in ("residuals", "prediction"))
            rows.append([k, *(each for pair in zip(map(float, errors), bounds, strict=True) for each in pair)])
    columns = ["loop", "residuals", "derived", "prediction", "derived"]
    return NamedTable(title="Errors of the whole state after each loop, at one prompt", columns=columns, rows=rows)


def derived(name: str, second: str, numbers: Mapping[str, int | float]) -> float:
    """The bound of that quantity from the hypotheses."""
    bound = STATEMENT.quantity(name).derived()
    assert bound is not None  # it has a derivation
    at = [numbers[str(s)] for s in OF_WEIGHTS]
    known = {**numbers, "rho": ROUNDING[second](*at), "delta": TRUNCATION[second](*at)}
    return float(ArrayFunction(bound)(**{str(s): known[str(s)] for s in bound.free_symbols}))


def prompt(data: ScaledTable) -> dict[str, Any]:
    return {"x": np.concatenate([data.x, data.x_query[None]]), "y": data.y}


GRADIENT_DESCENT = Theorem(
    STATEMENT,
    main="prediction",
    inputs={
        "x": Rows(theory.N + 1, Ball(theory.d, radius=theory.B_x)),
        "y": Rows(theory.N, Box(theory.m, size=theory.B_y)),
    },
    weights={"mlp": numeric.seeded_mlp},
    network=Transformer(network, numeric.tokens, {
        "prediction": lambda output: output,
        "residuals": lambda residuals: residuals[:-2:2].mT,
    }, shared=True),
    reference=reference,
    knows={
        theory.H: (largest_influence,),
        theory.a: (missed_in_residuals,),
        theory.q: (missed_in_prediction,),
        theory.F_r: (first_order_residuals,),
        theory.F_p: (first_order_prediction,),
        theory.rho: (rounding,),
        theory.delta: (truncation,),
        theory.E: (largest_error,),
        theory.S: (largest_state,),
    },
    checks=tuple(
        Check(STATEMENT.quantity(f"{what}.{part}"), counted(part, what))
        for part in stated.COUNTS for what in ("layers", "heads")
    ),
    tables=(by_loop,),
    resolve=resolve,
    refusal=refusal,
    exact_limit=EXACT_LIMIT,
    implied=("high", "bits", "c", "C"),
    tabular=Tabular("N", "d", ("B_x", "B_y"), prompt, {"L": 0, "m": 1, "B_x": 1.0, "B_y": 1.0, "T": (1, 10, 100, 500)}),
    settings={"samples": 64, "attack": 30, "restarts": 4},
    tokens=True,
    by_rules=False,
)  # fmt: skip
