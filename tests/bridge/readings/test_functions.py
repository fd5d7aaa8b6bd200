"""Functions typed once in SymPy: everything else that is known of them is certified."""

from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.readings import AtHand, Operands, Reading, Smooth, at, enclose
from numeric.balls import BallArray
from symbolic.words.errors import UsageError

t = sp.Symbol("t", real=True)
eps = sp.Symbol("eps", positive=True)
GRID = torch.linspace(-1, 1, 401, dtype=torch.float64)


@pytest.mark.parametrize(
    ("f", "f_hat"),
    [(sp.tanh(t), t - t**3 / 3), (sp.exp(t), 1 + t + t**2 / 2), (sp.sin(t), sp.tanh(t)), (t**2, t**2 + 0.25)],
    ids=str,
)
def test_what_is_certified_holds_on_a_grid(f: sp.Expr, f_hat: sp.Expr) -> None:
    known = bs.Smooth.of(f, t, approximate=f_hat, radius=1)
    exact, approximate = sp.lambdify(t, f, "numpy"), sp.lambdify(t, f_hat, "numpy")
    points = GRID.numpy()
    apart = approximate(points) - exact(points)
    assert known.error >= abs(apart).max() * (1 - 1e-9)
    assert known.error <= abs(apart).max() * 1.01 + 1e-30
    slopes = abs(apart[1:] - apart[:-1]) / float(GRID[1] - GRID[0])
    assert known.slope_error >= slopes.max() - 1e-12
    torch.testing.assert_close(known.exact(GRID), torch.as_tensor(exact(points)) + 0 * GRID)
    for order in (2, 3):
        largest = max(abs(float(f.diff(t, order).subs(t, float(x)))) for x in GRID[::40])
        assert largest * (1 - 1e-9) <= known.suprema[order]


def test_it_runs_on_tensors_and_on_balls() -> None:
    known = bs.Smooth.of(sp.tanh(t), t, radius=1)
    on_balls = known.derivatives[0](BallArray.exactly(GRID[:3]))
    torch.testing.assert_close(torch.as_tensor(on_balls.midpoint()), known.derivatives[0](GRID[:3]))


@pytest.mark.parametrize("kinked", [sp.Abs(t), sp.Max(t, 0), sp.Heaviside(t) * t], ids=str)
def test_a_function_with_kinks_has_no_derivatives(kinked: sp.Expr) -> None:
    known = bs.Smooth.of(kinked, t, radius=1)
    assert (list(known.derivatives), known.suprema) == ([], {})
    approximated = bs.Smooth.of(sp.tanh(t), t, approximate=kinked, radius=1)
    assert approximated.slope_error is None
    assert approximated.error > 0


def test_another_letter_is_refused() -> None:
    with pytest.raises(UsageError, match=r"expected an expression in t alone, got eps in eps.tanh.t.; a function with"):
        bs.Smooth.of(eps * sp.tanh(t), t, radius=1)


def test_a_pole_is_refused() -> None:
    with pytest.raises(UsageError, match="no finite bound found"):
        bs.Smooth.of(sp.tanh(t), t, approximate=1 / t, radius=1)


# --- the range --------------------------------------------------------------------------------------------------------


def chain(error: Any = 0) -> bs.Approximated:
    x = bs.rules.given("x", dim=2, size=2, error=error)
    return bs.rules.apply_function(x, "f(x)", eps=eps, lipschitz=1, size=1, function="f")


@pytest.mark.parametrize("bits", [None, 128])
@pytest.mark.parametrize(("largest", "error", "inside"), [(0.9, 0, True), (1.1, 0, False), (0.9, 0.2, False)])
def test_beyond_its_range_a_function_proves_nothing(
    bits: int | None, largest: float, error: float, inside: bool
) -> None:
    """The bound is that of the rule, eps + L e, even though the approximant is exact up to 1."""
    f = bs.Smooth.of(sp.tanh(t), t, approximate=sp.tanh(t), radius=1)
    steps = at(chain(error), {"x": [largest, 0.5], "f": f}, {eps: 0.25}, bits=bits)
    assert steps["f(x)"].by == ("enclosure" if inside else "rule")
    assert steps["f(x)"].bound == pytest.approx(0 if inside else 0.25 + error)
    assert bool(steps["f(x)"].stopped) == (not inside)


def test_the_end_of_the_range_belongs_to_it() -> None:
    f = bs.Smooth.of(sp.tanh(t), t, approximate=sp.tanh(t), radius=1)
    assert at(chain(), {"x": [1.0, 0.5], "f": f}, {eps: 0.25}, bits=64)["f(x)"].by == "enclosure"


