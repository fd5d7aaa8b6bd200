"""Where the bound on an error rests on the norm of a value, the proof says how large that is, and why, once."""

from dataclasses import replace

import pytest
import sympy as sp

from symbolic import find_result
from symbolic.calculus import (
    Norm,
    add,
    append,
    apply_function,
    attend,
    bilinear,
    centre,
    given,
    linear_map,
    perturbed_map,
    repeat,
    softmax,
)
from symbolic.derivations.derivation import Approximated
from symbolic.latex.page import Page
from symbolic.latex.proofs import NOTATION, SIZES, proofs
from symbolic.statements.result import Kind, Quantifier, Quantity, Result

a, e, f, K, X, Y, delta = sp.symbols("a e f K X Y delta", positive=True)
N = sp.Symbol("N", integer=True, positive=True)
x, y = (given(name, dim=3, norm=2, size=size, error=error) for name, size, error in (("x", X, e), ("y", Y, f)))


def proof(value: Approximated) -> str:
    """The lines of the proof of the bound on this value."""
    own = Quantity("E", "E", "", "", "", Kind.UPPER, Quantifier.FOR_ALL, value.derivation, value.name)
    result = Result("own", "own", find_result("icgd.step").citation, "", (), (), (own,))
    return "\n".join(proofs(result, Page(result.notation)))


def test_the_sizes_of_both_factors_of_a_product_have_a_sentence_with_their_reason() -> None:
    text = proof(bilinear(x, y, "p", norm=Norm.INF, dim=1))
    assert text.count(r"By assumption, $\|x\|_{2} \le X$.") == 1
    assert text.count(r"By assumption, $\|y\|_{2} \le Y$.") == 1
    assert text.startswith(NOTATION.format(v="v"))
    assert SIZES.format(v="v") in text
    assert r"\|p\|" not in text


def test_the_norm_that_an_error_of_0_would_be_multiplied_by_is_not_said() -> None:
    exact = given("x", dim=3, norm=2, size=X)
    text = proof(bilinear(exact, y, "p", norm=Norm.INF, dim=1))
    assert r"\|x\|_{2} \le X" in text
    assert r"\|y\|" not in text


def test_what_a_size_follows_from_is_said_too_and_each_once() -> None:
    image = linear_map(x, "image", operator_norm=K, dim=3)
    shifted = perturbed_map(image, "shifted", operator_norm=1, perturbation=delta, dim=3)
    text = proof(shifted)
    assert text.count(r"By assumption, $\|x\|_{2} \le X$.") == 1
    assert text.count(r"By the operator norm of the map, \[ \|\text{image}\|_{2} \le K \|x\|_{2} \le K X. \]") == 1
    assert r"\|\text{shifted}\|" not in text
    assert SIZES.format(v="v") not in proof(image)  # its bound is K e


def test_a_size_that_was_put_in_the_place_of_that_of_a_rule_is_a_separate_estimate() -> None:
    image = replace(linear_map(x, "image", operator_norm=K, dim=3), size=Y)
    text = proof(perturbed_map(image, "shifted", operator_norm=1, perturbation=delta, dim=3))
    assert r"By a separate estimate, $\|\text{image}\|_{2} \le Y$." in text
    assert r"\|x\|" not in text


def test_averages_count_with_the_distance_of_the_tokens() -> None:
    weights = softmax(given("scores", dim=4, size=1, error=e), "weights")
    tokens = centre(given("tokens", dim=3, norm=2, size=X), "centred", count=4)
    beside = append(tokens, given("zero", dim=3, norm=2, size=0), "beside")
    text = proof(attend(weights, beside, "average"))
    near = "All tokens are at most $X$ away from one point"
    assert f"{near}, as those that are 0 are the mean of the others." in text
    assert f"{near}, as all of them are moved by one vector." in text
    assert r"By assumption, $\|\text{tokens}\|_{2} \le X$." in text
    assert r"\|\text{zero}\|" not in text


@pytest.mark.parametrize(
    ("size", "why"),
    [(1, "By the largest absolute value of the function"), (None, "By the value of the function at 0, and its Lips")],
)
def test_a_function_is_bounded_by_its_largest_value_or_its_slope(size: int | None, why: str) -> None:
    bound = {"size": K * x.size_symbol if size is None else size}
    image = apply_function(x, "image", eps=0, lipschitz=K, **bound)
    text = proof(perturbed_map(image, "shifted", operator_norm=1, perturbation=delta, dim=3))
    assert why in text
    assert (r"\|x\|_{2} \le X" in text) is (size is None)
    assert image.size == (K * X if size is None else 1)


def test_a_layer_that_needs_the_size_of_its_argument_says_it_and_passes_it_on() -> None:
    def layer(p: Approximated) -> Approximated:
        moved = perturbed_map(p, "moved", operator_norm=a, perturbation=delta, dim=3)
        return add(p, moved, name="residual")

    text = proof(repeat(given("start", dim=3, norm=2, size=X), "output", layer, N))
    assert (
        r"from an argument with the error $e_l$; by induction over the layers, its exact value has a norm of at most $X"
        in text
    )
    assert r"By assumption, $\|\text{start}\|_{2} \le X$." in text
    assert r"By the triangle inequality, \[ \|\text{residual}\|_{2}" in text
    assert r"By the operator norm of the exact map, \[ \|\text{moved}\|_{2}" in text
    assert r"\|\text{output}\|" not in text


def test_a_layer_that_needs_no_size_says_none() -> None:
    def layer(p: Approximated) -> Approximated:
        return linear_map(p, "image", operator_norm=1, dim=3)

    assert r"\|" not in proof(repeat(x, "output", layer, N)).replace(r"\|{v}\|", "")


def test_the_size_after_repeated_layers_follows_from_one_layer() -> None:
    def layer(p: Approximated) -> Approximated:
        return apply_function(p, "tanh", eps=delta, lipschitz=1, size=1)

    deep = repeat(given("start", dim=3, size=1), "deep", layer, N)
    text = proof(perturbed_map(deep, "shifted", operator_norm=1, perturbation=delta, dim=3))
    assert r"By induction over the layers, $\|\text{deep}\|_{\infty} \le 1$." in text
    assert r"By the largest absolute value of the function, $\|\text{tanh}\|_{\infty} \le 1$." in text
    assert r"By assumption, $\|\text{start}\|_{\infty} \le 1$." in text
