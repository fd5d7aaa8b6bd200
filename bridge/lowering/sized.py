"""Formulas over arrays whose sizes are letters: lowered once for each set of sizes that the arrays of a call have."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import sympy as sp
import torch

from symbolic.words.errors import UsageError

from .common import Lowered, LoweringError
from .indexed import ArrayFormula, GivenArray, array_formula
from .sizes import Sizes, own_shape, require_agreement, sizes_at, told_by, whole_size

MOST_KEPT = 64  # functions, one for each set of sizes
TRIED = (7, 2, 1)  # what every size is when refusals are looked for
BATCHED = ("numpy", "torch")

Make = Callable[[sp.Basic, Sequence[sp.Basic]], Lowered]


class SizedLowered(Lowered):
    """The same for arrays of any size. A call reads the sizes off its arrays; `source` is that of the last sizes."""

    def __init__(self, expr: sp.Basic, backend: str, args: Iterable[Any] | None, make: Make) -> None:
        args = None if args is None else list(args)
        named = {str(getattr(each, "name", each)) for each in args or ()}
        formula = array_formula(expr, backend, named)
        self._expr, self.backend = expr, backend
        self._symbols = _arguments(formula, args)
        self._formula = formula
        self.args = tuple(str(each.name) for each in self._symbols)
        self._given = [x for x in formula.letters if x in self._symbols]
        self._told = told_by(formula.arrays, formula.letters, self._given, backend)
        self._make = make
        self._for_sizes = lru_cache(maxsize=MOST_KEPT)(self._made)
        self.source = ""
        self._refuse_early()

    def _made(self, sizes: tuple[tuple[sp.Symbol, sp.Integer], ...]) -> Lowered:
        values = dict(sizes)
        symbols = [each.xreplace(values) for each in self._symbols if each not in self._given]
        formula = self._formula.formula.xreplace(values)
        known = {each: each.doit() for each in formula.atoms(sp.Trace, sp.Determinant) if not each.free_symbols}
        return self._make(formula.xreplace(known), symbols)  # the trace of an identity is a number

    def _refuse_early(self) -> None:
        """Raises LoweringError here, not in a call, for what the backend does not have at any sizes."""
        refused: LoweringError | None = None
        for size in TRIED:
            try:
                self.source = self._made(tuple((x, sp.Integer(size)) for x in self._formula.letters)).source
            except LoweringError as error:
                refused = refused or error
            except (ValueError, IndexError, TypeError):  # such sizes do not fit one another
                continue
            else:
                return
        if refused is not None:
            raise refused

    def __call__(self, *positional: Any, **named: Any) -> Any:
        function, values = self._at(self._bind(positional, named))
        return function(*values)

    def bare(self, *values: Any) -> Any:
        function, own = self._at(values)
        return function.bare(*own)

    def _at(self, values: Sequence[Any]) -> tuple[Lowered, list[Any]]:
        """The function for the sizes of these arrays, and what it takes."""
        by_name = dict(zip(self.args, values, strict=True))
        batches, arrays = self.backend in BATCHED, self._formula.arrays
        given = {x: whole_size(str(x), by_name[str(x.name)]) for x in self._given}
        shapes = {each.name: own_shape(each, by_name[each.name], batches=batches) for each in arrays}
        sizes: Sizes = sizes_at(self._told, shapes, given)
        require_agreement(arrays, self._told, shapes, sizes)
        function = self._for_sizes(tuple(sizes.items()))
        self.source = function.source
        by_name |= {each.name: self._held(each, by_name[each.name], shapes[each.name]) for each in arrays}
        return function, [by_name[name] for name in function.args]

    def _held(self, array: GivenArray, value: Any, shape: tuple[int, ...]) -> Any:
        """The value as a matrix, or as a column of its entries."""
        if not array.indexed or len(shape) == 2:
            return value
        if self.backend not in BATCHED:
            nested = value.tolist() if hasattr(value, "tolist") else value
            return [[entry] for entry in _flat(nested)]
        held = value if isinstance(value, np.ndarray | torch.Tensor) else np.asarray(value)
        return held.reshape(*held.shape[: len(held.shape) - len(shape)], prod(shape), 1)


def _flat(nested: Any) -> list[Any]:
    return [entry for each in nested for entry in _flat(each)] if isinstance(nested, list | tuple) else [nested]


def _arguments(formula: ArrayFormula, args: Sequence[Any] | None) -> list[sp.Basic]:
    """Matrices for arrays, and letters, in order; letters for sizes only where the caller names them."""
    free = {each for each in formula.formula.free_symbols if isinstance(each, sp.Symbol | sp.MatrixSymbol)}
    free |= {each.matrix for each in formula.arrays} | formula.letters
    by_name = {str(each.name): each for each in free}
    if len(by_name) < len(free):
        names = sorted(str(each.name) for each in free)
        raise ValueError(f"lower: different symbols of the same name in {names}; rename them")
    needed = {name: each for name, each in sorted(by_name.items()) if each not in formula.letters}
    if args is None:
        return list(needed.values())
    names = [str(getattr(each, "name", each)) for each in args]
    strange = [each for each in args if not isinstance(each, str | sp.Symbol | sp.MatrixSymbol | sp.IndexedBase)]
    missing = [name for name in needed if name not in names]
    if strange or missing or len(set(names)) < len(names):
        raise UsageError(
            f"lower: args {args} do not fit: not symbols {strange}, missing {missing}, names given twice "
            f"{sorted({name for name in names if names.count(name) > 1})}"
        )
    return [by_name.get(name, sp.Symbol(name)) for name in names]
