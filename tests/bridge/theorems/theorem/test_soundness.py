"""Ways in which a wrong theorem was once shown as kept, or a right one as refuted."""

from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.judging.judge import relation
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Verdict
from symbolic.statements.result import Kind
from tests.bridge.theorems.theorem.theorems import BUDGET, d, eps

TENTH = sp.Rational(1, 10)


def about(error: Any, network: Any, reference: Any, *, dim: Any = d, norm: Any = "inf", **more: Any) -> bs.Theorem:
    arguments = {
        "parameters": {d: 3},
        "inputs": {"x": bs.domains.Box(d)},
        "network": network,
        "reference": reference,
        **more,
    }
    return bs.theorem("about", bs.rules.given("out", dim=dim, size=1, error=error, norm=norm), **arguments)


def verdicts(theorem: bs.Theorem, **more: Any) -> list[set[Verdict]]:
    return [set(row.verdict.values()) for row in bs.compare(theorem, **{**BUDGET, **more})]


def test_repeated_layers_keep_the_size_of_what_they_start_from() -> None:
    """At depth 0 the value is the start itself, however much smaller a layer makes it."""
    N = sp.Symbol("N", integer=True, nonnegative=True)
    half = sp.Rational(1, 2)
    deep = bs.rules.repeat(
        bs.rules.given("h", dim=1, size=10), "y", lambda p: bs.rules.linear_map(p, "half", operator_norm=half, dim=1), N
    )
    assert deep.size == 10


def test_a_function_that_changes_its_argument_is_refused() -> None:
    def changing(x: torch.Tensor) -> torch.Tensor:
        x *= 0
        return x

    with pytest.raises(bs.UsageError, match=r"changes its argument in place\. Write x = x \+ y"):
        bs.compare(about(TENTH, changing, lambda x: x), **BUDGET)


def test_the_last_entry_is_the_same_on_balls() -> None:
    found = verdicts(about(TENTH, lambda x: torch.narrow(x, 0, -1, 1), lambda x: 0 * x[-1:], dim=1))
    assert found == [{Verdict.VIOLATED}]


@pytest.mark.parametrize("letter", [lambda x: x[0].clamp(min=0), lambda x: x[0], lambda x: torch.sqrt(x[0])])
def test_an_error_beside_a_bound_that_is_not_positive_is_looked_at(letter: Any) -> None:
    rho = sp.Symbol("rho", nonnegative=True)
    theorem = about(rho, lambda x: x[:1], lambda x: 0 * x[:1], dim=1, worst={rho: 1}, knows={rho: letter})
    assert Verdict.KEPT not in verdicts(theorem)[-1]


def test_what_a_symbol_assumes_is_a_hypothesis() -> None:
    b, m = sp.Symbol("b", negative=True), sp.Symbol("m", integer=True, even=True)
    negative = about(1 - b, lambda x: x, lambda x: x, parameters={b: 0.5, d: 3})
    with pytest.raises(bs.UsageError, match=r"b = 0\.5 does not meet b < 0"):
        bs.compare(negative, **BUDGET)
    with pytest.raises(bs.UsageError, match="m is declared even, which is not checked"):
        about(1, lambda x: x, lambda x: x, parameters={m: 3, d: 3})


def test_weights_that_a_function_draws_are_stored_in_the_witness() -> None:
    def drawn(seed: int, d: int) -> torch.Tensor:
        return torch.randn(d, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)

    theorem = about(sp.Rational(81, 20), lambda x, W: W @ x, lambda x: 0 * x, weights={"W": drawn})
    (row,) = bs.compare(theorem, seed=4, samples=64, attack=20)
    assert row.verdict["derived"] is Verdict.VIOLATED
    assert replay_witness(row.witness, "", theorem).verdict == row.verdict


def test_identities_in_the_2_norm_are_kept() -> None:
    assert verdicts(about(0, lambda x: x / 3 * 3, lambda x: x, norm=2)) == [{Verdict.KEPT}]


@pytest.mark.parametrize(
    "cast", [lambda x: x.half().double(), lambda x: x.to(torch.float32), lambda x: x.bfloat16().double()]
)
def test_formats_coarser_than_float64_are_refused_on_balls(cast: Any) -> None:
    with pytest.raises(bs.UsageError, match="A coarser format rounds, which balls do not"):
        bs.compare(about(TENTH, cast, lambda x: x), **BUDGET)


def test_a_strict_bound_just_above_what_was_found_is_not_refuted() -> None:
    import flint

    third = flint.arb(1) / 3
    close = third - flint.arb(10) ** -40
    assert relation(Kind.UPPER, close, third, strict=True) is not Verdict.VIOLATED
    assert relation(Kind.UPPER, flint.arb(1), flint.arb(1), strict=True) is Verdict.VIOLATED


def test_a_letter_known_at_prompts_alone_needs_a_worst_case() -> None:
    rho = sp.Symbol("rho", nonnegative=True)
    with pytest.raises(bs.UsageError, match="nothing gives rho in the bound of 'out' a value"):
        about(rho * eps, lambda x: x, lambda x: x, parameters={d: 3, eps: 0.1}, knows={rho: lambda x: x.abs().amax()})
