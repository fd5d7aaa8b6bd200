"""Arrays of a formula: what SymPy indexes (`a[i]`, `A[i, j]`) as entries of matrices, and the sizes that these have."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.symbol import Str
from sympy.matrices.expressions.matexpr import MatrixElement

from .common import LoweringError
from .nodes import SHAPED, ArrayEntry

BIND = "bind it by a Sum or a Product, or name it in args"


@dataclass(frozen=True)
class GivenArray:
    """An array that the caller gives: its sizes, letters among them; `indexed`: by SymPy's IndexedBase."""

    name: str
    sizes: tuple[sp.Expr, ...]
    matrix: sp.MatrixSymbol
    indexed: bool


@dataclass(frozen=True)
class ArrayFormula:
    """A formula whose entries are `ArrayEntry`s of matrices, its arrays by name, and the letters that are sizes."""

    formula: sp.Basic
    arrays: tuple[GivenArray, ...]
    letters: frozenset[sp.Symbol]


def array_formula(expr: sp.Basic, backend: str, named: Collection[str]) -> ArrayFormula:
    """`named`: the letters that are arguments, so that no range of an index is taken for a size by their name.

    Raises LoweringError for an index that nothing binds, an array with another number of axes elsewhere, an offset.
    """
    letter_of = {each: sp.Symbol(each.name, integer=True) for each in sorted(expr.atoms(sp.Idx), key=str)}
    plain = expr.xreplace(letter_of)
    for index, letter in letter_of.items():
        if letter in plain.free_symbols and letter.name not in named:
            raise LoweringError(backend, index, f"it is an index that is free; {BIND}")
    entries = sorted(plain.atoms(sp.Indexed), key=str)
    reached = _Reach(plain, named)
    arrays = [_indexed(base, entries, reached, backend) for base in dict.fromkeys(each.base for each in entries)]
    arrays += [
        GivenArray(each.name, tuple(map(sp.sympify, each.shape)), each, False)
        for each in sorted(plain.atoms(sp.MatrixSymbol), key=str)
    ]
    by_name = {each.name: each for each in arrays}
    if len(by_name) < len(arrays):
        names = sorted(each.name for each in arrays)
        raise ValueError(f"lower: different arrays of the same name in {names}; rename them")
    formula = _with_elements(plain, by_name)
    for base in sorted(formula.atoms(sp.IndexedBase), key=str):
        raise LoweringError(backend, base, "it is an array where a number belongs; give it an index")
    sizes = [size for each in arrays for size in each.sizes]
    sizes += [sp.sympify(size) for each in plain.atoms(*SHAPED) for size in each.shape]
    letters = frozenset().union(*(size.free_symbols for size in sizes))
    for total in sorted(formula.atoms(ExprWithLimits), key=str):
        if meant_twice := sorted({str(index) for index in total.variables if index in letters}):
            raise LoweringError(backend, total, f"its index {meant_twice[0]} is a size too; give it another letter")
    _check_bound(formula, letters, backend, named)
    return ArrayFormula(formula, tuple(arrays), letters)


def _indexed(base: sp.IndexedBase, entries: list[sp.Indexed], reached: "_Reach", backend: str) -> GivenArray:
    own = [each for each in entries if each.base == base]
    ranks = {each.rank for each in own}
    if len(ranks) > 1:
        raise LoweringError(backend, own[0], f"it is {own[-1]} elsewhere; give {base} one number of indices")
    if base.offset != 0 or base.strides is not None:
        raise LoweringError(backend, own[0], "it has an offset or strides; indices count the axes from 0")
    (rank,) = ranks
    name = str(base.label)
    unknown = [reached(base, axis) or sp.Dummy(f"{name}{axis}", integer=True) for axis in range(rank)]
    sizes = tuple(unknown if base.shape is None else map(sp.sympify, base.shape))
    shape = sizes if rank == 2 else (sp.Mul(*sizes), sp.S.One)
    return GivenArray(name, sizes, sp.MatrixSymbol(name, *shape), True)


