"""Paths of parameters: points on them, limits of formulas along them, and what is refused."""

from typing import Any

import pytest
import sympy as sp

from symbolic.statements.paths import ParameterPath, limit_along, small
from symbolic.words.errors import UsageError

N = sp.Symbol("N", integer=True, positive=True)
a, b = sp.symbols("a b", positive=True)
HERE = {"N": 3, "a": 0.5, "b": 2.0, "name": "x"}
GROWING = ParameterPath("`N -> oo`", {N: 2 + 1 / small}, (0.1, 1e-3), {"b": 4.0})


def test_points_replace_letters_and_keep_the_others() -> None:
    assert GROWING.points(HERE) == [{**HERE, "N": 12, "b": 4.0}, {**HERE, "N": 1002, "b": 4.0}]
    assert all(isinstance(each["N"], int) for each in GROWING.points(HERE))
    falling = ParameterPath("a", {a: small**2}, (0.5,)).points(HERE)
    assert falling == [{**HERE, "a": 0.25}]
    assert GROWING.over(" at `a = 1`", fixed={"a": 1.0}).points(HERE)[0] == {**HERE, "N": 12, "a": 1.0}
    assert GROWING.over(" at `a = 1`").words == "`N -> oo` at `a = 1`"


@pytest.mark.parametrize(
    ("formula", "limit"),
    [
        ((N + 5) * a / (N * b), 0.125),
        (sp.log(N) / sp.log(N**2 + N), 0.5),
        ((1 + 1 / N) ** N * a, float(sp.E) / 2),
        (N * a, sp.oo),
        (a / N, 0.0),
        (sp.log(-1 - 1 / N), sp.nan),
    ],
    ids=str,
)
def test_limits_along_a_path_at_the_values_of_the_others(formula: sp.Expr, limit: Any) -> None:
    found = GROWING.limit(formula, HERE, {})
    assert found is limit if limit in (sp.oo, sp.nan) else float(found) == pytest.approx(limit, abs=1e-15)


def test_other_letters_are_given_or_follow_the_path() -> None:
    assert float(GROWING.limit(a * (N - 1) / N, HERE, {a: sp.Rational(1, 3)})) == pytest.approx(1 / 3)
    both = {N: 1 / small, a: small}
    assert float(limit_along(N * a, both)) == 1.0
    assert limit_along(N**2 * a, both) == sp.oo
    assert limit_along(sp.log(b - a), {a: sp.Rational(3, 10), b: sp.Rational(1, 5)}) is sp.nan


@pytest.mark.parametrize(
    ("path", "smalls", "message"),
    [
        ({N: 1 / small}, (), r"ParameterPath 'p': smalls = \(\); give positive numbers that fall"),
        ({N: 1 / small}, (1e-3, 1e-2), r"smalls = \(0.001, 0.01\); give positive numbers that fall"),
        ({N: 1 / small}, (1.0, 0.0), r"smalls = \(1.0, 0.0\)"),
        ({N: a / small, b: N}, (1.0,), "formulas in `small` alone are taken; these have N, a"),
    ],
    ids=["none", "rising", "zero", "letters"],
)
def test_what_is_no_path_is_refused(path: dict, smalls: tuple, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ParameterPath("p", path, smalls)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (sp.exp(-1000) * (1 + small), sp.exp(-1000)),
        (sp.exp(1000) * (1 + small), sp.exp(1000)),
        (small**0.1 * small**0.2 / small ** sp.Rational(3, 10), sp.Float(1)),
        (2 + sp.sin(1 / small), sp.nan),
    ],
    ids=str,
)
def test_a_limit_beyond_floats_is_neither_0_nor_infinite_and_none_is_nan(formula: sp.Expr, expected: sp.Expr) -> None:
    found = limit_along(formula, {})
    assert found is sp.nan if expected is sp.nan else found == expected
