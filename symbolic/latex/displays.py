"""Displays that fit the page: long sums below each other, names for parts that repeat or that no line holds."""

import re
from collections.abc import Sequence, Set
from typing import Any

import sympy as sp

from symbolic.latex.naming import in_order
from symbolic.latex.page import PAGE, Letters, Page, with_number
from symbolic.latex.typesetting import as_shown, ordered_terms
from symbolic.latex.widths import BINARY, RELATIONS, TOKEN, width
from symbolic.words.indices import names_of_letters

# For repeated parts: the first that no symbol of the formula begins with.
NAMES = (*"suyzbcdqvwghkmfprtxaAEFGHJQSTUVWXYZ", "xi", "zeta", "chi", "psi", "Xi", "Psi", "Upsilon")
INDENT, QUAD = 130.0, 11.0  # points: of a left side that shares its line, and of the lines below it
WORTH_A_NAME = 60.0  # points
MOST_NAMES = 12
MOST_LINES = 4  # of a sum without names
TALL = re.compile(r"\\(frac|sum|prod|int|begin|left)\b")  # what a line of text sets small, or apart
LINE_END = " \\\\\n"
Line = tuple[str, str, Any]  # left side, relation, right side


def environment(name: str, rows: Sequence[str], between: str = LINE_END) -> str:
    """The rows in an environment of that name."""
    return f"\\begin{{{name}}}\n{between.join(rows)}\n\\end{{{name}}}"


def equation(line: Line, page: Page) -> str:
    """The body of one display, see `equations`."""
    return gathered(equations(line, page))


def equations(line: Line, page: Page) -> list[str]:
    """Formulas that fit the page; a sum too wide for one line has its terms below each other.

    If that is still too wide, or long and half as long with names for repeated parts, such parts are named, and the
    names are defined behind it. So are the longest parts of what is wider than the page. Parts that a display before
    has defined keep their names.
    """
    left, relation, expression = line
    line = left, relation, as_shown(expression, page.notation)
    whole = in_lines(line, page)
    fits = width(whole) <= page.room
    if fits and whole.count(LINE_END) < MOST_LINES:
        return [whole]
    (main,), parts = shortened([line], page)

    def shown(main: Any, parts: Letters) -> list[str]:
        return [in_lines(each, page) for each in [(left, relation, main), *definitions(parts, page)]]

    if fits and 2 * len(gathered(shown(main, parts))) > len(whole):
        return [whole]
    names, new = page.numbered(parts)
    return shown(main.xreplace(names), new)


def definitions(letters: Letters, page: Page) -> list[Line]:
    """That each name is its meaning."""
    return [(page.latex(name), "=", meaning) for name, meaning in letters]


def lines(line: Line, page: Page) -> int | None:
    """How many lines the formula takes without names for its parts; None if it does not fit the page."""
    left, relation, expression = line
    shown = in_lines((left, relation, as_shown(expression, page.notation)), page)
    return shown.count(LINE_END) + 1 if width(shown) <= page.room else None


def gathered(displays: Sequence[str]) -> str:
    """One display of several."""
    return displays[0] if len(displays) == 1 else environment("gathered", displays)


def display(formulas: Sequence[str], end: str = "") -> str:
    r"""LaTeX of a display that ends with `end`; further formulas stand behind it, where a page may break."""
    if len(formulas) == 1:
        return rf"\[ {with_end(formulas[0], end)} \]"
    main, *parts = formulas
    others = environment("gather*", [*(with_end(each, ",") for each in parts[:-1]), with_end(parts[-1], end)])
    return rf"\[ {main} \]" + f"\nwhere\n{{\\allowdisplaybreaks\n{others}}}"


def in_text(formulas: Sequence[str]) -> str:
    """What ends a sentence: a short formula in the line, another one in a display."""
    small = len(formulas) == 1 and width(formulas[0]) <= PAGE / 3 and not TALL.search(formulas[0])
    return f"${formulas[0]}$." if small else display(formulas, ".")


def with_end(formula: str, words: str) -> str:
    """With these words at the end of its last line."""
    body, end, behind = formula.rpartition("\n\\end{aligned}")
    return f"{body}{words}{end}" if end and not behind else f"{formula}{words}"


# Each turn names the longest part that fits a line, so that what is left is shorter.
def shortened(stated: Sequence[Line], page: Page, bound: Set[sp.Symbol] = frozenset()) -> tuple[list[Any], Letters]:
    """The right sides and names of their repeated and longest parts, with which each line fits the page.

    A part with one of the letters `bound` is a function of it.
    """
    right, parts = _with_names([each for _, _, each in stated], page, bound)
    letter = unused_letter([each for _, _, each in stated], page)
    lines = [(of, relation, each) for (of, relation, _), each in zip(stated, right, strict=True)]
    lines += definitions(parts, page)
    own = {symbol for _, _, each in stated for symbol in each.free_symbols} - bound
    for place in range(len(parts), len(parts) + MOST_NAMES) if letter else ():
        wide = (line[2] for line in lines if width(in_lines(line, page)) > page.room)
        part = next((found for each in wide if (found := _longest_part(each, page)) is not None), None)
        if part is None:
            break
        name = name_of_part(f"{letter}_{place + 1}", part, part.free_symbols - own - {each for each, _ in parts})
        lines = [(of, sign, each.xreplace({part: name})) for of, sign, each in lines]
        lines += definitions([(name, part)], page)
        parts.append((name, part))
    now = [each for _, _, each in lines]
    named = [(name, each) for (name, _), each in zip(parts, now[len(stated) :], strict=True)]
    return _renumbered(now[: len(stated)], named)


