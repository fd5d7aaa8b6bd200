"""`lower`: from a SymPy expression to a callable."""

import linecache
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import sympy as sp
from sympy.logic.boolalg import Boolean

from .arb_backend import ArbBackend, ArbPrinter
from .common import Argument, Backend, Lowered, LoweringError, safe_identifier
from .guards import Masking
from .mpmath_backend import MpmathBackend, MpmathPrinter
from .nodes import entrywise, forget, free_symbols, has_sizes, nameless
from .numpy_backend import NumpyBackend, NumpyPrinter
from .points import Points
from .printer import LoweringPrinter
from .sharing import Sharing
from .sized import SizedLowered
from .stable import Stabiliser
from .torch_backend import TorchBackend, TorchPrinter
from .watches import Watching

PRINTERS: dict[str, type[LoweringPrinter]] = {
    "numpy": NumpyPrinter,
    "torch": TorchPrinter,
    "mpmath": MpmathPrinter,
    "arb": ArbPrinter,
}
MOST_BITS = 1_000_000
OPTIONS = {"numpy": {"dtype"}, "torch": {"dtype", "device"}, "mpmath": {"bits"}, "arb": {"bits"}}


def lower(
    expr: object,
    backend: str = "numpy",
    *,
    args: Iterable[object] | None = None,
    dtype: Any = None,
    device: Any = None,
    bits: int | None = None,
    cse: bool = True,
    watch: bool = True,
) -> Lowered:
    """Turn a SymPy expression into a function of numbers.

    Arguments: `expr`, a scalar expression, an explicit matrix, a matrix expression over MatrixSymbols, entries of an
    IndexedBase under sums and products, or a condition. All symbols stand for real numbers. `backend`, one of

    - "numpy": arrays that broadcast, computed in `dtype` (float64); IEEE rules without warnings (inf, nan);
    - "torch": tensors that broadcast, differentiable, in the `dtype` and on the `device` given or else of the input
      tensors; tensors of mixed dtype or device are an error;
    - "mpmath": one point, at `bits` bits or else at the precision of mpmath's context when called;
    - "arb": one point or box of flint balls, rigorous, at `bits` bits (128).

    `args`, the arguments in order, Symbols, MatrixSymbols or their names; by default the free symbols sorted by name.
    `cse`: compute common parts once. `watch`: compute again, with balls and one by one, the points at which float64
    would lose more than three of its sixteen digits, overflow on the way, or fall on the wrong side of a jump (numpy
    and torch, in float64; mpmath likewise at its own precision). Values change, gradients stay. Not inside `vmap`.

    Shapes: a scalar argument has any batch shape (...), a MatrixSymbol (..., n, m), an IndexedBase one axis for each of
    its indices behind the batch; the result has the broadcast batch shape, followed by the shape of the matrix if the
    expression is one. mpmath and Arb have no batches.

    Sizes may be letters, also in the formula: `x.T*x/n`. A call reads them off its arrays, which have to agree, and
    keeps one function for each set of sizes. They are no arguments, unless `args` names them. An IndexedBase without a
    shape has n entries where its indices run over 0, ..., n - 1 and n is none of `args`. Indices count from 0.

    Conventions. max(x, c) and min(x, c) with a constant c have derivative 0 at the tie, as torch.relu has; at a tie of
    two variables torch shares the gradient equally. |x| has derivative 0 at 0, sign and Heaviside have it everywhere.
    Heaviside(0) is the second argument of the SymPy expression (1/2 if none is given), so the SymPy derivative of
    Max(x, 0), lowered, is 1/2 at 0 while the gradient of the lowered Max(x, 0) is 0. Sums and products with reversed
    limits follow Karr, as in SymPy. A branch of a Piecewise that is not taken does not touch the torch gradient. On
    Arb balls that straddle a switch the result is the hull of the branches; what lies outside the domain is cut off
    (sqrt of [-1, 4] is [0, 2]).

    Returns: a `Lowered`, called by position or by name.

    Raises: LoweringError for a node that the backend cannot express, for an index that no sum binds and for a size that
    no array tells, ValueError for arguments that do not match the expression, TypeError for a string or an option that
    the backend does not have. A call raises UsageError for arrays whose sizes or axes do not fit, and for an index
    outside of its array.
    """
    forget()  # equal expressions of separate calls need not be the same objects, and comparing them is slow
    formula = checked(expr)
    options = {"dtype": dtype, "device": device, "bits": bits}
    check_options(backend, options)
    with deep_recursion():
        if has_sizes(formula):
            return SizedLowered(
                formula,
                backend,
                args,
                lambda of, symbols: lower(of, backend, args=symbols, cse=cse, watch=watch, **options),
            )
        return lowered(formula, backend, args, options, cse, watch)


