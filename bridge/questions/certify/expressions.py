"""SymPy expressions as JSON and back, without evaluation: no parser of SymPy reads the text.

A node is a list: ["Symbol", name], ["Rational", p, q], ["Constant", name], or ["Add", parts...], so too Mul, Pow and
the functions.
Trees are restored unevaluated, so that an edited file cannot make SymPy compute a giant power.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd
from typing import Any

import sympy as sp

from bridge.questions.certify.sizes import MOST_POWER, check_sizes
from symbolic.words.errors import UsageError

FUNCTIONS = {
    function.__name__: function
    for function in (
        *(sp.exp, sp.log, sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh, sp.atan, sp.asin, sp.asinh),
        *(sp.erf, sp.gamma, sp.loggamma, sp.Abs, sp.Max, sp.Min),
    )
}
OPERATIONS = {"Add": sp.Add, "Mul": sp.Mul, "Pow": sp.Pow}
CONSTANTS = {"pi": sp.pi, "E": sp.E}
SEVERAL = ("Add", "Mul", "Max", "Min")
FLAGS = ("integer", "positive", "negative", "nonnegative", "nonpositive", "nonzero", "real")
MOST_NODES, MOST_DEPTH, MOST_DIGITS = 200_000, 200, 4_000
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_'*~^\[\]{},.]{0,99}")
WHOLE = re.compile(r"0|-?[1-9][0-9]*")


class Count:
    """Nodes met so far, with the limits on size and depth."""

    def __init__(self, where: str) -> None:
        self.where, self.nodes = where, 0

    def enter(self, depth: int) -> None:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise UsageError(f"{self.where}: the expression has more than {MOST_NODES} nodes; make it smaller.")
        if depth > MOST_DEPTH:
            raise UsageError(f"{self.where}: the expression is nested deeper than {MOST_DEPTH}; make it flatter.")


def to_record(expression: sp.Expr, where: str = "certificate") -> list[Any]:
    """The expression as lists of strings. Raises UsageError that names a node which a certificate cannot store."""
    return _record(expression, Count(where), 0)


def _record(expression: Any, count: Count, depth: int) -> list[Any]:
    count.enter(depth)
    if isinstance(expression, sp.Rational) and expression.is_finite:
        return ["Rational", _digits(expression.p, count.where), _digits(expression.q, count.where)]
    if isinstance(expression, sp.Symbol) and not isinstance(expression, sp.Dummy):
        return ["Symbol", expression.name]
    for name, constant in CONSTANTS.items():
        if expression == constant:
            return ["Constant", name]
    name = type(expression).__name__
    if {**OPERATIONS, **FUNCTIONS}.get(name) is not type(expression):
        raise UsageError(
            f"{count.where}: {name} ({sp.sstr(expression)[:80]}) cannot be written into a certificate; allowed are "
            f"exact rationals, named symbols, pi, E, {', '.join([*OPERATIONS, *FUNCTIONS])}."
        )
    return [name, *(_record(part, count, depth + 1) for part in expression.args)]


def _digits(number: Any, where: str) -> str:
    if int(number).bit_length() > 3.32 * MOST_DIGITS:
        raise UsageError(f"{where}: a number has more than {MOST_DIGITS} digits; round the ranges outwards.")
    return str(int(number))


def from_record(record: Any, symbols: Mapping[str, sp.Symbol], where: str = "certificate") -> sp.Expr:
    """The expression that `to_record` wrote. Raises UsageError for anything else.

    This includes numbers that are too large for SymPy: it evaluates the expression as soon as a symbol is replaced.
    """
    expression = _expression(record, symbols, Count(where), 0)
    check_sizes(expression, where)
    return expression


def _expression(record: Any, symbols: Mapping[str, sp.Symbol], count: Count, depth: int) -> sp.Expr:
    count.enter(depth)
    where = count.where
    if not isinstance(record, list) or not record or not isinstance(record[0], str):
        raise UsageError(
            f"{where}: {shown(record)} is not a node of an expression; a node is a list that begins with a name."
        )
    head, parts = record[0], record[1:]
    if head == "Rational" and len(parts) == 2:
        return _rational(parts, where)
    if head == "Symbol" and len(parts) == 1 and isinstance(parts[0], str) and parts[0] in symbols:
        return symbols[parts[0]]
    if head == "Constant" and len(parts) == 1 and isinstance(parts[0], str) and parts[0] in CONSTANTS:
        return CONSTANTS[parts[0]]
    complete = len(parts) >= 2 if head in SEVERAL else len(parts) == (2 if head == "Pow" else 1)
    if (head in OPERATIONS or head in FUNCTIONS) and complete:
        made = {**OPERATIONS, **FUNCTIONS}[head]
        found = [_expression(part, symbols, count, depth + 1) for part in parts]
        if head == "Pow":
            _require_small_power(found[0], found[1], where)
        return made(*found, evaluate=False)
    raise UsageError(
        f"{where}: {shown(record)} is not a node of an expression (unknown name, symbol or number of parts)."
    )


def _rational(parts: list[Any], where: str) -> sp.Rational:
    p, q = (whole(part, where) for part in parts)
    if q < 1 or gcd(p, q) != 1:
        raise UsageError(f"{where}: {shown(parts)} is not a fraction p, q in lowest terms with q > 0.")
    return sp.Rational(p, q)


def _require_small_power(base: sp.Expr, exponent: sp.Expr, where: str) -> None:
    if exponent.is_Rational and abs(exponent) > MOST_POWER:
        raise UsageError(f"{where}: the exponent {shown(str(exponent))} is larger than {MOST_POWER}.")
    if base.is_Rational and exponent.is_Integer and abs(exponent) > 1_000:
        raise UsageError(f"{where}: a number has the exponent {exponent}; write the number without a power.")


def whole(text: Any, where: str) -> int:
    """A whole number written as `str` writes it."""
    if not isinstance(text, str) or len(text) > MOST_DIGITS + 10 or not WHOLE.fullmatch(text):
        raise UsageError(f"{where}: {shown(text)} is not a whole number written in digits.")
    return int(text)


def fraction(text: Any, where: str) -> Fraction:
    """An exact rational, as "p" or "p/q" in lowest terms."""
    if not isinstance(text, str):
        raise UsageError(f'{where}: {shown(text)} is not an exact rational; write it as a string "p/q".')
    p, slash, q = text.partition("/")
    number = Fraction(whole(p, where), max(1, whole(q, where))) if slash else Fraction(whole(p, where))
    if str(number) != text:
        raise UsageError(f"{where}: {shown(text)} is not an exact rational p/q in lowest terms with q > 0.")
    return number


def symbols_to_record(symbols: Iterable[sp.Symbol], where: str = "certificate") -> dict[str, list[str]]:
    """The assumptions of each symbol, by name; a symbol built from them equals the original."""
    found: dict[str, list[str]] = {}
    for symbol in symbols:
        flags = _flags(symbol)
        if not NAME.fullmatch(symbol.name) or isinstance(symbol, sp.Dummy) or _symbol(symbol.name, flags) != symbol:
            raise UsageError(f"{where}: the symbol {symbol!r} cannot be written: its name or assumptions are unusual.")
        if found.setdefault(symbol.name, flags) != flags:
            raise UsageError(f"{where}: two different symbols are called {symbol.name}; rename one.")
    return found


def symbols_from_record(record: Any, where: str) -> dict[str, sp.Symbol]:
    if not isinstance(record, dict):
        raise UsageError(f"{where}: {shown(record)} is not a table of symbols.")
    for name, flags in record.items():
        known = isinstance(flags, list) and all(isinstance(flag, str) and flag in FLAGS for flag in flags)
        if not known or not NAME.fullmatch(name) or len(set(flags)) < len(flags):
            raise UsageError(
                f"{where}: {shown({name: flags})} is not a symbol with its assumptions ({', '.join(FLAGS)})."
            )
    try:
        return {name: _symbol(name, flags) for name, flags in record.items()}
    except sp.core.facts.InconsistentAssumptions:
        raise UsageError(f"{where}: the assumptions on a symbol contradict each other.") from None


def _flags(symbol: sp.Symbol) -> list[str]:
    flags: list[str] = []
    for flag in FLAGS:
        if symbol.assumptions0.get(flag) and not _symbol(symbol.name, flags).assumptions0.get(flag):
            flags.append(flag)
    return flags


def _symbol(name: str, flags: Iterable[str]) -> sp.Symbol:
    return sp.Symbol(name, **dict.fromkeys(flags, True))


def shown(value: Any) -> str:
    """The value, short enough for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
