"""Expressions whose numbers would take for ever are refused by name, before SymPy or mpmath meets them."""

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from bridge.questions.certify.expressions import from_record
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.parsing import parse_inequality
from bridge.questions.certify.reading import read_claim
from bridge.questions.certify.sizes import MOST_BITS, MOST_TERMS, check_expansion, check_sizes, replaced
from bridge.questions.certify.words import short
from symbolic import UsageError
from symbolic.derivations.inequalities import Inequality

x, y = sp.symbols("x y", real=True)
X = ["Symbol", "x"]


def rational(p: Any) -> list[str]:
    return ["Rational", str(p), "1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gamma(1e9)*x", r"gamma\(1000000000\): gamma accepts numbers up to 1000 only"),
        ("loggamma(1e9)*x", r"loggamma\(1000000000\): gamma accepts"),
        ("gamma(1/2 - 10**8)", "gamma accepts"),
        ("x**(gamma(1e9))", "gamma accepts"),
        ("gamma(1001)", "gamma accepts"),
        ("exp(exp(exp(1000)))*x", r"exp\(exp\(1000\)\) is too large: beyond 2\*\*10000"),
        ("exp(exp(exp(20)))", r"exp\(exp\(20\)\) is too large"),
        ("exp(-exp(20))*x", "is too small: below"),
        ("sinh(1e9) + x", "is too large"),
        ("max(x, exp(exp(exp(20))))", "is too large"),
        ("x*9**9**9**9", "position .* is an exponent that is too large"),
        ("x**(10**9)", "position .* is an exponent that is too large"),
        ("x**x**10**9", "is an exponent that is too large"),
        ("(x**100000)**100000", "has an exponent that is too large: at most 100000"),
        ("(x**50001*x**50000)**1", "has an exponent that is too large"),
        ("exp(100000000*log(x))", "has an exponent that is too large"),
        ("(2**4000*x)**100000", "may have more than 4194304 bits when it is expanded"),
        ("exp(10000*log(2**5000*x))", "may have more than"),
        ("(1e-999*x)**300", "is too small|a number has more than 10000 bits"),
        ("(2**4500*3)*(2**4500*3)*(2**1000*x)*2**5", "is too large|more than 10000 bits"),
        ("log(-1)*x", r"is not a real number"),
        ("1/(1 - 1)*x", "is not a real number"),
        ("tan(pi/2)*x", "is not a real number"),
        ("asin(2) + x", "is not a real number"),
    ],
)
def test_what_is_too_large_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_claim(text)


@pytest.mark.parametrize(
    "text",
    [
        "gamma(1000)*x",
        "gamma(x + 1e9)",
        "exp(exp(8))*x - exp(-exp(8))",
        "(x + 1)**100000",
        "((x + 1)**1000 + 1)**99",
        "2**x + 3**(2*x)",
        "exp(2*log(x)) + x**x",
        "sin(1e900*x) + 1e900",
        "max(1e9, x)*min(0, pi) + asin(x/2) - log(abs(x) + 2)",
        "abs(" * 150 + "x" + ")" * 150,
        "x+" * 1900 + "x",
    ],
    ids=range(11),
)
def test_what_is_not_is_read(text: str) -> None:
    assert read_claim(text)[0].free_symbols == {x}


def test_limits_hold_at_the_edge() -> None:
    check_sizes(sp.Integer(2) ** MOST_BITS - 1, "here")
    with pytest.raises(UsageError, match="here: a number has more than 10000 bits"):
        check_sizes(sp.Integer(2) ** MOST_BITS, "here")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (["Mul", X, ["gamma", rational(10**9)]], "gamma accepts"),
        (["Pow", ["Pow", ["Pow", rational(2), rational(1000)], rational(1000)], rational(1000)], "too large"),
        (["Pow", ["Pow", X, rational(99_999)], rational(99_999)], "exponent that is too large"),
        (["Pow", X, ["Mul", rational(99_999), rational(99_999)]], "exponent that is too large"),
        (["Pow", ["Mul", X, rational("9" * 3000)], rational(99_999)], "more than 4194304 bits"),
        (["exp", ["exp", ["exp", rational(1000)]]], "too large"),
        (["log", ["Mul", rational(-1), rational(2)]], "not a real number"),
    ],
    ids=range(7),
)
def test_records_are_judged_too(record: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        from_record(record, {"x": x}, "here")


def test_functions_that_are_not_known_are_refused() -> None:
    with pytest.raises(UsageError, match="zeta is not a function that certify supports"):
        check_sizes(sp.zeta(x), "here")


def test_an_expansion_of_many_terms_is_refused() -> None:
    check_expansion((x + y + 1) ** 100 / (x**2 + 1) ** 3, "here")
    for large in ((x + y + 1) ** 90_000, (x + 1) ** (2 * MOST_TERMS), 1 / (x + y + 1) ** 90_000 + x):
        with pytest.raises(UsageError, match=f"more than {MOST_TERMS} terms"):
            check_expansion(large, "here")


def test_a_form_whose_comparison_would_expand_too_much_is_refused() -> None:
    base = ["Add", X, ["Symbol", "y"], rational(1)]
    powers = [["Pow", base, rational(exponent)] for exponent in (45_000, 44_000)]
    record = {
        "name": "form",
        "symbols": {"x": ["real"], "y": ["real"]},
        "box": [["x", "0", "1"], ["y", "0", "1"]],
        "expression": powers[0],
        "where": [],
        "strict": False,
        "vanishing": [],
        "form": {"vector": [rational(1)], "matrix": [[powers[1]]]},
        "meaning": "",
        "because": {},
    }
    with pytest.raises(UsageError, match="here, inequality: it may have more than"):
        parse_inequality(record, "here")


def test_values_are_put_in_without_evaluating() -> None:
    expression = x**2 * sp.gamma(3 * x + 10**6) + y
    found = replaced(expression, {x: sp.Integer(0)})
    assert found.has(sp.gamma)
    with pytest.raises(UsageError, match="gamma accepts"):
        check_sizes(found, "here")


def test_an_equilibrium_at_which_a_number_is_too_large_is_not_shown() -> None:
    hidden = Inequality("hidden", x**2 * sp.gamma(3 * x + 10**6), {x: (0, 1)}, vanishing=(x,))
    assert not Enclosures(hidden).vanishes
    assert Enclosures(Inequality("plain", x**2 * sp.gamma(3 * x + 4), {x: (0, 1)}, vanishing=(x,))).vanishes


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 3), "0.333333"),
        (Fraction(-(10**900), 7), "-1.42857e+899"),
        (Fraction(1, 10**900), "1e-900"),
    ],
)
def test_numbers_are_shown_with_six_digits(number: Fraction, words: str) -> None:
    assert short(number) == words
