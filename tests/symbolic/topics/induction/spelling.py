"""The letters of the induction head's losses, put back."""

from typing import Any

import sympy as sp

from symbolic.topics.induction import letters, training


def spelt_out(expression: sp.Expr) -> Any:
    """The same with the closed forms of `training` in the place of the letters."""
    for letter, closed in (
        (letters.M, training.M),
        (letters.m, training.m),
        (letters.psi, training.psi),
        (letters.phi, training.phi),
    ):
        expression = expression.replace(letter, closed)
    return expression
