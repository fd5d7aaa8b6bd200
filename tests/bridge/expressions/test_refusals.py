"""Expressions that do not fit: each refusal names the objects, shows shapes in letters, and says what to give."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs

K, a = sp.symbols("K a", positive=True)
d, h, n = sp.symbols("d h n", integer=True, positive=True)
W, x, y = bs.matrix("W", h, d, row_sums=K), bs.vector("x", d, size=1), bs.vector("y", h, size=1)
V = bs.tokens("V", n, d, size=1)
tanh = bs.function(sp.tanh)

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a matrix of other columns": (lambda: W @ y, "W has d columns: y is in R^h"),
    "a sum of shapes": (lambda: x + y, "a sum of values of different shapes: x is in R^d, y is in R^h"),
    "a vector and tokens": (lambda: x + V, "different shapes: x is in R^d, V is in n tokens in R^d"),
    "a product of shapes": (lambda: x * y, "a product of values of different shapes: x is in R^d, y is in R^h"),
    "a sum with a number": (lambda: x + 1, "x + 1: expected an expression, got int"),
    "a number and a sum": (lambda: 1 + x, "x + 1: expected an expression, got int"),
    "a number less a sum": (lambda: 1 - x, "x - 1: expected an expression, got int"),
    "a letter and a sum": (lambda: K + x, "x + K: expected an expression, got Symbol"),
    "a vector in a function of SymPy": (
        lambda: sp.tanh(W @ x),
        "formulas, but came to <W x, vector in R^h>; write bs.function(sp.tanh)(x) to apply one to each entry",
    ),
    "a vector among numbers": (
        lambda: sp.Max(x, 0),
        "a function of SymPy takes numbers and formulas, but came to <x, ",
    ),
    "a scaled matrix": (lambda: 2 * W, "W: a matrix is not scaled; write c * (W @ x)"),
    "a matrix scaled by a letter": (lambda: K * W, "W: a matrix is not scaled; write c * (W @ x)"),
    "added matrices": (lambda: W + W, "W: matrices are not added; write W @ x + B @ x"),
    "a matrix of a layer": (lambda: W[0], "W: a layer takes its own matrix by itself; write W @ x"),
    "a vector before a matrix": (lambda: x @ W, "x @ W: expected an expression, got Matrix"),
    "a matrix over a number": (lambda: W / 2, "W: a matrix is not scaled; write c * (W @ x)"),
    "a number and a matrix": (lambda: 1 - W, "W: matrices are not added; write W @ x + B @ x"),
    "a factor that is a text": (lambda: x * "2", "expected a number or a SymPy expression as a factor, got str"),
    "a matrix without a norm": (
        lambda: bs.matrix("W", d, d),
        "W: no norm is bounded; give one of spectral=, row_sums=",
    ),
    "a norm that no matrix has": (
        lambda: bs.matrix("W", d, d, rows=K),
        "a matrix has no norm 'rows'; it has: spectral",
    ),
    "two norms": (lambda: bs.matrix("W", d, d, row_sums=K, spectral=K), "give domain=, a set of matrices in which"),
    "a vector without a norm": (lambda: bs.vector("x", d), "x: no norm is bounded; give size= (largest entry)"),
    "two sizes": (lambda: bs.vector("x", d, size=1, norm=1), "x: 2 norms are bounded; give domain="),
    "a function of a number": (lambda: tanh(1), "tanh(1): expected an expression, got int"),
    "no function": (lambda: bs.function("tanh"), "expected a function in SymPy, such as sp.tanh, got str"),
    "a function with letters": (lambda: bs.function(lambda t: a * t), "has the letters a beside its argument"),
    "a function that is too steep": (
        lambda: bs.function(lambda t: t**2),
        "f: no Lipschitz constant of t**2 is found over all numbers; give radius=",
    ),
    "a layer of another shape": (lambda: bs.repeat(lambda p: W @ p, x, 3), "a layer has to keep the shape"),
    "a layer that is no expression": (
        lambda: bs.repeat(lambda p: 1, x, 3),
        "the layer returns int; return an expression",
    ),
    "vectors of two dimensions": (
        lambda: x @ y,
        "an inner product of vectors of different dimensions: x is in R^d, y is in R^h",
    ),
    "a vector as keys": (lambda: x @ V, "tokens and one dimension are needed: x is in R^d"),
    "weights of other tokens": (lambda: bs.attend(bs.softmax(x), V), "attend: one weight for each token is needed"),
    "a mean of a vector": (lambda: bs.mean(x), "mean: tokens are needed: x is in R^d"),
    "no name": (lambda: (x + x).named(""), "an expression is named ''; give it a text, such as 'output'"),
    "a token of a vector": (lambda: x[0], "x[0]: x is in R^d; a token has a whole number, such as 0 or -1"),
    "a token by a text": (lambda: V["a"], "V['a']: V is in n tokens in R^d; a token has a whole number"),
    "a token by a fraction": (lambda: (V + V)[0.5], "V + V[0.5]: V + V is in n tokens in R^d; a token has a whole"),
    "a token beyond the last": (lambda: bs.tokens("u", 3, d, size=1)[3], "u[3]: there are 3 tokens"),
    "a token before the first": (lambda: bs.tokens("u", 3, d, size=1)[-4], "u[-4]: there are 3 tokens"),
    "a vector less its mean": (lambda: x.centred(), "centred: tokens are needed: x is in R^d"),
    "appended tokens of another dimension": (
        lambda: V.append(y),
        "append: one dimension is needed: V is in n tokens in R^d, y is in R^h",
    ),
    "an appended number": (lambda: V.append(1), "V.append: expected an expression, or 0, got int"),
    "a name with a space": (
        lambda: bs.vector("my x", d, size=1),
        "an object is named 'my x'; give it a name of letters",
    ),
    "a keyword": (lambda: bs.matrix("lambda", d, d, row_sums=1), "an object is named 'lambda'"),
    "a jump": (
        lambda: bs.function(lambda t: sp.Piecewise((0, t < 1), (1, True))),
        "may jump, has poles or exceeds",
    ),
    "poles": (
        lambda: bs.function(lambda t: sp.atan(sp.tan(t))),
        "has poles or exceeds all floats over all numbers; give radius=",
    ),
    "another argument": (
        lambda: bs.function(sp.tanh(K)).approximated(sp.tanh(a)),
        "tanh: tanh(a) does not have the argument K; give a function, lambda K: ...",
    ),
    "a layer norm of a matrix": (
        lambda: bs.blocks.layer_norm(W),
        "layer_norm: expected an expression, got Matrix",
    ),
    "a gain that is a number": (
        lambda: bs.blocks.layer_norm(x, shift=1, gain=2),
        "layer_norm: expected a vector as the gain, got int; give bs.vector(...)",
    ),
    "a gain of other coordinates": (
        lambda: bs.blocks.rms_norm(x, shift=1, gain=y),
        "rms_norm: the gain has to be one vector of as many coordinates: y is in R^h, x is in R^d",
    ),
    "a bias for each token": (
        lambda: bs.blocks.layer_norm(V, shift=1, bias=V),
        "layer_norm: the bias has to be one vector of as many coordinates: V is in n tokens in R^d, V is in n tokens",
    ),
    "rotary positions of a number": (lambda: bs.blocks.rotary(1), "rotary: expected an expression, got int"),
    "rotary positions of one vector": (
        lambda: bs.blocks.rotary(x),
        "rotary: tokens are needed, which have places: x is",
    ),
    "rotary positions in odd dimension": (
        lambda: bs.blocks.rotary(bs.tokens("V", n, 3, size=1)),
        "rotary: V is in R^3; an even dimension is needed",
    ),
    "a base that is a text": (
        lambda: bs.blocks.rotary(V, base="e"),
        "expected a number or a SymPy expression as a base, got str",
    ),
    "a log-softmax of a text": (lambda: bs.blocks.log_softmax("s"), "log_softmax: expected an expression, got str"),
    "a cross-entropy of a number": (
        lambda: bs.blocks.cross_entropy(1, 0),
        "cross_entropy: expected an expression, got int",
    ),
    "a label out of range": (
        lambda: bs.blocks.cross_entropy(bs.vector("s", 3, size=1), 3),
        "cross_entropy: the label is 3, of 3 classes; give 0, ..., 2",
    ),
    "a negative label": (lambda: bs.blocks.cross_entropy(x, -1), "the label is -1, of d classes; give 0, ..., d - 1"),
    "a label that is a truth value": (
        lambda: bs.blocks.cross_entropy(x, True),
        "the number of a class, or exact weights",
    ),
    "a label that is no class": (
        lambda: bs.blocks.cross_entropy(x, 0.5),
        "expected the number of a class, or exact weights over the classes, got float; give bs.vector(..., sums=1,",
    ),
    "a label that holds no weights": (
        lambda: bs.blocks.cross_entropy(x, bs.vector("y", d, sums=1)),
        "or exact weights over the classes, got y in Ball(d, radius=1, norm=1); give bs.vector(",
    ),
    "a label of other classes": (
        lambda: bs.blocks.cross_entropy(x, bs.vector("y", h, sums=1, domain=bs.domains.Simplex(h))),
        "cross_entropy: a weight for each class is needed: y is in R^h, x is in R^d",
    ),
    "a mixture under a list": (lambda: bs.blocks.mixture([1], [x]), "mixture: expected expressions, got list"),
    "a mixture of numbers": (
        lambda: bs.blocks.mixture(bs.softmax(x), [1, 2]),
        "mixture: expected expressions, got int",
    ),
    "a mixture of nothing": (
        lambda: bs.blocks.mixture(bs.softmax(x), []),
        "mixture: no experts came; give a list of expressions",
    ),
    "a mixture of shapes": (
        lambda: bs.blocks.mixture(bs.softmax(bs.vector("s", 2, size=1)), [x, y]),
        "values of one shape, and as many tokens as the weights, are needed: softmax(s) is in R^2, x is in R^d, y",
    ),
    "a mixture at tokens under one weight": (
        lambda: bs.blocks.mixture(bs.softmax(bs.vector("s", 2, size=1)), [V, V]),
        "as many tokens as the weights, are needed: softmax(s) is in R^2, V is in n tokens in R^d",
    ),
    "a mixture of too few experts": (
        lambda: bs.blocks.mixture(bs.softmax(bs.vector("s", 3, size=1)), [x, x]),
        "mixture: one weight for each of the 2 experts is needed: softmax(s) is in R^3",
    ),
    "an embedding without a table": (
        lambda: bs.blocks.embedding(x, x),
        "embedding: expected a matrix and an expression, got Input and Input",
    ),
    "an embedding of a number": (
        lambda: bs.blocks.embedding(W, 3),
        "embedding: expected a matrix and an expression, got Matrix and int",
    ),
    "an embedding of other words": (lambda: bs.blocks.embedding(W, x), "embedding: W has h rows: x is in R^d"),
    "a table for each layer": (
        lambda: bs.blocks.embedding(bs.matrix("E", d, h, row_sums=1, layers=3), x),
        "embedding: E is one matrix for each layer; give one table",
    ),
    "rounded twice": (lambda: W.rounded(1).rounded(1), "W is approximate already; take a matrix of another name"),
}


@pytest.mark.parametrize(("call", "words"), WRONG.values(), ids=list(WRONG))
def test_what_does_not_fit_is_refused_where_it_is_written(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(bs.UsageError, match=re.escape(words)):
        call()


def stated(*outputs: Any, **more: Any) -> bs.Theorem:
    return bs.theorem("own", *outputs, parameters={K: 1.5, d: 3, h: 2, n: 4}, **more)


def test_two_objects_of_one_name_are_refused() -> None:
    other = bs.vector("W", h, size=1)
    with pytest.raises(bs.UsageError, match="own: two objects are called 'W'; give one of them another name"):
        stated(W.rounded(0.1) @ x + other)
    with pytest.raises(bs.UsageError, match="two objects are called 'x'"):
        stated(x + bs.vector("x", d, size=2))


def test_a_difference_that_does_not_come_apart_asks_for_a_bound() -> None:
    slower = tanh.approximated(lambda t: sp.tanh(a * t))
    with pytest.raises(bs.UsageError, match=r"is not a number times a function of t; give approximated\(..., error=\)"):
        bs.theorem("own", slower(x), parameters={a: 0.9, d: 3})
    given = tanh.approximated(lambda t: sp.tanh(a * t), error=1 - a)
    theorem = bs.theorem("own", given(x), parameters={a: 0.9, d: 3}, hypotheses=[a < 1])
    assert theorem.statement.quantity("output").derived() == 1 - a


def test_a_norm_that_no_rule_gives_is_refused() -> None:
    weights = bs.softmax(x)
    with pytest.raises(bs.UsageError, match="output is not bounded in the inf-norm; it is in: 1"):
        bs.theorem("own", weights, norm="inf", parameters={d: 3})


def test_rotary_positions_that_do_not_fit_the_parameters_are_refused() -> None:
    with pytest.raises(bs.UsageError, match=r"rotate: the half dimension of 'output' is 3/2; give a whole"):
        stated(bs.blocks.rotary(V))
    wrong = {
        (3, 1): r"'angles' of shape \(3, 1\) and 'V' of shape \(4, 2\) do not fit",
        (4, 3): r"expected an array whose last axis has length h = 2, got the shape \(4, 6\) from 'angles' of shape",
    }
    for shape, words in wrong.items():
        turned = bs.blocks.rotary(bs.tokens("V", n, h, size=1), angles=lambda shape=shape: torch.zeros(shape))
        with pytest.raises(bs.UsageError, match=words):
            bs.compare(stated(turned), samples=2, attack=0)


def test_a_label_beyond_the_classes_of_the_parameters_is_refused() -> None:
    with pytest.raises(bs.UsageError, match=r"cross_entropy: the label is 7, of 3 classes; give 0, ..., 2"):
        bs.compare(stated(bs.blocks.cross_entropy(x, 7)), samples=2, attack=0)


@pytest.mark.parametrize("norm", [bs.blocks.rms_norm, bs.blocks.layer_norm])
def test_a_normalisation_without_a_shift_and_a_least_length_is_refused(norm: Any) -> None:
    with pytest.raises(bs.UsageError, match=r"near 0; give shift > 0, or least > 0 and exact_least"):
        bs.theorem("own", norm(W.rounded(0.1) @ x), parameters={K: 1.5, d: 3, h: 2})
    with pytest.raises(bs.UsageError, match="which the approximate argument has to keep too; give exact_least"):
        bs.theorem("own", norm(W.rounded(0.1) @ x, least=0.1), parameters={K: 1.5, d: 3, h: 2})


def test_an_expression_beside_a_conclusion_is_refused() -> None:
    with pytest.raises(bs.UsageError, match="own: y is not an expression, and others are; state two theorems"):
        stated(x, bs.rules.given("y", dim=3, size=1))


def test_a_token_of_another_loop_is_refused() -> None:
    u, start, A = bs.tokens("u", 4, d, size=1), bs.vector("x", d, size=1), bs.matrix("A", d, d, row_sums=K)
    inner = bs.repeat(lambda h, k: bs.repeat(lambda q: A @ q + u[k], h, 2), start, 4)
    with pytest.raises(bs.UsageError, match=r"u\[l\] stands outside of the layers whose number it takes"):
        bs.theorem("own", inner, parameters={K: 0.5, d: 3})
    own = bs.matrix("B", d, d, row_sums=K, layers=4)
    with pytest.raises(
        bs.UsageError, match="B is one matrix for each layer, and stands in no repetition or in several"
    ):
        bs.theorem("own", own @ start, parameters={K: 0.5, d: 3})


def test_a_set_of_matrices_that_exceeds_its_norm_is_refused() -> None:
    A = bs.matrix("A", d, d, row_sums=1, domain=bs.domains.SingularValues(d, d, high=1))
    with pytest.raises(bs.UsageError, match=r"own: A of its domain has a norm of .*, above 1 = 1; make them agree"):
        bs.theorem("own", A.rounded(0.1) @ bs.vector("x", d, size=1), parameters={d: 6})


def test_an_input_of_two_sets_and_a_program_of_unknown_names_are_refused() -> None:
    first, second = (
        bs.value(name, lambda z: z, dim=d, size=1, inputs={"z": bs.domains.Box(d, size=size)})
        for name, size in (("one", 1), ("two", sp.Rational(1, 2)))
    )
    with pytest.raises(bs.UsageError, match="own: the input 'z' has two domains"):
        bs.theorem("own", first + second, parameters={d: 3})
    unknown = bs.value("v", lambda z, r: r * z, dim=d, size=1, inputs={"z": bs.domains.Box(d)})
    with pytest.raises(
        bs.UsageError, match="own: the program of 'v' takes r, which is neither an input nor a parameter"
    ):
        bs.theorem("own", unknown, parameters={d: 3})


def test_a_parameter_with_the_name_of_a_letter_of_the_derivation_is_refused() -> None:
    rho = sp.Symbol("rho_tanh", positive=True)
    analog = tanh.approximated(lambda t: (1 - a) * sp.tanh(t))
    with pytest.raises(bs.UsageError, match="own: rho_tanh names a letter of the derivation; rename the parameter"):
        bs.theorem("own", analog(rho * x), parameters={rho: 1.0, a: 0.1, d: 3})
