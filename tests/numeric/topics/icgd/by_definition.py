"""For the tests alone: the exact step by the formulas of the paper, and a third interpreter of the icgd network.

The interpreter takes each head's full matrices over 40-digit numbers.
"""

import numpy as np
import torch
from mpmath import mp, mpf

from numeric.topics.icgd import IcgdSetting
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


def emulated(V, x, y, r, r1, u) -> dict[str, torch.Tensor]:
    """The paper's formulas written out: p[j], r'[j], g, s[j] (B, n, size), gradient (B, D_w); r and r1 take j."""
    taps, p, N = {}, [x], len(V)
    for j, matrix in enumerate(V, start=1):
        z = torch.einsum("brc,bnc->bnr", matrix, p[-1])
        taps |= {f"p[{j}]": r(z, j), f"r'[{j}]": r1(z, j)}
        p.append(taps[f"p[{j}]"])
    s = taps["g"] = u(p[-1], y)
    blocks = []
    for j in range(N, 0, -1):
        incoming = s if j == N else torch.einsum("brc,bnr->bnc", V[j], s)
        s = taps[f"s[{j}]"] = taps[f"r'[{j}]"] * incoming  # (3.7)
        blocks.insert(0, torch.einsum("bnr,bnc->brc", s, p[j - 1]) / (2 * x.shape[1]))  # (3.8)
    return {**taps, "gradient": torch.cat([block.flatten(1) for block in blocks], dim=-1)}


def exact_taps(V, x, y, r, r1, u) -> dict[str, torch.Tensor]:
    """What `emulated` gives with one r and one r1 for all layers."""
    return emulated(V, x, y, lambda z, j: r(z), lambda z, j: r1(z), u)


def exact_step(shape, w, x, y, r, r1, u, eta, B_v) -> dict[str, torch.Tensor]:
    """The taps at the weights w, and the new w (B, D_w)."""
    taps = exact_taps(shape.matrices(w), x, y, r, r1, u)
    box = torch.as_tensor(shape.box(B_v), dtype=w.dtype)
    return {**taps, "w": torch.clamp(w - eta * taps["gradient"], -box, box)}
