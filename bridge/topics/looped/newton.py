"""Theorem 4.1 (algoformer) as a theorem: a looped transformer beside Newton's iteration for S^(-1)."""

from collections.abc import Mapping
from typing import Any

import sympy as sp
import torch

from bridge.domains import Ball, Box, SingularValues
from bridge.limits.arguments import called_with
from bridge.lowering.formula import ArrayFunction
from bridge.theorems.head_formats import pair_for, require_held
from bridge.theorems.parts import AtPoint, InputSearch, Knobs
from bridge.theorems.record import Verdict
from bridge.theorems.refusal import Refusal
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from bridge.topics.looped import newton_tables as tables
from bridge.topics.looped.newton_table import TABLE, loop_work
from bridge.topics.looped.size_counts import checks_of_parts
from numeric.topics.looped import newton as numeric
from symbolic.calculus.heads import Second
from symbolic.topics.looped import newton_derivation as theory
from symbolic.topics.looped.newton import COUNTS, SECONDS, largest_error, quantities_of
from symbolic.topics.looped.newton import NEWTON as STATEMENT
from symbolic.words.errors import UsageError

CHOSEN = ("c", "C")


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """c and C for the format, where they are not given. Raises UsageError for what it does not hold."""
    second = params.get("second", STATEMENT.parameter("second").default)
    if second not in list(SECONDS):
        raise UsageError(f"{STATEMENT.id}: second = {second!r}; give {' or '.join(SECONDS)}")
    numbers = STATEMENT.numbers(params)
    STATEMENT.check(numbers)
    chosen = tables.recommended(Second(second), dtype, **{name: numbers[name] for name in ("N", "d", "T", "kappa")})
    found = {name: numbers[name] if name in params else chosen[name] for name in CHOSEN}
    pair = pair_for(second, dtype, keys=int(2 * numbers["N"] + 1), size=1.0, width=int(numbers["d"]))
    require_held(STATEMENT.id, pair, dtype, **found)
    return {**params, **found}


def refusal(N: int, d: int, T: int, kappa: float, second: str, c: float, C: float, dtype: str) -> Refusal | None:
    """Where the floor is above what it is a floor of."""
    found = tables.floor_in_condition(Second(second), dtype, N=N, d=d, T=T, kappa=kappa, c=c, C=C)
    if found <= 1:
        return None
    why = (
        f"{dtype} holds nothing of the state: for S with the least eigenvalue 1/kappa = {1 / kappa:.3g} its floor is "
        f"{found:.3g} times the state, with c = {c:.3g}; lower kappa, or take a format of more bits"
    )
    return Refusal(Verdict.NOT_REPRESENTABLE, why)


CEILINGS = {second: ArrayFunction(largest_error(second)) for second in SECONDS}


def ceiling(N: int, d: int, T: int, kappa: Any, alpha: Any, c: Any, C: Any, second: str) -> Any:
    """E; the bounds hold with any number that meets their obligations."""
    return called_with(CEILINGS[Second(second)], locals())


def build(N: int, d: int, T: int, alpha: Any, c: Any, C: Any, tau: Any, second: str) -> Any:
    return numeric.transformer(N, d, T, alpha, c, C, tau, second)


def reference(X: Any, y: Any, x: Any, alpha: Any, T: int) -> dict[str, Any]:
    return numeric.reference(X, y, x, alpha, T)


NEWTON = Theorem(
    STATEMENT,
    main="y_hat",
    inputs={
        "X": SingularValues(theory.N, theory.d, low=1 / sp.sqrt(theory.kappa), high=1),
        "y": Box(theory.N, size=theory.B),
        "x": Ball(theory.d),
    },
    network=Transformer(build, numeric.tokens, {"y_hat": lambda y_hat: y_hat[-2]}),
    reference=reference,
    at_point=AtPoint(quantities=quantities_of, refusal=refusal),
    knows={
        theory.low: (lambda X: numeric.least_eigenvalue(X.mT @ X),),
        theory.longest: (lambda X: (X * X).sum(1).amax(),),
        theory.gram: (lambda X: torch.linalg.vector_norm(X.mT @ X),),
        theory.own: (lambda X: numeric.leverages(X).amax(),),
        theory.foreign: (lambda X, x: torch.sqrt(x @ torch.linalg.solve(X.mT @ X, x)),),
        theory.Y: (lambda y: torch.linalg.vector_norm(y),),
        theory.E: (ceiling,),
    },
    checks=checks_of_parts(STATEMENT, build, COUNTS),
    knobs=Knobs(resolve=resolve, implied=CHOSEN),
    search=InputSearch(leading=("y_hat", "m")),
    work=loop_work,
    tables=(tables.floors,),
    sources=(TABLE,),
)
