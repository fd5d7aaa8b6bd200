"""`repeat`: the same bound as the recursion written by hand, at any depth; layers that do not repeat are refused."""

import pytest
import sympy as sp

from symbolic.calculus import (
    Approximated,
    DerivationError,
    Norm,
    add,
    apply_function,
    attend,
    change_norm,
    converge,
    given,
    iterate,
    linear_map,
    perturbed_map,
    recur,
    recursion_from,
    repeat,
)
from symbolic.calculus.recursions import LinearRecursion
from symbolic.calculus.repetition import steps_of_one_layer

eps, K = sp.symbols("eps K", positive=True)
N = sp.Symbol("N", integer=True, positive=True)
d = sp.Symbol("d", integer=True, positive=True)


def start(error: object = 0, size: object = 1) -> Approximated:
    return given("x", dim=d, size=size, error=error)


def layer(z: Approximated) -> Approximated:
    return apply_function(linear_map(z, "W z", operator_norm=K, dim=d), "r(W z)", eps=eps, lipschitz=1, size=1)


@pytest.mark.parametrize("error", [0, sp.Rational(1, 8)])
@pytest.mark.parametrize("depth", [1, 2, 5, N])
@pytest.mark.parametrize("slope", [sp.Rational(1, 2), 1, 3])
def test_it_is_the_recursion_of_one_layer(error: object, depth: object, slope: object) -> None:
    repeated = repeat(start(error), "end", layer, depth)
    recursion = recur(start(error), "end", factor=K, offset=eps, depth=depth, size=1)
    values = {K: slope, eps: sp.Rational(1, 100), N: 7}
    assert sp.simplify((repeated.error - recursion.error).subs(values).doit()) == 0
    assert (repeated.size, repeated.norm, repeated.dim) == (1, Norm.INF, d)
    assert not repeated.derivation.conditional


def test_it_is_the_sum_of_the_errors_of_the_layers() -> None:
    """Layer by layer: e <- eps + K e."""
    bound, expected = repeat(start(), "end", layer, 4).error, sp.Integer(0)
    for _ in range(4):
        expected = eps + K * expected
    assert sp.simplify(bound.subs(K, 2) - expected.subs(K, 2)) == 0


def test_the_depth_is_not_unrolled() -> None:
    few, many = (repeat(start(), "end", layer, depth).error for depth in (3, 10**6))
    assert sp.count_ops(many) <= sp.count_ops(few)


def squared_in_size(z: Approximated) -> Approximated:
    return apply_function(z, "z^2", eps=eps, lipschitz=1, size=z.size**2)


def in_another_norm(z: Approximated) -> Approximated:
    return change_norm(z, Norm.TWO, "z in the 2-norm")


def shorter(z: Approximated) -> Approximated:
    return linear_map(z, "P z", operator_norm=1, dim=d + 1)


def squared(z: Approximated) -> Approximated:
    return apply_function(z, "z^2", eps=z.error**2, lipschitz=1, size=1)


def unrelated(z: Approximated) -> Approximated:
    return given("other", dim=d, size=1)


REFUSED = {
    "a size that is not affine": (
        squared_in_size,
        r"size 4, above that of its argument, 2, .* recursion_from\(..., index=l",
    ),
    "another norm": (in_another_norm, "apply change_norm first"),
    "another dimension": (shorter, r"'P z' has d \+ 1 coordinates, and its argument d"),
    "no affine error": (squared, "is not affine in that of|must not occur"),
    "another value": (unrelated, "'other' is not derived from 'a layer of end'"),
}


@pytest.mark.parametrize(("wrong", "message"), REFUSED.values(), ids=list(REFUSED))
def test_a_layer_that_does_not_repeat_is_refused(wrong: object, message: str) -> None:
    with pytest.raises(DerivationError, match=message):
        repeat(start(size=2), "end", wrong, N)


