"""How a derived bound is shown: in one piece where that is short, else by the steps that it is made of."""

from collections.abc import Sequence

import sympy as sp

from symbolic.displays import PAGE, Line, equation, gathered, lines, shortened, with_end
from symbolic.names import ERROR, PLACE, members_in
from symbolic.naming import Named, NamedPart, named_bound
from symbolic.statements import Quantity
from symbolic.typesetting import Notation, as_shown, latex
from symbolic.widths import width

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
    at, name = quantity.worst_case or {}, quantity.step or quantity.name
    named = named_bound(quantity.derivation, name, at, lambda each: width(latex(each, notation)) <= PAGE - NAME)
    return named if named.parts else None


def derived_equation(quantity: Quantity, relation: str, notation: Notation | None = None) -> str:
    """The body of a display of the derived bound."""
    left, named = quantity.latex_symbol, shown_bound(quantity, notation)
    if named is None:
        return equation(left, relation, quantity.derived(), notation)
    return gathered(named_equations(left, relation, named, notation))


def named_equations(left: str, relation: str, named: Named, notation: Notation | None = None) -> list[str]:
    """The bound, and what each name in it means; parts that these share, or that no line holds, have letters."""
    stated = [(left, relation, as_shown(named.main))]
    stated += [(latex(part.name, notation), "=", as_shown(part.meaning)) for part in named.parts]
    ends = [_end(named, part, notation) for part in named.parts]
    wide = [place for place, line in enumerate(stated) if not 1 <= (lines(*line, notation) or 0) <= IN_ONE_PIECE]
    indices = {part.index for part in named.parts if part.index is not None} - named.main.free_symbols
    taken = "".join(sorted({_letter(part) for part in named.parts}))
    right, letters = shortened([stated[place] for place in wide], notation, PAGE, taken, indices) if wide else ([], [])
    for place, each in zip(wide, right, strict=True):
        stated[place] = (*stated[place][:2], each)
    ordered = _ordered(stated[1:] + stated[:1], letters)
    new = [name for _, before in ordered for name, _ in before]
    numbered = {name: _numbered(name, place) for place, name in enumerate(new, start=1)}
    main = _stated((*stated[0][:2], stated[0][2].xreplace(numbered)), "", notation)
    shown = []
    for (line, new), end in zip(ordered, [*ends, ""], strict=True):
        shown += [_stated((latex(numbered[n], notation), "=", m.xreplace(numbered)), "", notation) for n, m in new]
        shown.append(_stated((*line[:2], line[2].xreplace(numbered)), end, notation))
    return [main, *shown[:-1]]


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


def _numbered(name: sp.Expr, number: int) -> sp.Expr:
    """The same letter with another number."""
    if not name.is_Symbol:
        return sp.Function(f"{name.func.__name__[0]}_{number}")(*name.args)
    return sp.Symbol(f"{name.name[0]}_{number}", **name.assumptions0)


def _end(named: Named, part: NamedPart, notation: Notation | None) -> str:
    """For which members the meaning of a family holds."""
    apart = ", ".join(latex(place, notation) for place in named.apart(part))
    return rf" \quad ({latex(part.index, notation)} \ne {apart})" if apart else ""


def _stated(line: Line, end: str, notation: Notation | None) -> str:
    whole = with_end(equation(*line, notation), end)
    return whole if width(whole) <= PAGE else with_end(equation(*line, notation, PAGE - width(end)), end)


def _occurs(name: sp.Expr, expression: sp.Expr) -> bool:
    return expression.has(name if name.is_Symbol else name.func)


def _letter(part: NamedPart) -> str:
    """The first one of the name of its step."""
    return str(part.name.name if part.name.is_Symbol else part.name.func.__name__).removeprefix(ERROR)[:1]


def plain_definition(named: Named, part: NamedPart) -> tuple[str, str]:
    """Name and meaning in plain text."""
    apart = f" ({part.index} != {', '.join(map(sp.sstr, named.apart(part)))})" if named.apart(part) else ""
    return plain_text(part.name), f"{plain_text(part.meaning)}{apart}"


def plain_text(expression: sp.Expr) -> str:
    """A formula in which the errors of members are functions of their place."""
    families = {each: each.func.__name__.replace(PLACE, "") for each in members_in(expression)}
    plain = {each: sp.Function(name)(*each.args) for each, name in families.items()}
    indices = {each: sp.Symbol(each.name) for each in expression.atoms(sp.Dummy)}
    return str(sp.sstr(as_shown(expression).xreplace(plain).xreplace(indices)))
