"""Formulas as ASCII text: names of objects, numbers, brackets, expressions in t at an argument."""

import re
from itertools import accumulate

import sympy as sp
from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

from bridge.expressions.functions import t

PLACE = sp.Symbol("PLACE")  # stands for an argument in the text of a formula


def object_text(name: str, *, hat: bool = False, index: str = "") -> str:
    """The name of an object as a letter with what stands below it, and the number of a layer."""
    base, _, below = name.partition("_")
    if not below and (numbered := re.fullmatch(r"([A-Za-z]+)(\d+)", name)):
        base, below = numbered.groups()
    parts = [each for each in (*below.split("_"), index) if each]
    lower = f"_{parts[0]}" if len(parts) == 1 else f"_({', '.join(parts)})" if parts else ""
    return f"{base}{lower}{'_hat' if hat else ''}"


def within(text: str) -> str:
    """In brackets, where it is a sum or a product."""
    return f"({text})" if re.search(r"[ +*/-]", outside(text)) else text


def outside(text: str) -> str:
    """What stands in no brackets."""
    depths = accumulate((c == "(") - (c == ")") for c in text)
    return "".join(c for c, depth in zip(text, depths, strict=True) if depth == 0)


def number_text(number: sp.Expr) -> str:
    """A number in letters, without the stars of products."""
    return in_ascii(sp.sstr(number))


def in_ascii(text: str) -> str:
    """What SymPy prints, as mathematics: products have a space, those of `%`, entry by entry, a star."""
    text = re.sub(r"\b(Max|Min|Abs)\(", lambda found: found[0].lower(), text)
    return text.replace("**", "^").replace("*", " ").replace("%", "*")


class _WithStars(StrPrinter):
    """Products of values, which are entry by entry, have a star; a number before a value has none."""

    def _print_Mul(self, expr: sp.Mul) -> str:
        values = [each for each in expr.args if each.has(PLACE) and not each.as_base_exp()[1].is_negative]
        if len(values) < 2:
            return str(super()._print_Mul(expr))
        numerator, denominator = (expr / sp.Mul(*values)).as_numer_denom()
        shown = " % ".join(self.parenthesize(each, precedence(expr)) for each in values)
        before = {1: "", -1: "-"}.get(numerator, f"{self.parenthesize(numerator, precedence(expr))} ")
        return f"{before}{shown}" + (
            "" if denominator == 1 else f"/{self.parenthesize(denominator, PRECEDENCE['Pow'])}"
        )


def formula_at(expr: sp.Expr, argument: str) -> str:
    """The text of an expression in t at an argument."""
    text = in_ascii(_WithStars().doprint(expr.subs(t, PLACE)))
    text = re.sub(rf"((?<=\()|(?<=, )){PLACE}(?=[,)])", lambda _: argument, text)
    return text.replace(str(PLACE), within(argument))


def within_product(text: str) -> str:
    """In brackets, where a factor beside it would be taken into a sum or a product entry by entry."""
    return f"({text})" if re.search(r" [+*-] |/", outside(text)) or text.startswith("-") else text
