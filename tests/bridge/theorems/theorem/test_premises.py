"""What a derivation starts from is compared with the inputs, its end with the arrays, and layers with repetition."""

import re

import pytest
import sympy as sp
import torch

import boundsmith as bs
from tests.bridge.theorems.theorem.theorems import BUDGET, d, eps, n, scaled

beta, delta, r = sp.symbols("beta delta r", positive=True)
N = sp.Symbol("N", integer=True, positive=True)


def retrieved(q: torch.Tensor, K: torch.Tensor, beta: torch.Tensor, N: int) -> torch.Tensor:
    for _ in range(N):
        q = torch.softmax(beta * (K @ q), 0) @ K
    return q


# N steps q -> K^T softmax(beta K q) with keys that are off by delta; rows of K and q of 2-norm at most 1.
def hopfield(radius: float = 1, affine: bool = True) -> bs.Theorem:
    def step(q: bs.Approximated) -> bs.Approximated:
        scores = bs.rules.perturbed_map(q, "K q", operator_norm=1, perturbation=delta, dim=n, target="inf")
        sharp = bs.rules.linear_map(scores, "beta K q", operator_norm=beta, dim=n)
        keys = bs.rules.given("keys", dim=d, norm=2, size=1, error=delta)
        return bs.rules.attend(bs.rules.softmax(sharp, "p", affine=affine), keys, "next q")

    return bs.theorem(
        "hopfield",
        bs.rules.repeat(bs.rules.given("q", dim=d, norm=2, size=1), "output", step, N),
        parameters={beta: 1.0, delta: 0.05, n: 4, d: 3, N: 2},
        inputs={
            "q": bs.domains.Ball(d, radius=radius),
            "K": bs.domains.Rows(n, bs.domains.Ball(d)),
            "E": bs.domains.Rows(n, bs.domains.Ball(d)),
        },
        network=lambda q, K, E, beta, delta, N: retrieved(q, K + delta * E, beta, N),
        reference=retrieved,
    )


def test_layers_of_softmax_attention_are_repeated_by_the_affine_bound() -> None:
    (row,) = bs.compare(hopfield(), **BUDGET)
    assert row.verdict == {"derived": "kept", "instance": "kept"}
    assert row.derived == pytest.approx(0.205)  # (beta delta + delta) (1 + beta (1 + delta))
    assert row.ratio < 3
    with pytest.raises(
        bs.UsageError.__mro__[1], match=r"affine in the error .* \(softmax\(\.\.\., affine=True\) has one\)"
    ):
        hopfield(affine=False)


def test_the_affine_bound_of_softmax_is_its_slope_at_0() -> None:
    error = bs.rules.softmax(bs.rules.given("s", dim=3, size=1, error=eps), "p", affine=True).error
    sharp = bs.rules.softmax(bs.rules.given("s", dim=3, size=1, error=eps), "p").error
    assert error == eps
    assert sp.limit(sharp / error, eps, 0) == 1
    assert all((error - sharp).subs(eps, value) > 0 for value in (0.1, 1, 10))


def test_an_input_larger_than_what_the_derivation_starts_from_is_refused() -> None:
    message = (
        "'output' is derived for q of 2-norm at most 1, but the input q in Ball(d, radius=3, norm=2) has 2-norm up to 3"
    )
    with pytest.raises(bs.UsageError, match=re.escape(message)):
        bs.compare(hopfield(radius=3), **BUDGET)


def test_a_given_that_is_about_a_row_of_the_input_is_not_compared() -> None:
    theorem = bs.theorem(
        "row",
        bs.rules.linear_map(bs.rules.given("X", dim=d, norm=2, size=1), "out", operator_norm=1, dim=d),
        parameters={d: 3, n: 4},
        inputs={"X": bs.domains.Rows(n, bs.domains.Ball(d))},
        network=lambda X: X[0],
        reference=lambda X: X[0],
    )
    assert bs.compare(theorem, **BUDGET).rows


def test_arrays_of_another_size_than_the_conclusion_are_refused() -> None:
    spoilt = scaled(network=lambda x, eps: (1 + eps) * x[:2], reference=lambda x: x[:2])
    message = "'out' has 2 entries in network and reference, but its derivation is about d; return the array"
    with pytest.raises(bs.UsageError, match=re.escape(message)):
        bs.compare(spoilt, **BUDGET)


@pytest.mark.parametrize(
    ("shape", "remedy"), [((n, d), ", or derive it for all n of them at once: dim=d*n"), ((2,), "")]
)
def test_arrays_of_several_such_vectors_have_the_dimension_of_all(shape: tuple[object, ...], remedy: str) -> None:
    several = scaled(parameters={eps: 0.01, n: 4, d: 3}, inputs={"x": bs.domains.Box(*shape)})
    with pytest.raises(bs.UsageError) as refusal:
        bs.compare(several, **BUDGET)
    assert str(refusal.value).endswith(f"return the array that the derivation concludes{remedy}")


@pytest.mark.parametrize("norm", [1, 2, "1", "2", float("inf")])
def test_norms_may_be_numbers(norm: object) -> None:
    assert bs.rules.given("x", dim=2, size=1, norm=norm).norm == str(norm)
