"""The derived chain: against perturbed networks run in numpy, its views against one another, and its knobs."""

import numpy as np
import pytest
import sympy as sp
from sympy.core.cache import clear_cache

from symbolic.calculus import LinearRecursion, Norm, bilinear, given, linear_map
from symbolic.calculus.families import stack
from symbolic.calculus.geometric import written_out
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.derivations.derivation import Derivation, DerivationError
from symbolic.topics.icgd import chain, printed
from symbolic.topics.icgd.symbols import B_v, K, N, P_hat, eps_r, j
from tests.counting import lines
from tests.symbolic.topics.icgd.numbers import VALUES, at, close

DEPTHS = [1, 2, 3, 4, 6, 50]


def measured_names(depth: int) -> list[str]:
    layers = range(1, depth + 1)
    per_layer = [f"{quantity}[{i}]" for quantity in ("p", "r'", "s") for i in layers]
    return [*per_layer, "g", "g.max", *(f"s[{i}].max" for i in layers), "gradient", "w"]


@pytest.mark.parametrize("depth", DEPTHS)
def test_symbolic_depth_is_every_depth(depth: int) -> None:
    whole = chain.derive()
    for name in ("gradient", "w", "g", "s[N]", "r'[N]", "p[N]"):
        concrete = chain.closed_bound(name.replace("N", str(depth)), depth)
        assert close(at(whole.derivation.bound(name), N=depth), at(concrete))
    for layer in range(1, min(depth, 5)):
        for name, bound in (
            ("p", chain.derive_hidden()),
            ("r'", chain.derive_derivative()),
            ("s", chain.derive_signal()),
        ):
            assert close(at(bound.error, N=depth, j=layer), at(chain.closed_bound(f"{name}[{layer}]", depth)))


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
def test_the_closed_form_is_the_product_of_the_single_steps(depth: int) -> None:
    layers = chain.derive_layers(depth)
    for name in measured_names(depth):
        assert close(at(layers.bound(name)), at(Derivation.bound(layers, name))), name
    assert not layers.conditional
    assert layers.bound() == layers.bound("w")
    with pytest.raises(DerivationError, match="no step 'q'"):
        layers.bound("q")


def test_lemma_2_is_derived_as_printed_and_lemma_3_below() -> None:
    worst = chain.worst_case()
    for depth in (2, 3, 7):
        derived = chain.closed_bound(f"p[{depth}]", depth).xreplace(worst)
        assert close(at(derived), at(printed.OUTPUT_ERROR.bound, N=depth))
        for layer in range(1, depth):
            hidden = chain.closed_bound(f"p[{layer}]", depth).xreplace(worst)
            assert close(at(hidden), at(printed.layer_error(layer).bound))
            slope = chain.closed_bound(f"r'[{layer}]", depth).xreplace(worst)
            assert at(slope) < at(printed.DERIVATIVE_ERROR.bound, N=depth)


@pytest.mark.parametrize(
    ("outputs", "hidden", "row"),
    [(4, 4, [1.0, 0.0, 0.0, 0.0]), (16, 4, [0.5, 0.5, 0.5, 0.5])],
    ids=["rows of norm B_v", "a corner of the box, d > K"],
)
def test_lemma_6_takes_rows_for_columns(outputs: int, hidden: int, row: list[float]) -> None:
    """Two linear layers, exact but for u, B_v = 1: sbar(1) - s(1) = V_2^T (eps_l, ..., eps_l), twice the printed."""
    V_2 = np.tile(row, (outputs, 1))
    assert np.linalg.norm(V_2, axis=1).max() == 1
    error = (V_2.T @ np.full(outputs, VALUES["eps_l"])).max()
    linear = {"K": hidden, "d": outputs, "d_y": outputs, "B_v": 1.0, "B_r1": 1.0, "b_r1": 1.0, "L_r1": 0.0, "L_r": 1.0}
    values = {**linear, "eps_r": 0.0, "eps_r1": 0.0}
    assert error == 2 * at(printed.BACKWARD_ERROR.bound, N=2, **values)
    derived = at(chain.closed_bound("s[1].max", 2).xreplace(chain.worst_case()), **values)
    assert error <= derived
    assert close(derived, outputs * VALUES["eps_l"])