def lowered(
    formula: sp.Basic, name: str, args: Iterable[object] | None, options: dict[str, Any], cse: bool, watch: bool
) -> Lowered:
    if isinstance(nameless(formula), sp.Subs):
        formula = formula.xreplace({each: each.doit() for each in formula.atoms(sp.Subs)})
    if (node := nameless(formula)) is not None:
        raise LoweringError(name, node, "it is no formula in its arguments; evaluate it, or replace it by a symbol")
    if (node := entrywise(formula)) is not None:
        raise LoweringError(name, node, "it takes a matrix where a number belongs; write it entry by entry")
    shape = tuple(int(size) for size in formula.shape) if is_matrix(formula, name) else ()
    backend = make_backend(name, options, shape)
    arguments, renaming = safe_names(resolve_arguments(formula, args), backend)
    rewritten = stable(formula, name, renaming)
    if watch and name != "arb":
        watching = Watching(rewritten)
        if watching.is_needed:
            backend.points = Points(partial(on_balls, formula, renaming, arguments, cse), arguments)
            backend.may_overflow, backend.farthest = watching.may_overflow, watching.farthest
        if name != "mpmath":
            rewritten = watching.expression
    if name == "torch":
        rewritten = Masking()(rewritten)
    function = generated(rewritten, arguments, backend, cse)
    source = "".join(linecache.getlines(function.__code__.co_filename))  # `lambdify` leaves it there
    return Lowered(formula, backend, arguments, function, source)


def on_balls(
    formula: sp.Basic, renaming: Mapping[sp.Basic, sp.Basic], arguments: Sequence[Argument], cse: bool, at: Backend
) -> Callable[..., Any]:
    forget()
    with deep_recursion():
        return generated(stable(formula, "arb", renaming), arguments, at, cse)


def stable(formula: sp.Basic, name: str, renaming: Mapping[sp.Basic, sp.Basic]) -> sp.Basic:
    stabilise = Stabiliser(name, renaming)
    return stabilise(stabilise.exactly(formula))


def generated(expr: sp.Basic, arguments: Sequence[Argument], backend: Backend, cse: bool) -> Callable[..., Any]:
    """The Python function. `lambdify` receives the shared parts only, because it walks its input as a tree."""
    parts, rest = Sharing(share=cse, lazy=backend.name == "mpmath")(expr)
    function: Callable[..., Any] = sp.lambdify(
        [sp.Symbol("_watch"), sp.Symbol("_like"), *(sp.Symbol(argument.identifier) for argument in arguments)],
        rest,
        modules=[dict(backend.names)],
        printer=PRINTERS[backend.name](backend.names),
        cse=lambda _: (parts, rest),
        docstring_limit=0,
    )
    return function


