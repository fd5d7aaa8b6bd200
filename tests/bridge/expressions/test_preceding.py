"""Tokens beside those before them: against numpy, the error of heads against sums of their averages, refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.expressions.preceding import rates_of
from bridge.lowering.exponential_sums import ExponentialSums
from tests.bridge.expressions.refused import require_refused
from tests.bridge.expressions.test_blocks import KEPT, compared, ran
from tests.bridge.expressions.test_theorems import bound_of

L, d, n, H = sp.symbols("L d n H", integer=True, positive=True)
x = bs.tokens("x", L, d, size=2)
VALUES = {L: 9, d: 2, n: 3, H: 4}
NUMBERS = {letter.name: number for letter, number in VALUES.items()}


def theorem(output: Any, **known: Any) -> bs.Theorem:
    return bs.theorem("patches", output, parameters=VALUES, hypotheses=[n >= 2, n + 1 <= L, n - 1 <= H], **known)


def patches(tokens: np.ndarray, first: int, lags: list[int]) -> np.ndarray:
    return np.stack([np.concatenate([tokens[s - 1 - lag] for lag in lags]) for s in range(first, len(tokens) + 1)])


def averages(tokens: np.ndarray, slope: float) -> np.ndarray:
    """Of earlier tokens, under softmax of -slope times the distance."""
    found = np.zeros_like(tokens)
    for s in range(1, len(tokens)):
        weights = np.exp(-slope * (s - np.arange(s)) + slope)
        found[s] = weights @ tokens[:s] / weights.sum()
    return found


@pytest.mark.parametrize(("own", "lags"), [(False, [1, 2]), (True, [0, 1])])
@pytest.mark.parametrize("size", [1, 2])
def test_what_heads_write_is_the_sum_of_their_averages_and_the_exact_tokens_are_those_before(
    own: bool, lags: list[int], size: int
) -> None:
    rng, sums = np.random.default_rng(0), rates_of(4, 2)
    first = 2 if own else 3
    found = theorem(bs.blocks.preceding(x, n - 1, heads=H, own=own).named("output"))
    tokens = rng.uniform(-size, size, (9, 2))
    exact, near = ran(found, x=tokens, **NUMBERS)
    assert np.array_equal(exact, patches(tokens, first, lags))
    heads = [averages(tokens, slope) for slope in sums.slopes]
    for place, lag in enumerate(lags):
        block = near[:, 2 * place : 2 * place + 2]
        if lag == 0:
            assert np.array_equal(block, tokens[first - 1 :])
            continue
        weights = [float(c) for c in sums.combined(lag)]
        written = sum(weight * head for weight, head in zip(weights, heads, strict=True))
        assert np.allclose(block, written[first - 1 :], atol=1e-9)


def test_the_bound_is_the_distance_of_the_weights_and_attained_by_tokens_that_are_all_the_same() -> None:
    found = theorem(bs.blocks.preceding(x, n - 1, heads=2, name="keys").named("output"))
    assert found.statement.quantity("output").derived() == 2 * sp.Symbol("eta_keys", nonnegative=True)
    distance = max(float(rates_of(2, 2).distance(lag)) for lag in (1, 2))
    exact, near = ran(found, x=np.full((9, 2), 2.0), **NUMBERS)
    assert abs(near - exact).max() == pytest.approx(bound_of(found, eta_keys=distance), rel=1e-6)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("heads", [2, 4])
def test_every_bound_is_kept_at_all_lengths(own: bool, heads: int) -> None:
    found = theorem(bs.blocks.preceding(x, n - 1, heads=H, own=own))
    for length in (4, 9):
        rows = compared(found, L=length, H=heads)
        assert all(set(row.verdict.values()) == KEPT for row in rows.values())
        assert {scope for _, scope in rows} >= {"network", "prompt"}


def test_one_token_of_its_own_needs_no_head() -> None:
    """For n = 2 the last patch is the last token."""
    rows = compared(theorem(bs.blocks.preceding(x, n - 1, heads=H, own=True)), n=2)
    assert rows["preceding", "network"].derived == 0


def test_later_tokens_alone_may_be_taken() -> None:
    found, tokens = (
        theorem(bs.blocks.preceding(x, 1, own=True, first=n).named("output")),
        np.arange(18.0).reshape(9, 2) / 9,
    )
    exact, near = ran(found, x=tokens, **NUMBERS)
    assert np.array_equal(exact, tokens[2:])
    assert np.array_equal(near, tokens[2:])


def test_it_says_what_it_computes() -> None:
    objects = theorem(bs.blocks.preceding(x, n - 1, heads=H, name="keys")).statement.objects
    assert (
        objects[r"\mathrm{keys}"]
        == "keys, where keys has (x_(s-1), ..., x_(s-n+1)) for the tokens s = n, ..., L, counted from 1 on"
    )
    assert objects[r"\widehat{\mathrm{keys}}"] == (
        "keys_hat, where keys_hat has in the place of x_(s-i), i >= 1, the sum over H heads h of c_(h,i)/(1 - r_h) "
        "times the average of all earlier tokens with weights proportional to r_h^t for the token x_(s-t), with rates "
        "r_h in (0, 1) that differ and the numbers c_(h,i) for which the sum over h of c_(h,i) r_h^(t-1) is 1 at t = i "
        "and 0 at the other t = 1, ..., H"
    )


def test_what_it_says_of_the_heads_is_what_they_write() -> None:
    """For any rates, by linear equations for the c_(h,i)."""
    rates, rng = np.array([0.1, 0.3, 0.45, 0.6]), np.random.default_rng(0)
    powers = rates[None] ** np.arange(4)[:, None]  # (t, h)
    tokens, sums = rng.uniform(-1, 1, (9, 1)), ExponentialSums.of_rates(list(rates))
    written = sums.written(torch.tensor(tokens), 2, 3).numpy()
    for lag in (1, 2):
        c = np.linalg.solve(powers, np.arange(4) + 1 == lag)
        for s in range(3, 10):  # the token s is tokens[s - 1]
            weights = rates[:, None] ** np.arange(s - 1, 0, -1)  # of the tokens 1, ..., s - 1
            heads = weights @ tokens[: s - 1, 0] / weights.sum(1)
            assert written[s - 3, lag - 1] == pytest.approx((c / (1 - rates)) @ heads, abs=1e-12)


def test_letters_of_the_theorem_keep_their_meaning_in_what_it_says() -> None:
    s, t, h = sp.symbols("s t h", integer=True, positive=True)
    y = bs.tokens("y", s, t, size=1)
    found = bs.theorem("p", bs.blocks.preceding(y, 2, heads=h).named("output"), parameters={s: 9, t: 2, h: 4})
    words = found.statement.objects[r"\mathrm{output}"] + found.statement.objects[r"\widehat{\mathrm{output}}"]
    assert "for the tokens i = 3, ..., s" in words
    assert "the sum over h heads k of c_(k,j)/(1 - r_k)" in words
    assert "r_k^m for the token y_(i-m)" in words


@pytest.mark.parametrize("given", [[], [n - 1 <= H], [n <= H]])
def test_as_many_heads_as_lags_are_a_hypothesis_that_stands_once(given: list[Any]) -> None:
    found = bs.theorem("p", bs.blocks.preceding(x, n - 1, heads=H), parameters=VALUES, hypotheses=[n <= L, *given])
    stated = [each.condition for each in found.statement.hypotheses if len(each.condition.free_symbols & {n, H}) == 2]
    assert len(stated) == 1
    assert (stated[0].subs({n: 4, H: 2}), stated[0].subs({n: 4, H: 4})) == (sp.false, sp.true)


def test_without_heads_and_with_enough_of_them_nothing_is_assumed() -> None:
    for output in (bs.blocks.preceding(x, n - 1), bs.blocks.preceding(x, 2, heads=3)):
        stated = bs.theorem("p", output, parameters=VALUES).statement.hypotheses
        assert all("declared" in each.reason for each in stated)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a computed value": (
        lambda: bs.blocks.preceding(2 * x, 1),
        "preceding: expected tokens of the prompt, bs.tokens(...), got 2*x",
    ),
    "a vector": (
        lambda: bs.blocks.preceding(bs.vector("q", d, size=1), 1),
        "tokens of the prompt, bs.tokens(...), got",
    ),
    "a number": (lambda: bs.blocks.preceding(3, 1), "expected tokens of the prompt, bs.tokens(...), got int"),
    "a text as lags": (
        lambda: bs.blocks.preceding(x, "2"),
        "expected a number or a SymPy expression as a number of lags",
    ),
    "a name": (lambda: bs.blocks.preceding(x, 1, name="a b"), "an object is named 'a b'; give it a name of letters"),
    "few heads": (
        lambda: bs.compare(
            bs.theorem("p", bs.blocks.preceding(x, n - 1, heads=H), parameters=VALUES, hypotheses=[n + 1 <= L]),
            H=1,
            samples=2,
            attack=0,
        ),
        "p: H = 1 does not meet H >= n - 1 at n = 3 (fewer heads than lags err by at least 1 in the weights of some",
    ),
    "heads that are too few for all numbers": (
        lambda: bs.blocks.preceding(x, 2, heads=1),
        "preceding: 1 heads at 2 lags; a lag takes as many heads, give 2 or more",
    ),
    "many heads": (
        lambda: bs.compare(theorem(bs.blocks.preceding(x, n - 1, heads=H)), H=33, samples=2, attack=0),
        "preceding: 33 heads; give at most 32",
    ),
    "an early token": (
        lambda: bs.compare(theorem(bs.blocks.preceding(x, n - 1, first=2)), samples=2, attack=0),
        "preceding: the first token is 2 of 9; n or a later one has all lags",
    ),
    "no lag": (
        lambda: theorem(bs.blocks.preceding(x, n - 3)),
        "given: the dimension of 'preceding' is 0; give a whole number, at least 1",
    ),
    "half a place": (
        lambda: bs.compare(theorem(bs.blocks.preceding(x, 1, own=True, first=n / 2)), samples=2, attack=0),
        "preceding: n/2 is 3/2 here; lags, heads and places are 1 or more",
    ),
    "two of one name": (
        lambda: theorem(bs.concatenate(bs.blocks.preceding(x, 2), bs.blocks.preceding(x, 2))),
        "patches: two objects are called 'preceding'; give one of them another name",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    require_refused(REFUSED[name])
