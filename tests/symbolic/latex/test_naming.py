"""A long derived bound is shown by its steps: the names say what the closed form says, and few of them do."""

import itertools

import pytest
import sympy as sp

from symbolic import find_result
from symbolic.calculus import Norm, add, given, stack
from symbolic.derivations.derivation import Approximated
from symbolic.latex.naming import Named, named_bound
from symbolic.latex.page import PAGE, Page
from symbolic.latex.printing import quantity_latex
from symbolic.latex.shown_bounds import derived_equation, named_equations, plain_definition, shown_bound
from symbolic.latex.widths import width
from symbolic.statements.result import Quantity

N, j = (sp.Symbol(letter, integer=True, positive=True) for letter in "Nj")
q, r = (sp.Symbol(letter, positive=True) for letter in "qr")
BY_STEPS = {
    "icgd.backward": ("s[j]", "s[j].max", "s[N]"),
    "looped.decoder": ("y_hat",),
    "looped.chain_of_thought": ("next",),
    "universal.proximal": ("gap",),
}
SHOWN = [(id, name) for id, names in BY_STEPS.items() for name in names]


def quantity(id: str, name: str) -> tuple[Quantity, Named, list[str]]:
    result = find_result(id)
    found = result.quantity(name)
    named = shown_bound(found, Page(result.notation))
    assert named is not None
    return found, named, named_equations(found.latex_symbol, r"\le", named, Page(result.notation))


def rational_point(letters: set[sp.Symbol], depth: int) -> dict[sp.Symbol, sp.Expr]:
    """Rational numbers, squares for dimensions, so that roots of dimensions are rational."""
    primes = itertools.count(3)
    numbers = {each: sp.Rational(sp.prime(next(primes)), 17) for each in sorted(letters, key=str)}
    return numbers | {each: {"K": 9, "d": 4, "N": depth}[each.name] for each in letters if each.name in "KdN"}


@pytest.mark.parametrize("depth", [1, 2, 3, 4, *(pytest.param(N, marks=pytest.mark.long) for N in range(5, 9))])
def test_the_named_gradient_has_the_radicand_of_the_closed_form(depth: int) -> None:
    found, named, _ = quantity("icgd.step", "gradient")
    closed, expanded = found.derived(), named.expanded()
    at = rational_point(closed.free_symbols | expanded.free_symbols, depth)
    old, new = ((2 * each.subs(at).doit()) ** 2 for each in (closed, expanded))
    assert old.is_Rational
    assert old == new


def test_the_gradient_has_two_lines_and_at_most_ten_named_parts_of_two_lines() -> None:
    _, _, displays = quantity("icgd.step", "gradient")
    assert 2 <= len(displays) <= 11
    for display in displays:
        assert width(display) <= PAGE
        assert display.count("\n&\\quad") <= 1


@pytest.mark.parametrize(("id", "name"), SHOWN)
def test_named_and_closed_form_agree(id: str, name: str) -> None:
    found, named, displays = quantity(id, name)
    letters = found.derived().free_symbols
    at = {each: sp.Float(3 + place, 40) / 7 for place, each in enumerate(sorted(letters, key=str))}
    whole = {each: 5 if each.name in ("N", "n", "L", "T") else 2 for each in letters if each.is_integer}
    old, new = (each.subs(at | whole).doit().evalf(30) for each in (found.derived(), named.expanded()))
    assert abs(old - new) <= 1e-20 * abs(old)
    assert max(map(width, displays)) <= PAGE


def of_own(count: sp.Expr) -> Approximated:
    """A stack of blocks, as a user may derive it."""

    def block(name: str, error: sp.Expr) -> Approximated:
        argument = given(f"x{name}", dim=2, norm=Norm.TWO, size=1, error=error)
        other = given(f"y{name}", dim=2, norm=Norm.TWO, size=1, error=error**2 + error * q)
        return add(argument, other, name=f"block{name}", coefficients=(q, r))

    stacked = stack(block("[1]", q), block("[j]", q**j), j, block("[N]", r), count=count, name="all")
    return add(stacked, name="half", coefficients=(sp.Rational(1, 2),))


def test_a_stack_of_ones_own_is_named_by_its_members() -> None:
    derivation = of_own(N).derivation
    named = named_bound(derivation, "half", {}, lambda expression: False)
    names = {plain_definition(named, part)[0] for part in named.parts}
    assert "e_block(j)" in names
    closed, expanded = derivation.bound("half"), named.expanded()
    for depth in (1, 2, 5):
        at = {N: depth, q: sp.Rational(2, 3), r: sp.Rational(1, 5)}
        assert sp.simplify(closed.subs(at).doit() - expanded.subs(at).doit()) == 0


def test_a_short_bound_is_in_one_piece() -> None:
    result = find_result("icgd.forward")
    assert shown_bound(result.quantity("p[j]"), Page(result.notation)) is None
    assert "e_{" not in derived_equation(result.quantity("p[j]"), r"\le", Page(result.notation))


def test_a_name_that_is_used_once_goes_where_it_fits() -> None:
    x = given("x", dim=2, norm=Norm.TWO, size=1, error=q + r)
    y = add(x, name="y", coefficients=(q,))
    z = add(y, given("v", dim=2, norm=Norm.TWO, size=1, error=r**2 + q), name="z", coefficients=(1, 1))
    assert named_bound(z.derivation, "z", {}, lambda expression: True).parts == ()
    apart = named_bound(z.derivation, "z", {}, lambda expression: False)
    assert {part.name.name for part in apart.parts} == {"e_x", "e_v"}
    assert apart.expanded() == z.error


def test_the_expanded_form_is_closed() -> None:
    result = find_result("icgd.backward")
    found = result.quantity("s[N]")
    assert "e_{g" in quantity_latex(found, Page(result.notation))
    assert "e_{" not in quantity_latex(found, Page(result.notation), expanded=True)
