"""Names of steps and the symbols of their errors: `p[N-1]` is the member N - 1 of a family p, its error e_{p(N-1)}.

A bound that is derived for every layer names the error of a layer by `member_error`; so do displays.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.conventions import split_super_sub
from sympy.printing.latex import translate

from symbolic.words.ascii_math import GREEK, AsciiMathError, ascii_math
from symbolic.words.escaping import escape
from symbolic.words.prose import prose_latex

ERROR = "e_"
PLACE = "[*]"  # of the index, in the name of a family
INDEXED = re.compile(r"([^\[\]]*)\[([A-Za-z]\w*)?([+-]?\d+)?\]([^\[\]]*)")
DOTTED = re.compile(r"\.(?=[A-Za-z])")
INDEX = r"_(?:\w+|\{[^{}]*\})"
LETTER = rf"(?:[A-Za-z]|[A-Z]+(?=_)|{GREEK.pattern})(?:'*{INDEX})?'*\*?(?:\^\w+)?"
MATHEMATICAL = re.compile(rf"{LETTER}|\|{LETTER}\||[a-zA-Z]\({LETTER}\)|[-+=]|\d+")
DOT = r",\,"  # between the parts of a name with dots
TIMES = re.compile(r"([A-Za-z]\w*|\d+)\*([A-Za-z(<].*)")  # c*x
INNER = re.compile(r"<([^<>]+), ([^<>,]+)>")  # <x, y>
ARTICLES = ("a", "A", "I")


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


class SizeSymbol(sp.Symbol):
    """A bound on the value of a step: the norm of the exact or the approximate one, or how far its tokens are apart."""

    @classmethod
    def class_key(cls) -> Any:
        """Printed in the order of all symbols."""
        return sp.Symbol.class_key()


def size_symbol(name: str) -> SizeSymbol:
    """The symbol by which rules refer to the size of `name`."""
    return SizeSymbol(f"|{name}|", nonnegative=True)


def radius_symbol(name: str) -> SizeSymbol:
    """The symbol by which rules refer to the radius of `name`."""
    return SizeSymbol(f"|{name} - c|", nonnegative=True)


def approximate_symbol(name: str) -> SizeSymbol:
    """The symbol by which rules refer to the norm of the approximate value of `name`, where it has a bound."""
    return SizeSymbol(f"|{name}_hat|", nonnegative=True)


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
    """The symbol for the error of a quantity: e with its name."""
    return f"e_{{{name_latex(name)}}}"


def member_latex(family: str, place: str) -> str:
    """The same of a member, whose index is LaTeX."""
    stem, _, ending = family.partition(PLACE)
    shown = "".join(part if formal else rf"\text{{{part}}}" for formal, part in _member(stem, place, ending))
    return f"e_{{{shown}}}"


@lru_cache(maxsize=1 << 12)
def name_latex(name: str) -> str:
    """A name of a step inside a formula: what is mathematics in it as such, all else as words."""
    return "".join(part if formal else rf"\text{{{part}}}" for formal, part in _parts(name))


def name_in_words(name: str) -> str:
    """The same for use in a sentence."""
    parts = [(False, ", ") if part == DOT else (formal, part) for formal, part in _parts(name)]
    runs = ((formal, "".join(part for _, part in run)) for formal, run in groupby(parts, lambda each: each[0]))
    shown = "".join(f"${part}$" if formal else part for formal, part in runs)
    return shown if is_mathematical(name) else f"``{shown}''"


def is_mathematical(name: str) -> bool:
    """Whether all of the name is mathematics."""
    return all(formal for formal, _ in _parts(name))


Parts = list[tuple[bool, str]]  # whether it is mathematics, and LaTeX of it


def _parts(name: str) -> Parts:
    found = INDEXED.fullmatch(name)
    if found is not None:
        return _member(found[1], f"{found[2] or ''}{found[3] or ''}", found[4])
    if (found := TIMES.fullmatch(name)) and _is_formal(found[1]):
        return [*_of_words(found[1]), (True, r"\,"), *_parts(found[2])]
    if found := INNER.fullmatch(name):
        return [(True, r"\langle "), *_parts(found[1]), (True, ", "), *_parts(found[2]), (True, r"\rangle ")]
    first, *others = DOTTED.split(name)
    return _of_words(first) + [part for other in others for part in [(True, DOT), (False, escape(_spaced(other)))]]


def _member(stem: str, place: str, ending: str) -> Parts:
    *words, (formal, last) = _of_words(stem)
    named = [*words, (True, f"{last}({place})")] if formal else [*words, (False, last), (True, f"({place})")]
    if ending.startswith("."):
        return [*named, *((True, DOT), (False, escape(_spaced(ending[1:].replace(".", ", ")))))]
    return [*named, *(_of_words(ending) if ending else [])]


def _of_words(name: str) -> Parts:
    """Letters, Greek ones and signs between them are mathematics; a letter that is an article is not."""
    words = [(word, _is_formal(word.rstrip(","))) for word in name.split(" ")]
    prose = any(len(word) > 2 for word, formal in words if not formal)
    shown: Parts = []
    for formal, run in groupby(words, lambda each: each[1] and not (prose and each[0] in ARTICLES)):
        part = " ".join(word for word, _ in run)
        formula = _formula(part) if formal else None
        if formula is None:
            ends = "" if name.endswith(part) else " "
            shown.append((False, escape(_spaced(f"{' ' if shown else ''}{part}{ends}"))))
        else:
            shown.append((True, formula))
    return shown


def _is_formal(word: str) -> bool:
    return MATHEMATICAL.fullmatch(word) is not None or ("{" in word and NAME.fullmatch(word) is not None)


# The name of a letter: what it is called, and its primes, star, indices and superscripts in any order.
NAME = re.compile(r"(?P<stem>[A-Za-z]+\d*)(?P<scripts>(?:'|\*|(?:__|[_^])(?:[A-Za-z0-9']+|\{[^{}]*\}))*)")
SCRIPT = re.compile(r"(?P<mark>['*])|(?P<sign>__|[_^])(?P<what>[A-Za-z0-9']+|\{[^{}]*\})")
WORD = re.compile(r"[A-Za-z]{2,}")  # a name that is not a letter
LONG_WORD = re.compile(r"[A-Za-z]{3,}")  # an index that is not a pair of letters


def letter_latex(name: str) -> str | None:
    """A letter with its indices, then its primes, superscripts or star; None for what is no such name.

    Primes stand last, or the only superscript, so that a power may follow: a_{1}'^{2}.
    """
    found = NAME.fullmatch(name)
    if found is None:
        return None
    stem, supers, below = split_super_sub(found["stem"])
    shown, primes = translate(stem), ""
    shown = rf"\mathrm{{{shown}}}" if WORD.fullmatch(shown) else shown
    for each in SCRIPT.finditer(found["scripts"]):
        what = (each["what"] or "").removeprefix("{").removesuffix("}")
        plain = what.rstrip("'")
        if each["sign"] in ("^", "__"):
            supers.append(what)
        elif each["mark"] == "*":
            supers.append(r"\star")
        else:
            primes += each["mark"] or "'" * (len(what) - len(plain))
            below.append(plain)
    below = [translate(each) for each in filter(None, below)]
    index = " ".join(rf"\mathrm{{{each}}}" if LONG_WORD.fullmatch(each) else each for each in below)
    above = " ".join([r"\prime"] * len(primes) + [translate(each) for each in supers])
    shown += f"_{{{index}}}" if index else ""
    return f"{shown}^{{{above}}}" if supers else f"{shown}{primes}"


def _formula(words: str) -> str | None:
    if "{" in words or "'_" in words:
        return letter_latex(words)
    try:
        return ascii_math(words)
    except AsciiMathError:
        return None


def _spaced(word: str) -> str:
    """A name of the program in words: mask_3 is mask 3."""
    return word.replace("_", " ")
