"""The interpreters of the icgd network: structured (fast), and dense (every matrix of the paper, literally).

Both compute the same function, up to rounding (numeric/families). The structured one keeps the blocks v[j], equal in
all tokens by construction, once; it runs on tensors, and for one prompt on arrays of balls (`run_exact_icgd`).

Shapes: B prompts (no axis on balls), n examples, T tokens (n+1 inside; outside n, or n+1 where a query is given), D_w
parameters, D width of the stream.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from numeric.balls import BallArray, working_precision
from numeric.balls.floats import floats_enclosed
from numeric.exact_cost import DEFAULT_LIMIT, ExactCost, TooLargeForExact
from numeric.families import Tokens, apply_layer, dense_layer
from numeric.icgd.construction import IcgdConstruction
from numeric.layered import Shape, require_sizes
from numeric.stream import Stream, StreamError

Array: TypeAlias = Any  # a tensor or an array of balls
WHOLE = ("gradient", "w", "trajectory")  # the taps that are not of a token


class IcgdNetwork(nn.Module):
    """An `IcgdConstruction` with its weights rounded to `dtype` on `device`.

    Differentiable in w, x and y; float32, bfloat16 and float16 run in that dtype. With `dense` each head's D x D
    matrices are formed in turn: for small sizes.
    """

    def __init__(
        self,
        construction: IcgdConstruction,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
        dense: bool = False,
    ) -> None:
        super().__init__()
        self.construction = construction
        self.dense = dense
        self.like: Tensor
        self.register_buffer("like", torch.zeros((), dtype=dtype, device=device))

    def forward(
        self, w: Float[Tensor, "B D_w"], x: Float[Tensor, "B n d_x"], y: Float[Tensor, "B n d_y"]
    ) -> Float[Tensor, "B D_w"]:
        """The parameters after all steps."""
        return self.run(w, x, y, taps=("w",))["w"]

    def run(
        self,
        w: Float[Tensor, "B D_w"],
        x: Float[Tensor, "B n d_x"],
        y: Float[Tensor, "B n d_y"],
        x_query: Float[Tensor, "B d_x"] | None = None,
        taps: Iterable[str] | None = None,
    ) -> dict[str, Tensor]:
        """The taps of these names (all for None), as they stand in the last of the construction's steps.

        p[j], r'[j], g, s[j] are (B, n, size), with a query (B, n+1, size), the query last; "gradient" (B, D_w) is
        the negative update before the projection over eta; "w" (B, D_w) the parameters after the step, and
        "trajectory" (B, steps, D_w) those after each step (only where steps > 1). Without `x_query` the query is 0.
        """
        wanted = self.construction.select_taps(None if taps is None else tuple(taps))
        return collected(self.each_step(w, x, y, x_query), wanted, query=x_query is not None)

    def each_step(
        self,
        w: Float[Tensor, "B D_w"],
        x: Float[Tensor, "B n d_x"],
        y: Float[Tensor, "B n d_y"],
        x_query: Float[Tensor, "B d_x"] | None = None,
    ) -> Iterator[dict[str, Tensor]]:
        """The taps of one step after the other, with all n+1 tokens."""
        self._check_input(w, x, y, x_query)
        x, y = with_query(x, y, x_query)
        yield from self._dense_steps(w, x, y) if self.dense else structured_steps(self.construction, w, x, y)

    def _dense_steps(self, w: Tensor, x: Tensor, y: Tensor) -> Iterator[dict[str, Tensor]]:
        stream, eta = self.construction.stream, self.construction.eta
        H = embed(self.construction.shape, stream, w, x, y)  # (B, n+1, D)
        for _ in range(self.construction.steps):
            before = parameters_of_first_token(H, stream)  # (B, D_w)
            for layer in self.construction.block[:-1]:
                H = dense_layer(layer, H)
            found = {block.name: H[..., stream.slice(block.name)] for block in stream.blocks}
            found["gradient"] = (before - parameters_of_first_token(H, stream)) / eta
            H = dense_layer(self.construction.block[-1], H)
            yield {**found, "w": parameters_of_first_token(H, stream)}

    def _check_input(self, w: Tensor, x: Tensor, y: Tensor, x_query: Tensor | None) -> None:
        given = {"w": w, "x": x, "y": y} | ({} if x_query is None else {"x_query": x_query})
        require_inputs("IcgdNetwork", self.construction, given, w.shape[:1])
        kinds = {(each.dtype, each.device) for each in (w, x, y, x_query) if each is not None}
        if kinds != {(self.like.dtype, self.like.device)}:
            came = ", ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds))
            raise StreamError(
                "IcgdNetwork",
                f"inputs of {came} for a network of {self.like.dtype} on {self.like.device}",
                "Convert the inputs, or build the network with that dtype and device.",
            )


def require_inputs(call: str, of: IcgdConstruction, given: Mapping[str, Array], batch: tuple[int, ...] = ()) -> None:
    """Raises StreamError for inputs that do not have the construction's sizes."""
    shape, n = of.shape, of.n
    wanted = {"w": (shape.parameters,), "x": (n, shape.d_x), "y": (n, shape.d_y), "x_query": (shape.d_x,)}
    require_sizes(call, [(name, tuple(each.shape), (*batch, *wanted[name])) for name, each in given.items()])


