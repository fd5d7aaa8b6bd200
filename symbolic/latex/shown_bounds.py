"""How a derived bound is shown: in one piece where that is short, else by the steps that it is made of."""

from collections.abc import Sequence

import sympy as sp

from symbolic.latex.displays import PAGE, Line, equation, equations, gathered, lines, shortened, with_end
from symbolic.latex.naming import Named, NamedPart, named_bound, range_of
from symbolic.latex.shared_parts import Shared
from symbolic.latex.typesetting import Notation, as_shown, latex
from symbolic.latex.widths import width
from symbolic.statements.result import Quantity
from symbolic.words.names import ERROR, PLACE, members_in

IN_ONE_PIECE = 2  # lines
Letters = list[tuple[sp.Expr, sp.Expr]]  # name and meaning
NAME = 90.0  # points: of a name with its relation


def shown_bound(quantity: Quantity, notation: Notation | None = None) -> Named | None:
    """The derived bound by the errors of steps; None if there is none, or if its closed form is short."""
    closed = quantity.derived()
    if closed is None or quantity.derivation is None:
        return None
    if (lines(quantity.latex_symbol, r"\le", closed, notation) or PAGE) <= IN_ONE_PIECE:
        return None
    at, name = quantity.at_worst, quantity.step or quantity.name
    named = named_bound(quantity.derivation, name, at, lambda each: width(latex(each, notation)) <= PAGE - NAME)
    return named if named.parts else None


def derived_equation(quantity: Quantity, relation: str, notation: Notation | None = None) -> str:
    """The body of one display of the derived bound."""
    return gathered(derived_equations(quantity, relation, notation))


def derived_equations(
    quantity: Quantity, relation: str, notation: Notation | None = None, shared: Shared | None = None
) -> list[str]:
    """The derived bound, and the names in it that the displays before have not defined."""
    left, named = quantity.latex_symbol, shown_bound(quantity, notation)
    if named is None:
        return equations(left, relation, quantity.derived(), notation, shared=shared)
    return named_equations(left, relation, named, notation, shared)


def named_equations(
    left: str, relation: str, named: Named, notation: Notation | None = None, shared: Shared | None = None
) -> list[str]:
    """The bound, and what each name in it means; parts that these share, or that no line holds, have letters."""
    shared = shared or Shared()
    stated = [(left, relation, as_shown(named.main, notation))]
    stated += [(latex(part.name, notation), "=", as_shown(part.meaning, notation)) for part in named.parts]
    ends = [_end(named, part, notation) for part in named.parts]
    wide = [place for place, line in enumerate(stated) if not 1 <= (lines(*line, notation) or 0) <= IN_ONE_PIECE]
    indices = {part.index for part in named.parts if part.index is not None} - named.main.free_symbols
    taken = [*sorted({_letter(part) for part in named.parts}), *shared.taken]
    right, letters = shortened([stated[place] for place in wide], notation, PAGE, taken, indices) if wide else ([], [])
    for place, each in zip(wide, right, strict=True):
        stated[place] = (*stated[place][:2], each)
    ordered = _ordered(stated[1:] + stated[:1], letters)
    numbered, new = shared.numbered([letter for _, before in ordered for letter in before])
    main = _stated((*stated[0][:2], stated[0][2].xreplace(numbered)), "", notation)
    shown = []
    for (line, before), end, part in zip(ordered, [*ends, ""], [*named.parts, None], strict=True):
        names = [numbered[name] for name, _ in before]
        shown += [_stated((latex(n, notation), "=", m), "", notation) for n, m in new if n in names]
        formula = _stated((*line[:2], line[2].xreplace(numbered)), end, notation)
        shown += [formula] if part is not None and shared.defines(part) else []
    return [main, *shown]


def _ordered(stated: Sequence[Line], letters: Letters) -> list[tuple[Line, Letters]]:
    """Each line with the letters to define before it."""
    defined: Letters = []

    def define(expression: sp.Expr) -> None:
        for letter in letters:
            if letter not in defined and _occurs(letter[0], expression):
                define(letter[1])
                defined.append(letter)

    ordered = []
    for line in stated:
        known = len(defined)
        define(line[2])
        ordered.append((line, defined[known:]))
    return ordered


def _end(named: Named, part: NamedPart, notation: Notation | None) -> str:
    """For which members the meaning of a family holds."""
    apart = named.apart(part)
    if not apart or part.index is None:
        return ""
    index, places = latex(part.index, notation), [latex(place, notation) for place in apart]
    ends = range_of(part.index, apart)
    if ends is None:
        return rf" \quad ({index} \ne {', '.join(places)})"
    low, high = ("" if end is None else latex(end, notation) for end in ends)
    return rf" \quad ({f'{low} < ' if low else ''}{index}{f' < {high}' if high else ''})"


def _stated(line: Line, end: str, notation: Notation | None) -> str:
    whole = with_end(equation(*line, notation), end)
    return whole if width(whole) <= PAGE else with_end(equation(*line, notation, PAGE - width(end)), end)


def _occurs(name: sp.Expr, expression: sp.Expr) -> bool:
    return expression.has(name if name.is_Symbol else name.func)


def _letter(part: NamedPart) -> str:
    """The first one of the name of its step."""
    return str(part.name.name if part.name.is_Symbol else part.name.func.__name__).removeprefix(ERROR)[:1]


def plain_definition(named: Named, part: NamedPart, notation: Notation | None = None) -> tuple[str, str]:
    """Name and meaning in plain text."""
    return plain_text(part.name, notation), f"{plain_text(part.meaning, notation)}{_plain_end(named, part)}"


def _plain_end(named: Named, part: NamedPart) -> str:
    apart = named.apart(part)
    if not apart or part.index is None:
        return ""
    ends = range_of(part.index, apart)
    if ends is None:
        return f" ({part.index} != {', '.join(map(sp.sstr, apart))})"
    low, high = ("" if end is None else sp.sstr(end) for end in ends)
    return f" ({f'{low} < ' if low else ''}{part.index}{f' < {high}' if high else ''})"


def plain_text(expression: sp.Expr, notation: Notation | None = None) -> str:
    """A formula in which the errors of members are functions of their place."""
    expression = as_shown(expression, notation)
    families = {each: each.func.__name__.replace(PLACE, "") for each in members_in(expression)}
    plain = {each: sp.Function(name)(*each.args) for each, name in families.items()}
    indices = {each: sp.Symbol(each.name) for each in expression.atoms(sp.Dummy)}
    return str(sp.sstr(expression.xreplace(plain).xreplace(indices)))
