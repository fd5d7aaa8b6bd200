"""Matrices of layers where there is no layer: the network is the identity, and errs by nothing."""

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.expressions.matrix_norms import KINDS, NORMS

K, delta = sp.symbols("K delta", positive=True)
d = sp.Symbol("d", integer=True, positive=True)
N = sp.Symbol("N", integer=True, nonnegative=True)


@pytest.mark.parametrize("kind", ["spectral", "row_sums", "row_norms", "entries"])
def test_a_network_without_layers_is_exact_and_one_with_layers_is_as_before(kind: str) -> None:
    W = bs.matrix("W", d, d, layers=N, **{kind: K}).rounded(delta)
    output = bs.repeat(lambda p: bs.function(sp.tanh)(W @ p), bs.vector("x", d, size=1), N)
    own = bs.theorem("layers", output, parameters={K: 0.9, delta: 0.01, d: 2, N: (0, 2)})
    rows = bs.compare(own, samples=8, attack=3, restarts=2).rows
    assert {verdict for row in rows for verdict in row.verdict.values()} <= {"kept", "vacuous"}
    without = [row for row in rows if row.params["N"] == 0 and row.scope]
    assert len(without) >= 2
    assert all(row.attacked == 0 for row in without)
    assert all(row.derived in (None, 0) and row.instance in (None, 0) for row in without)


@pytest.mark.parametrize("kind", KINDS)
def test_a_norm_without_matrices_is_0(kind: str) -> None:
    assert float(NORMS[KINDS[kind]](torch.zeros(0, 2, 3, dtype=torch.float64))) == 0
