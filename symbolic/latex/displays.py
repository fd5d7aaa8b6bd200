"""Displays that fit the page: long sums below each other, names for parts that repeat or that no line holds."""

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Any

import sympy as sp

from symbolic.latex.shared_parts import Letters, Shared, with_number
from symbolic.latex.typesetting import Notation, as_shown, latex, ordered_terms
from symbolic.latex.widths import BINARY, RELATIONS, TOKEN, width
from symbolic.words.indices import names_of_letters

# For repeated parts: the first that no symbol of the formula begins with.
NAMES = (*"suyzbcdqvwghkmfprtxaAEFGHJQSTUVWXYZ", "xi", "zeta", "chi", "psi", "Xi", "Psi", "Upsilon")
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


Line = tuple[str, str, Any]  # left side, relation, right side


def equation(left: str, relation: str, expression: Any, notation: Notation | None = None, room: float = PAGE) -> str:
    """The body of a display of at most `room` points, see `equations`."""
    return gathered(equations(left, relation, expression, notation, room))


def equations(
    left: str,
    relation: str,
    expression: Any,
    notation: Notation | None = None,
    room: float = PAGE,
    shared: Shared | None = None,
) -> list[str]:
    """Formulas of at most `room` points; a sum too wide for one line has its terms below each other.

    If that is still too wide, or long and half as long with names for repeated parts, such parts are named, and the
    names are defined behind it. So are the longest parts of what is wider than the page. `shared`: names of before.
    """
    expression = as_shown(expression, notation)
    whole = _lines(left, relation, expression, notation, room)
    fits = width(whole) <= room
    if fits and whole.count(LINE_END) < MOST_LINES:
        return [whole]
    (main,), parts = shortened([(left, relation, expression)], notation, room, shared.taken if shared else ())

    def shown(main: Any, parts: Letters) -> list[str]:
        defined = [_lines(latex(name), "=", part, notation, room) for name, part in parts]
        return [_lines(left, relation, main, notation, room), *defined]

    by_names = shown(main, parts)
    if fits and 2 * len(gathered(by_names)) > len(whole):
        return [whole]
    if shared is None:
        return by_names
    names, new = shared.numbered(parts)
    return shown(main.xreplace(names), new)


def lines(left: str, relation: str, expression: Any, notation: Notation | None = None) -> int | None:
    """How many lines the formula takes without names for its parts; None if it does not fit the page."""
    shown = _lines(left, relation, as_shown(expression, notation), notation, PAGE)
    return shown.count(LINE_END) + 1 if width(shown) <= PAGE else None


def gathered(displays: Sequence[str]) -> str:
    """One display of several."""
    return displays[0] if len(displays) == 1 else f"\\begin{{gathered}}\n{LINE_END.join(displays)}\n\\end{{gathered}}"


def display(formulas: Sequence[str], end: str = "") -> str:
    r"""LaTeX of a display that ends with `end`; further formulas stand behind it, where a page may break."""
    if len(formulas) == 1:
        return rf"\[ {with_end(formulas[0], end)} \]"
    main, *parts = formulas
    others = LINE_END.join([*(with_end(each, ",") for each in parts[:-1]), with_end(parts[-1], end)])
    broken = f"\\begin{{gather*}}\n{others}\n\\end{{gather*}}"
    return rf"\[ {main} \]" + f"\nwhere\n{{\\allowdisplaybreaks\n{broken}}}"


def with_end(formula: str, words: str) -> str:
    """With these words at the end of its last line."""
    body, end, behind = formula.rpartition("\n\\end{aligned}")
    return f"{body}{words}{end}" if end and not behind else f"{formula}{words}"


# Each turn names the longest part that fits a line, so that what is left is shorter.
def shortened(
    stated: Sequence[Line],
    notation: Notation | None = None,
    room: float = PAGE,
    taken: Sequence[str] = (),
    bound: Set[sp.Symbol] = frozenset(),
) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """The right sides and names of their repeated and longest parts, with which each line has at most so many points.

    The names begin with a letter that is not `taken`. A part with one of the letters `bound` is a function of it.
    """
    right, parts = _with_names([each for _, _, each in stated], notation, taken, bound)
    letter = _letter([each for _, _, each in stated], notation, taken)
    lines = [(of, relation, each) for (of, relation, _), each in zip(stated, right, strict=True)]
    lines += [(latex(name), "=", part) for name, part in parts]
    own = {symbol for _, _, each in stated for symbol in each.free_symbols} - bound
    for place in range(len(parts), len(parts) + MOST_NAMES) if letter else ():
        wide = (each for of, sign, each in lines if width(_lines(of, sign, each, notation, room)) > room)
        part = next((found for each in wide if (found := _longest_part(each, notation, room)) is not None), None)
        if part is None:
            break
        name = _name(f"{letter}_{place + 1}", part, part.free_symbols - own - {each for each, _ in parts})
        lines = [(of, sign, each.xreplace({part: name})) for of, sign, each in lines] + [(latex(name), "=", part)]
        parts.append((name, part))
    now = [each for _, _, each in lines]
    named = [(name, each) for (name, _), each in zip(parts, now[len(stated) :], strict=True)]
    return _in_order(now[: len(stated)], named)


