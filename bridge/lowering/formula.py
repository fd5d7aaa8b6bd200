"""SymPy expressions at numbers: as a function that runs on tensors and on arrays of balls, and as float64 numbers."""

import inspect
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from sympy.logic.boolalg import Boolean

from bridge.lowering import Lowered, lower
from bridge.lowering.ball_values import letters_of
from numeric.balls import BallArray, working_precision
from numeric.balls.array import entries_of
from numeric.balls.elementwise import entrywise
from numeric.balls.integers import ExactInteger
from numeric.balls.products import flint_matrix
from symbolic.derivations.exact_numbers import as_float, as_formula
from symbolic.words.errors import UsageError
from symbolic.words.shown import cut


class ArrayFunction:
    """ArrayFunction(expr, *symbols): a scalar expression as a function of its symbols, entry by entry (they broadcast).

    On tensors it is differentiable and keeps dtype and device (numbers alone give a float64); on arrays of balls, and
    of the whole numbers of a run on balls, it encloses the exact value at their precision. The symbols are the
    arguments, in the order given (by default all of them, sorted by name), by position or by name: where their names
    are those of parameters, weights and inputs, it serves as network, reference or letter of a theorem. Conventions at
    kinks are those of `lower`.

    Raises UsageError for what is not a scalar expression.
    """

    def __init__(self, expr: Any, *symbols: sp.Symbol) -> None:
        if isinstance(expr, sp.MatrixBase) or not isinstance(expr, sp.Expr):
            raise UsageError(f"ArrayFunction: expected a scalar SymPy expression, got {type(expr).__name__}")
        self.expr = expr
        self.symbols = symbols or tuple(sorted(expr.free_symbols, key=str))
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(str(each), keyword) for each in self.symbols])

    def __call__(self, *values: Any, **named: Any) -> Any:
        in_order = not named and len(values) == len(self.symbols)
        given = values if in_order else self.__signature__.bind(*values, **named).args
        return entry_by_entry(self.expr, self.symbols, given)

    def __repr__(self) -> str:
        return f"ArrayFunction({cut(str(self.expr), 200)}, {', '.join(map(str, self.symbols))})"


class MatrixFunction:
    """MatrixFunction(expr): a formula over `MatrixSymbol`s as a function of these and of its letters, by name.

    It runs on tensors and on arrays of balls. Sizes are read off the arrays, so far as these tell them. A vector is
    taken for a column; `vector`: the value is one too, where the formula is a column. A formula without arrays, 0, has
    the format of the array `beside`.

    Raises UsageError for what is no matrix expression, and for operations that torch does not have.
    """

    def __init__(self, expr: Any, *, vector: bool = False, beside: sp.MatrixSymbol | None = None) -> None:
        if not isinstance(expr, sp.MatrixExpr):
            raise UsageError(f"expected a formula over sp.MatrixSymbol, got {type(expr).__name__}")
        arrays = sorted(expr.atoms(sp.MatrixSymbol), key=str)
        told = {size for each in arrays for size in each.shape}
        self.expr, self.vector, self.beside = expr, vector, None if arrays else beside
        self.arrays = arrays if self.beside is None else [self.beside]
        self.symbols = (*arrays, *sorted(expr.free_symbols - told - {*arrays}, key=str))
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = [str(each) for each in (*self.symbols, *([] if self.beside is None else [self.beside]))]
        self.__signature__ = inspect.Signature([inspect.Parameter(name, keyword) for name in names])
        _lowered(expr, self.symbols, None)  # refuses here what it does not know

    def __call__(self, **known: Any) -> Any:
        values = [known[str(each)] for each in self.symbols]
        if any(isinstance(each, BallArray | ExactInteger) for each in known.values()):
            found = self._on_balls(values)
        else:
            found = _lowered(self.expr, self.symbols, None)(*self._columns(self._alike(_as_tensors(values))))
        if self.beside is not None and isinstance(found, torch.Tensor):
            found = found.to(known[str(self.beside)])
        return found[..., 0] if self.vector else found

    def _alike(self, values: Sequence[Any]) -> list[Any]:
        """Letters in the dtype of the arrays: a parameter is in float64 beside an input in float32."""
        named = list(zip(self.symbols, values, strict=True))
        like = next((x for each, x in named if isinstance(each, sp.MatrixSymbol)), None)
        letters = [
            like is not None and isinstance(x, torch.Tensor) and isinstance(each, sp.Symbol) for each, x in named
        ]
        return [x.to(like) if is_letter else x for is_letter, x in zip(letters, values, strict=True)]

    def _columns(self, values: Sequence[Any]) -> list[Any]:
        named = zip(self.symbols, values, strict=True)
        return [x[..., None] if isinstance(each, sp.MatrixSymbol) and x.ndim == 1 else x for each, x in named]

    def _on_balls(self, values: Sequence[Any]) -> BallArray:
        bits = max([flint.ctx.prec, *(each.bits for each in values if isinstance(each, BallArray))])
        with working_precision(bits):
            own = [_as_flint(each) for each in self._columns(values)]
            return BallArray.of_matrix(_lowered(self.expr, self.symbols, bits).bare(*own), bits)


