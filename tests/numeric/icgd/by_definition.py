"""For the tests alone: the exact step by the formulas of the paper, and a third interpreter of the icgd network.

The interpreter takes each head's full matrices over 40-digit numbers.
"""

import numpy as np
import torch
from mpmath import mp, mpf

from numeric.icgd import IcgdSetting
from tests.numeric.by_definition import Vector, numbers, run_layer


def run_icgd_by_definition(
    construction: IcgdSetting, w: np.ndarray, x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> tuple[dict[str, np.ndarray], list[Vector]]:
    """The blocks of all tokens before the last layer of the last step, by name, and the tokens after it."""
    stream, shape = construction.stream, construction.shape
    empty = stream.width - shape.d_x - shape.d_y - shape.parameters - 2
    rows = [*zip(x, y, np.ones(len(x)), strict=True), (x_query, np.zeros(shape.d_y), 0.0)]
    with mp.workdps(40):
        tokens = [numbers(np.concatenate([a, b, w, np.zeros(empty), [1.0, t]])) for a, b, t in rows]
        for _ in range(construction.steps):
            for layer in construction.block:
                before, tokens = tokens, run_layer(layer, tokens)
        blocks = {
            name: np.array([token[stream.slice(name)] for token in before], dtype=object) for name in stream.names
        }
        return blocks, tokens


def as_floats(values: np.ndarray) -> np.ndarray:
    return np.array([[float(entry) for entry in row] for row in values])


def distance(balls: list, values: np.ndarray) -> mpf:
    """The largest distance of a ball's middle from the 40-digit number beside it."""
    with mp.workdps(60):
        flat = [entry for row in values for entry in np.atleast_1d(row)]
        middles = [mpf(ball.mid().str(50, radius=False)) for ball in balls]
        return max(abs(middle - entry) for middle, entry in zip(middles, flat, strict=True))


def exact_step(shape, w, x, y, r, r1, u, eta, B_v) -> dict[str, torch.Tensor]:
    """p[j], r'[j], g, s[j] (B, n, size), gradient (B, D_w) and the new w (B, D_w)."""
    V, p = shape.matrices(w), [x]
    for matrix in V:
        p.append(r(torch.einsum("brc,bnc->bnr", matrix, p[-1])))
    slopes = [r1(torch.einsum("brc,bnc->bnr", matrix, value)) for matrix, value in zip(V, p[:-1], strict=True)]
    g = u(p[-1], y)
    s = [slopes[-1] * g]  # (3.7)
    for j in range(shape.N - 1, 0, -1):
        s.insert(0, slopes[j - 1] * torch.einsum("brc,bnr->bnc", V[j], s[0]))
    blocks = [torch.einsum("bnr,bnc->brc", s[j], p[j]) / (2 * x.shape[1]) for j in range(shape.N)]  # (3.8)
    gradient = torch.cat([block.flatten(1) for block in blocks], dim=-1)
    box = torch.as_tensor(shape.box(B_v), dtype=w.dtype)
    taps = {"g": g, "gradient": gradient, "w": torch.clamp(w - eta * gradient, -box, box)}
    for j in range(shape.N):
        taps |= {f"p[{j + 1}]": p[j + 1], f"r'[{j + 1}]": slopes[j], f"s[{j + 1}]": s[j]}
    return taps