def test_gradients_stay_finite_beyond_the_range() -> None:
    """An attack that leaves the range for a while must come back."""
    f = bs.Smooth.of(sp.tanh(t), t, approximate=sp.tanh(t) + t / 100, radius=1)
    derivation = chain().derivation

    def bound(x: torch.Tensor) -> torch.Tensor:
        letters = {eps: torch.tensor(0.25, dtype=torch.float64)}
        found = enclose(derivation, AtHand(Operands({"x": x, "f": f}, letters))).bound("f(x)")
        assert found is not None
        return found

    prompts = torch.tensor([[0.5, 0.25], [1.5, 0.25]], dtype=torch.float64, requires_grad=True)
    found = torch.func.vmap(bound)(prompts)
    assert found.tolist() == pytest.approx([0.005, 0.25])
    (slopes,) = torch.autograd.grad(found.sum(), prompts)
    assert slopes.isfinite().all()
    assert slopes[1].tolist() == [0, 0]


def test_a_supremum_is_rounded_up() -> None:
    assert bs.Smooth.of(sp.sin(t), t, radius=4).suprema[2] >= 1


@pytest.mark.parametrize(
    "on", [torch.tensor, lambda numbers: BallArray.exactly(np.array(numbers))], ids=["tensors", "balls"]
)
def test_the_range_has_to_hold_each_argument_with_its_change(on: Any) -> None:
    known = Smooth(torch.tanh, radius=1.0)
    change = on([0.25, 0.0])
    assert bool(known.reaches(on([-0.75, 1.0]), change))
    assert not known.reaches(on([-0.875, 1.0]), change)
    assert not known.reaches(on([-0.75, -1.125]), change)
    assert not known.reaches(on([0.0, 1.125]), change)
    assert Smooth(torch.tanh).reaches(on([99.0, -99.0]), change) is True


def test_balls_that_may_leave_the_range_are_not_in_it() -> None:
    wide = BallArray([flint.arb(0.5, 1.0)], (1,), 128)
    assert Smooth(torch.tanh, radius=1.0).reaches(wide, BallArray.exactly(np.zeros(1))) is False


# For a change of 2, where |f''| = 3, |f''| <= 7 and |f'''| <= 5: 7 4/2 = 14, 3 4/2 + 5 8/6 = 38/3, and the least.
@pytest.mark.parametrize(
    ("suprema", "orders", "least"),
    [({2: 7.0}, 2, 14.0), ({3: 5.0}, 2, 38 / 3), ({2: 7.0, 3: 5.0}, 2, 38 / 3), ({2: 6.0, 3: 5.0}, 2, 12.0),
     ({2: 7.0, 3: 5.0}, 1, 14.0)],
)  # fmt: skip
def test_the_remainder_is_the_least_of_those_that_are_known(
    suprema: dict[int, float], orders: int, least: float
) -> None:
    constants = (lambda z: torch.tensor(0.5, dtype=torch.float64), lambda z: torch.tensor(-3.0, dtype=torch.float64))
    known = Smooth(torch.sin, derivatives=constants[:orders], suprema=suprema)
    slope, rest = known.expansion(torch.full((2,), 2.0, dtype=torch.float64), torch.zeros(2, dtype=torch.float64))
    assert slope.tolist() == [0.5, 0.5]  # a constant takes the shape of the argument
    assert rest.tolist() == pytest.approx([least, least])


@pytest.mark.parametrize(("derivatives", "suprema"), [((), {2: 1.0}), ((torch.cos,), {}), ((torch.cos,), {3: 1.0})])
def test_without_a_remainder_there_is_no_expansion(derivatives: tuple[Any, ...], suprema: dict[int, float]) -> None:
    assert (
        Smooth(torch.sin, derivatives=derivatives, suprema=suprema).expansion(
            torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
        )
        is None
    )


# Of the second prompt the function leaves its range: of what follows from it nothing is known either, but its bound.
def test_what_follows_from_a_function_beyond_its_range_is_not_enclosed() -> None:
    f = bs.Smooth.of(sp.tanh(t), t, approximate=sp.tanh(t) + t / 100, radius=1)
    both = bs.rules.add(chain(), bs.rules.given("y", dim=2, size=2), name="both").derivation

    def known(x: torch.Tensor) -> Reading:
        letters = {eps: torch.tensor(0.25, dtype=torch.float64)}
        return enclose(both, AtHand(Operands({"x": x, "y": torch.zeros(2, dtype=torch.float64), "f": f}, letters)))

    def bound(x: torch.Tensor) -> torch.Tensor:
        found = known(x).bound("both")
        assert found is not None
        return found

    prompts = torch.tensor([[0.5, 0.25], [1.5, 0.25]], dtype=torch.float64)
    assert torch.func.vmap(bound)(prompts).tolist() == pytest.approx([0.005, 0.25])
    assert [known(each).beyond for each in prompts] == [[], ["f(x)"]]


def test_the_first_function_that_leaves_its_range_in_balls_is_named() -> None:
    f = bs.Smooth.of(sp.tanh(t), t, approximate=sp.tanh(t), radius=1)
    twice = bs.rules.apply_function(chain(), "f(f(x))", eps=eps, lipschitz=1, size=1, function="f").derivation
    for largest, beyond in ((0.5, []), (1.5, ["f(x)"])):
        operands = {"x": BallArray.exactly(torch.tensor([largest, 0.25], dtype=torch.float64)), "f": f}
        assert enclose(twice, AtHand(Operands(operands, {eps: 0.25}, 128))).beyond == beyond