def with_query(x: Array, y: Array, x_query: Array | None) -> tuple[Array, Array]:
    """(B, n+1, d_x) and (B, n+1, d_y): the query last (0 for None), with y = 0."""
    query = torch.zeros_like(x[..., :1, :]) if x_query is None else x_query[..., None, :]
    return torch.cat([x, query], dim=-2), torch.cat([y, torch.zeros_like(y[..., :1, :])], dim=-2)


def collected(steps: Iterable[dict[str, Array]], wanted: Sequence[str], *, query: bool) -> dict[str, Array]:
    """The wanted taps of the last of these steps, with the query if asked, and the parameters after each of them."""
    trajectory: list[Array] = []
    found: dict[str, Array] = {}
    for found in steps:
        trajectory.append(found["w"])
    if "trajectory" in wanted:
        found["trajectory"] = torch.stack(trajectory, dim=-2)
    return {name: found[name] if query or name in WHOLE else found[name][..., :-1, :] for name in wanted}


def structured_steps(construction: IcgdConstruction, w: Array, x: Array, y: Array) -> Iterator[dict[str, Array]]:
    """The taps of one step after the other, with all n+1 tokens."""
    for _ in range(construction.steps):
        matrices = enumerate(construction.shape.matrices(w), start=1)
        tokens = Tokens({"x": x, "y": y}, {f"v[{j}]": V for j, V in matrices}, masked=1)
        for layer in construction.block[:-1]:
            apply_layer(layer, tokens)
        found = {**tokens.blocks, "gradient": flat(tokens.changes.values()) / construction.eta}
        apply_layer(construction.block[-1], tokens)
        w = flat(tokens.matrices.values())  # (B, D_w)
        yield {**found, "w": w}


def flat(matrices: Iterable[Array]) -> Array:
    """(B, D_w)."""
    return torch.cat([V.flatten(-2) for V in matrices], dim=-1)


def embed(shape: Shape, stream: Stream, w: Tensor, x: Tensor, y: Tensor) -> Float[Tensor, "B T D"]:
    """The tokens [x; y; w; 0; 1; t] of the input sequence (wu2024, (2.1)), the query last."""
    batch, tokens = x.shape[:2]
    repeated = w[:, None, :].expand(batch, tokens, shape.parameters)  # (B, T, D_w)
    empty = x.new_zeros(batch, tokens, stream.width - shape.d_x - shape.d_y - shape.parameters - 2)
    one = x.new_ones(batch, tokens, 1)
    t = torch.cat([one[:, :-1], torch.zeros_like(one[:, -1:])], dim=1)  # 1 at the examples, 0 at the query
    return torch.cat([x, y, repeated, empty, one, t], dim=-1)


def parameters_of_first_token(H: Tensor, stream: Stream) -> Float[Tensor, "B D_w"]:
    names = [name for name in stream.names if name.startswith("v[")]
    return torch.cat([H[:, 0, stream.slice(name)] for name in names], dim=-1)


# On balls.


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

    Every ball contains the exact value for the given float64 inputs and coefficients. The network's scale
    eta (n+1) / 2n and the mask's a - bound are real numbers and enter unrounded. Raises `TooLargeForExact` before
    starting when the count of ball operations exceeds `limit`.
    """
    shape, n = construction.shape, construction.n
    given = {"w": w, "x": x, "y": y} | ({} if x_query is None else {"x_query": x_query})
    balls = {name: v if isinstance(v, BallArray) else BallArray.exactly(v, bits) for name, v in given.items()}
    require_inputs(f"run_exact_icgd({shape})", construction, balls)
    if not all(ball.is_finite() for each in balls.values() for ball in each.balls):
        raise StreamError(f"run_exact_icgd({shape})", "an input that is not finite", "Give finite float64 numbers.")
    wanted = construction.select_taps(None if taps is None else tuple(taps))
    cost = exact_step_cost(shape, n + 1, construction.steps)
    if cost.operations > limit:
        raise TooLargeForExactStep(shape, n + 1, construction.steps, cost, limit)
    with working_precision(bits), floats_enclosed(False):
        tokens = with_query(balls["x"], balls["y"], balls.get("x_query"))
        return collected(structured_steps(construction, balls["w"], *tokens), wanted, query=x_query is not None)
