"""Numbers of ReLUs before they are built: those of the sums that are then built, and how they grow."""

import flint
import pytest
import sympy as sp

import boundsmith as bs
from bridge.lowering.enclosures import supremum
from bridge.lowering.relu_sums import interpolate

t, a, b, c = sp.symbols("t a b c")


def target(accuracy: sp.Symbol, function: sp.Expr, radius: float) -> bs.formulas.ReluTarget:
    return bs.formulas.ReluTarget(accuracy, function, t, radius, supremum(function.diff(t, 2), t, -radius, radius))


TWO = [target(a, sp.cos(t), 3.0), target(b, sp.tanh(t), 5.0)]


@pytest.mark.parametrize("which", TWO, ids=["cos", "tanh, a constant of 0"])
def test_the_count_is_that_of_the_sum_that_is_built(which: bs.formulas.ReluTarget) -> None:
    built = interpolate(which.function, t, which.radius, eps=1e-3)
    assert bs.formulas.most_relus([which], {which.accuracy: 1e-3}) == built.relu_sum.relus
    both = bs.formulas.most_relus(TWO, {a: 1e-3, b: 1e-3})
    assert both == max(bs.formulas.most_relus([each], {each.accuracy: 1e-3}) for each in TWO)


def test_functions_of_one_letter_share_its_accuracy() -> None:
    shared = [TWO[0], target(a, sp.cos(t), 3.0)]
    assert bs.formulas.most_relus(shared, {a: 2e-4}) == bs.formulas.most_relus(TWO[:1], {a: 1e-4})


def test_costs_are_cells_of_accuracy_one() -> None:
    costs = bs.formulas.relu_costs([*TWO, TWO[0]], [a, b, c])
    assert costs[a] == pytest.approx(2 * 3.0 * 0.5**0.5, rel=1e-3)  # sup |cos| is 1
    assert costs[c] == 0.0
    cells = bs.formulas.most_relus(TWO[1:], {b: 1e-6})  # its constant is 0
    assert costs[b] * 1e3 == pytest.approx(cells, rel=0.01)


def test_what_does_not_bend_costs_nothing() -> None:
    assert bs.formulas.relu_costs([bs.formulas.ReluTarget(a, 2 * t, t, 1.0, flint.arb(0))], [a]) == {a: 0.0}
