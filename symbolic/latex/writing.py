r"""`latex`: a formula of the caller's as the exports write it, in lines that fit a text, for use between \[ and \]."""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from symbolic.derivations.derivation import Approximated
from symbolic.derivations.events import randomness, total_failure
from symbolic.latex.displays import SIGN_OF, condition_lines, equations, gathered, wrapped
from symbolic.latex.groups import BINDING, in_groups
from symbolic.latex.page import PAGE, Page
from symbolic.latex.proofs import names_of
from symbolic.latex.shown_bounds import in_parts, named_equations
from symbolic.latex.typesetting import Notation, as_shown
from symbolic.latex.widths import TOKEN
from symbolic.latex.widths import width as points_of
from symbolic.words.errors import UsageError
from symbolic.words.names import text
from symbolic.words.prose import marked

FORMULA = sp.Expr | Boolean | sp.MatrixBase
UNWRITABLE = re.compile(r"(?<!\\)[%#&$~]|[^\x20-\x7e]|[_^](\{\s*\})?\s*$|^[_^]|\\$|^\s*$")
LETTERS = sp.Symbol | sp.MatrixSymbol
UNNAMED = (sp.MatrixExpr, sp.Trace, sp.Determinant, *BINDING)  # no part of these gets a letter


def latex(
    formula: Any,
    *,
    width: Any = None,
    names: Any = None,
    inline: bool = False,
) -> str:
    r"""LaTeX of a formula, as the exported statements write it (amsmath).

    Arguments: `formula`, a SymPy expression, relation, condition, matrix or matrix expression, a number; or an
    approximated value, of which the bound on its error is shown, with its open conditions, its probability and what the
    mean is over. `width`, the points (at 11pt) that a line may take: 349 by default, the text of an article less 3 %,
    by which the estimate may be wrong. `names`, LaTeX for symbols, `{eps: r"\varepsilon"}`; "" is the usual one.
    `inline`: one line of any length, for use in a sentence, where TeX breaks it.

    Returns: what belongs between `\[` and `\]`, or, `inline`, between `$` and `$`. A formula of several lines is an
    `aligned`. Parts that repeat in a long formula, or that no line holds, have letters, whose definitions stand below
    it, in a `gathered`. A geometric sum is written as a sum, and an inequality has its longer side on the right where
    it takes several lines.

    Raises: UsageError for what is no formula, for a letter whose name LaTeX cannot write, for two letters that are
    written alike, for names that are no LaTeX, and for a width into which no lines fit; the message has the least one.
    """
    if inline and width is not None:
        raise UsageError(
            f"latex: width = {width!r:.40} with inline; a formula in a sentence is one line, leave one out"
        )
    room = _points(width)
    shown = _formula(formula)
    notation = _notation(names)
    if isinstance(shown, Approximated):
        notation = {**names_of(shown.derivation.steps, None), **notation}
        _check_letters([shown.error], notation)
    else:
        _check_letters([shown], notation)
    page = Page(notation, room=room)
    if inline:
        return _in_a_sentence(shown, page)
    narrowest = float("inf")
    for body in _displays(shown, page):
        points = points_of(body)
        if points <= room:
            return body
        narrowest = min(narrowest, points)
    raise UsageError(
        f"latex: width = {room:g} points; broken into lines the formula takes {math.ceil(narrowest)}; give at least "
        f"that width"
    )


def _formula(formula: Any) -> Any:
    if isinstance(formula, bool | str) or not isinstance(formula, FORMULA | Approximated):
        number = None if isinstance(formula, bool | str) else _number(formula)
        if number is None:
            raise UsageError(
                f"latex: formula = {formula!r:.80}; give a SymPy expression, relation or matrix, a number or an "
                f"approximated value (a theorem and a result have .latex())"
            )
        return number
    return formula.as_immutable() if isinstance(formula, sp.MatrixBase) else formula


def _number(formula: Any) -> sp.Expr | None:
    try:
        found = sp.sympify(formula, strict=True)
    except (sp.SympifyError, TypeError, ValueError):
        return None
    return found if isinstance(found, sp.Expr) and found.is_number else None


def _points(width: Any) -> float:
    if width is None:
        return PAGE
    if isinstance(width, bool) or not isinstance(width, int | float) or not 0 < width < float("inf"):
        raise UsageError(f"latex: width = {width!r:.40}; give points, a positive number (an article at 11pt has 360)")
    return float(width)


# names


