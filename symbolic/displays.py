"""Displays that fit the page: long sums below each other, names for parts that repeat or that no line holds.

Widths are counted in letters, about as many as LaTeX sets.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

NAMES = "suyzbcd"  # for repeated parts: the first letter that no symbol of the formula begins with
WORTH_A_NAME = 12  # letters
INDENT = 24  # letters of a left side
PAGE = 64  # letters in a row that fit the text of an 11pt article
MOST_NAMES = 12
WIDER = re.compile(r"\\sqrt|\\sum|\\left|\\le\b|\\ge\b|\\text|\\min|\\max|\\log|[-+=]")  # each by about a letter
ROW_END = re.compile(r"\\\\(?![^{]*\\end\{cases\})")  # not those inside of cases
WIDEST = 66  # letters on a line of a display; a longer sum is broken between its terms
UNSEEN = re.compile(r"\\(?:left|right|[,;:!]|(?:sqrt|frac|text|mathcal|dot|tilde)(?![a-z]))|[{}^_ ]")

Notation = Mapping[sp.Symbol, str]


def latex(expression: Any, notation: Notation | None = None) -> str:
    """LaTeX of one expression; `notation` gives the paper's notation for a symbol."""
    return sp.latex(expression, symbol_names=dict(notation or {}))


def letters(formula: str) -> int:
    """About how many letters wide LaTeX sets a formula: commands count as one, braces as none."""
    return len(re.sub(r"\\[a-zA-Z]+", "x", UNSEEN.sub("", formula)))


def row_letters(formula: str) -> int:
    """The same of what LaTeX sets in a row: of a fraction, the longer of its two parts; of cases, the longest."""
    cases = re.sub(r"\\begin\{cases\}(.*?)\\end\{cases\}", lambda m: max(m[1].split(r"\\"), key=letters), formula)
    start = cases.rfind(r"\frac{")  # one that contains no other
    while start >= 0:
        above = _group(cases, start + len(r"\frac"))
        below = _group(cases, start + len(r"\frac") + len(above))
        longer = max(above, below, key=letters)
        cases = cases[:start] + longer[1:-1] + cases[start + len(r"\frac") + len(above) + len(below) :]
        start = cases.rfind(r"\frac{")
    return letters(cases) + len(WIDER.findall(cases))


def _group(formula: str, start: int) -> str:
    """From the brace that opens there to the one that closes it."""
    depth = 0
    for place in range(start, len(formula)):
        depth += (formula[place] == "{") - (formula[place] == "}")
        if depth == 0:
            return formula[start : place + 1]
    return formula[start:]


def equation(left: str, relation: str, expression: Any, notation: Notation | None = None, indented: int = 0) -> str:
    """The body of a display; a sum too wide for one line has its terms below each other.

    If that is still too wide, and names for repeated parts halve the width, such parts are named and the names are
    defined below. So are the longest parts of what is wider than the page, less `indented` letters.
    """
    most = PAGE - indented
    for found in (_equation(left, relation, expression, notation), _lines(left, relation, expression, notation, most)):
        if _widest_row(found) <= most:
            return found
    main, parts = _shortened(left, relation, expression, notation, most)
    shown = _lines(left, relation, main, notation, most)
    return _with_definitions(shown, parts, notation, most) if parts else shown


def _with_definitions(
    main: str, parts: Sequence[tuple[sp.Symbol, Any]], notation: Notation | None, most: int | None = None
) -> str:
    shown = [main, *(_lines(latex(name), "=", part, notation, most) for name, part in parts)]
    return "\\begin{gathered}\n" + " \\\\\n".join(shown) + "\n\\end{gathered}"


