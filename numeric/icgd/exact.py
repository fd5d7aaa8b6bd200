"""The icgd network in Arb balls: what it computes in real arithmetic, for one prompt.

Every ball contains the exact value for the given float64 inputs and coefficients. The network's scale eta (n+1) / 2n
and the mask's a - bound are real numbers and enter unrounded.

Shapes: n examples, T tokens (n, or n+1 where a query is given), D_w parameters.
"""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float64

from numeric.balls import BallArray, working_precision
from numeric.balls.floats import floats_enclosed
from numeric.exact_cost import DEFAULT_LIMIT, ExactCost, TooLargeForExact
from numeric.icgd.construction import IcgdConstruction
from numeric.icgd.network import collected, structured_steps, with_query
from numeric.icgd.shape import Shape, require_sizes
from numeric.stream import StreamError


class TooLargeForExactStep(TooLargeForExact):
    """The exact steps would take more ball operations than the limit allows."""

    def __init__(self, shape: Shape, tokens: int, steps: int, cost: ExactCost, limit: int) -> None:
        ValueError.__init__(
            self,
            f"exact icgd on {shape}: {steps} steps on {tokens} tokens need {cost.operations:,} ball operations, "
            f"the limit is {limit:,}. Take fewer examples, smaller layers or fewer steps, or pass a higher limit.",
        )


def exact_step_cost(shape: Shape, tokens: int, steps: int = 1) -> ExactCost:
    """Ball operations of the network: three matrix products a layer, scalars at each neuron.

    A sum of ReLUs at one ball, or a transcendental function, takes about as long as eight scalars; measured.
    """
    functions = 2 * sum(shape.widths[1:]) + shape.d_y
    scalars = tokens * 8 * functions + 2 * shape.parameters
    return ExactCost(products=steps * 3 * tokens * shape.parameters, scalars=steps * scalars)


def run_exact_icgd(
    construction: IcgdConstruction,
    w: Float64[np.ndarray, " D_w"] | BallArray,
    x: Float64[np.ndarray, "n d_x"] | BallArray,
    y: Float64[np.ndarray, "n d_y"] | BallArray,
    x_query: Float64[np.ndarray, " d_x"] | None = None,
    bits: int = 128,
    taps: Iterable[str] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> dict[str, BallArray]:
    """The taps of `IcgdNetwork.run` for one prompt, without the batch: p[j] (T, size), gradient and w (D_w), ...

    Raises `TooLargeForExact` before starting when the count of ball operations exceeds `limit`.
    """
    shape, n = construction.shape, construction.n
    given = {"w": w, "x": x, "y": y} | ({} if x_query is None else {"x_query": x_query})
    balls = {name: v if isinstance(v, BallArray) else BallArray.exactly(v, bits) for name, v in given.items()}
    _check(f"run_exact_icgd({shape})", shape, n, balls)
    wanted = construction.select_taps(None if taps is None else tuple(taps))
    cost = exact_step_cost(shape, n + 1, construction.steps)
    if cost.operations > limit:
        raise TooLargeForExactStep(shape, n + 1, construction.steps, cost, limit)
    with working_precision(bits), floats_enclosed(False):
        tokens = with_query(balls["x"], balls["y"], balls.get("x_query"))
        return collected(structured_steps(construction, balls["w"], *tokens), wanted, query=x_query is not None)


def _check(call: str, shape: Shape, n: int, given: dict[str, BallArray]) -> None:
    wanted = {"w": (shape.parameters,), "x": (n, shape.d_x), "y": (n, shape.d_y), "x_query": (shape.d_x,)}
    require_sizes(call, [(name, tuple(each.shape), wanted[name]) for name, each in given.items()])
    if not all(ball.is_finite() for each in given.values() for ball in each.balls):
        raise StreamError(call, "an input that is not finite", "Give finite float64 numbers.")
