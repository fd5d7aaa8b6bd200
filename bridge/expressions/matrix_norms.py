"""Operator norms of matrices: their names, how they follow from one another, and the sets in which they hold."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
import torch

from bridge.domains import Ball, Box, Domain, Rows, SingularValues
from numeric.networks.norms import spectral_norm_upper
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError

Key = tuple[Norm, Norm]  # from, to
ORDER = {Norm.ONE: 1, Norm.TWO: 2, Norm.INF: 3}
KINDS: Mapping[str, Key] = {
    "spectral": (Norm.TWO, Norm.TWO),
    "row_sums": (Norm.INF, Norm.INF),
    "column_sums": (Norm.ONE, Norm.ONE),
    "row_norms": (Norm.TWO, Norm.INF),
    "entries": (Norm.ONE, Norm.INF),
    "total": (Norm.INF, Norm.ONE),  # at least this norm
}


def _spectral(matrix: Any) -> float:
    """The largest of all layers, rounded up; 0 without a layer."""
    layers = matrix.reshape(math.prod(matrix.shape[:-2]), *matrix.shape[-2:])
    return max((spectral_norm_upper(each.cpu().numpy()) for each in layers), default=0.0)


def _largest(entries: Any) -> Any:
    """Of all layers; 0 without a layer."""
    return entries.amax() if math.prod(entries.shape) else entries.sum()


# Of a matrix, or of one for each layer (N, m, n); the spectral norm is computed once for a network (`is_built`).
NORMS: Mapping[Key, Callable[[Any], Any]] = {
    KINDS["spectral"]: _spectral,
    KINDS["row_sums"]: lambda matrix: _largest(abs(matrix).sum(-1)),
    KINDS["column_sums"]: lambda matrix: _largest(abs(matrix).sum(-2)),
    KINDS["row_norms"]: lambda matrix: torch.sqrt(_largest((matrix * matrix).sum(-1))),
    KINDS["entries"]: lambda matrix: _largest(abs(matrix)),
    KINDS["total"]: lambda matrix: _largest(abs(matrix).sum((-2, -1))),
}


# ||A||_(p', q') <= ||A||_(p, q) for p' <= p and q' >= q: the unit ball of the smaller norm holds less, and the larger
# exponent measures less.
def all_norms(known: Mapping[Key, sp.Expr]) -> dict[Key, sp.Expr]:
    """Every operator norm that these say something of."""
    found = dict(known)
    for (p, q), bound in known.items():
        for source in (each for each in Norm if ORDER[each] <= ORDER[p]):
            for target in (each for each in Norm if ORDER[each] >= ORDER[q]):
                found.setdefault((source, target), bound)
    return found


def kind_of(kind: str) -> Key:
    if kind not in KINDS:
        raise UsageError(f"a matrix has no norm '{kind}'; it has: {', '.join(KINDS)}")
    return KINDS[kind]


def domain_of(name: str, rows: Any, columns: Any, norms: Mapping[str, sp.Expr]) -> Domain:
    domains: Mapping[str, Callable[[Any], Domain]] = {
        "spectral": lambda bound: SingularValues(rows, columns, high=bound),
        "row_sums": lambda bound: Rows(rows, Ball(columns, norm=1, radius=bound)),
        "row_norms": lambda bound: Rows(rows, Ball(columns, radius=bound)),
        "entries": lambda bound: Box(rows, columns, size=bound),
        "total": lambda bound: Ball(rows, columns, norm=1, radius=bound),
    }
    if len(norms) > 1 or not set(norms) <= set(domains):
        raise UsageError(f"{name}: give domain=, a set of matrices in which {' and '.join(norms)} hold")
    ((kind, bound),) = norms.items()
    return domains[kind](bound)


def norm_words(kind: str) -> str:
    """For sentences: what a matrix has."""
    words = {"spectral": "a spectral norm", "total": "a sum of absolute values of its entries"}
    return words.get(kind, kind.replace("_", " "))
