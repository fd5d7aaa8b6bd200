"""What exported theorems of looped transformers say in words, where a bound needs it to be true."""

import pytest

from symbolic.latex.paper_text import theorem_latex
from symbolic.statements.catalogue import find_result

ANY = "any number that meets the condition on it"


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("newton", r"any number above 0 that meets the condition on it"),
        ("newton", r"(Frobenius norm), under (C1), satisfies"),
        ("newton", r"$\hat V_k$: matrix whose columns the tokens of the examples hold"),
        ("newton", r"M_{k+1} = 2\,M_{k} - M_{k}\,S\,M_{k}"),
        ("autoregression", r"\le \|u - v\|_{\infty}$ for all $u$ and $v$, and $\Phi (0) = 0$"),
        ("autoregression", rf"$\hat X$: bound on the predictions of the loops, exact and of the transformer: {ANY}"),
        ("autoregression", r"\[ \delta = "),
        ("decoder", ANY),
        ("decoder", r"from which loops start, exact and of the transformer"),
        ("linearised", r"scores of one head at its $2\,N + 2$ keys"),
        ("linearised", r"the tokens of labels hold 0"),
        ("linearised", r"\max_{1 \le i \le N+1} |\hat r_i^{(0)} - r_i + (\eta/N) \sum_{j=1}^N r_j"),
        ("linearised", r"\max_{1 \le i \le N+1} |\hat r_i^{(-)} - r_i + (\eta/N) \sum_{j=1}^N r_j"),
        ("linearised", r"$e^{C}/(2\,c)$ times the difference of the weights of two heads"),
        ("gradient_descent", r"after $k$ loops, in exact arithmetic"),
        ("chain_of_thought", r"$\|s\|_{\infty}\le B$ for every state $s$ of a step other than $l$ and $l+1$"),
        ("chain_of_thought", r"exactly 0 at the token of $s^{l}$ and at all others but those of the $s_{i}$"),
        ("decoder", r"have the score $C$ itself"),
        ("decoder", r"\max_{1 \le i \le N} \|\hat w^i_T"),
        ("positions", r"r_{\mathrm{digits}}^2 = "),
        ("positions", r"$r > 0$ (norm of each vector)"),
    ],
)  # fmt: skip
def test_what_a_bound_needs_is_said(id: str, words: str) -> None:
    assert words in theorem_latex(find_result(f"looped.{id}"))


@pytest.mark.parametrize("id", ["autoregression", "decoder"])
def test_a_letter_is_the_largest_of_some_values_or_any_number_with_a_condition_and_not_both(id: str) -> None:
    assert ": largest " not in theorem_latex(find_result(f"looped.{id}")).replace(
        "heads}$: largest number of heads", ""
    )


# What copies are asked for, and how many coordinates positions have: no bound depends on either.
def test_what_no_bound_depends_on_is_no_hypothesis() -> None:
    text = theorem_latex(find_result("looped.autoregression"))
    assert "accuracy" not in text
    assert "dimension of the positions" not in text
    assert r"$q < N$ and $B^{2} d \eta q \leq 2$" in text


def test_a_condition_that_follows_from_the_hypotheses_is_none() -> None:
    text = theorem_latex(find_result("looped.chain_of_thought"))
    assert text.count(r"\tag") == 1
    assert r"1 - \eta \lambda_{\min}, \tag" not in text
