"""The functions g(u, v) of similarities: how they are given, and what is known of them."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp

from bridge.lowering.grids import CertifiedKernel
from symbolic.words.errors import UsageError

U, V = sp.symbols("u v", real=True)


@lru_cache(maxsize=64)
def certified(function: sp.Expr, radius: float) -> CertifiedKernel:
    """Raises UsageError for a function that is not known to be finite and Lipschitz continuous."""
    return CertifiedKernel(function, (U, V), radius)


# What is known of a similarity: the attribute of a certified one, the letter where a parameter gives it, in words.
OF_KERNELS: Mapping[str, tuple[str, str]] = {
    "size": ("B", "at least the largest absolute value of `{g}`"),
    "slope_u": ("Lu", "at least the largest absolute slope of `{g}` in the query"),
    "slope_v": ("Lv", "at least the largest absolute slope of `{g}` in the key"),
    "bends": (
        "C",
        "at least the length of the shortest interval with 0 and all second derivatives of `{g}` in the query, away "
        "from kinks, plus that of the key",
    ),
    "kinks": ("J", "the same of the sums of all jumps that the slopes of `{g}` have on a line"),
}


def function_of(f: Callable[..., Any] | Any) -> sp.Expr:
    """In the letters U and V. Raises UsageError for other letters, and for what is no function in SymPy."""
    found = f if isinstance(f, sp.Expr) or not callable(f) else f(U, V)
    if not isinstance(found, sp.Expr):
        raise UsageError(f"similarity: expected a function of u and v in SymPy, got {type(found).__name__}")
    own = {letter: {"u": U, "v": V}[letter.name] for letter in found.free_symbols if letter.name in ("u", "v")}
    if others := sorted(str(letter) for letter in found.free_symbols if letter not in own):
        raise UsageError(
            f"similarity: {sp.sstr(found)} has the letter {', '.join(others)}; give a function of u and v alone, or "
            f"lambda u, v: ..."
        )
    expression: sp.Expr = found.xreplace(own)
    return expression


def whole_number(name: str, knob: sp.Expr, known: Mapping[str, Any]) -> int:
    """A knob at parameters. Raises UsageError for what is not whole."""
    found = knob.xreplace({letter: sp.sympify(int(known[letter.name])) for letter in knob.free_symbols})
    if not found.is_Integer:
        raise UsageError(
            f"{name}: {sp.sstr(knob)} is {found} here; numbers of cells and features, and a rank, are whole"
        )
    return int(found)