# Each turn names the longest part that fits a line, so that what is left is shorter.
def _shortened(
    left: str, relation: str, expression: Any, notation: Notation | None, most: int
) -> tuple[Any, list[tuple[sp.Symbol, Any]]]:
    """The expression and names of its longest parts, with which each line has at most so many letters in a row."""
    main, parts = with_names(expression, notation)
    letter = _letter(expression, notation)
    lines = [(main, left)] + [(part, latex(name)) for name, part in parts]
    for place in range(len(parts), len(parts) + MOST_NAMES) if letter else ():
        wide = next(
            (each for each, of in lines if _widest_row(_lines(of, relation, each, notation, most)) > most), None
        )
        part = None if wide is None else _longest_part(wide, notation, most)
        if part is None:
            break
        name = sp.Symbol(f"{letter}_{place + 1}", **part.assumptions0)
        lines = [(each.xreplace({part: name}), of) for each, of in lines] + [(part, latex(name))]
        parts.append((name, part))
    names = [name for name, _ in parts]
    return lines[0][0], list(zip(names, [each for each, _ in lines[1:]], strict=True))


def _longest_part(expression: Any, notation: Notation | None, most: int) -> Any:
    """The longest that fits a line and contains no index of a sum; None if none is worth a name."""
    terms = expression.args if isinstance(expression, sp.Add) else (expression,)
    inner = (part for term in terms for part in sp.preorder_traversal(term) if part not in (term, expression))
    kinds, free = (sp.Add, sp.Mul, sp.Function, sp.Piecewise), expression.free_symbols
    parts = [part for part in dict.fromkeys(inner) if isinstance(part, kinds) and part.free_symbols <= free]
    known = [(row_letters(latex(part, notation)), place, part) for place, part in enumerate(parts)]
    fitting = [each for each in known if WORTH_A_NAME < each[0] <= most - WORTH_A_NAME]
    return max(fitting, key=lambda each: (each[0], -each[1]))[2] if fitting else None


def _widest_row(display: str) -> int:
    plain = re.sub(r"\\(?:begin|end)\{(?:gathered|aligned)\}|&", "", display)
    return max(row_letters(line) for line in ROW_END.split(plain))


def _equation(left: str, relation: str, expression: Any, notation: Notation | None) -> str:
    whole = _lines(left, relation, expression, notation)
    if _widest(whole) <= 2 * WIDEST:
        return whole
    main, parts = with_names(expression, notation)
    if not parts:
        return whole
    shown = [
        _lines(left, relation, main, notation),
        *(_lines(latex(name), "=", part, notation) for name, part in parts),
    ]
    if max(map(_widest, shown)) > _widest(whole) / 2:
        return whole
    return _with_definitions(shown[0], parts, notation)


def _lines(left: str, relation: str, expression: Any, notation: Notation | None, most: int | None = None) -> str:
    """`most`: letters in a row."""

    def fits(line: str, margin: int = 0) -> bool:
        in_a_row = most is None or margin + row_letters(line) <= most
        return in_a_row and margin + letters(line) <= WIDEST

    whole = rf"{left} {relation} {latex(expression, notation)}"
    terms = expression.as_ordered_terms() if isinstance(expression, sp.Add) else [expression]
    # A left side that is long, or that precedes a long term, has its own line.
    apart = letters(left) > INDENT or (len(terms) < 2 and letters(whole) > 2 * WIDEST)
    if fits(whole) or (len(terms) < 2 and not apart):
        return whole
    indent, margin = (rf"&{left} \\" + "\n&\\quad ", 2) if apart else (rf"{left} &", letters(left))
    lines = [""]
    for term in terms:
        signed = latex(term, notation)
        signed = signed if signed.startswith("-") or lines == [""] else f"+ {signed}"
        if lines[-1] and not fits(f"{lines[-1]}{signed}", margin):
            lines.append("")
        lines[-1] = f"{lines[-1]} {signed}".strip()
    body = " \\\\\n&\\quad ".join(lines)
    return f"\\begin{{aligned}}\n{indent}{relation} {body}\n\\end{{aligned}}"


def _widest(display: str) -> int:
    return max(letters(line) for line in display.split("\\\\"))


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
        if of_an_index or letters(latex(written, notation)) <= WORTH_A_NAME:
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
