"""Letters for the parts of a formula that no line holds, from the inside out: also for some factors of a product."""

from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

from symbolic.latex.displays import WORTH_A_NAME, definitions, in_lines, name_of_part, unused_letter
from symbolic.latex.page import Page
from symbolic.latex.typesetting import as_shown

OF_MANY = sp.Add | sp.Mul | sp.Max | sp.Min
BINDING = (sp.Derivative, sp.Subs, sp.Lambda, sp.Limit)  # of a letter that stands for a part, they would differ
LETTER = 25.0  # points: what is not wider needs no name


def in_groups(sides: Sequence[Any], relation: str, page: Page) -> list[str]:
    """The formula and, below it, the definitions of its parts; wider than the page only where no part can be named.

    `sides`: the expression, or the left and the right side of a relation.
    """
    sides = [as_shown(each, page.notation) for each in sides]
    letter = unused_letter(sides, page)
    if not letter or any(each.has(*BINDING) for each in sides):
        return [f" {relation} ".join(map(page.latex, sides))]
    own = frozenset().union(*(each.free_symbols for each in sides))
    groups = _Groups(letter, own, page)
    left = "".join(page.latex(groups(each)) for each in sides[:-1])
    terms = sp.Add.make_args(sides[-1]) if isinstance(sides[-1], sp.Expr) else [sides[-1]]
    main = sp.Add(*map(groups, terms)) if len(terms) > 1 else groups(terms[0])
    return [in_lines(each, page) for each in [(left, relation, main), *definitions(groups.parts, page)]]


class _Groups:
    """Expressions with letters for parts, so that each fits a line; `parts` are the letters and what they stand for."""

    def __init__(self, letter: str, own: frozenset[sp.Symbol], page: Page) -> None:
        self.parts: list[tuple[Any, Any]] = []
        self._letter, self._own, self._page = letter, own, page
        self._most = page.room - WORTH_A_NAME

    def __call__(self, node: Any) -> Any:
        if not node.args or self._fits(node):
            return node
        if isinstance(node, sp.MatrixBase):
            return self._named_inside(sp.ImmutableDenseMatrix, node, [self(each) for each in node.flat()])
        args = [self(each) if isinstance(each, sp.Expr | ExprCondPair) else each for each in node.args]
        if isinstance(node, OF_MANY):
            return self._in_chunks(node.func, args)
        return self._named_inside(node.func, node, args)

    def _fits(self, node: Any) -> bool:
        shown = node.expr if isinstance(node, ExprCondPair) else node
        return self._page.width(shown) <= self._most

    def _named(self, part: Any) -> Any:
        if not part.args or self._page.width(part) <= LETTER:
            return part
        known = next((name for name, meaning in self.parts if meaning == part), None)
        if known is None:
            letters = {name for name, _ in self.parts if name.is_Symbol}
            known = name_of_part(f"{self._letter}_{len(self.parts) + 1}", part, part.free_symbols - self._own - letters)
            self.parts.append((known, part))
        return known

    def _in_chunks(self, of: Any, args: Sequence[Any]) -> Any:
        """Neighbours together, as many as a line holds."""
        while not self._fits(of(*args)):
            chunks: list[list[Any]] = [[]]
            for each in args:
                if chunks[-1] and not self._fits(of(*chunks[-1], each)):
                    chunks.append([])
                chunks[-1].append(each)
            named = [self._named(of(*each)) for each in chunks]
            if named == list(args):
                break
            args = named
        return of(*args)

    def _named_inside(self, of: Any, node: Any, args: Sequence[Any]) -> Any:
        """The widest arguments by their letters, as many as it takes."""
        args = list(args)

        def made() -> Any:
            return of(*node.shape, args) if isinstance(node, sp.MatrixBase) else of(*args)

        inside = [place for place, each in enumerate(args) if isinstance(each, sp.Expr | ExprCondPair)]
        for place in sorted(inside, key=lambda place: -self._points(args[place])):
            if self._fits(made()):
                break
            each = args[place]
            pair = isinstance(each, ExprCondPair)
            args[place] = ExprCondPair(self._named(each.expr), each.cond) if pair else self._named(each)
        return made()

    def _points(self, part: Any) -> float:
        return self._page.width(part.expr if isinstance(part, ExprCondPair) else part)
