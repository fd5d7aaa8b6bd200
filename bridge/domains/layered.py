"""The weights of networks of N layers (numeric/tools/layered.py) as one vector in a box, layer by layer."""

import sympy as sp

from bridge.domains.boxes import Box
from bridge.domains.products import Concatenated


def layered_box(N: sp.Expr, K: sp.Expr, d_x: sp.Expr, d_y: sp.Expr, *, row_norm: sp.Expr) -> Concatenated:
    """|v_jk[i]| <= row_norm / sqrt(length of v_jk), v_jk the rows of V_1, ..., V_N; each row has a norm <= row_norm.

    V_1 is K x d_x, V_j is K x K, V_N is d_y x K, each row by row; d_y x d_x if N = 1. Sizes are letters or numbers.
    """
    single = sp.Eq(N, 1)
    return Concatenated(
        Box(sp.Piecewise((d_y, single), (K, True)), d_x, size=row_norm / sp.sqrt(d_x)),
        Box(sp.Max(N - 2, 0), K, K, size=row_norm / sp.sqrt(K)),
        Box(sp.Piecewise((0, single), (d_y, True)), K, size=row_norm / sp.sqrt(K)),
    )
