"""Products and linear systems of arrays of balls, by flint's matrices."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import flint
import numpy as np

from numeric.balls.array import BallArray, array_of, entries_of
from numeric.balls.budget import charge_products, charge_scalars
from numeric.balls.conversion import boxed
from numeric.balls.elementwise import add, lifted
from numeric.balls.elementwise import sub as subtract
from numeric.balls.errors import BallsError, ShapesDiffer

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def flint_matrix(entries: np.ndarray) -> Any:
    return flint.arb_mat(entries.shape[0], entries.shape[1], entries.ravel().tolist())


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(m, k) times (k, n)."""
    (m, k), n = left.shape, right.shape[1]
    charge_products(m * k * n)
    charge_scalars(m * k + k * n + m * n)
    if not m * k * n:
        return boxed([flint.arb(0)] * (m * n), (m, n))
    return boxed((flint_matrix(left) * flint_matrix(right)).entries(), (m, n))


def batched(function: Callable[..., np.ndarray], *stacks: np.ndarray) -> np.ndarray:
    """The function of matrices at each place of the leading axes, which broadcast."""
    try:
        batch = np.broadcast_shapes(*(each.shape[:-2] for each in stacks))
    except ValueError:
        raise ShapesDiffer(*(each.shape for each in stacks)) from None
    if not batch:
        return function(*stacks)
    spread = [np.broadcast_to(each, (*batch, *each.shape[-2:])) for each in stacks]
    results = [function(*(each[place] for each in spread)) for place in np.ndindex(*batch)]
    if not results:
        raise BallsError("matrix product", f"an empty batch {batch}", "Leave the product out.")
    return np.stack(results).reshape(*batch, *results[0].shape)


def matmul(x: Any, other: Any) -> BallArray:
    left, right = entries_of(x), entries_of(other)
    if not left.ndim or not right.ndim:
        raise BallsError("torch.matmul", "an array without axes", "Multiply by *.")
    wide = left[None, :] if left.ndim == 1 else left
    tall = right[:, None] if right.ndim == 1 else right
    if wide.shape[-1] != tall.shape[-2]:
        raise ShapesDiffer(left.shape, right.shape)
    result = batched(product, wide, tall)
    result = result[..., 0, :] if left.ndim == 1 else result
    return BallArray.of_entries(boxed(result[..., 0] if right.ndim == 1 else result))


def outer(x: Any, vec2: Any) -> BallArray:
    return BallArray.of_entries(lifted(lambda a, b: a * b, entries_of(x)[:, None], entries_of(vec2)[None, :]))


def inner(x: Any, other: Any) -> BallArray:
    left, right = array_of(x), array_of(other)
    if not left.ndim or not right.ndim:
        return left * right
    return tensordot(left, right, ([-1], [-1]))


def tensordot(a: Any, b: Any, dims: Any = 2) -> BallArray:
    """The sum over the last `dims` axes of a and the first of b, or over the two lists of axes."""
    left, right = entries_of(a), entries_of(b)
    if isinstance(dims, int):
        over_left, over_right = list(range(left.ndim - dims, left.ndim)), list(range(dims))
    else:
        over_left, over_right = [axis % left.ndim for axis in dims[0]], [axis % right.ndim for axis in dims[1]]
    kept_left = [axis for axis in range(left.ndim) if axis not in over_left]
    kept_right = [axis for axis in range(right.ndim) if axis not in over_right]
    if [left.shape[axis] for axis in over_left] != [right.shape[axis] for axis in over_right]:
        raise ShapesDiffer(left.shape, right.shape)
    count = math.prod(left.shape[axis] for axis in over_left)
    rows = left.transpose(kept_left + over_left).reshape(math.prod(left.shape[a] for a in kept_left), count)
    columns = right.transpose(over_right + kept_right).reshape(count, math.prod(right.shape[a] for a in kept_right))
    shape = [left.shape[axis] for axis in kept_left] + [right.shape[axis] for axis in kept_right]
    return BallArray.of_entries(product(rows, columns).reshape(shape))


def einsum(equation: str, *operands: Any) -> BallArray:
    """torch.einsum of a string, contracted from left to right."""
    if not isinstance(equation, str):
        raise BallsError("torch.einsum", "lists of axes", "Give the equation as a string.")
    arrays = [entries_of(each) for each in (operands[0] if isinstance(operands[0], list | tuple) else operands)]
    sources, target = _explicit(equation, arrays)
    letters, result = sources[0], arrays[0]
    for place, (other, array) in enumerate(zip(sources[1:], arrays[1:], strict=True), start=2):
        needed = set(target).union(*sources[place:])
        letters_after = "".join(dict.fromkeys(each for each in letters + other if each in needed))
        result = _contracted(f"{letters},{other}->{letters_after}", result, array)
        letters = letters_after
    return BallArray.of_entries(_contracted(f"{letters}->{target}", result))


def _contracted(equation: str, *arrays: np.ndarray) -> np.ndarray:
    sizes: dict[str, int] = {}
    for letters, array in zip(equation.split("->")[0].split(","), arrays, strict=True):
        if len(letters) != array.ndim:
            raise BallsError("torch.einsum", f"{letters!r} for a shape {array.shape}", "Name each axis.")
        for letter, size in zip(letters, array.shape, strict=True):
            if 1 not in (size, sizes.get(letter, 1)) and sizes[letter] != size:
                raise BallsError("torch.einsum", f"sizes {sizes[letter]} and {size} of {letter!r}", "Make them equal.")
            sizes[letter] = max(size, sizes.get(letter, 0)) if size else 0
    charge_scalars(math.prod(sizes.values()))
    result = boxed(np.einsum(equation, *arrays))
    return lifted(lambda entry: flint.arb(0) + entry, result)


