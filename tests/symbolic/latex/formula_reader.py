r"""Reads the LaTeX of formulas, lines and definitions of letters included, and computes their values: no code of ours.

It knows sums, products, fractions (also with a slash), powers, roots, log, exp, max, absolute values, letters with an
index, and `aligned` and `gathered`.
"""

import math
import re
from collections.abc import Mapping

TOKEN = re.compile(r"\\begin\{\w+\}|\\end\{\w+\}|\\\\|\\[a-zA-Z]+|[A-Za-z]_\{\w+\}|\d+(?:\.\d+)?|[a-zA-Z]|\S")
LAYOUT = re.compile(r"\\(?:begin|end)\{\w+\}|\\quad|&|\n")


def value_of(text: str, letters: Mapping[str, float]) -> float:
    """The value of a display: the first formula, with the letters that the others define."""
    definitions = re.split(r"(?=[a-z]_\{\d+\} &?=)", text)
    main, *others = (LAYOUT.sub(" ", each).replace(r"\\", " ") for each in definitions)
    defined = dict(each.split("=", 1) for each in others)
    assert len(defined) == len(others)
    return _Reading(main, letters, {name.strip(): each for name, each in defined.items()}).whole()


class _Reading:
    def __init__(self, text: str, letters: Mapping[str, float], defined: Mapping[str, str]) -> None:
        self.tokens, self.letters, self.defined = TOKEN.findall(text), letters, defined

    def whole(self) -> float:
        found = self._sum()
        assert not self.tokens, self.tokens
        return found

    def _peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def _take(self, *wanted: str) -> str:
        token = self.tokens.pop(0)
        assert not wanted or token in wanted, (token, self.tokens)
        return token

    def _sum(self) -> float:
        sign = -1 if self._peek() == "-" and self._take() else 1
        total = sign * self._product()
        while self._peek() in ("+", "-"):
            total += (1 if self._take() == "+" else -1) * self._product()
        return total

    def _product(self) -> float:
        total = self._power()
        while self._peek() not in ("", "+", "-", "}", r"\right", ",", "|"):
            if self._peek() == "/":
                self._take()
                total /= self._power()
            else:
                if self._peek() == r"\cdot":
                    self._take()
                total *= self._power()
        return total

    def _power(self) -> float:
        base = self._atom()
        if self._peek() == "^":
            self._take()
            base **= self._group()
        return base

    def _group(self) -> float:
        if self._peek() != "{":
            return float(self._take())
        self._take("{")
        found = self._sum()
        self._take("}")
        return found

    def _inside(self) -> list[float]:
        self._take(r"\left")
        self._take("(", "|", "[")
        found = [self._sum()]
        while self._peek() == ",":
            self._take()
            found.append(self._sum())
        self._take(r"\right")
        self._take(")", "|", "]")
        return found

    def _atom(self) -> float:
        token = self._peek()
        if token == r"\left":
            absolute = self.tokens[1] == "|"
            (found,) = self._inside()
            return abs(found) if absolute else found
        if token == "{":
            return self._group()
        self._take()
        if token == r"\frac":
            return self._group() / self._group()
        if token == r"\sqrt":
            root = 2.0
            if self._peek() == "[":
                self._take()
                root = float(self._take())
                self._take("]")
            return self._group() ** (1 / root)
        if token == r"\log":
            return math.log(self._inside()[0] if self._peek() == r"\left" else self._atom())
        if token == r"\max":
            return max(self._inside())
        if token in self.letters:
            return self.letters[token]
        if token in self.defined:
            return _Reading(self.defined[token], self.letters, self.defined).whole()
        return math.e if token == "e" else float(token)
