"""What a gradient prints stands alone: on a terminal, in LaTeX, in a notebook."""

import re

import sympy as sp
import torch

import boundsmith as bs
from symbolic.gradients.terms import Lettered
from symbolic.latex.page import PAGE
from symbolic.latex.widths import width
from tests.bridge.expressions.gradient_cases import (
    CASES,
    RUN,
    L,
    N,
    W,
    by_autograd,
    drawn,
    every_case,
    squares,
    tanh,
    x,
    y,
)
from tests.bridge.expressions.gradient_reader import Reader


@every_case
def test_the_lines_that_are_printed_give_the_gradient_and_define_each_letter_before_its_use(case: str) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    arrays = drawn(gradient, 4)
    found, expected = dict(Reader(gradient, arrays).gradients()), by_autograd(gradient, arrays)
    assert list(found) == list(expected)
    for name, each in expected.items():
        assert torch.allclose(found[name], each, rtol=1e-9, atol=1e-10)


def test_the_gradient_of_n_layers_in_print() -> None:
    residual = (bs.repeat(lambda p: tanh(W @ p), x, N) - y).named("r")
    expected = """\
the gradient of L, where N and d are positive integers, x in R^d, y in R^d, W in R^(d x d), and forward
  p_0 = x
  z_l = W p_(l-1)   l = 1, ..., N
  p_l = tanh(z_l)   l = 1, ..., N
    r = p_N - y
    L = r^T r
backward, where a bar marks the derivative of L by a value
      p_bar_N = 2 r
      z_bar_l = tanh'(z_l) * p_bar_l   l = N, ..., 1
  p_bar_(l-1) = W^T z_bar_l            l = N, ..., 1
the gradient
  dL/dW = sum_(l=1)^N z_bar_l p_(l-1)^T
where
  tanh'(t) = 1 - tanh(t)^2
  * is the product entry by entry; functions act entry by entry"""
    assert str(bs.gradient(residual @ residual, W)) == repr(bs.gradient(residual @ residual, W)) == expected


def test_the_slope_of_a_kinked_function_is_written_by_cases() -> None:
    relu = bs.function(lambda t: sp.Max(t, 0), name="relu")
    gradient = bs.gradient(squares(relu(W @ x)), W)
    assert "relu'(t) = Heaviside(t)" in str(gradient)
    assert r"\operatorname{relu}'(t) &= \begin{cases} 0 & \text{for}\: t < 0 \\\frac{1}{2}" in gradient.latex()


def test_each_matrix_of_a_layer_has_a_line() -> None:
    text = str(bs.gradient(*CASES["a matrix of each layer"][:1], L))
    assert "L_1, ..., L_N in R^(d x d)" in text
    assert "dJ/dL_l = z_bar_l p_(l-1)^T   l = 1, ..., N" in text


def test_the_network_that_runs_has_hats_and_says_what_they_are() -> None:
    text = str(bs.gradient(*RUN["a function and a rounded matrix"], approximate=True))
    assert "dL/dW_hat = sum_(l=1)^N z_bar_l p_(l-1)^T" in text
    assert "tanh_hat(t) = (1 - eps) tanh(t)" in text
    assert "W_hat is W with each entry rounded to the nearest multiple of eps" in re.sub(r"\s+", " ", text)
    cut = str(bs.gradient(*RUN["the largest keys"], approximate=True))
    assert "softmax_k is softmax over the k largest entries" in cut
    assert "softmax_kept is softmax over those of the mask" in str(
        bs.gradient(*RUN["the keys of a mask"], approximate=True)
    )


COMMAND = re.compile(r"\\[A-Za-z]+")
WORDS = re.compile(r"\\(begin|end)\{[^}]*\}|\\(mathrm|operatorname|text)\{[^}]*\}|\\[A-Za-z]+")


@every_case
def test_no_two_values_have_one_letter(case: str) -> None:
    lines = bs.gradient(*CASES[case][:1], *CASES[case][1]).pages.lines
    letters, flows = lines.naming.letters, lines.flows
    of_loops = [letters[Lettered("value", loop, 1 if loop.count is None else 2)].name for loop in flows.loops.values()]
    defined = [letters[line.left].name for line in lines.forward]
    names = [*of_loops, *(name for name in defined if name not in of_loops)]
    assert len(set(names)) == len(names)
    assert not set(names) & {*lines.naming.objects.inputs_of_graph, *lines.naming.objects.matrices}
    assert all(name.isalpha() for name in names)  # v_1 would be v_l for l = 1


@every_case
def test_its_latex_fits_the_page_and_declares_or_defines_each_letter(case: str) -> None:
    gradient = bs.gradient(*CASES[case][:1], *CASES[case][1])
    page = gradient.latex()
    displays = re.findall(r"\\\[ (.*?) \\\]", page, flags=re.DOTALL)
    assert displays
    assert max(width(each) for each in displays) <= PAGE
    assert page.count("{") == page.count("}")
    words = " ".join(
        page.split(r"\[")[0:1] + re.findall(r"^(.*?) &=", page, flags=re.MULTILINE) + page.split(r"\]")[-1:]
    )
    known = set(re.findall(r"[A-Za-z]", WORDS.sub(" ", words)))
    used = set(re.findall(r"[A-Za-z]", WORDS.sub(" ", " ".join(displays))))
    assert used - known <= {"t", "e"}  # the argument of functions, exp
    notebook = gradient._repr_markdown_()
    assert notebook.count("$$") == 2 * len(displays)
    assert notebook.replace("$$\n", "").replace("\n$$", "") == page.replace(r"\[ ", "").replace(r" \]", "")