def _explicit(equation: str, arrays: Sequence[np.ndarray]) -> tuple[list[str], str]:
    """Letters of each operand and of the result, the ellipsis spelled out."""
    written, arrow, target = equation.replace(" ", "").partition("->")
    sources = written.split(",")
    if len(sources) != len(arrays):
        raise BallsError("torch.einsum", f"{len(arrays)} operands for {equation!r}", "Name the axes of each operand.")
    free = [letter for letter in _LETTERS if letter not in equation]
    hidden = [array.ndim - len(each.replace("...", "")) for each, array in zip(sources, arrays, strict=True)]
    covered = [count for each, count in zip(sources, hidden, strict=True) if "..." in each]
    widest = "".join(free[: max(covered, default=0)])
    spelled = [
        each.replace("...", widest[len(widest) - count :] if "..." in each else "")
        for each, count in zip(sources, hidden, strict=True)
    ]
    if not arrow:
        counts = Counter("".join(sources).replace(".", ""))
        target = ("..." if "..." in written else "") + "".join(sorted(each for each in counts if counts[each] == 1))
    return spelled, target.replace("...", widest)


def linear(x: Any, weight: Any, bias: Any = None) -> BallArray:
    image = matmul(x, BallArray.of_entries(entries_of(weight).T))
    return image if bias is None else image + bias


def multi_dot(tensors: Sequence[Any]) -> BallArray:
    result = array_of(tensors[0])
    for each in tensors[1:]:
        result = matmul(result, each)
    return result


def addmm(x: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> BallArray:
    return add(array_of(x) * beta, matmul(mat1, mat2), alpha=alpha)


def kron(x: Any, other: Any) -> BallArray:
    left, right = np.atleast_2d(entries_of(x)), np.atleast_2d(entries_of(other))
    rows, columns = left.shape[0] * right.shape[0], left.shape[1] * right.shape[1]
    return tensordot(BallArray.of_entries(left), BallArray.of_entries(right), 0).movedim(2, 1).reshape(rows, columns)


def trace(x: Any) -> BallArray:
    return array_of(x).diagonal().sum()


def matrix_power(x: Any, n: int) -> BallArray:
    entries = entries_of(x)
    base = inverse(x).entries if n < 0 else entries
    result = np.broadcast_to(entries_of(np.eye(entries.shape[-1])), entries.shape)
    for digit in itertools.dropwhile(lambda each: each == "0", f"{abs(n):b}"):
        result = batched(product, result, result)
        result = batched(product, result, base) if digit == "1" else result
    return BallArray.of_entries(result)


def solve(A: Any, B: Any) -> BallArray:
    """X with A X = B; refuses a matrix that the balls do not prove invertible."""
    matrices, right = entries_of(A), entries_of(B)
    vector = right.ndim == 1 or (matrices.ndim > 2 and right.shape == matrices.shape[:-1])
    columns = right[..., None] if vector else right
    _require_square("torch.linalg.solve", matrices)
    if columns.shape[-2] != matrices.shape[-1]:
        raise ShapesDiffer(matrices.shape, right.shape)
    result = batched(_solved, matrices, columns)
    return BallArray.of_entries(boxed(result[..., 0] if vector else result))


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    size, columns = right.shape
    charge_products(size * size * (size + columns))
    charge_scalars(size * (size + columns))
    try:
        return boxed(flint_matrix(matrix).solve(flint_matrix(right)).entries(), right.shape)
    except ZeroDivisionError:
        bits = flint.ctx.prec
        got = f"a matrix that is singular, or not proved invertible at {bits} bits"
        raise BallsError("torch.linalg.solve", got, "Regularise it, or raise the precision.") from None


def inverse(x: Any) -> BallArray:
    entries = entries_of(x)
    _require_square("torch.linalg.inv", entries)
    return solve(x, np.broadcast_to(np.eye(entries.shape[-1]), entries.shape))


def determinant(x: Any) -> BallArray:
    entries = entries_of(x)
    _require_square("torch.linalg.det", entries)
    charge_products(entries.size * entries.shape[-1])
    result = batched(lambda matrix: boxed([flint_matrix(matrix).det()], (1, 1)), entries)
    return BallArray.of_entries(boxed(result[..., 0, 0]))


def _require_square(call: str, entries: np.ndarray) -> None:
    if entries.ndim < 2 or entries.shape[-1] != entries.shape[-2]:
        raise BallsError(call, f"an array of shape {entries.shape}", "Give square matrices.")


def vecdot(x: Any, y: Any, *, dim: int = -1) -> BallArray:
    return (array_of(x) * y).sum(dim)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("matmul", "linalg_matmul", "mm", "bmm", "mv", "dot", "vdot", "__rmatmul__"), matmul),
    **dict.fromkeys(("outer", "ger"), outer),
    **dict.fromkeys(("matrix_power", "linalg_matrix_power"), matrix_power),
    **dict.fromkeys(("inverse", "linalg_inv"), inverse),
    **dict.fromkeys(("det", "linalg_det"), determinant),
    "__rmatmul__": lambda x, other: matmul(other, x),
    "inner": inner,
    "tensordot": tensordot,
    "einsum": einsum,
    "linear": linear,
    "addmm": addmm,
    "kron": kron,
    "trace": trace,
    "linalg_multi_dot": multi_dot,
    "linalg_solve": solve,
    "linalg_vecdot": vecdot,
    "dist": lambda x, other, p=2: subtract(x, other).norm(p),
}