def test_a_size_that_is_neither_kept_nor_affine_is_owed() -> None:
    radius = sp.Symbol("radius", positive=True)
    x = given("x", dim=d, size=radius)
    owed = repeat(x, "end", squared_in_size, N).derivation.obligations
    assert [each.statement for each in owed if each.open] == [
        "the size of 'z^2' is at most that of the layer's premise"
    ]


# Residual layers: the sizes follow a recursion of their own.

c, v, b = sp.symbols("c v b", positive=True)
near = given("weights", dim=d, norm=1, size=1, error=eps, probabilities=True)


def residual(z: Approximated, coefficients: tuple[object, object] = (1, c)) -> Approximated:
    values = linear_map(z, "V z", operator_norm=v, dim=d)
    return add(z, attend(near, values, "attention"), name="residual", coefficients=coefficients)


def test_a_residual_layer_of_attention_has_a_closed_form_and_no_open_obligation() -> None:
    """N times c v eps, amplified by the other N - 1 layers."""
    deep = repeat(start(), "end", residual, N)
    assert deep.error == N * c * v * eps * (1 + c * v) ** (N - 1)
    assert deep.size == (1 + c * v) ** N
    assert not deep.derivation.conditional


def test_it_is_the_bound_of_the_layers_one_by_one() -> None:
    layers = (residual, shifted, perturbed)
    for one in layers:
        unrolled = start(size=3)
        for place in range(3):
            unrolled = renamed(one, unrolled, place)
        deep = repeat(start(size=3), "end", one, 3)
        for found, expected in ((deep.error, unrolled.error), (deep.size, unrolled.size)):
            values = {K: 2, eps: sp.Rational(1, 10), c: sp.Rational(1, 3), v: 5, b: 7}
            assert sp.simplify(found.subs(values).doit() - expected.subs(values)) == 0


def shifted(z: Approximated) -> Approximated:
    """The sizes grow by a constant beside the factor."""
    product = perturbed_map(z, "W z", operator_norm=K, perturbation=eps, dim=d)
    return add(product, given("bias", dim=d, size=b), name="shifted")


def perturbed(z: Approximated) -> Approximated:
    product = perturbed_map(z, "W z", operator_norm=K, perturbation=eps, dim=d)
    return add(z, product, name="perturbed", coefficients=(1, c))


def renamed(one: object, z: Approximated, place: int) -> Approximated:
    """The layer from a fresh given with the size and the error of z, so that its steps may be named again."""
    assert callable(one)
    found = one(given(f"before {place}", dim=d, size=z.size, error=z.error))
    return given(f"after {place}", dim=d, size=found.size, error=found.error)


def test_a_layer_of_one_size_raises_the_size_of_a_smaller_start() -> None:
    deep = repeat(start(size=sp.Rational(1, 2)), "end", layer, N)
    assert (deep.size, deep.derivation.conditional) == (1, False)


def test_a_normalised_residual_layer_keeps_its_size() -> None:
    growth = 1 + c * v
    deep = repeat(start(), "end", lambda z: residual(z, (1 / growth, c / growth)), N)
    assert sp.simplify(deep.error - N * c * v * eps / growth) == 0
    assert (deep.size, deep.derivation.conditional) == (1, False)


def test_sizes_given_by_hand_leave_no_obligation() -> None:
    e, number = sp.Dummy("e", nonnegative=True), sp.Symbol("l", integer=True, nonnegative=True)
    before = given("before", dim=d, size=(1 + c * v) ** number, error=e)
    step = recursion_from(before, residual(before), index=number)
    deep = iterate(start(), "end", step, N, size=(1 + c * v) ** N)
    assert deep.error == repeat(start(), "end", residual, N).error
    assert not deep.derivation.conditional


def test_a_size_by_hand_that_is_too_small_stays_owed() -> None:
    e, number = sp.Dummy("e", nonnegative=True), sp.Symbol("l", integer=True, nonnegative=True)
    before = given("before", dim=d, size=(1 + c * v / 2) ** number, error=e)
    step = recursion_from(before, residual(before), index=number)
    assert iterate(start(), "end", step, N, size=(1 + c * v) ** N).derivation.conditional


