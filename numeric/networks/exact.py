"""The exact run of a construction, over Arb balls: what the network computes in real arithmetic.

It runs one prompt, block by block (numeric/networks/shared_blocks.py). Each ball contains the exact value of the
network with its weights, input and slopes, float64 numbers or balls.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float64

from numeric.balls import BallArray, working_precision
from numeric.balls.conversion import entries_of_values
from numeric.balls.limits import DEFAULT_LIMIT
from numeric.networks.block_layers import BallWeights
from numeric.networks.construction import Construction
from numeric.networks.exact_cost import require_affordable
from numeric.networks.maps import all_finite, frozen_array
from numeric.networks.shared_blocks import BlockRun
from numeric.networks.stream import StreamError


def run_exact(
    construction: Construction,
    x: Float64[np.ndarray, "length d"] | BallArray | Mapping[str, np.ndarray | BallArray],
    bits: int = 128,
    taps: Sequence[str] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> dict[str, BallArray]:
    """The exact output under "output" and the taps of these names (all for None), for one prompt x of shape (L, d).

    Instead of x, its blocks by name, (L or 1, size) each. Shapes are those of `Network.run` without the batch. Raises
    `TooLargeForExact` before starting when the count of ball operations exceeds `limit`. Arb's previous precision is
    restored afterwards.
    """
    source = blocks_of(construction, x)
    length = max(len(each) for each in source.values())
    selected = construction.select_taps(None if taps is None else tuple(taps))
    require_affordable(construction, length, selected, limit)
    with working_precision(bits):
        balls = {name: BallArray.of_entries(entries_of_values(each))[None] for name, each in source.items()}
        found = BlockRun(construction, BallWeights()).run(balls, length, taps)
        return {name: each[0] for name, each in found.items()}


def blocks_of(
    construction: Construction, x: np.ndarray | BallArray | Mapping[str, np.ndarray | BallArray]
) -> dict[str, np.ndarray]:
    """The blocks of a prompt, each (L or 1, size). Raises StreamError for what is none."""
    source = construction.source

    def refused(got: str) -> StreamError:
        remedy = f"Give one prompt of finite numbers, of shape (length, {source.width})."
        return StreamError(f"run_exact({construction.name!r})", got, remedy)

    if isinstance(x, Mapping):
        blocks = {name: frozen_array(each) for name, each in x.items()}
    else:
        tokens = frozen_array(x)
        if tokens.ndim != 2 or tokens.shape[1] != source.width:
            raise refused(f"an input of shape {tokens.shape}")
        blocks = {name: tokens[:, source.slice(name)] for name in source.names}
    wanted = {block.name: block.size for block in source.blocks}
    if {name: each.shape[1] for name, each in blocks.items() if each.ndim == 2} != wanted:
        raise refused(f"blocks of shapes { ({name: each.shape for name, each in blocks.items()}) }")
    if not all(len(each) and all_finite(each) for each in blocks.values()):
        raise refused("an input that is empty or not finite")
    return blocks
