"""Sums, extremes, norms and softmax along axes of arrays of balls."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import flint
import numpy as np

from numeric.balls.arbs import Arb, ball_maximum, exact_softmax
from numeric.balls.array import BallArray, Truth, array_of, entries_of, truths_of
from numeric.balls.budget import charge_scalars
from numeric.balls.conversion import boxed
from numeric.balls.decisions import Decision, both, either
from numeric.balls.elementwise import lifted
from numeric.balls.errors import BallsError
from numeric.balls.functions import absolute, int_power, logsumexp, power, sqrt

Axes: TypeAlias = int | Sequence[int] | None


def axes_of(dim: Axes, ndim: int, call: str) -> tuple[int, ...]:
    """The axes as numbers from 0; all for None and for no axis."""
    axes = tuple(range(ndim)) if dim is None or dim == () else (dim,) if isinstance(dim, int) else tuple(dim)
    if any(not -max(ndim, 1) <= axis < max(ndim, 1) for axis in axes):
        raise BallsError(call, f"dim={dim} of an array with {ndim} axes", "Give an axis that it has.")
    return tuple(axis % ndim for axis in axes) if ndim else ()


def folded(entries: np.ndarray, dim: Axes, keepdim: bool, fold: Callable[[list[Any]], Any], call: str) -> np.ndarray:
    """`fold` of the list of entries along the axes, at each place of the others."""
    axes = axes_of(dim, entries.ndim, call)
    rest = [axis for axis in range(entries.ndim) if axis not in axes]
    shape = [entries.shape[axis] for axis in rest]
    count = math.prod(entries.shape[axis] for axis in axes)
    charge_scalars(entries.size)
    rows = entries.transpose([*rest, *axes]).reshape(math.prod(shape), count)
    kept_shape = [1 if axis in axes else size for axis, size in enumerate(entries.shape)]
    return boxed([fold(row.tolist()) for row in rows], tuple(kept_shape if keepdim else shape))


def reduction(call: str, fold: Callable[[list[Arb]], Arb]) -> Callable[..., BallArray]:
    def reduce(x: Any, dim: Axes = None, keepdim: bool = False) -> BallArray:
        return BallArray.of_entries(folded(entries_of(x), dim, keepdim, fold, call))

    return reduce


def total(balls: Sequence[Arb]) -> Arb:
    return sum(balls, start=flint.arb(0))


def product(balls: Sequence[Arb]) -> Arb:
    return math.prod(balls, start=flint.arb(1))


def average(balls: Sequence[Arb]) -> Arb:
    return total(balls) / len(balls)


def largest(balls: Sequence[Arb]) -> Arb:
    if not balls:
        raise BallsError("torch.amax", "no entries", "Reduce along an axis that has entries.")
    return ball_maximum(balls)


def smallest(balls: Sequence[Arb]) -> Arb:
    return -largest([-ball for ball in balls])


def extreme(name: str, fold: Callable[[list[Arb]], Arb]) -> Callable[..., BallArray]:
    """torch.max or torch.min without the indices, which may be undecided."""

    def reduce(x: Any, other: Any = None, *, dim: Axes = None, keepdim: bool = False) -> BallArray:
        if dim is not None or isinstance(other, int | tuple | list):
            raise BallsError(f"torch.{name}", f"dim={other if dim is None else dim}", f"Use torch.a{name}(x, dim=...).")
        if other is not None:
            return BallArray.of_entries(lifted(lambda *pair: fold(list(pair)), entries_of(x), entries_of(other)))
        return BallArray.of_entries(folded(entries_of(x), None, keepdim, fold, f"torch.{name}"))

    return reduce


def variance(
    x: Any, dim: Axes = None, unbiased: bool = True, *, correction: int | None = None, keepdim: bool = False
) -> BallArray:
    divisor = (1 if unbiased else 0) if correction is None else correction
    return BallArray.of_entries(folded(entries_of(x), dim, keepdim, lambda row: _spread(row, divisor), "torch.var"))


def _spread(balls: Sequence[Arb], correction: int) -> Arb:
    mean = average(balls)
    return total([int_power(ball - mean, 2) for ball in balls]) / (len(balls) - correction)


def deviation(*args: Any, **kwargs: Any) -> BallArray:
    return BallArray.of_entries(lifted(sqrt, variance(*args, **kwargs).entries))


def accumulated(step: Callable[[Arb, Arb], Arb]) -> Callable[..., BallArray]:
    def accumulate(x: Any, dim: int) -> BallArray:
        entries = entries_of(x)
        charge_scalars(entries.size)
        return BallArray.of_entries(boxed(np.frompyfunc(step, 2, 1).accumulate(entries, axis=dim, dtype=object)))

    return accumulate


def along(x: Any, dim: int, row_function: Callable[[list[Arb]], list[Arb]]) -> BallArray:
    """The function of each row along the axis."""
    entries = entries_of(x)
    charge_scalars(entries.size)
    moved = np.moveaxis(np.atleast_1d(entries), dim, -1)
    rows = moved.reshape(-1, moved.shape[-1]) if moved.size else moved.reshape(0, moved.shape[-1])
    flat = [ball for row in rows for ball in row_function(row.tolist())]
    return BallArray.of_entries(np.moveaxis(boxed(flat, moved.shape), -1, dim).reshape(entries.shape))


def softmax(x: Any, dim: int | None = None) -> BallArray:
    return along(x, _axis("softmax", dim), exact_softmax)


def log_softmax(x: Any, dim: int | None = None) -> BallArray:
    return along(x, _axis("log_softmax", dim), _log_softmax)


def _log_softmax(logits: list[Arb]) -> list[Arb]:
    normaliser = logsumexp(*logits)
    return [ball - normaliser for ball in logits]


def _axis(name: str, dim: int | None) -> int:
    if dim is None:
        raise BallsError(f"torch.{name}", "no axis", "Give dim=...")
    return dim


def vector_norm(x: Any, ord: Any = 2, dim: Axes = None, keepdim: bool = False) -> BallArray:
    """(sum |x|^ord)^(1/ord) along the axes; ord may be inf or -inf."""
    fold = _norm_of_order(ord)
    return BallArray.of_entries(folded(entries_of(x), dim, keepdim, fold, "torch.linalg.vector_norm"))


def _norm_of_order(order: Any) -> Callable[[list[Arb]], Arb]:
    if order == math.inf:
        return lambda balls: largest([absolute(ball) for ball in balls])
    if order == -math.inf:
        return lambda balls: smallest([absolute(ball) for ball in balls])
    if order == 1:
        return lambda balls: total([absolute(ball) for ball in balls])
    if order == 2:
        return lambda balls: sqrt(total([int_power(ball, 2) for ball in balls]))
    if isinstance(order, int | float) and order > 0:
        exponent = flint.arb(order)
        return lambda balls: power(total([power(absolute(ball), exponent) for ball in balls]), 1 / exponent)
    raise BallsError("torch.linalg.vector_norm", f"ord={order!r}", "Give a positive order, inf or -inf.")


def matrix_norm(x: Any, ord: Any = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> BallArray:
    """Frobenius, largest column sum (1) or largest row sum (inf)."""
    rows, columns = axes_of(tuple(dim), array_of(x).ndim, "torch.linalg.matrix_norm")
    if ord == "fro":
        return vector_norm(x, 2, (rows, columns), keepdim)
    if ord not in (1, math.inf):
        remedy = (
            "Give 'fro', 1 or inf; numeric.networks.norms.spectral_norm encloses the spectral norm of a fixed matrix."
        )
        raise BallsError("torch.linalg.matrix_norm", f"ord={ord!r}", remedy)
    summed, compared = (rows, columns) if ord == 1 else (columns, rows)
    widest = amax(vector_norm(x, 1, summed, keepdim=True), compared, keepdim=True)
    return widest if keepdim else BallArray.of_entries(boxed(np.squeeze(widest.entries, (rows, columns))))


def linalg_norm(x: Any, ord: Any = None, dim: Axes = None, keepdim: bool = False) -> BallArray:
    array = array_of(x)
    if ord is None:
        return vector_norm(array, 2, dim, keepdim)
    matrix = array.ndim == 2 if dim is None else not isinstance(dim, int) and len(dim) == 2
    if not matrix:
        return vector_norm(array, ord, dim, keepdim)
    return matrix_norm(array, ord, (0, 1) if dim is None or isinstance(dim, int) else dim, keepdim)


def norm(x: Any, p: Any = "fro", dim: Axes = None, keepdim: bool = False) -> BallArray:
    """torch.norm: of all entries, never an operator norm."""
    return vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim)


def truth_reduction(name: str, decide: Callable[..., Decision]) -> Callable[..., Truth]:
    def reduce(x: Any, dim: Axes = None, keepdim: bool = False) -> Truth:
        return Truth.of_entries(folded(truths_of(x), dim, keepdim, lambda truths: decide(*truths), f"torch.{name}"))

    return reduce


amax = reduction("torch.amax", largest)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": reduction("torch.sum", total),
    "prod": reduction("torch.prod", product),
    "mean": reduction("torch.mean", average),
    "amax": amax,
    "amin": reduction("torch.amin", smallest),
    "max": extreme("max", largest),
    "min": extreme("min", smallest),
    "var": variance,
    "std": deviation,
    "cumsum": accumulated(lambda a, b: a + b),
    "cumprod": accumulated(lambda a, b: a * b),
    "logsumexp": reduction("torch.logsumexp", lambda balls: logsumexp(*balls)),
    "softmax": softmax,
    "special_softmax": softmax,
    "log_softmax": log_softmax,
    "special_log_softmax": log_softmax,
    "linalg_vector_norm": vector_norm,
    "linalg_matrix_norm": matrix_norm,
    "linalg_norm": linalg_norm,
    "norm": norm,
    "all": truth_reduction("all", both),
    "any": truth_reduction("any", either),
}