def test_a_layer_that_treats_sizes_unevenly_owes_the_largest() -> None:
    """It doubles the start and no other size, so that its sizes are not those of the recursion."""

    def uneven(z: Approximated) -> Approximated:
        return linear_map(z, "A z", operator_norm=v if z.size.is_Dummy else 2, dim=d)

    assert repeat(start(), "end", uneven, N).derivation.conditional


def test_an_obligation_of_the_layer_is_owed_by_the_whole() -> None:
    radius = sp.Symbol("radius", positive=True)

    def known_on_a_range(z: Approximated) -> Approximated:
        return apply_function(z, "f", eps=eps, lipschitz=1, size=1, radius=radius)

    assert repeat(start(), "end", known_on_a_range, N).derivation.conditional


# What is shown: the recursion in words and in LaTeX, and the steps of one layer.


def test_the_recursion_is_shown_in_words_and_in_the_notation_of_the_statement() -> None:
    step = repeat(start(), "end", layer, N).derivation.steps[-1]
    assert step.recursion is not None
    assert step.recursion.words() == "e_(l+1) <= K*e_l + eps, e_0 = e_x"
    assert step.recursion.latex({eps: r"\varepsilon"}) == (r"e_{l+1} \le K\,e_{l} + \varepsilon,\qquad e_0 = e_{x}")
    wide = recur(start(), "end", factor=K + 1, offset=eps, depth=N, size=1).derivation.steps[-1].recursion
    assert wide is not None
    assert wide.words() == "e_(l+1) <= (K + 1)*e_l + eps, e_0 = e_x"
    quadratic = converge(start(error=eps), "end", quadratic=K, offset=0, depth=N, size=1).derivation.steps[-1]
    assert quadratic.recursion is not None
    assert quadratic.recursion.words() == "e_(n+1) <= K*e_n**2 + 0, e_0 = e_x"


def test_a_reason_of_the_callers_stands_beside_the_recursion() -> None:
    step = recur(start(), "end", factor=K, offset=eps, depth=N, size=1, reason="by induction").derivation.steps[-1]
    assert step.reason == "by induction"
    assert isinstance(step.recursion, LinearRecursion)
    assert (step.recursion.factor, step.recursion.offset) == (K, eps)


def test_the_steps_of_one_layer_are_those_that_the_layer_derives() -> None:
    repetition = repeat(start(), "end", layer, N).derivation.steps[-1]
    product, activation = steps_of_one_layer(repetition)
    before = sp.Symbol("e_l", nonnegative=True)
    assert (product.name, product.local, product.premises) == ("W z", K * before, ("its argument",))
    assert (activation.name, activation.local - eps, activation.premises) == ("r(W z)", product.error, ("W z",))
    assert steps_of_one_layer(product) == ()


def test_a_repetition_inside_a_layer_is_shown_inside_it() -> None:
    def twice(z: Approximated) -> Approximated:
        return repeat(z, "inner", layer, 2)

    repeated = repeat(start(), "end", twice, N).derivation
    (inner,) = steps_of_one_layer(repeated.steps[-1])
    assert [step.name for step in steps_of_one_layer(inner)] == ["W z", "r(W z)"]
    lines = [line.partition("}")[0] for line in repeated.latex().splitlines() if r"\le" in line]
    assert lines[:4] == ["e_{W\\,z", r"e_{\text{r(W z)", r"e_{\text{inner", r"e_{\text{end"]


def test_latex_lists_the_steps_of_one_layer_under_the_recursion() -> None:
    latex = repeat(start(), "end", layer, N).derivation.latex()
    product, activation, whole, _ = (line for line in latex.splitlines() if r"\le" in line)
    assert product.startswith(r"e_{W\,z} &\le K e_{l} && \text{linear map}, \text{one layer}")
    assert activation.startswith(r"e_{\text{r(W z)}} &\le e_{W\,z} + \mathrm{eps}")
    assert whole.startswith(r"e_{\text{end}} &\le")
