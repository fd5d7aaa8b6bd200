"""A largest of affine terms as one affine term: above it everywhere, and sharp where one term leads in both parts."""

import random

import pytest
import sympy as sp

from symbolic.calculus.layers import affine_majorant

x = sp.Dummy("e", nonnegative=True)
a, b = sp.symbols("a b", positive=True)


@pytest.mark.parametrize("seed", range(50))
def test_it_is_above_and_affine(seed: int) -> None:
    draw = random.Random(seed)
    terms = [sp.Rational(draw.randint(0, 30), 10) * x + sp.Rational(draw.randint(0, 30), 10) for _ in range(3)]
    inner = sp.Max(*terms[:2], evaluate=False) * sp.Rational(draw.randint(1, 20), 10) + terms[2]
    bound = sp.Max(inner, terms[0], evaluate=False) + terms[1]
    found = affine_majorant(bound, x)
    assert not sp.diff(found, x).has(x)
    for place in (0, sp.Rational(1, 7), 1, 5, 1000):
        assert found.subs(x, place) >= bound.subs(x, place)


def test_it_is_the_bound_itself_where_one_term_leads() -> None:
    assert affine_majorant(sp.Max(x, 2 * x + 1), x) == 2 * x + 1
    assert affine_majorant(sp.Max(x, a * x + b) / 2, x) == sp.Max(1, a) * x / 2 + b / 2
    assert affine_majorant(a * x + b, x) == a * x + b


def test_what_is_not_affine_stays() -> None:
    for bound in (sp.Max(x, x**2), sp.sqrt(x**2 + b), sp.Max(sp.sqrt(x), 1) + x):
        assert affine_majorant(bound, x) == bound
