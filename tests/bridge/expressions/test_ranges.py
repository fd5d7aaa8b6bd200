"""Functions on a range: their constants there, and the condition that arguments stay in it."""

import re
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import boundsmith as bs
from bridge.expressions.constants import decimal_above, parts_of

K, delta, eps = sp.symbols("K delta eps", positive=True)
N, d = sp.symbols("N d", integer=True, positive=True)
FEW = {"samples": 8, "attack": 10, "restarts": 2}


def squared(radius: float = 2, **values: Any) -> bs.Theorem:
    square = bs.function(lambda z: z**2, name="square", radius=radius)
    W, x = bs.matrix("W", d, d, row_sums=K).within(delta, "row_sums"), bs.vector("x", d, size=1)
    return bs.theorem("squared", square(W @ x), parameters={K: 1.0, delta: 0.5, d: 3, **values})


# |(w + u)^2 - w^2| <= 2 R |u| where both lie in [-R, R]; attained as R falls to the end of the range, w = R, u -> 0.
def test_the_constant_is_that_of_the_range_and_the_range_is_a_condition() -> None:
    quantity = squared().statement.quantity("output")
    assert quantity.derived() == 4 * delta
    (owed,) = quantity.derivation.obligations
    assert owed.condition == (K + delta <= 2)
    rows = {row.scope: row for row in bs.compare(squared(), **FEW).rows if row.scope}
    assert {verdict for row in rows.values() for verdict in row.verdict.values()} == {"kept"}
    w, change = np.linspace(-1, 1, 201), 0.5
    assert abs((w + change) ** 2 - w**2).max() <= rows["network"].derived == 2.0


# The true suprema are those of a fine grid, at 30 digits; the ranges hold the places where they are attained.
@pytest.mark.parametrize(
    ("f", "around"),
    [
        (lambda z: z / (1 + sp.exp(-z)), 2.4),
        (lambda z: z * (1 + sp.erf(z / sp.sqrt(2))) / 2, sp.sqrt(2)),
        (lambda z: sp.exp(-(z**2)), 1 / sp.sqrt(2)),
    ],
)
def test_a_certified_constant_has_a_few_digits_and_is_rounded_up(f: Any, around: Any) -> None:
    t = sp.Symbol("t", real=True)
    slope = sp.lambdify(t, f(t).diff(t), "mpmath")
    with mpmath.workdps(30):
        grid = [mpmath.mpf(float(around)) + mpmath.mpf(k) / 10**4 for k in range(-2000, 2001)]
        true = max(abs(slope(each)) for each in grid)
        constant = bs.function(f).constants.lipschitz
        assert true <= mpmath.mpf(constant.p) / constant.q <= true * (1 + mpmath.mpf(2) / 10**4)
    assert (constant * 10**5).is_Integer


@pytest.mark.parametrize(
    ("number", "above"),
    [("10/3", "3.3334"), ("1", "1"), ("0", "0"), ("1.0999", "1.0999"), ("99999.5", "100000"), ("2e-7", "2e-7")],
)
def test_a_number_of_a_few_digits_is_the_least_one_above(number: str, above: str) -> None:
    assert decimal_above(sp.Rational(number)) == sp.Rational(above)


def test_a_certified_constant_stands_in_the_formula_as_a_decimal() -> None:
    silu = bs.function(lambda z: z / (1 + sp.exp(-z)), name="silu")
    W = bs.matrix("W", d, d, row_sums=K).within(delta, "row_sums")
    own = bs.theorem("silu", silu(W @ bs.vector("x", d, size=1)), parameters={K: 1.0, delta: 0.5, d: 3})
    assert own.statement.quantity("output").derived() == sp.Rational("1.0999") * delta
    assert r"\le 1.0999 \delta. \]" in own.latex(part="theorem")


def test_beyond_the_range_a_bound_is_outside() -> None:
    rows = bs.compare(squared(), **FEW, K=1.6).rows
    network = next(row for row in rows if row.scope == "network")
    assert network.verdict["derived"] == "outside"


def test_a_range_that_the_defaults_leave_is_refused_with_the_condition() -> None:
    with pytest.raises(bs.UsageError, match=r"the argument of 'output' stays in \[-R, R\], R = 5/4"):
        squared(1.25)


def test_the_condition_stands_in_the_theorem() -> None:
    assert r"2 \ge K + \delta" in squared().latex(part="theorem")


# exp has no constant over all numbers; on [-1, 1] it is e, and exp itself is at most e.
def test_an_exponential_on_a_range_approximated_by_its_taylor_polynomial() -> None:
    exp = bs.function(sp.exp, radius=1).approximated(lambda z: 1 + z + z**2 / 2)
    own = bs.theorem("taylor", exp(bs.vector("x", d, size=1)), parameters={d: 2})
    bound = float(own.statement.quantity("output").derived())
    largest = np.e - 2.5  # at 1
    assert largest <= bound <= largest * (1 + 1e-4)
    row = next(row for row in bs.compare(own, **FEW).rows if row.scope == "network")
    assert row.verdict["derived"] == "kept"
    assert row.ratio == pytest.approx(1, rel=1e-3)


def test_layers_owe_the_range_at_each_of_them() -> None:
    cube = bs.function(lambda z: z**3 / 3, name="cube", radius=1)
    W = bs.matrix("W", d, d, row_sums=1).within(delta, "row_sums")
    own = bs.theorem("cubes", bs.repeat(lambda p: cube(W @ p), bs.vector("x", d, size=sp.Rational(1, 2)), N),
                     parameters={delta: 0.125, d: 3, N: (2, 4)})  # fmt: skip
    rows = [row for row in bs.compare(own, **FEW).rows if row.scope == "network"]
    assert {verdict for row in rows for verdict in row.verdict.values()} == {"kept"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bs.function(sp.exp, radius=-1), "function: radius=-1; give a positive number"),
        (lambda: bs.function(sp.exp, radius=sp.Symbol("R")), "function: radius=R; give a positive number"),
        (lambda: bs.function(sp.tan, radius=2), "tan(t) may jump, has poles or exceeds all floats on [-2, 2]"),
        (lambda: bs.function(lambda z: z**2), "f: no Lipschitz constant of t**2 is found over all numbers; give"),
        (lambda: bs.function(sp.exp), "has poles or exceeds all floats over all numbers; give radius="),
    ],
)  # fmt: skip
def test_what_has_no_constant_is_refused(call: Any, words: str) -> None:
    with pytest.raises(bs.UsageError, match=re.escape(words)):
        call()


# The constant holds on the range that is owed, to the last digit: 1/3 and sqrt(2) are no floats.
@pytest.mark.parametrize("radius", [sp.Rational(1, 3), sp.sqrt(2), sp.pi, 0.1, 3])
def test_the_constant_holds_on_all_of_the_range_that_is_owed(radius: Any) -> None:
    square = bs.function(lambda z: z**2, radius=radius)
    assert square.radius is not None
    assert square.radius == (sp.Rational(radius) if isinstance(radius, float) else radius)
    assert square.constants.lipschitz >= 2 * square.radius
    low, high = parts_of(square.radius)[0]
    assert sp.Rational(high) >= square.radius
    assert low == -high
    own = bs.theorem("square", square(bs.vector("x", d, size=square.radius)), parameters={d: 2})
    assert own.statement.quantity("output").derived() == 0
