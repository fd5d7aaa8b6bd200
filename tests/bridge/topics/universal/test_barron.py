"""Barron constants end to end, and a spectrum of one's own drawn from."""

import pytest
import sympy as sp
import torch
from scipy import stats

from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from bridge.topics.universal import barron as bridge
from bridge.topics.universal.classes import parts_of
from numeric.topics.universal.sampling import draw
from symbolic.topics.universal import barron as theory
from symbolic.topics.universal import barron_derivation as barron
from symbolic.topics.universal.barron_derivation import BarronClass, r


@pytest.mark.long
@pytest.mark.parametrize("params", [{}, {"d": 3, "width": 0.5, "slope": 0.7, "centre": 0}, {"d": 1}], ids=str)
def test_closed_forms_stand_beside_quadrature(params: dict[str, float]) -> None:
    for row in compare("universal.barron", **params):
        if row.quantity != "combination":
            assert abs(row.measured - row.derived) < 1e-10 * max(1, row.derived), row
            assert Verdict.VIOLATED not in row.verdict.values()


@pytest.mark.parametrize(("width", "slope"), [(1.0, 2.0), (0.01, 2.0), (3.0, 0.1)])
def test_on_a_line_the_largest_spectrum_counts(width: float, slope: float) -> None:
    """By quadrature of the functions themselves; the masses of the parts do not add up."""
    given = {"width": width, "slope": slope}
    union, combined = bridge.union_on_a_line(centre=0.5, **given), bridge.combined(1, C_a=1.0, C_b=0.5, **given)
    for sides in (union, combined):
        assert sides.measured == pytest.approx(float(sides.derived), rel=1e-11)
    parts = [bridge.bump_mass(1, width), bridge.neuron_mass(slope), bridge.tanh_mass(slope)]
    at_zero = max(0.5, bridge.bump_at_zero(width, 0.5))
    assert at_zero + max(parts) - 1e-9 <= union.measured < at_zero + sum(parts) - 1e-3


def test_the_union_has_a_row_for_lines_in_the_plane_or_for_one_line() -> None:
    stated = {each.name: each for each in theory.BARRON.quantities}
    names = ("union", "union.line")
    held = [[all(bool(x.subs(theory.d, d)) for x in stated[name].indices) for name in names] for d in (1, 2, 3)]
    assert held == [[False, True], [True, False], [True, False]]


@pytest.mark.long
def test_a_combination_of_three_classes_exceeds_the_printed_constant_and_of_two_does_not() -> None:
    for M, expected in ((2, Verdict.PROVED), (3, Verdict.VIOLATED), (6, Verdict.VIOLATED)):
        (row,) = (row for row in compare("universal.barron", M=M) if row.quantity == "combination")
        assert (row.verdict["printed"], row.verdict["derived"]) == (expected, Verdict.PROVED)


def test_a_spectrum_of_ones_own_is_drawn_from() -> None:
    own = BarronClass(2, at_zero=1, radial=sp.exp(-r)) | barron.tanh((1, 0), 2)
    parts = parts_of(own)
    assert [round(part.mass, 6) for part in parts] == [round(float(4 * sp.pi), 6), 2]
    found = draw(parts, 2, 20_000, torch.Generator().manual_seed(0))
    assert stats.kstest(found.radius[found.part == 0].numpy(), stats.gamma(3).cdf).pvalue > 1e-4
    assert stats.binomtest(int((found.part == 1).sum()), 20_000, 2 / (2 + 4 * 3.14159265)).pvalue > 1e-4


def test_masses_are_found_to_the_accuracy_of_the_quadrature_and_of_the_larger_density() -> None:
    assert [float(bridge.found(each).found.rad()) for each in (0.125, 8.0)] == pytest.approx([1e-10, 8e-10])
    one, other = (bridge.bump_mass(1, width) for width in (1.0, 1 / 3))
    assert max(one, other) < bridge.two_bumps_mass(1, 1.0) < one + other
