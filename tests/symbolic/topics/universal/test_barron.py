"""The calculus of classes: constants in closed form, unions and combinations, refusals."""

import mpmath
import pytest
import sympy as sp

from symbolic import UsageError
from symbolic.topics.universal import barron_derivation as barron
from symbolic.topics.universal.barron_derivation import BarronClass, r
from symbolic.topics.universal.largest import integral_of_largest

w, k = sp.symbols("w k", positive=True)
d = sp.Symbol("d", integer=True, positive=True)
E1, E2 = (1, 0), (0, 1)


def test_constants_in_letters() -> None:
    mean_norm = sp.sqrt(2) * sp.gamma((d + 1) / 2) / sp.gamma(d / 2)
    assert sp.simplify(barron.bump(d, w).constant - 1 - mean_norm / w) == 0
    assert barron.logistic(E1, k).constant == k / 4 + sp.Rational(1, 2)
    assert barron.tanh(E1, k).constant == k
    assert barron.linear([E1, E2], [1, 2], 3).constant == 6


@pytest.mark.long
def test_a_union_of_what_is_singular_adds_masses_and_one_of_the_same_keeps_them() -> None:
    both = barron.bump(2, 1) | barron.logistic(E1, 2)
    assert sp.simplify(both.mass - barron.bump(2, 1).mass - sp.Rational(1, 2)) == 0
    assert (both | both).constant == both.constant
    assert (barron.tanh(E1, 1) | barron.tanh(E2, 1)).constant == 2


def test_on_a_line_all_spectra_are_compared_and_in_the_plane_those_of_one_direction() -> None:
    line, plane = barron.logistic((1,), 2) | barron.tanh((1,), 2), barron.logistic(E1, 2) | barron.tanh(E1, 2)
    assert line.mass == plane.mass == 2  # 1/sinh(2 s) < 1/sinh(s): tanh is larger everywhere
    against = barron.logistic(E1, 2) | barron.tanh((-1, 0), 2)
    assert against.mass == 2  # u and -u have one line
    across = barron.logistic(E1, 2) | barron.tanh(E2, 2)
    assert across.mass == sp.Rational(5, 2)


def test_a_radial_density_beside_a_line_is_one_of_that_line_in_one_dimension_alone() -> None:
    bump = barron.bump(1, sp.Rational(1, 4))
    both = bump | barron.logistic((1,), 2)
    assert both.radial == 0
    assert len(both.lines) == 1
    assert bump.density == bump.radial  # alone it keeps its density
    assert max(bump.mass, sp.Rational(1, 2)) < both.mass < bump.mass + sp.Rational(1, 2)
    truth = mpmath.quad(sp.lambdify(r, both.lines[0][1], "mpmath"), [0, 0.01, 0.1, 1, 5, 20, 60]) * 2
    assert abs(sp.N(both.mass, 20) - truth) < 1e-4  # mpmath does not know the crossings
    assert (barron.linear([(1,), (-1,)], [1, 3], 0) | both).mass == 3 + both.mass  # a limit lies at 0 alone


def test_a_class_that_was_scaled_is_still_compared_function_by_function() -> None:
    bumps = barron.bump(1, 1) | barron.bump(1, sp.Rational(1, 3))
    both = bumps.scaled(2) | barron.tanh((1,), 30)
    assert len(both.lines[0][1].args) == 3
    assert sp.N(both.scaled(3).mass) == pytest.approx(3 * sp.N(both.mass))
    assert max(2 * sp.N(bumps.mass), 30) < sp.N(both.mass) < 2 * sp.N(bumps.mass) + 30


@pytest.mark.parametrize(("k", "crossings"), [(sp.Rational(1, 2), 0), (sp.Integer(4), 2)])
def test_the_integral_of_the_largest_is_exact_where_both_integrals_are_known(k: sp.Expr, crossings: int) -> None:
    """Of x e^-x and k x^2 e^-2x, which meet where k x e^-x = 1: nowhere for k < e."""
    x = sp.Symbol("x", positive=True)
    one, other = x * sp.exp(-x), k * x**2 * sp.exp(-2 * x)
    found = integral_of_largest([one, other], [sp.S.One, k / 4], x)
    ends = [-sp.LambertW(-1 / k, branch) for branch in (0, -1)] if crossings else [sp.S.One, sp.S.One]
    truth = 1 + sp.N(sp.integrate(other - one, (x, *ends)), 40)
    assert abs(sp.N(found, 40) - truth) < 1e-25


def test_the_larger_of_two_densities_is_integrated_between_their_crossings() -> None:
    both = barron.bump(3, 1) | barron.bump(3, sp.Rational(1, 3))
    largest = sp.lambdify(r, barron.sphere_area(3) * both.radial * r**3, "mpmath")
    truth = mpmath.quad(largest, [0, 0.5, 1, 1.5, 2, 3, 6, 20, 60])
    assert abs(sp.N(both.mass, 20) - truth) < 1e-4  # mpmath does not know the crossing
    one, other = (barron.bump(3, each).mass for each in (1, sp.Rational(1, 3)))
    assert max(one, other) < both.mass < one + other


def test_combinations_scale_and_add_a_constant() -> None:
    combined = barron.combination([barron.bump(2, 1), barron.tanh(E1, 3)], 2, 5)
    assert sp.simplify(combined.constant - 5 - 2 * (barron.bump(2, 1).constant + 3)) == 0


def test_a_density_of_ones_own() -> None:
    own = BarronClass(2, at_zero=1, radial=sp.exp(-r))
    assert own.constant == 1 + 4 * sp.pi
    assert own.density == sp.exp(-r)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BarronClass(2, 1, 1 / (1 + r) ** 2).mass, r"C_F is infinite: .* not integrable as r -> oo"),
        (lambda: BarronClass(1, 1, 1 / r**3).mass, r"C_F is infinite: .* not integrable as r -> 0"),
        (lambda: BarronClass(2, 1, -sp.exp(-r)).mass, "has a negative mass, -4\\*pi; give a magnitude"),
        (lambda: barron.tanh(E1, 1).density, "no Fourier density in the ordinary sense; it holds ridge functions"),
        (lambda: barron.linear([E1], [1]).density, "no Fourier density in the ordinary sense; it holds linear"),
        (lambda: barron.bump(2, 1) | barron.bump(3, 1), r"union of classes on R\^2 and R\^3: both need the same d"),
        (lambda: BarronClass(3, lines=((E1, sp.exp(-r)),)), "a direction has 2 coordinates, but d = 3"),
        (lambda: barron.tanh((1, 1), 2), r"the direction \(1, 1\) has the norm sqrt\(2\); give a unit vector"),
        (lambda: BarronClass(0), "d = 0 is not a whole number above 0"),
        (lambda: barron.bump(2, -1), "width = -1; give a width above 0"),
    ],
)
def test_refusals(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()  # type: ignore[operator]
