"""Displays that fit the page: long sums below each other, names for parts that repeat or that no line holds."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sympy as sp

from symbolic.typesetting import Notation, latex, ordered_terms, with_sums
from symbolic.widths import BINARY, RELATIONS, TOKEN, width

NAMES = "suyzbcd"  # for repeated parts: the first letter that no symbol of the formula begins with
PAGE = 349.0  # points: the text of an 11pt article, less 3 % by which a width may be wrong
INDENT, QUAD = 130.0, 11.0  # points: of a left side that shares its line, and of the lines below it
WORTH_A_NAME = 60.0  # points
MOST_NAMES = 12
MOST_LINES = 4  # of a sum without names


def _shown(expression: Any, notation: Notation | None) -> str:
    """The same, kept: parts of an expression are looked at again and again."""
    fixed = expression.as_immutable() if isinstance(expression, sp.MatrixBase) else expression
    return _kept(fixed, tuple((notation or {}).items()))


@lru_cache(maxsize=1 << 14)
def _kept(expression: Any, notation: tuple[tuple[Any, str], ...]) -> str:
    return latex(expression, dict(notation))


def equation(left: str, relation: str, expression: Any, notation: Notation | None = None, room: float = PAGE) -> str:
    """The body of a display of at most `room` points; a sum too wide for one line has its terms below each other.

    If that is still too wide, or long and half as long with names for repeated parts, such parts are named, and the
    names are defined below. So are the longest parts of what is wider than the page.
    """
    expression = with_sums(expression)
    whole = _lines(left, relation, expression, notation, room)
    fits = width(whole) <= room
    if fits and whole.count(LINE_END) < MOST_LINES:
        return whole
    main, parts = _shortened(left, relation, expression, notation, room)
    shown = _lines(left, relation, main, notation, room)
    named = _with_definitions(shown, parts, notation, room) if parts else shown
    return whole if fits and 2 * len(named) > len(whole) else named


def _with_definitions(main: str, parts: Sequence[tuple[Any, Any]], notation: Notation | None, room: float) -> str:
    shown = [main, *(_lines(latex(name), "=", part, notation, room) for name, part in parts)]
    return "\\begin{gathered}\n" + " \\\\\n".join(shown) + "\n\\end{gathered}"


# Each turn names the longest part that fits a line, so that what is left is shorter.
def _shortened(
    left: str, relation: str, expression: Any, notation: Notation | None, room: float
) -> tuple[Any, list[tuple[Any, Any]]]:
    """The expression and names of its repeated and longest parts, with which each line has at most so many points."""
    main, parts = with_names(expression, notation)
    letter = _letter(expression, notation)
    lines = [(main, left)] + [(part, latex(name)) for name, part in parts]
    for place in range(len(parts), len(parts) + MOST_NAMES) if letter else ():
        wide = next((each for each, of in lines if width(_lines(of, relation, each, notation, room)) > room), None)
        part = None if wide is None else _longest_part(wide, notation, room)
        if part is None:
            break
        known = expression.free_symbols | {each for each, _ in parts}
        name = _name(f"{letter}_{place + 1}", part, part.free_symbols - known)
        lines = [(each.xreplace({part: name}), of) for each, of in lines] + [(part, latex(name))]
        parts.append((name, part))
    names = [name for name, _ in parts]
    return lines[0][0], list(zip(names, [each for each, _ in lines[1:]], strict=True))


def _name(letter: str, part: Any, indices: set[sp.Symbol]) -> Any:
    """A symbol, or a function of the indices of sums that the part contains."""
    if indices:
        return sp.Function(letter)(*sorted(indices, key=str))
    return sp.Symbol(letter, **part.assumptions0)


def _longest_part(expression: Any, notation: Notation | None, room: float) -> Any:
    """The longest that fits a line, or is a sum whose terms do; None if none is worth a name."""
    terms = expression.args if isinstance(expression, sp.Add) else (expression,)
    inner = (part for term in terms for part in sp.preorder_traversal(term) if part not in (term, expression))
    kinds = (sp.Add, sp.Mul, sp.Function, sp.Piecewise)
    parts = [part for part in dict.fromkeys(inner) if isinstance(part, kinds)]
    known = [(width(_shown(part, notation)), place, part) for place, part in enumerate(parts)]
    most = room - WORTH_A_NAME
    fitting = [each for each in known if each[0] > WORTH_A_NAME and _terms_fit(each[2], notation, most)]
    return max(fitting, key=lambda each: (each[0], -each[1]))[2] if fitting else None


def _terms_fit(part: Any, notation: Notation | None, room: float) -> bool:
    terms = part.args if isinstance(part, sp.Add) else (part,)
    return all(width(_shown(term, notation)) <= room for term in terms)


LINE_END = " \\\\\n"


def _lines(left: str, relation: str, expression: Any, notation: Notation | None, room: float) -> str:
    whole = rf"{left} {relation} {_shown(expression, notation)}"
    if width(whole) <= room:
        return whole
    terms = ordered_terms(expression.as_ordered_terms()) if isinstance(expression, sp.Add) else [expression]
    # A left side that is long, or that precedes a long term, has its own line.
    apart = width(left) > INDENT or len(terms) < 2
    indent, margin = (rf"&{left} \\" + "\n&\\quad ", QUAD) if apart else (rf"{left} &", width(left) + QUAD)
    lines = [""]
    for term in terms:
        signed = _shown(term, notation)
        signed = signed if signed.startswith("-") or lines == [""] else f"+ {signed}"
        if lines[-1] and margin + QUAD + width(f"{lines[-1]}{signed}") > room:
            lines.append("")
        lines[-1] = f"{lines[-1]} {signed}".strip()
    body = f"{LINE_END}&\\quad ".join(lines)
    return f"\\begin{{aligned}}\n{indent}{relation} {body}\n\\end{{aligned}}"


GAPS, SIGNS = {r"\quad", r"\qquad"}, {"+", "-"} & set(BINARY)
DEEPER = {"{": 1, r"\left": 1, r"\begin": 1, "}": -1, r"\right": -1, r"\end": -1}


def wrapped(formula: str, room: float = PAGE) -> str:
    """A formula that is typed: broken at wide spaces if it does not fit, else before relations, else before signs."""
    for breaks in (set(), GAPS, GAPS | set(RELATIONS), GAPS | set(RELATIONS) | SIGNS):
        lines = [""]
        for piece in _pieces(formula, breaks):
            if lines[-1] and width(f"{lines[-1]}{piece}") > room - QUAD:
                lines.append("")
            lines[-1] += piece if lines[-1] else piece.lstrip()
        if max(map(width, lines)) <= room - QUAD * (len(lines) > 1):
            break
    if len(lines) == 1:
        return formula
    first, *rest = (line.strip() for line in lines)
    return "\\begin{aligned}\n&" + f"{LINE_END}&\\quad ".join([first, *rest]) + "\n\\end{aligned}"


def _pieces(formula: str, breaks: set[str]) -> list[str]:
    """Parts between these tokens, outside of all groups. A space ends a part, another token begins one."""
    parts, depth = [""], 0
    for token in TOKEN.findall(formula):
        depth += DEEPER.get(token, 0)
        if depth == 0 and token in breaks and token not in GAPS:
            parts.append("")
        parts[-1] += token
        if depth == 0 and token in breaks & GAPS:
            parts.append("")
    return parts


def stated(condition: Any, notation: Notation | None = None, room: float = PAGE) -> str:
    """A condition in a sentence: in the line, or in a display where it is long."""
    inline = latex(condition, notation)
    if width(inline) <= room / 2:
        return f"${inline}$"
    if not isinstance(condition, sp.core.relational.Relational):
        return rf"\[ {wrapped(inline, room)} \]"
    longer, other, relation = condition.lhs, condition.rhs, condition.rel_op
    if width(latex(longer, notation)) > width(latex(other, notation)):
        longer, other, relation = other, longer, condition.reversed.rel_op
    return rf"\[ {equation(latex(longer, notation), SIGN_OF[relation], other, notation, room)} \]"


SIGN_OF = {"<=": r"\le", ">=": r"\ge", "<": "<", ">": ">", "==": "=", "!=": r"\ne"}


def with_names(expression: Any, notation: Notation | None = None) -> tuple[Any, list[tuple[sp.Symbol, Any]]]:
    """The expression by names of its repeated parts, and name and part in the order in which they build on each other.

    A part that is hardly longer than a name is kept, and so is a part that contains the index of a sum.
    """
    letter = _letter(expression, notation)
    found, (main,) = sp.cse(expression, symbols=sp.numbered_symbols("part"))
    known: dict[sp.Basic, sp.Basic] = {}
    parts: list[tuple[sp.Symbol, Any]] = []
    for symbol, part in found if letter else ():
        written = part.xreplace(known)
        of_an_index = not written.free_symbols <= expression.free_symbols | {name for name, _ in parts}
        if of_an_index or width(_shown(written, notation)) <= WORTH_A_NAME:
            known[symbol] = written
            continue
        name = sp.Symbol(f"{letter}_{len(parts) + 1}", **symbol.assumptions0)
        known[symbol] = name
        parts.append((name, written))
    return main.xreplace(known), parts


def _letter(expression: Any, notation: Notation | None) -> str:
    """Of the names of parts; "" if all are taken."""
    taken = {str(symbol)[0] for symbol in expression.free_symbols} | {name[:1] for name in (notation or {}).values()}
    return next((each for each in NAMES if each not in taken), "")