def _in_order(right: Sequence[Any], parts: Letters) -> tuple[list[Any], Letters]:
    """The same, each part behind those that it is made of, and numbered so."""
    meanings, ordered = dict(parts), list[Any]()

    def add(name: Any) -> None:
        for other in meanings:
            if other not in ordered and other != name and meanings[name].has(other):
                add(other)
        if name not in ordered:
            ordered.append(name)

    for name, _ in parts:
        add(name)
    numbered = {name: with_number(name, place + 1) for place, name in enumerate(ordered)}
    return [each.xreplace(numbered) for each in right], [
        (numbered[name], meanings[name].xreplace(numbered)) for name in ordered
    ]


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


def stated(
    condition: Any,
    notation: Notation | None = None,
    room: float = PAGE,
    end: str = "",
    shared: Shared | None = None,
) -> str:
    """A condition in a sentence, and what ends it: in the line, or in a display where it is long."""
    inline = latex(condition, notation)
    if width(inline) <= room / 2:
        return f"${inline}${end}"
    return display(condition_lines(condition, notation, room, shared), end)


def condition_lines(
    condition: Any, notation: Notation | None = None, room: float = PAGE, shared: Shared | None = None
) -> list[str]:
    """The formulas of a display of a condition, its longer side on the right."""
    if not isinstance(condition, sp.core.relational.Relational):
        return [wrapped(latex(condition, notation), room)]
    shorter, other, relation = condition.lhs, condition.rhs, condition.rel_op
    if width(latex(shorter, notation)) > width(latex(other, notation)):
        shorter, other, relation = other, shorter, condition.reversed.rel_op
    return equations(latex(shorter, notation), SIGN_OF[relation], other, notation, room, shared)


SIGN_OF = {"<=": r"\le", ">=": r"\ge", "<": "<", ">": ">", "==": "=", "!=": r"\ne"}


def with_names(expression: Any, notation: Notation | None = None) -> tuple[Any, list[tuple[sp.Symbol, Any]]]:
    """The expression by names of its repeated parts, and name and part in the order in which they build on each other.

    A part that is hardly longer than a name is kept, and so is a part that contains the index of a sum.
    """
    (main,), parts = _with_names([expression], notation, (), frozenset())
    return main, parts


def _with_names(
    expressions: Sequence[Any], notation: Notation | None, avoided: Sequence[str], bound: Set[sp.Symbol]
) -> tuple[list[Any], list[tuple[sp.Symbol, Any]]]:
    letter = _letter(expressions, notation, avoided)
    own = {symbol for each in expressions for symbol in each.free_symbols} - bound
    found, mains = sp.cse(expressions, symbols=sp.numbered_symbols("part"))
    known: dict[sp.Basic, sp.Basic] = {}
    parts: list[tuple[sp.Symbol, Any]] = []
    for symbol, part in found if letter else ():
        written = part.xreplace(known)
        of_an_index = not written.free_symbols <= own | {name for name, _ in parts}
        if of_an_index or width(_shown(written, notation)) <= WORTH_A_NAME:
            known[symbol] = written
            continue
        name = sp.Symbol(f"{letter}_{len(parts) + 1}", **symbol.assumptions0)
        known[symbol] = name
        parts.append((name, written))
    return ([each.xreplace(known) for each in mains] if letter else list(expressions)), parts


def _letter(expressions: Sequence[Any], notation: Notation | None, avoided: Sequence[str]) -> str:
    """Of the names of parts; "" if all are taken."""
    letters = [str(symbol) for each in expressions for symbol in each.free_symbols]
    written = [name.lstrip("\\") for name in names_of_letters(notation)]
    near = (*avoided, *letters, *(name.lstrip("\\") for name in (notation or {}).values() if name))
    begins = [each for each in NAMES if not any(name.startswith(each) for name in near)]
    numbered = re.compile(r"([A-Za-z]+)_?\{?\d+\}?")
    alike = {found[1] for name in (*letters, *written) if (found := numbered.fullmatch(name))}
    return next((each for each in begins if each not in written), next((x for x in begins if x not in alike), ""))