def _renumbered(right: Sequence[Any], parts: Letters) -> tuple[list[Any], Letters]:
    """The same, each part behind those that it is made of, and numbered so."""
    ordered = in_order(parts, lambda part, other: part != other and part[1].has(other[0]))
    numbered = {name: with_number(name, place) for place, (name, _) in enumerate(ordered, start=1)}
    meanings = [(numbered[name], meaning.xreplace(numbered)) for name, meaning in ordered]
    return [each.xreplace(numbered) for each in right], meanings


def name_of_part(letter: str, part: Any, indices: set[sp.Symbol]) -> Any:
    """A symbol, or a function of the indices of sums that the part contains."""
    if indices:
        return sp.Function(letter)(*sorted(indices, key=str))
    return sp.Symbol(letter, **part.assumptions0)


def _longest_part(expression: Any, page: Page) -> Any:
    """The longest that fits a line, or is a sum whose terms do; None if none is worth a name."""
    terms = sp.Add.make_args(expression)
    inner = (part for term in terms for part in sp.preorder_traversal(term) if part not in (term, expression))
    kinds = (sp.Add, sp.Mul, sp.Function, sp.Piecewise)
    most = page.room - WORTH_A_NAME
    fitting = [
        part
        for part in dict.fromkeys(inner)
        if isinstance(part, kinds)
        and page.width(part) > WORTH_A_NAME
        and all(page.width(term) <= most for term in sp.Add.make_args(part))
    ]
    return max(fitting, key=page.width, default=None)


def in_lines(line: Line, page: Page) -> str:
    left, relation, expression = line
    whole = rf"{left} {relation} {page.latex(expression)}".strip()
    if width(whole) <= page.room:
        return whole
    terms = ordered_terms(expression.as_ordered_terms()) if isinstance(expression, sp.Add) else [expression]
    # A left side that is long, or that precedes a long term, has its own line.
    apart = width(left) > INDENT or len(terms) < 2
    indent, margin = (rf"&{left} \\" + "\n&\\quad ", QUAD) if apart else (rf"{left} &", width(left) + QUAD)
    lines = [""]
    for term in terms:
        signed = page.latex(term)
        signed = signed if signed.startswith("-") or lines == [""] else f"+ {signed}"
        if lines[-1] and margin + QUAD + width(f"{lines[-1]}{signed}") > page.room:
            lines.append("")
        lines[-1] = f"{lines[-1]} {signed}".strip()
    first, *others = lines
    return environment("aligned", [f"{indent}{relation} {first}".strip(), *(rf"&\quad {each}" for each in others)])


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
    return environment("aligned", [f"&{first}", *(rf"&\quad {each}" for each in rest)])


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


def stated(condition: Any, page: Page, end: str = "") -> str:
    """A condition in a sentence, and what ends it: in the line, or in a display where it is long."""
    inline = page.latex(condition)
    return f"${inline}${end}" if width(inline) <= page.room / 2 else display(condition_lines(condition, page), end)


def condition_lines(condition: Any, page: Page) -> list[str]:
    """The formulas of a display of a condition, its longer side on the right."""
    if not isinstance(condition, sp.core.relational.Relational):
        return [wrapped(page.latex(condition), page.room)]
    if page.width(condition.lhs) > page.width(condition.rhs):
        condition = condition.reversed
    return equations((page.latex(condition.lhs), SIGN_OF[condition.rel_op], condition.rhs), page)


SIGN_OF = {"<=": r"\le", ">=": r"\ge", "<": "<", ">": ">", "==": "=", "!=": r"\ne"}


def with_names(expression: Any, page: Page) -> tuple[Any, Letters]:
    """The expression by names of its repeated parts, and name and part in the order in which they build on each other.

    A part that is hardly longer than a name is kept, and so is a part that contains the index of a sum.
    """
    (main,), parts = _with_names([expression], page, frozenset())
    return main, parts


def _with_names(expressions: Sequence[Any], page: Page, bound: Set[sp.Symbol]) -> tuple[list[Any], Letters]:
    letter = unused_letter(expressions, page)
    if not letter:
        return list(expressions), []
    own = {symbol for each in expressions for symbol in each.free_symbols} - bound
    found, mains = sp.cse(expressions, symbols=sp.numbered_symbols("part"))
    known: dict[sp.Basic, sp.Basic] = {}
    parts: Letters = []
    for symbol, part in found:
        written = part.xreplace(known)
        of_an_index = not written.free_symbols <= own | {name for name, _ in parts}
        if of_an_index or page.width(written) <= WORTH_A_NAME:
            known[symbol] = written
            continue
        name = sp.Symbol(f"{letter}_{len(parts) + 1}", **symbol.assumptions0)
        known[symbol] = name
        parts.append((name, written))
    return [each.xreplace(known) for each in mains], parts


def unused_letter(expressions: Sequence[Any], page: Page) -> str:
    """Of the names of parts; "" if all are taken."""
    letters = [str(symbol) for each in expressions for symbol in each.free_symbols]
    written = [name.lstrip("\\") for name in names_of_letters(page.notation)]
    near = (*page.taken, *letters, *(name.lstrip("\\") for name in page.notation.values() if name))
    begins = [each for each in NAMES if not any(name.startswith(each) for name in near)]
    numbered = re.compile(r"([A-Za-z]+)_?\{?\d+\}?")
    alike = {found[1] for name in (*letters, *written) if (found := numbered.fullmatch(name))}
    return next((each for each in begins if each not in written), next((x for x in begins if x not in alike), ""))
