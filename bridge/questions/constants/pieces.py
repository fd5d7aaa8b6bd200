"""The smooth pieces of expressions with kinks: on each piece Abs, Max and Min are one of their arguments."""

from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp

from symbolic.words.errors import UsageError

KINKED = (sp.Abs, sp.Max, sp.Min)
MOST_PIECES = 64
Piece = tuple[tuple[sp.Expr, ...], tuple[sp.Expr, ...]]  # the expressions, and what is >= 0 there


def pieces(call: str, expressions: Sequence[sp.Expr]) -> list[Piece]:
    """The expressions without kinks, each with its conditions: the pieces cover every point.

    Raises UsageError for more than MOST_PIECES of them.
    """
    done: list[Piece] = []
    waiting: list[Piece] = [(tuple(expressions), ())]
    while waiting:
        piece = waiting.pop()
        kink = _innermost(piece[0])
        if kink is None:
            done.append(piece)
        else:
            waiting += _cut(piece, kink)
        if len(waiting) + len(done) > MOST_PIECES:
            raise UsageError(
                f"{call}: the kinks of {sp.sstr(expressions[0])[:80]} cut it into more than {MOST_PIECES} pieces; "
                f"bound a part of it by itself"
            )
    return done[::-1]


def _innermost(expressions: Sequence[sp.Expr]) -> Any:
    """A kink whose arguments have none."""
    found = [node for each in expressions for node in sp.preorder_traversal(each) if isinstance(node, KINKED)]
    return next((node for node in found if not any(part.has(*KINKED) for part in node.args)), None)


def _cut(piece: Piece, kink: Any) -> Iterator[Piece]:
    """The pieces on which the kink is one of its arguments (or its opposite)."""
    if isinstance(kink, sp.Abs):
        values = [(kink.args[0], (kink.args[0],)), (-kink.args[0], (-kink.args[0],))]
    else:
        sign = 1 if isinstance(kink, sp.Max) else -1
        values = [(a, tuple(sign * (a - b) for b in kink.args if b is not a)) for a in kink.args]
    for value, conditions in values:
        chosen = tuple(each.xreplace({kink: value}) for each in piece[0])
        known = tuple(condition for condition in conditions if not condition.is_nonnegative)
        if not any(condition.is_negative for condition in conditions):
            yield chosen, (*piece[1], *known)
