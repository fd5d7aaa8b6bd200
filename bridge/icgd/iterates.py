"""L steps of the network and of projected gradient descent from one start, on tensors and on balls.

Shapes, of one prompt: n examples, D_w weights.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from bridge.icgd.chain import Chain
from bridge.icgd.emulation import Emulation
from bridge.readings.arrays import Array, at_each

MAPPING = "gradient_mapping"


def iterates(w: Array, x: Array, y: Array, emulation: Emulation, L: int) -> list[Array]:
    """wbar^0 .. wbar^L. Raises TooLargeForExact on balls."""
    L, tap = int(L), "trajectory" if L > 1 else "w"
    found = emulation.run(w, x, y, (tap,), steps=L)[tap]
    return [w, *found.reshape(L, -1).unbind(0)]


def network(w: Array, x: Array, y: Array, emulation: Emulation, chain: Chain, L: int) -> dict[str, Array]:
    return measured(chain, iterates(w, x, y, emulation, L), x.double(), y.double())


def envelope(w: Tensor, x: Tensor, y: Tensor, chain: Chain, L: int) -> dict[str, Tensor]:
    points = [w]
    for _ in range(L):
        points.append(chain.values(points[-1], x, y, ["w"], functions=chain.envelopes)["w"])
    return measured(chain, points, x, y)


def measured(chain: Chain, points: Sequence[Array], x: Array, y: Array) -> dict[str, Array]:
    """The iterates, and the mean of ||G||^2 over all but the last."""
    near = [each.double() for each in points]
    eta = chain.array(chain.setting.eta, like=x)
    mappings = at_each(lambda w: (w - chain.values(w, x, y, ["w"])["w"]) / eta, near[:-1])
    mean = torch.stack([(each * each).sum() for each in mappings]).mean()
    return {MAPPING: mean, **{f"path[{l}]": w for l, w in enumerate(near) if l}}  # noqa: E741 - the paper's letter


def reference(w: Array, x: Array, y: Array, chain: Chain, L: int) -> dict[str, Array]:
    """Projected gradient descent, and 0 for the mean of squares."""
    found: dict[str, Array] = {MAPPING: torch.zeros(())}
    for l in range(1, int(L) + 1):  # noqa: E741 - the paper's letter
        w = found[f"path[{l}]"] = chain.values(w, x, y, ["w"])["w"]
    return found
