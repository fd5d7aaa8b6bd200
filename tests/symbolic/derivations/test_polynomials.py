"""Polynomials in powers of exact rationals of floats, in processes of their own: they neither die nor wait."""

import subprocess
import sys

import pytest
import sympy as sp

from symbolic.derivations.polynomials import MOST_DEGREE, decompose_power, decompose_power_rat

SECONDS = 300  # of a call that never comes otherwise
FLOAT = sp.Rational(0.3)
X = sp.Symbol("x", positive=True)
POWERS = [
    "sp.exp(r)",
    "sp.exp(-r)",
    "sp.exp(-r * x)",
    "sp.Integer(2) ** r",
    "x**r",
    "x ** (-r)",
    "sp.exp(r) + sp.exp(sp.Rational(0.7))",
    "sp.exp(r * x) + sp.exp(x)",
]
CALLS = [
    "sp.cancel((a**2 - y**2) / (a - y))",
    "sp.together(1 / a + 1 / y)",
    "sp.factor(a * y + a**2)",
    "sp.Poly(a * y + 1, y)",
    "sp.Poly(a * y + 1)",
    "sp.expand((a + y) ** 2) - a**2",
    "sp.simplify(a * y / a)",
    "(a * y + y).coeff(a)",
]


@pytest.mark.parametrize("power", POWERS)
def test_no_call_on_a_power_of_an_exact_rational_hangs_or_dies(power: str) -> None:
    lines = [
        "import sympy as sp, symbolic",
        "r, x, y = sp.Rational(0.3), sp.Symbol('x', positive=True), sp.Symbol('y', positive=True)",
        f"a = {power}",
        "def near(before, after): return abs(sp.N((before - after).subs({x: 1.25, y: 0.75}), 20)) < 1e-12",
        *(f"{call}" for call in CALLS),
        "assert near(sp.cancel((a**2 - y**2) / (a - y)), a + y)",
        "assert near(sp.together(1 / a + 1 / y), 1 / a + 1 / y)",
        "assert near(sp.factor(a * y + a**2), a * (a + y))",
        "print('done')",
    ]
    ran = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=SECONDS)
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr


def test_a_rule_takes_exponentials_of_exact_rationals() -> None:
    lines = [
        "import boundsmith as bs, sympy as sp",
        "n, q = sp.Symbol('n', positive=True, integer=True), sp.Symbol('q', positive=True)",
        "r = sp.Rational(0.3)",
        "s = bs.rules.given('s', dim=n, size=r, norm=2, error=q)",
        "line = bs.rules.line_at_zero(s, 'w', slope=1, order=2, supremum=sp.exp(r))",
        "print(sp.N(bs.rules.correct(line, 'c', sigma=1).error.subs(q, 0), 6) >= 0)",
    ]
    ran = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=SECONDS)
    assert (ran.returncode, ran.stdout) == (0, "True\n"), ran.stderr


@pytest.mark.parametrize("power", [sp.exp(2 * X / 3), sp.sqrt(X), X**7, 1 / X**3, sp.exp(-5 * X), sp.Integer(2) ** X])
def test_small_exponents_are_split_off_as_sympy_does(power: sp.Expr) -> None:
    base, exponent = decompose_power(power)
    assert base**exponent == power
    base, exponent = decompose_power_rat(power)
    assert base**exponent == power
    assert decompose_power(sp.exp(2 * X / 3)) == (sp.exp(X / 3), 2)


@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_the_limit_a_power_is_a_generator_itself(sign: int) -> None:
    at, beyond = (sp.exp(sign * sp.Rational(p, 17) * X) for p in (MOST_DEGREE - 1, MOST_DEGREE + 1))
    assert decompose_power(at) == (sp.exp(X / 17), sign * (MOST_DEGREE - 1))
    assert decompose_power(beyond) == (sp.exp(sp.Rational(MOST_DEGREE + 1, 17) * X), sign)
    assert decompose_power(sp.exp(sign * FLOAT)) == (sp.exp(FLOAT), sign)
