"""Expressions of a certificate's record as terms of Coq over its real numbers.

Coq's functions are total: 1/0, sqrt(-1) and ln(0) are numbers. What a term needs to mean what it says is therefore
listed beside it, and proved.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

from symbolic.words.errors import UsageError

Record = Sequence[Any]  # as `certify/expressions.py` writes it

SAME = ("exp", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")
FUNCTIONS = {name: name for name in SAME} | {"log": "ln", "Abs": "Rabs", "Max": "Rmax", "Min": "Rmin"}
# Words of Coq's language, and names that its terms here use.
RESERVED = {
    *("Prop", "Set", "Type", "SProp", "as", "at", "by", "cofix", "do", "else", "end", "exists", "exists2", "fix"),
    *("for", "forall", "fun", "if", "in", "let", "match", "return", "then", "using", "where", "with"),
    *("R", "exp", "ln", "sqrt", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "PI", "IZR"),
    *("Rabs", "Rmax", "Rmin", "Rpower", "point", "side"),
}
DEFINED = re.compile(r"[HCfg]\d+(_\d+)?")  # names of premises and definitions


@dataclass(frozen=True)
class Need:
    """What a term needs to mean what it says."""

    term: str
    relation: str  # "<>", "<=" or "<": the term differs from 0, is at least 0, is above 0
    of: Record

    @property
    def statement(self) -> str:
        return f"{self.term} <> 0" if self.relation == "<>" else f"0 {self.relation} {self.term}"


def names_in_coq(letters: Iterable[str]) -> dict[str, str]:
    """A name of Coq for each letter; two letters never share one."""
    found: dict[str, str] = {}
    for letter in letters:
        name = re.sub(r"[^A-Za-z0-9_']", "_", letter)
        name = name if name[0].isalpha() else f"x{name}"
        while name in RESERVED or DEFINED.fullmatch(name) or name in found.values():
            name += "_"
        found[letter] = name
    return found


def number_in_coq(number: Rational) -> str:
    sign, p, q = "-" if number < 0 else "", abs(number.numerator), number.denominator
    text = f"{sign}{p}" if q == 1 else f"{sign}{p}/{q}"
    return f"({text})" if sign or q != 1 else text


class CoqTerms:
    """Writes expressions in the letters of one claim. Raises UsageError for a function that Coq's Interval lacks."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def term(self, record: Record) -> str:
        """One term; what is not a name or a number of one piece stands in parentheses."""
        head, parts = record[0], record[1:]
        if head == "Rational":
            return number_in_coq(Fraction(int(parts[0]), int(parts[1])))
        if head == "Symbol":
            return self.names[parts[0]]
        if head == "Constant":
            return "PI" if parts[0] == "pi" else "(exp 1)"
        if head == "Add":
            return f"({self.term(parts[0])}{''.join(map(self._summand, parts[1:]))})"
        if head == "Mul":
            above = [part for part in parts if not _divides(part)]
            below = [self._power(part[1], _opposite(part[2])) for part in parts if _divides(part)]
            return f"({' / '.join([' * '.join(map(self.term, above)) or '1', *below])})"
        if head == "Pow":
            return self._power(*parts)
        return self._function(head, parts)

    def _summand(self, record: Record) -> str:
        """With its sign in front."""
        if record[0] == "Mul" and len(record) > 2 and _is_minus_1(record[1]):
            rest = record[2] if len(record) == 3 else ["Mul", *record[2:]]
            return f" - {self.term(rest)}"
        return f" + {self.term(record)}"

    def _function(self, head: str, parts: Sequence[Record]) -> str:
        if head not in FUNCTIONS:
            raise UsageError(
                f"certify --coq: the library Interval of Coq does not know the function {head}; it knows "
                f"{', '.join(FUNCTIONS)} and powers. Omit --coq: the certificate itself needs no Coq."
            )
        first, *others = map(self.term, parts)
        for other in others:
            first = f"({FUNCTIONS[head]} {first} {other})"
        return first if others else f"({FUNCTIONS[head]} {first})"

    def _power(self, base: Record, exponent: Record) -> str:
        inner = self.term(base)
        if exponent[0] != "Rational":
            return f"(Rpower {inner} {self.term(exponent)})"
        p, q = int(exponent[1]), int(exponent[2])
        if q & (q - 1):
            return f"(Rpower {inner} {number_in_coq(Fraction(p, q))})"
        while q > 1:
            inner, q = f"(sqrt {inner})", q // 2
        inner = inner if abs(p) == 1 else f"({inner} ^ {abs(p)})"
        return inner if p > 0 else f"(1 / {inner})" if p else "1"

    def needs(self, *records: Record) -> list[Need]:
        """What the terms need, each once."""
        found = (Need(self.term(of), relation, of) for record in records for of, relation in _needs(record))
        return list({each.statement: each for each in found}.values())


def _needs(record: Record) -> Iterator[tuple[Record, str]]:
    head, parts = record[0], record[1:]
    if head in ("Rational", "Symbol", "Constant"):
        return
    for part in parts:
        yield from _needs(part)
    if head == "log":
        yield parts[0], "<"
    elif head == "tan":
        yield ["cos", parts[0]], "<>"
    elif head == "Pow" and parts[0][0] not in ("Rational", "Constant"):
        exponent = parts[1]
        if exponent[0] != "Rational" or (int(exponent[2]) & (int(exponent[2]) - 1)):
            yield parts[0], "<"
        elif int(exponent[1]) < 0:
            yield parts[0], "<>" if int(exponent[2]) == 1 else "<"
        elif int(exponent[2]) > 1:
            yield parts[0], "<="


def _is_minus_1(record: Record) -> bool:
    return record[0] == "Rational" and int(record[1]) == -int(record[2])


def _divides(record: Record) -> bool:
    return record[0] == "Pow" and record[2][0] == "Rational" and int(record[2][1]) < 0


def _opposite(exponent: Record) -> Record:
    return ["Rational", str(-int(exponent[1])), exponent[2]]


def functions_of(*records: Record) -> set[str]:
    """The heads of all nodes."""
    found: set[str] = set()
    waiting = list(records)
    while waiting:
        record = waiting.pop()
        found.add(record[0])
        if record[0] not in ("Rational", "Symbol", "Constant"):
            waiting += record[1:]
    return found
