"""Names of steps and the symbols of their errors: `p[N-1]` is the member N - 1 of a family p, its error e_{p(N-1)}.

A bound that is derived for every layer names the error of a layer by `member_error`; so do displays.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from symbolic.prose import prose_latex

ERROR = "e_"
PLACE = "[*]"  # of the index, in the name of a family
INDEXED = re.compile(r"([^\[\]]*)\[([A-Za-z]\w*)?([+-]?\d+)?\]([^\[\]]*)")
LETTER = re.compile(r"[A-Za-z](_[0-9A-Za-z])?'*")  # with an index or primes: a letter of mathematics
POWER = re.compile(r"(?<=\w)\^(\w+)")  # in the name of a step


def text(words: str) -> str:
    r"""Words for use inside a formula, as \text{...}."""
    return rf"\text{{{prose_latex(words)}}}"


class ErrorSymbol(sp.Symbol):
    """The error of a step. A separate class, so that it never equals a symbol of the caller."""

    @classmethod
    def class_key(cls) -> Any:
        """Printed in the order of all symbols."""
        return sp.Symbol.class_key()


def error_symbol(name: str) -> ErrorSymbol:
    """The symbol by which later steps refer to the error of `name`."""
    return ErrorSymbol(f"{ERROR}{name}", nonnegative=True)


def member_error(name: str, place: Any) -> sp.Expr:
    """The error of the member `place` of the family that the step `name` (`A[j]`) belongs to."""
    found = INDEXED.fullmatch(name)
    family = name if found is None else f"{found[1]}{PLACE}{found[4]}"
    error: sp.Expr = sp.Function(f"{ERROR}{family}", nonnegative=True)(place)
    return error


def is_member_error(expression: Any) -> bool:
    return isinstance(expression, AppliedUndef) and PLACE in expression.func.__name__


def members_in(expression: sp.Expr) -> set[sp.Expr]:
    """The errors of members of families that it contains."""
    return {each for each in expression.atoms(AppliedUndef) if is_member_error(each)}


def letters_by_name(expressions: Iterable[sp.Basic]) -> dict[str, sp.Symbol]:
    """The letters of the expressions that may be an index."""
    letters = (letter for each in expressions for letter in each.free_symbols)
    return {letter.name: letter for letter in letters if letter.is_integer}


def place_of(name: str, letters: Mapping[str, sp.Symbol]) -> sp.Expr | None:
    """The index of a member, j - 1 in `p[j-1]`; None for a step of no family, or for an unknown letter."""
    found = INDEXED.fullmatch(name)
    if found is None or not (found[2] or found[3]) or (found[2] and found[2] not in letters):
        return None
    return (letters[found[2]] if found[2] else sp.S.Zero) + int(found[3] or 0)


def error_latex(name: str) -> str:
    """The symbol for the error of a quantity: e with its name, in which a letter and an index are mathematics."""
    found = INDEXED.fullmatch(name)
    if found is None:
        return f"e_{{{name if LETTER.fullmatch(name) else _words(name)}}}"
    return member_latex(f"{found[1]}{PLACE}{found[4]}", f"{found[2] or ''}{found[3] or ''}")


def member_latex(family: str, place: str) -> str:
    """The same of a member, whose index is LaTeX."""
    stem, _, ending = family.partition(PLACE)
    return f"e_{{{_stem(stem)}({place}){text(ending) if ending else ''}}}"


def _stem(name: str) -> str:
    """Of a family: a letter as mathematics, behind words if there are any; A^T has its exponent."""
    words, _, last = name.rpartition(" ")
    if LETTER.fullmatch(last) and not words:
        return last
    if LETTER.fullmatch(last):
        return f"{_words(f'{words} ')}{last}"
    return _words(name)


def _words(name: str) -> str:
    words = POWER.split(name)  # every second one is an exponent
    parts = [f"^{{{text(each)}}}" if place % 2 else text(each) for place, each in enumerate(words) if each]
    return "".join(parts)