@contextmanager
def deep_recursion() -> Iterator[None]:
    """A bound over hundreds of layers is an expression of that depth, walked by recursion here and in SymPy."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def checked(expr: Any) -> sp.Basic:
    if isinstance(expr, str):
        raise TypeError("lower: got a string, which is never evaluated; build the expression with SymPy symbols")
    if isinstance(expr, int | float):
        return sp.sympify(expr)
    if isinstance(expr, sp.MatrixBase):
        return expr.as_immutable() if not isinstance(expr, sp.SparseMatrix) else expr.as_mutable().as_immutable()
    if not isinstance(expr, sp.Expr | Boolean | sp.MatrixExpr):
        raise TypeError(f"lower: expected a SymPy expression, matrix or condition, got {type(expr).__name__}")
    return expr


def check_options(backend: str, options: dict[str, Any]) -> None:
    if backend not in OPTIONS:
        raise ValueError(f"lower: unknown backend {backend!r}; available: {', '.join(OPTIONS)}")
    alien = [name for name, value in options.items() if value is not None and name not in OPTIONS[backend]]
    if alien:
        raise TypeError(f"lower: backend {backend!r} has no option {', '.join(alien)}")
    bits = options["bits"]
    if bits is not None and not (isinstance(bits, int) and 2 <= bits <= MOST_BITS):
        raise ValueError(f"lower: bits must be an integer of at least 2 and at most {MOST_BITS}, got {bits!r}")


def make_backend(name: str, options: dict[str, Any], shape: tuple[int, ...]) -> Backend:
    if name == "numpy":
        return NumpyBackend(options["dtype"], shape)
    if name == "torch":
        return TorchBackend(options["dtype"], options["device"], shape)
    return MpmathBackend(options["bits"]) if name == "mpmath" else ArbBackend(options["bits"])


def is_matrix(expr: sp.Basic, backend: str) -> bool:
    """Whether it is a matrix; LoweringError if its size is symbolic although no array in it has such a size."""
    sizes = expr.shape if isinstance(expr, sp.MatrixExpr) else ()
    if not all(sp.sympify(size).is_Integer for size in sizes):
        raise LoweringError(backend, expr, f"its shape {sizes} is symbolic; substitute the sizes first")
    return isinstance(expr, sp.MatrixBase | sp.MatrixExpr)


def resolve_arguments(expr: sp.Basic, args: Iterable[Any] | None) -> list[sp.Basic]:
    """The arguments as SymPy objects, in order; names are looked up in the expression."""
    free = sorted(free_symbols(expr), key=lambda symbol: (str(symbol.name), symbol.sort_key()))
    by_name = {str(symbol.name): symbol for symbol in free}
    if len(by_name) < len(free):
        raise ValueError(f"lower: different symbols of the same name in {free}; rename them")
    if args is None:
        return free
    chosen = [by_name.get(arg, sp.Symbol(arg)) if isinstance(arg, str) else arg for arg in args]
    strange = [arg for arg in chosen if not isinstance(arg, sp.Symbol | sp.MatrixSymbol)]
    names = [str(arg.name) for arg in chosen if arg not in strange]
    missing = [symbol for symbol in free if symbol not in chosen]
    if strange or missing or len(set(names)) < len(names):
        raise ValueError(
            f"lower: args {chosen} do not fit: not symbols {strange}, missing {missing}, "
            f"names given twice {sorted({name for name in names if names.count(name) > 1})}"
        )
    return chosen


def safe_names(symbols: Sequence[sp.Basic], backend: Backend) -> tuple[list[Argument], dict[sp.Basic, sp.Basic]]:
    """Identifiers that generated code can use, and real symbols of those names for the given ones."""
    arguments, replacement, taken = [], {}, dict(backend.names)
    given = {str(symbol.name) for symbol in symbols}
    for position, symbol in enumerate(symbols):
        identifier = safe_identifier(str(symbol.name), position, taken, given)
        taken[identifier] = symbol
        shape = tuple(int(size) for size in getattr(symbol, "shape", ()))
        arguments.append(Argument(str(symbol.name), identifier, shape))
        replacement[symbol] = real_symbol(symbol, identifier, backend.name)
    return arguments, replacement


def real_symbol(symbol: sp.Basic, identifier: str, backend: str) -> sp.Basic:
    if isinstance(symbol, sp.MatrixSymbol):
        return sp.MatrixSymbol(identifier, *symbol.shape)
    if symbol.is_extended_real is False:
        raise LoweringError(backend, symbol, "it is declared not real; arguments are real numbers")
    if symbol.name == identifier and symbol.is_extended_real:
        return symbol
    assumptions = symbol.assumptions0 if symbol.is_extended_real else {"real": True}
    return sp.Symbol(identifier, **assumptions)