@pytest.mark.long
def test_depth_does_not_make_it_longer() -> None:
    def steps(depth: int) -> int:
        clear_cache()
        for cached in (each for each in vars(chain).values() if hasattr(each, "cache_clear")):
            cached.cache_clear()
        return lines(lambda: chain.derive(sp.Integer(depth)).derivation.latex())

    steps(3)  # what a process does once, it does here
    assert steps(50) < 1.5 * steps(3)
    assert steps(500) < 1.1 * steps(50)
    assert len(chain.derive(sp.Integer(50)).derivation.latex()) < 1.5 * len(
        chain.derive(sp.Integer(3)).derivation.latex()
    )


def test_ranges_are_obligations_that_the_induction_discharges() -> None:
    steps = chain.derive().derivation
    ranged = [o for step in steps.steps for o in step.obligations if "stays in [-R, R]" in o.statement]
    assert len(ranged) >= 4
    assert all(not o.open and "R_l" not in o.statement for o in ranged)
    assert not steps.conditional
    bare = chain.apply_function(chain.INPUT, "f", eps=eps_r, lipschitz=1, size=1, radius=chain.R)
    assert bare.derivation.conditional


# The rules of symbolic/calculus/layers.py and families.py.
def test_a_recursion_is_read_off_a_layer_or_refused() -> None:
    e = sp.Dummy("e_0", nonnegative=True)
    x = given("x", dim=3, norm=Norm.TWO, size=1, error=e)
    assert recursion_from(x, linear_map(x, "y", operator_norm=B_v, dim=3)).factor == B_v
    with pytest.raises(DerivationError, match="the error of 'z' is 2; give a separate symbol"):
        recursion_from(given("z", dim=3, size=1, error=2), x)
    with pytest.raises(DerivationError, match="not affine"):
        recursion_from(x, bilinear(x, x, "x x", dim=3))
    with pytest.raises(DerivationError, match="'q' is not derived from 'x'"):
        recursion_from(x, given("q", dim=3, norm=Norm.TWO, size=1, error=e))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_stacked_blocks_have_the_norm_of_their_concatenation(count: int) -> None:
    blocks = [np.full(2, 1.0 + i) for i in range(1, count + 1)]
    first, family, last = (
        given(name, dim=2, norm=Norm.TWO, size=1, error=sp.sqrt(2) * (1 + layer))
        for name, layer in (("A[1]", sp.Integer(1)), ("A[j]", j), ("A[N]", N))
    )
    error = at(stack(first, family, j, last, count=N, name="A").error, N=count)
    exact = float(np.linalg.norm(np.concatenate(blocks)))
    assert close(error, exact)
    assert not close(0.999 * error, exact)
    with pytest.raises(DerivationError, match="proved in the 2-norm"):
        stack(first, family, j, given("b", dim=2, size=1), count=N, name="A")


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_layers_are_iterated_with_coefficients_of_their_own(depth: int) -> None:
    index = LinearRecursion.index
    recursion = LinearRecursion(sp.Integer(0), B_v, 1 + index**2, index)
    value = iterate(given("x", dim=1, size=1, error=2), "y", recursion, N, size=sp.Integer(1))
    ran = recursion.run([0.6] * depth, [1.0 + i**2 for i in range(depth)], 2.0)
    assert close(at(value.error, N=depth), ran[-1])


def test_geometric_sums_are_written_out_and_nothing_else() -> None:
    closed = chain.derive_hidden().error
    assert written_out(closed).has(sp.Sum)
    assert not written_out(closed).has(sp.Piecewise)
    assert close(at(written_out(closed), j=5), at(closed, j=5))
    other = sp.Piecewise((K, sp.Eq(B_v, 1)), (P_hat, True))
    assert written_out(other) == other


@pytest.mark.parametrize("depth", [0, -1, 2.5])
def test_a_depth_that_is_no_number_of_layers_is_refused(depth: float) -> None:
    with pytest.raises(DerivationError, match="is not a whole number of layers; give at least 1"):
        chain.derive(depth)