def _notation(names: Any) -> dict[sp.Symbol, str]:
    if names is None:
        return {}
    if not isinstance(names, Mapping):
        raise UsageError(f"latex: names = {names!r:.80}; give a mapping from symbols to LaTeX")
    for symbol, written in names.items():
        if not isinstance(symbol, LETTERS):
            raise UsageError(f"latex: names[{symbol!r:.40}] is for no symbol; give a mapping from symbols to LaTeX")
        if not isinstance(written, str) or (written and not _is_writable(written)):
            raise UsageError(rf"latex: names[{symbol}] = {written!r:.80}; give LaTeX, such as r'\varepsilon'")
    return {symbol: written for symbol, written in names.items() if written}


def _is_writable(written: str) -> bool:
    depth = 0
    for token in TOKEN.findall(written):
        depth += (token == "{") - (token == "}")
        if depth < 0:
            return False
    return depth == 0 and UNWRITABLE.search(written) is None


def _check_letters(formulas: list[Any], notation: Notation) -> None:
    """Each letter has a name that LaTeX can write, and no two have the same one."""
    page = Page(notation)
    functions = {each.func for formula in formulas for each in formula.atoms(AppliedUndef)}
    for name in sorted({each.__name__ for each in functions}):
        if not _is_writable(name):
            raise UsageError(f"latex: the function named {name!r}; LaTeX cannot write that name, take another one")
    letters = {x for each in formulas for x in as_shown(each, notation).atoms(sp.Symbol, sp.MatrixSymbol)}
    written = {x: page.latex(x) for x in sorted(letters, key=lambda x: (str(x), x.sort_key()))}
    for letter, shown in written.items():
        if not _is_writable(shown):
            raise UsageError(
                rf"latex: the letter named {letter.name!r}; LaTeX cannot write that name, give "
                rf"names={{letter: r'\mu'}}, in LaTeX of your choice"
            )
    free = set().union(*(each.free_symbols for each in formulas))
    for one, other in combinations([x for x in written if x in free], 2):
        if written[one] == written[other]:
            kinds = "with different assumptions" if one.name == other.name else f"named {one.name} and {other.name}"
            raise UsageError(
                f"latex: two letters, {kinds}, are both written {written[one]}; give names={{letter: LaTeX}} for one"
            )


# displays


def _in_a_sentence(shown: Any, page: Page) -> str:
    if not isinstance(shown, Approximated):
        return page.latex(shown)
    bound = rf"{_left(shown, page)} \le {page.latex(shown.error)}"
    return r"\quad ".join([bound, *(_joined(*each, page) for each in _under(shown))])


def _displays(shown: Any, page: Page) -> Iterator[str]:
    """The bodies of displays, the most readable one first."""
    if isinstance(shown, Approximated):
        yield gathered([*_bound(shown, page), *_conditions(shown, page)])
        yield gathered([*in_groups([shown.error_symbol, shown.error], r"\le", page), *_conditions(shown, page)])
        return
    whole = page.latex(shown)
    if points_of(whole) <= page.room:
        yield whole
    elif shown.has(*UNNAMED):
        yield wrapped(whole, page.room)
    elif isinstance(shown, Relational):
        line = page.latex(shown.lhs), SIGN_OF[shown.rel_op], shown.rhs
        yield from (gathered(equations(line, page)), gathered(condition_lines(shown, page)))
        yield gathered(in_groups(shown.args, SIGN_OF[shown.rel_op], page))
        yield wrapped(whole, page.room)
    elif isinstance(shown, Boolean):
        yield wrapped(whole, page.room)
    else:
        yield gathered(equations(("", "", shown), page))
        yield gathered(in_groups([shown], "", page))
        yield wrapped(whole, page.room)


def _left(shown: Approximated, page: Page) -> str:
    return page.latex(shown.error_symbol)


def _bound(shown: Approximated, page: Page) -> list[str]:
    """The closed form where it is short, else by the errors of the steps."""
    line = _left(shown, page), r"\le", shown.error
    named = in_parts(line, shown.derivation, shown.name, {}, page)
    return equations(line, page) if named is None else named_equations(line[0], line[1], named, page)


def _under(shown: Approximated) -> Iterator[tuple[str, Any]]:
    """Words, each with a formula behind it or None, of what the bound rests on."""
    if shown.events:
        over = text(f"over {marked(randomness(shown.events))}: with probability at least ")
        yield over, 1 - total_failure(shown.events)
    for each in shown.mean_over:
        yield text(f"in expectation over {marked(each)}"), None
    owed = shown.derivation.resting_on(shown.name).obligations
    for condition in dict.fromkeys(each.condition for each in owed if each.open):
        yield text("if "), condition


def _joined(words: str, formula: Any, page: Page) -> str:
    return words if formula is None else rf"{words} {page.latex(formula)}"


def _conditions(shown: Approximated, page: Page) -> Iterator[str]:
    for words, formula in _under(shown):
        line = _joined(words, formula, page)
        if formula is None or points_of(line) <= page.room:
            yield line
        else:
            yield words
            yield from condition_lines(formula, page)
