"""Square matrices that whoever runs a theorem types: parameters of their names, whose size follows them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bridge.domains.matrices import read_square
from bridge.expressions.matrices import Matrix
from bridge.expressions.running import Program
from symbolic.statements.result import Parameter

TYPED = (
    "a number `w` for `w` I, a JSON matrix, @FILE with one, or random:NORM / signs:NORM (seeded, sum of absolute "
    "values NORM)"
)


def parameter_of(matrix: Matrix) -> Parameter:
    words, size = matrix.meaning or f"the matrix `{matrix.name}`", matrix.rows
    return Parameter(matrix.name, None, f"{words}, `{size} x {size}`: {TYPED}", matrix.typed)


def reader_of(matrix: Matrix) -> Program:
    """The array, from what is typed."""
    size = str(matrix.rows)
    return Program([matrix.name, size, "seed"], lambda known: _read(matrix, known, int(known[size]), known["seed"]))


def _read(matrix: Matrix, params: Mapping[str, Any], size: int | None, seed: int, default: int = 1) -> Any:
    spec = params.get(matrix.name, matrix.typed)
    return read_square(matrix.name, spec, size, default=default, seed=seed, size_name=str(matrix.rows))


def sizes_of(matrices: Sequence[Matrix]) -> tuple[str, ...]:
    """The parameters that follow from what is typed."""
    return tuple(dict.fromkeys(str(matrix.rows) for matrix in matrices))


def resolver_of(
    matrices: Sequence[Matrix], defaults: Mapping[str, Any], after: Callable[..., Mapping[str, Any]] | None
) -> Callable[..., Mapping[str, Any]]:
    """What completes parameters by the sizes, and then by `after`; `defaults` are those of matrices without a size."""

    def resolve(params: Mapping[str, Any], seed: int, **more: Any) -> Mapping[str, Any]:
        found = dict(params)
        for matrix in matrices:
            name, size = str(matrix.rows), _whole(params.get(str(matrix.rows)))
            if name not in found or size is not None:  # what is no number is refused with the other parameters
                found[name] = len(_read(matrix, found, size, seed, int(defaults[name])))
            found.setdefault(matrix.name, matrix.typed)
        return found if after is None else after(found, seed, **more)

    return resolve


def _whole(given: Any) -> int | None:
    try:
        return int(given) if float(given) == int(float(given)) else None
    except (TypeError, ValueError, OverflowError):
        return None
