"""`repeat`: the same bound as the recursion written by hand, at any depth; layers that do not repeat are refused."""

import pytest
import sympy as sp

from symbolic.calculus import (
    Approximated,
    DerivationError,
    Norm,
    apply_function,
    change_norm,
    converge,
    given,
    linear_map,
    recur,
    repeat,
)
from symbolic.calculus.repetition import steps_of_one_layer

eps, K = sp.symbols("eps K", positive=True)
N = sp.Symbol("N", integer=True, positive=True)
d = sp.Symbol("d", integer=True, positive=True)


def start(error: object = 0) -> Approximated:
    return given("x", dim=d, size=1, error=error)


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


def grown(z: Approximated) -> Approximated:
    return linear_map(z, "2 z", operator_norm=2, dim=d)


def in_another_norm(z: Approximated) -> Approximated:
    return change_norm(z, Norm.TWO, "z in the 2-norm")


def shorter(z: Approximated) -> Approximated:
    return linear_map(z, "P z", operator_norm=1, dim=d + 1)


def squared(z: Approximated) -> Approximated:
    return apply_function(z, "z^2", eps=z.error**2, lipschitz=1, size=1)


def unrelated(z: Approximated) -> Approximated:
    return given("other", dim=d, size=1)


REFUSED = {
    "a layer that grows": (grown, "the layers do not fit; hypothesis violated: the size"),
    "another norm": (in_another_norm, "apply change_norm first"),
    "another dimension": (shorter, r"'P z' has d \+ 1 coordinates, and its argument d"),
    "no affine error": (squared, "is not affine in that of|must not occur"),
    "another value": (unrelated, "'other' is not derived from 'a layer of end'"),
}


@pytest.mark.parametrize(("wrong", "message"), REFUSED.values(), ids=list(REFUSED))
def test_a_layer_that_does_not_repeat_is_refused(wrong: object, message: str) -> None:
    with pytest.raises(DerivationError, match=message):
        repeat(start(), "end", wrong, N)


def test_a_size_that_does_not_enter_the_bound_has_to_be_kept_too() -> None:
    size = sp.Symbol("size", positive=True)
    x = given("x", dim=d, size=size)
    with pytest.raises(DerivationError, match="'W z' has the size 2\\*size, above that of its argument"):
        repeat(x, "end", lambda z: linear_map(z, "W z", operator_norm=2, dim=d), N)
    owed = repeat(x, "end", lambda z: linear_map(z, "W z", operator_norm=K, dim=d), N).derivation.obligations
    assert [each.statement for each in owed if each.open] == [
        "the size of 'W z' is at most that of the layer's premise"
    ]
    assert not repeat(x, "end", lambda z: linear_map(z, "W z", operator_norm=1, dim=d), N).derivation.conditional


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


def test_a_reason_of_the_callers_stands_in_place_of_the_recursion() -> None:
    step = recur(start(), "end", factor=K, offset=eps, depth=N, size=1, reason="by induction").derivation.steps[-1]
    assert (step.reason, step.recursion) == ("by induction", None)


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
    assert lines[:4] == [rf"e_{{\text{{{name}" for name in ("W z", "r(W z)", "inner", "end")]


def test_latex_lists_the_steps_of_one_layer_under_the_recursion() -> None:
    latex = repeat(start(), "end", layer, N).derivation.latex()
    product, activation, whole, _ = (line for line in latex.splitlines() if r"\le" in line)
    assert product.startswith(r"e_{\text{W z}} &\le K e_{l} && \text{linear map}, \text{one layer}")
    assert activation.startswith(r"e_{\text{r(W z)}} &\le e_{\text{W z}} + eps")
    assert whole.startswith(r"e_{\text{end}} &\le")
