"""Names of inequalities in a certificate. A name is free text: only what parses to the inequality may stand for it."""

from dataclasses import dataclass

import sympy as sp

from bridge.questions.certify.definedness import evaluated
from bridge.questions.certify.reading import DEFINED, read_claim
from bridge.questions.certify.words import shortly, statement
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class Name:
    """What is shown for an inequality that was checked.

    `title` is the inequality; `label` is a name that does not state it, "" if there is none. `contradicts` is true
    where the name states another inequality.
    """

    title: str
    label: str = ""
    contradicts: bool = False


def name_of(inequality: Inequality, *, stated: bool = False) -> Name:
    """The name of an inequality; one that a result has `stated` under this name keeps it."""
    name, title = inequality.name, statement(inequality)
    if stated:
        return Name(shortly(name))
    if name in (title, _definedness(title)):
        return Name(title)
    try:
        typed, strict = read_claim(name, evaluate=False)
    except UsageError:
        return Name(title, shortly(name))
    if (typed, strict) == (inequality.expression, inequality.strict):
        return Name(shortly(name))
    same = strict == inequality.strict and evaluated(typed, {}) == evaluated(inequality.expression, _real(inequality))
    return Name(title, shortly(name), contradicts=not same and any(sign in name for sign in "<>"))


def _definedness(title: str) -> str:
    return f"{DEFINED}{title.rpartition(' ')[0].rpartition(' ')[0]}"


def _real(inequality: Inequality) -> dict[sp.Symbol, sp.Symbol]:
    """Letters as a text has them."""
    return {symbol: sp.Symbol(symbol.name, real=True) for symbol in inequality.box}
