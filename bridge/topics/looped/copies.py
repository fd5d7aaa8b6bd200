"""What heads that copy lags need (algoformer, Lemma A.3): positions with a gap, and a sharpness for an accuracy."""

from fractions import Fraction
from typing import Any

import sympy as sp
from torch import Tensor

from bridge.limits.cost import Cost
from bridge.topics.looped.positions import search_cost, searched
from numeric.topics.looped import positions
from symbolic.topics.looped import autoregression as theory
from symbolic.topics.looped.autoregression import AUTOREGRESSION as STATEMENT
from symbolic.words.errors import UsageError


def sharpness(N: int, B: float, eps: float, accuracy: float) -> float:
    at = {theory.N: N, theory.B: B, theory.eps: eps, theory.accuracy: accuracy}
    return float(theory.sharpness().value.xreplace({s: sp.sympify(x) for s, x in at.items()}))


def positions_of(N: Any, q: Any) -> Any:
    """How many: those of -q..N+1."""
    return N + q + 2


def signs_cost(N: float | int, q: float | int, eps: float | int, m: float | int) -> Cost:
    return search_cost(positions_of(N, q), eps, 1.0) if m == 0 else Cost()


def signs(N: int, q: int, eps: float, m: int, seed: int) -> Tensor:
    """The positions of -q..N+1, up to a factor. Raises UsageError where a search finds too few."""
    count = positions_of(N, q)
    found = positions.found_signs(count, m, Fraction(eps), seed) if m else searched(count, eps, 1.0, seed)
    if found is None:
        raise UsageError(
            f"{STATEMENT.id}: too few positions for N = {N}: no draw of seed {seed} has {count} in dimension m = {m} "
            f"with the gap {eps:g}; take m = 0, or a smaller gap"
        )
    return found.double()