def _as_flint(value: Any) -> Any:
    """A matrix, or a number, of flint's own."""
    if isinstance(value, int):
        return int(value)
    entries = entries_of(value)
    return flint_matrix(entries) if entries.ndim else entries.item()


def entry_by_entry(expr: sp.Expr, symbols: tuple[sp.Symbol, ...], values: Sequence[Any]) -> Any:
    """The expression at tensors, or at arrays of balls, in the order of its symbols."""
    if not any(isinstance(each, BallArray | ExactInteger) for each in values):
        return _lowered(expr, symbols, None)(*_as_tensors(values))
    bits = (each.bits for each in values if isinstance(each, BallArray))
    with working_precision(max([flint.ctx.prec, *bits])):
        return entrywise(_lowered(expr, symbols, flint.ctx.prec).bare)(*values)


# torch makes float32 of a Python number.
def _as_tensors(values: Sequence[Any]) -> Sequence[Any]:
    if any(isinstance(each, torch.Tensor) for each in values):
        return values
    return [torch.tensor(each, dtype=torch.float64, device="cpu") for each in values]


@lru_cache(maxsize=8192)
def _lowered(expr: sp.Basic, symbols: tuple[sp.Basic, ...], bits: int | None) -> Lowered:
    """For tensors, or for balls of so many bits."""
    return lower(expr, "torch", args=symbols) if bits is None else lower(expr, "arb", args=symbols, bits=bits)


def evaluate(expression: sp.Expr, values: Mapping[sp.Symbol, Any]) -> Any:
    """The expression in float64 at numbers or arrays for its letters, which broadcast; other letters may have some too.

    A scalar or an array. What is to be enclosed takes `evaluate_ball`. Raises UsageError for what is not an expression,
    for a letter without a value and for values that are not real or do not broadcast.
    """
    if not isinstance(expression, sp.Expr | Boolean | sp.ImmutableMatrix):
        expression = as_formula("evaluate", "expression", expression)
    symbols = letters_of(expression, values, "evaluate")
    numbers = [_as_real(symbol, values[symbol]) for symbol in symbols]
    try:
        return _on_floats(expression, symbols)(*numbers)
    except (ValueError, OverflowError) as error:  # of shapes, and of integers beyond floats
        raise UsageError(f"evaluate: {error}") from None


def _as_real(symbol: sp.Symbol, value: Any) -> Any:
    """The value as the lowering takes it: a number, or an array of real ones."""
    if isinstance(value, float | int | Fraction | sp.Number):
        return value
    if isinstance(value, sp.Expr):
        return as_float("evaluate", str(symbol), value)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError):  # rows of different lengths, tensors that numpy does not take
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "fiub":
        raise UsageError(f"evaluate: {symbol} = {value!r:.80}; give a real number or an array of them")
    return array


@lru_cache(maxsize=2048)
def _on_floats(expression: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Lowered:
    return lower(expression, args=symbols)
