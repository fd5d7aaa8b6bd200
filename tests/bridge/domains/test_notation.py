"""Domains as mathematics: the condition on an element in plain text and in LaTeX."""

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.domains import (
    Ball,
    Box,
    Concatenated,
    Domain,
    Integers,
    Rows,
    Shell,
    Signs,
    Simplex,
    SingularValues,
    Sphere,
)
from tests.bridge.domains.kinds import B, d, n

eps = sp.Symbol("eps", positive=True)
R = r"\mathbb{R}"

WRITTEN: list[tuple[Domain, str, str]] = [
    (Box(), "w in [-1, 1]", r"w \in [-1, 1]"),
    (Box(d), "w in [-1, 1]^d", r"w \in [-1, 1]^{d}"),
    (Box(n, d + 1, size=B), "w in [-B, B]^(n x (d + 1))", r"w \in [- B, B]^{n \times (d + 1)}"),
    (Box(3, low=0.1, high=sp.sqrt(2)), "w in [0.1, sqrt(2)]^3", r"w \in [0.1, \sqrt{2}]^{3}"),
    (Integers(d, low=0, high=n), "w in {0, ..., n}^d", r"w \in \{0, \dots, n\}^{d}"),
    (Signs(d), "w in {-1, 1}^d", r"w \in \{-1, 1\}^{d}"),
    (Ball(d, radius=B), "w in R^d, ||w||_2 <= B", rf"w \in {R}^{{d}},\ \|w\|_{{2}} \le B"),
    (
        Ball(n, d, radius=eps, norm="inf"),
        "w in R^(n x d), ||vec(w)||_inf <= eps",
        rf"w \in {R}^{{n \times d}},\ \|\mathrm{{vec}}(w)\|_{{\infty}} \le \varepsilon",
    ),
    (Sphere(3, radius=B), "w in R^3, ||w||_2 = B", rf"w \in {R}^{{3}},\ \|w\|_{{2}} = B"),
    (Shell(3, low=1, high=B), "w in R^3, 1 <= ||w||_2 <= B", rf"w \in {R}^{{3}},\ 1 \le \|w\|_{{2}} \le B"),
    (Simplex(n), "w in R^n, w >= 0, ||w||_1 = 1", rf"w \in {R}^{{n}},\ w \ge 0,\ \|w\|_{{1}} = 1"),
    (
        SingularValues(n, d, high=B),
        "w in R^(n x d), sigma_max(w) <= B",
        rf"w \in {R}^{{n \times d}},\ \sigma_{{\max}}(w) \le B",
    ),
    (
        SingularValues(n, d, low=B, high=1),
        "w in R^(n x d), B <= sigma_k(w) <= 1 for every k",
        rf"w \in {R}^{{n \times d}},\ B \le \sigma_k(w) \le 1\ \text{{for every}}\ k",
    ),
    (
        Rows(d, Ball(d, norm=1, radius=B)),
        "w_i in R^d, ||w_i||_1 <= B for i = 1, ..., d",
        rf"w_{{i}} \in {R}^{{d}},\ \|w_{{i}}\|_{{1}} \le B\ \text{{for}}\ i = 1, \dots, d",
    ),
    (
        Rows(2, Rows(3, Signs(4))),
        "w_ij in {-1, 1}^4 for j = 1, ..., 3 for i = 1, ..., 2",
        r"w_{ij} \in \{-1, 1\}^{4}\ \text{for}\ j = 1, \dots, 3\ \text{for}\ i = 1, \dots, 2",
    ),
    (
        Concatenated(Box(2), Rows(n, Box(d))),
        "w = (w(1), w(2)), w(1) in [-1, 1]^2, w(2)_i in [-1, 1]^d for i = 1, ..., n",
        r"w = (w^{(1)}, w^{(2)}),\ w^{(1)} \in [-1, 1]^{2},\ "
        r"w^{(2)}_{i} \in [-1, 1]^{d}\ \text{for}\ i = 1, \dots, n",
    ),
]


@pytest.mark.parametrize(("domain", "words", "latex"), WRITTEN, ids=[str(domain) for domain, _, _ in WRITTEN])
def test_a_domain_is_written_as_mathematics(domain: Domain, words: str, latex: str) -> None:
    assert domain.words("w") == words
    assert domain.latex("w", {eps: r"\varepsilon"}) == latex


def test_an_index_of_rows_is_no_letter_of_the_domain() -> None:
    i = sp.Symbol("i", positive=True)
    assert Rows(2, Ball(3, radius=i)).words("x") == "x_j in R^3, ||x_j||_2 <= i for j = 1, ..., 2"
    assert Rows(2, Signs(3)).words("i") == "i_j in {-1, 1}^3 for j = 1, ..., 2"


def test_a_name_of_several_letters_has_its_indices_outside() -> None:
    assert Rows(2, Signs(3)).latex("W_V").startswith(r"{W_{V}}_{i} \in")
    assert Signs(3).latex("beta") == r"\beta \in \{-1, 1\}^{3}"


class Odd(Box):
    """A domain of the user's own without a condition."""

    condition = Domain.condition


def test_a_domain_without_a_condition_is_named() -> None:
    odd = Odd(2)
    assert odd.words("x") == "x in Odd(2, size=1)"
    assert odd.latex("x") == r"x \in \text{Odd(2, size=1)}"


@pytest.mark.parametrize(
    ("domain", "letters"),
    [
        (Box(n, d, size=B), {n, d, B}),
        (Rows(n, Ball(d, radius=B)), {n, d, B}),
        (Concatenated(Box(2), Ball(3, radius=B)), {B}),
        (SingularValues(2, 2, low=eps, high=B), {eps, B}),
        (Sphere(3), set()),
    ],
    ids=lambda each: str(each) if isinstance(each, Domain) else "",  # sets have no order
)
def test_the_letters_of_a_domain(domain: Domain, letters: set[sp.Symbol]) -> None:
    assert domain.letters == letters


def test_a_letter_inside_a_domain_of_several_parts_is_a_parameter() -> None:
    with pytest.raises(bs.UsageError, match="has B, which is not a parameter; parameters: eps"):
        bs.theorem(
            "parts",
            bs.rules.given("out", dim=1, size=1),
            parameters={eps: 1},
            inputs={"x": bs.domains.Concatenated(bs.domains.Box(1), bs.domains.Ball(2, radius=B))},
        )


def test_a_theorem_says_its_domains_as_mathematics() -> None:
    theorem = bs.theorem(
        "boxed",
        bs.rules.given("out", dim=d, size=1, error=eps),
        parameters={eps: 0.5, d: 2},
        weights={
            "W": bs.domains.Rows(d, bs.domains.Ball(d, radius=eps)),
            "b": lambda d: torch.zeros(d, dtype=torch.float64),
        },
        inputs={"x": bs.domains.Box(d)},
        network=lambda x, W, b, eps: x * (1 + eps) + 0 * (W @ x) + b,
        reference=lambda x: x,
    )
    quantity = theorem.statement.quantity("out")
    assert quantity.domain == "W_i in R^d, ||W_i||_2 <= eps for i = 1, ..., d; x in [-1, 1]^d"
    of_rows = rf"W_{{i}} \in {R}^{{d}},\ \|W_{{i}}\|_{{2}} \le \varepsilon\ \text{{for}}\ i = 1, \dots, d"
    latex = rf"\paragraph{{Error of out.}} Upper bound for all inputs; sup norm; ${of_rows}$, $x \in [-1, 1]^{{d}}$."
    assert latex in theorem.latex()
    assert bs.compare(theorem, samples=2, attack=0).rows[0].domain == quantity.domain
