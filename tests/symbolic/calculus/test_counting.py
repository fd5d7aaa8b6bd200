"""Norms and counts in letters: what one class of columns clearly exceeds is left out, and nothing else is."""

import pytest
import sympy as sp

from symbolic.calculus import Columns, CountedAttention, Heads
from symbolic.calculus.counting import largest

d, M = sp.symbols("d M", integer=True, positive=True)
c, R = sp.symbols("c R", nonnegative=True)


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([M, d * M * (1 + R), d * M * R], d * M * (1 + R)),
        ([d * M * R, M], sp.Max(d * M * R, M)),  # R may be 0
        ([M, d], sp.Max(M, d)),
        ([M, M + c, M], M + c),
        ([sp.Integer(1), d], d),
        ([c, sp.Integer(1)], sp.Max(c, 1)),
    ],
    ids=str,
)
def test_only_what_is_exceeded_for_all_sizes_is_left_out(values: list[sp.Expr], kept: sp.Expr) -> None:
    assert largest(values) == largest(values[::-1]) == kept


def test_families_of_heads_add_up() -> None:
    layer = CountedAttention((Heads(d, M, values=c), Heads(M, 2, values=R, query_key=3)))
    assert sp.expand(layer.heads) == d * M + 2 * M
    assert sp.expand(layer.norm) == 3 + d * c + M * R
    assert Columns({"one": ((M, c), (1, R))}).norm == M * c + R
