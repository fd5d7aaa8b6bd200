"""The icgd network in Arb balls: what it computes in real arithmetic, for one prompt.

Every ball contains the exact value for the given float64 inputs and coefficients. The network's scale eta (n+1) / 2n
and the mask's a - bound are real numbers and enter unrounded.

Shapes: n examples, T tokens (n, or n+1 where a query is given), D_w parameters.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import flint
import numpy as np
from jaxtyping import Float64

from numeric.balls import Arb, BallArray, working_precision
from numeric.exact import ball_matrix, matrix_of_rows
from numeric.exact_cost import DEFAULT_LIMIT, ExactCost, TooLargeForExact
from numeric.families import (
    ActivationHeads,
    BoxAndClear,
    FamilyLayer,
    HadamardHeads,
    MaskedUnits,
    OuterProductHeads,
    TransposeHeads,
)
from numeric.icgd.construction import IcgdConstruction
from numeric.icgd.shape import Shape, require_sizes
from numeric.stream import StreamError

Balls: TypeAlias = Any  # flint.arb_mat


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


@dataclass
class _Tokens:
    """blocks (n+1, size), the query last; matrices v[j] (rows, columns), the same in every token."""

    blocks: dict[str, Balls]
    matrices: dict[str, Balls]
    updates: list[Balls]


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
    w, x, y = (each.entries if isinstance(each, BallArray) else each for each in (w, x, y))
    _check(f"run_exact_icgd({shape})", shape, n, w, x, y, x_query)
    wanted = construction.select_taps(None if taps is None else tuple(taps))
    _require_affordable(shape, n + 1, construction.steps, limit)
    query = np.zeros(shape.d_x) if x_query is None else x_query
    last = n if x_query is None else n + 1
    with working_precision(bits):
        inputs = {
            "x": ball_matrix(np.vstack([x, query])),
            "y": ball_matrix(np.vstack([y, np.zeros(shape.d_y)])),
        }
        matrices = _matrices(shape, w)
        trajectory: list[list[Arb]] = []
        tokens = _Tokens(dict(inputs), matrices, [])
        for _ in range(construction.steps):
            tokens = _Tokens(dict(inputs), tokens.matrices, [])
            for layer in construction.block:
                _apply_layer(layer, tokens)
            trajectory.append(_flat(tokens.matrices.values()))
        blocks = {name: _first_rows(block, last) for name, block in tokens.blocks.items()}
        gradient = [ball / flint.arb(construction.eta) for ball in _flat(tokens.updates)]
        return {name: found for name, found in _collect(blocks, gradient, trajectory, bits).items() if name in wanted}


def _apply_layer(layer: FamilyLayer, tokens: _Tokens) -> None:
    if isinstance(layer, MaskedUnits):
        tokens.blocks[layer.target] = _masked_units(layer, tokens)
    elif isinstance(layer, BoxAndClear):
        tokens.matrices = {name: _clipped(tokens.matrices[name], b) for name, b in layer.boxes}
    else:
        for family in layer.families:
            _apply_family(family, tokens)


def _apply_family(family: object, tokens: _Tokens) -> None:
    blocks, matrices = tokens.blocks, tokens.matrices
    if isinstance(family, ActivationHeads):
        scores = blocks[family.source] * matrices[family.matrix].transpose()
        blocks[family.target] = _entrywise(family.relus.exact, scores)
    elif isinstance(family, HadamardHeads):
        blocks[family.target] = _entrywise(_product, blocks[family.factor], blocks[family.signal])
    elif isinstance(family, TransposeHeads):
        columns = blocks[family.signal] * matrices[family.matrix]
        blocks[family.target] = _entrywise(_product, blocks[family.factor], columns)
    else:
        assert isinstance(family, OuterProductHeads)  # families of layers are of these kinds
        signal = blocks[family.signal]
        update = signal.transpose() * blocks[family.source] * _rational(family.scale / signal.nrows())
        tokens.updates.append(update)
        matrices[family.matrix] = matrices[family.matrix] - update


def _masked_units(layer: MaskedUnits, tokens: _Tokens) -> Balls:
    t, y = tokens.blocks[layer.first].tolist(), tokens.blocks[layer.second].tolist()
    pairs = [list(zip(*rows, strict=True)) for rows in zip(t, y, strict=True)]
    examples = [[layer.relus.exact(*pair) for pair in row] for row in pairs[:-1]]
    query = [_masked_sum(layer, *pair) for pair in pairs[-1]]
    return matrix_of_rows([*examples, query], len(query))


def _masked_sum(layer: MaskedUnits, t: Arb, y: Arb) -> Arb:
    """sum_m c_m relu(<a_m, [t; y; 1]> - bound): exactly 0 where ||a_m||_1 <= 1 settles it, else all its terms."""
    bound, total = flint.arb(layer.bound), flint.arb(0)
    if abs(t) <= bound and abs(y) <= bound:
        return total
    for weight, (a, b, shift) in zip(layer.relus.weights.tolist(), layer.relus.directions.tolist(), strict=True):
        argument = flint.arb(a) * t + flint.arb(b) * y + flint.arb(shift) - bound
        total += flint.arb(weight) * argument.max(flint.arb(0))
    return total


def _entrywise(function: Callable[..., Arb], *matrices: Balls) -> Balls:
    entries = zip(*(matrix.entries() for matrix in matrices), strict=True)
    return flint.arb_mat(matrices[0].nrows(), matrices[0].ncols(), [function(*each) for each in entries])


def _product(left: Arb, right: Arb) -> Arb:
    return left * right


def _clipped(matrix: Balls, half_width: float) -> Balls:
    top = flint.arb(half_width)
    return _entrywise(lambda ball: ball.min(top).max(-top), matrix)


def _rational(number: Fraction) -> Arb:
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def _matrices(shape: Shape, w: np.ndarray) -> dict[str, Balls]:
    pieces = enumerate(zip(shape.slices, shape.sizes, strict=True), start=1)
    return {f"v[{j}]": ball_matrix(w[where].reshape(size)) for j, (where, size) in pieces}


def _flat(matrices: Iterable[Balls]) -> list[Arb]:
    return [ball for matrix in matrices for ball in matrix.entries()]


def _first_rows(block: Balls, rows: int) -> Balls:
    return matrix_of_rows(block.tolist()[:rows], block.ncols())


def _collect(
    blocks: dict[str, Balls], gradient: list[Arb], trajectory: list[list[Arb]], bits: int
) -> dict[str, BallArray]:
    found = {name: BallArray.of_matrix(block, bits) for name, block in blocks.items() if name not in ("x", "y")}
    found["gradient"] = BallArray(gradient, (len(gradient),), bits)
    found["w"] = BallArray(trajectory[-1], (len(gradient),), bits)
    if len(trajectory) > 1:
        balls = [ball for point in trajectory for ball in point]
        found["trajectory"] = BallArray(balls, (len(trajectory), len(gradient)), bits)
    return found


def _require_affordable(shape: Shape, tokens: int, steps: int, limit: int) -> None:
    cost = exact_step_cost(shape, tokens, steps)
    if cost.operations > limit:
        raise TooLargeForExactStep(shape, tokens, steps, cost, limit)


def _check(
    call: str, shape: Shape, n: int, w: np.ndarray, x: np.ndarray, y: np.ndarray, x_query: np.ndarray | None
) -> None:
    expected = [("w", w.shape, (shape.parameters,)), ("x", x.shape, (n, shape.d_x)), ("y", y.shape, (n, shape.d_y))]
    query = [] if x_query is None else [("x_query", x_query.shape, (shape.d_x,))]
    require_sizes(call, [*expected, *query])
    if not all(_finite(each) for each in (w, x, y, *([] if x_query is None else [x_query]))):
        raise StreamError(call, "an input that is not finite", "Give finite float64 numbers.")


def _finite(values: np.ndarray) -> bool:
    return all(each.is_finite() for each in values.flat) if values.dtype == object else bool(np.isfinite(values).all())
