"""How a derived bound is shown: in one piece where that is short, else by the steps that it is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Derivation
from symbolic.latex.displays import Line, definitions, equation, equations, gathered, lines, shortened, with_end
from symbolic.latex.naming import Named, NamedPart, named_bound, range_of
from symbolic.latex.page import Letters, Page
from symbolic.latex.typesetting import Notation, as_shown
from symbolic.latex.widths import width
from symbolic.statements.result import Quantity
from symbolic.words.names import ERROR, PLACE, members_in

IN_ONE_PIECE, LONG = 2, 99  # lines
NAME = 90.0  # points: of a name with its relation


def shown_bound(quantity: Quantity, page: Page) -> Named | None:
    """The derived bound by the errors of steps; None if there is none, or if its closed form is short."""
    closed = quantity.derived()
    if closed is None or quantity.derivation is None:
        return None
    line = quantity.latex_symbol, r"\le", closed
    return in_parts(line, quantity.derivation, quantity.concluded_by, quantity.at_worst, page)


def in_parts(line: Line, derivation: Derivation, step: str, at: Mapping[sp.Symbol, Any], page: Page) -> Named | None:
    """The bound of a step, at these values of its letters; None if `line`, its closed form, is short."""
    if (lines(line, page) or LONG) <= IN_ONE_PIECE:
        return None
    named = named_bound(derivation, step, at, lambda each: page.width(each) <= page.room - NAME)
    return named if named.parts else None


def derived_equation(quantity: Quantity, relation: str, page: Page) -> str:
    """The body of one display of the derived bound."""
    return gathered(derived_equations(quantity, relation, page))


def derived_equations(quantity: Quantity, relation: str, page: Page) -> list[str]:
    """The derived bound, and the names in it that the displays before have not defined."""
    left, named = quantity.latex_symbol, shown_bound(quantity, page)
    if named is None:
        return equations((left, relation, quantity.derived()), page)
    return named_equations(left, relation, named, page)


def named_equations(left: str, relation: str, named: Named, page: Page) -> list[str]:
    """The bound, and what each name in it means; parts that these share, or that no line holds, have letters."""
    stated = [(left, relation, named.main), *definitions([(part.name, part.meaning) for part in named.parts], page)]
    stated = [(of, sign, as_shown(each, page.notation)) for of, sign, each in stated]
    wide = [place for place, line in enumerate(stated) if not 1 <= (lines(line, page) or 0) <= IN_ONE_PIECE]
    indices = {part.index for part in named.parts if part.index is not None} - named.main.free_symbols
    taken = [*sorted({_letter(part) for part in named.parts}), *page.taken]
    letters: Letters = []
    if wide:
        right, letters = shortened([stated[place] for place in wide], replace(page, taken=taken), indices)
        for place, each in zip(wide, right, strict=True):
            stated[place] = (*stated[place][:2], each)
    before = _defined_before(stated[1:] + stated[:1], letters)
    numbered, new = page.numbered([letter for each in before for letter in each])
    ends = ["", *(_end(named, part, page) for part in named.parts)]
    main, *meanings = [
        _stated((of, sign, each.xreplace(numbered)), end, page)
        for (of, sign, each), end in zip(stated, ends, strict=True)
    ]
    shown = [main]
    for letters, part, meaning in zip(before, [*named.parts, None], [*meanings, ""], strict=True):
        names = [numbered[name] for name, _ in letters]
        shown += [_stated(line, "", page) for line in definitions([each for each in new if each[0] in names], page)]
        shown += [meaning] if part is not None and page.defines(part) else []
    return shown


def _defined_before(stated: Sequence[Line], letters: Letters) -> list[Letters]:
    """The letters to define before each line."""
    defined: Letters = []

    def define(expression: sp.Expr) -> None:
        for letter in letters:
            if letter not in defined and _occurs(letter[0], expression):
                define(letter[1])
                defined.append(letter)

    before = []
    for _, _, expression in stated:
        known = len(defined)
        define(expression)
        before.append(defined[known:])
    return before


def _end(named: Named, part: NamedPart, page: Page) -> str:
    """For which members the meaning of a family holds."""
    members = _members(named, part, page.latex, r"\ne")
    return rf" \quad ({members})" if members else ""


def _members(named: Named, part: NamedPart, written: Callable[[sp.Expr], str], other_than: str) -> str:
    """The range of the index of a family whose members are not defined by themselves; "" for all members."""
    apart = named.apart(part)
    if not apart or part.index is None:
        return ""
    index, ends = written(part.index), range_of(part.index, apart)
    if ends is None:
        return f"{index} {other_than} {', '.join(map(written, apart))}"
    low, high = ("" if end is None else written(end) for end in ends)
    return f"{f'{low} < ' if low else ''}{index}{f' < {high}' if high else ''}"


def _stated(line: Line, end: str, page: Page) -> str:
    """A display of parts that have their names, and what ends it."""
    alone = Page(page.notation, room=page.room)
    whole = with_end(equation(line, alone), end)
    return whole if width(whole) <= page.room else with_end(equation(line, alone.narrower(width(end))), end)


def _occurs(name: sp.Expr, expression: sp.Expr) -> bool:
    return expression.has(name if name.is_Symbol else name.func)


def _letter(part: NamedPart) -> str:
    """The first one of the name of its step."""
    return str(part.name.name if part.name.is_Symbol else part.name.func.__name__).removeprefix(ERROR)[:1]


def plain_definition(named: Named, part: NamedPart, notation: Notation | None = None) -> tuple[str, str]:
    """Name and meaning in plain text."""
    members = _members(named, part, sp.sstr, "!=")
    return plain_text(part.name, notation), plain_text(part.meaning, notation) + (f" ({members})" if members else "")


def plain_text(expression: sp.Expr, notation: Notation | None = None) -> str:
    """A formula in which the errors of members are functions of their place."""
    expression = as_shown(expression, notation)
    families = {each: each.func.__name__.replace(PLACE, "") for each in members_in(expression)}
    plain = {each: sp.Function(name)(*each.args) for each, name in families.items()}
    indices = {each: sp.Symbol(each.name) for each in expression.atoms(sp.Dummy)}
    return str(sp.sstr(expression.xreplace(plain).xreplace(indices)))
