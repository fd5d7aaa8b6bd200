"""L steps of the network and of projected gradient descent from one start, on tensors and on balls.

Shapes, of one prompt: n examples, D_w weights.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from bridge.icgd.chain import Chain
from bridge.icgd.emulation import Emulation
from bridge.readings.arrays import Array, at_each
from numeric.balls import BallArray
from numeric.icgd.exact import run_exact_icgd

MAPPING = "gradient_mapping"


def iterates(w: Tensor, x: Tensor, y: Tensor, emulation: Emulation, L: int) -> list[Tensor]:
    """wbar^0 .. wbar^L."""
    network, points = emulation.network(len(x), w.dtype, w.device), [w]
    for _ in range(L):
        points.append(network.run(points[-1][None], x[None], y[None], taps=("w",))["w"][0])
    return points


def exact_iterates(w: BallArray, x: BallArray, y: BallArray, emulation: Emulation, L: int) -> list[BallArray]:
    """The same. Raises TooLargeForExact."""
    found = run_exact_icgd(replace(emulation.construction(len(x)), steps=L), w, x, y, bits=w.bits)
    return [w, *found["trajectory" if L > 1 else "w"].reshape(L, -1).unbind(0)]


def network(w: Tensor, x: Tensor, y: Tensor, emulation: Emulation, chain: Chain, L: int) -> dict[str, Tensor]:
    return measured(chain, iterates(w, x, y, emulation, L), x.double(), y.double())


def exact_network(
    w: BallArray, x: BallArray, y: BallArray, emulation: Emulation, chain: Chain, L: int
) -> dict[str, BallArray]:
    return measured(chain, exact_iterates(w, x, y, emulation, int(L)), x, y)


def envelope(w: Tensor, x: Tensor, y: Tensor, chain: Chain, L: int) -> dict[str, Tensor]:
    points = [w]
    for _ in range(L):
        points.append(chain.values(points[-1], x, y, ["w"], functions=chain.envelopes)["w"])
    return measured(chain, points, x, y)


def measured(chain: Chain, points: Sequence[Array], x: Array, y: Array) -> dict[str, Array]:
    """The iterates, and the mean of ||G||^2 over all but the last."""
    near = [each.double() if isinstance(each, Tensor) else each for each in points]
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