# a[i] with i = 0, ..., n - 1 says that a has n entries; a[i] and a[i+1] with i = 0, ..., n - 2 say the same.
class _Reach:
    """The size of an axis by the ranges of its indices, where they begin at 0 and end at a letter."""

    def __init__(self, expr: sp.Basic, named: Collection[str]) -> None:
        self._named = named
        self._found: dict[tuple[Any, int], list[tuple[sp.Expr, sp.Expr]]] = {}
        self._walk(expr, {})

    def __call__(self, base: sp.IndexedBase, axis: int) -> sp.Expr | None:
        ends = self._found.get((base, axis), [])
        if not any(first == 0 for first, _ in ends):
            return None
        longest = ends[0][1]
        for _, last in ends[1:]:
            if not (last - longest).is_Integer:
                return None
            longest = last if last - longest > 0 else longest
        size: sp.Expr = longest + 1
        return size if size.free_symbols and not {each.name for each in size.free_symbols} & set(self._named) else None

    def _walk(self, node: Any, ranges: dict[sp.Symbol, tuple[sp.Expr, sp.Expr]]) -> None:
        if isinstance(node, ExprWithLimits):
            limited = [limit for limit in node.limits if len(limit) == 3]
            ranges = {**ranges, **{index: (first, last) for index, first, last in limited}}
            self._walk(node.function, ranges)
            return
        if isinstance(node, sp.Indexed):
            for axis, index in enumerate(node.indices):
                self._note(node.base, axis, index, ranges)
        for each in node.flat() if isinstance(node, sp.MatrixBase) else node.args:
            self._walk(each, ranges)

    def _note(self, base: sp.IndexedBase, axis: int, index: sp.Expr, ranges: dict[Any, Any]) -> None:
        shift, letter = index.as_coeff_Add()
        if letter not in ranges:
            return
        first, last = ranges[letter]
        if not (first.free_symbols | last.free_symbols) & set(ranges):
            self._found.setdefault((base, axis), []).append((first + shift, last + shift))


def _with_elements(formula: sp.Basic, arrays: dict[str, GivenArray]) -> sp.Basic:
    def made(node: sp.Basic) -> sp.Basic:
        array = arrays[str(node.base.label) if isinstance(node, sp.Indexed) else node.parent.name]
        indices = node.indices if isinstance(node, sp.Indexed) else (node.i, node.j)
        return ArrayEntry(
            array.matrix, Str(array.name), sp.Tuple(*array.sizes), *map(elements, map(sp.sympify, indices))
        )

    def elements(part: sp.Basic) -> sp.Basic:
        of_symbols = (each for each in part.atoms(MatrixElement) if isinstance(each.parent, sp.MatrixSymbol))
        found: list[sp.Basic] = [*part.atoms(sp.Indexed), *of_symbols]
        return part.xreplace({each: made(each) for each in found})

    return elements(formula)


def _check_bound(formula: sp.Basic, sizes: Collection[Any], backend: str, named: Collection[str]) -> None:
    """That each letter of an index is bound, a size, or an argument that the caller names."""
    free = formula.free_symbols
    for entry in sorted(formula.atoms(ArrayEntry), key=str):
        for letter in _letters_of(entry):
            if letter in free and letter not in sizes and letter.name not in named:
                raise LoweringError(backend, shown(entry), f"its index {letter} is free; {BIND}")


def _letters_of(entry: ArrayEntry) -> Iterator[sp.Symbol]:
    letters = {each for index in entry.indices for each in index.free_symbols if isinstance(each, sp.Symbol)}
    yield from sorted(letters, key=str)


def shown(entry: ArrayEntry) -> sp.Basic:
    """As its author wrote it, for a message."""
    return sp.Indexed(sp.IndexedBase(entry.args[1].name), *entry.indices)
