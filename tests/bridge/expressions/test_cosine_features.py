"""Scores by random cosine features: each theorem against numpy, its bound over draws, its text, refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp

import boundsmith as bs
from tests.bridge.expressions.refused import require_refused
from tests.bridge.expressions.test_blocks import KEPT, compared, ran
from tests.bridge.expressions.test_theorems import bound_of

L, M, K, d = sp.symbols("L M K d", integer=True, positive=True)
delta, eta = sp.symbols("delta eta", positive=True)
u, v = sp.symbols("u v")
GAUSSIAN = sp.exp(-((u - v) ** 2) / 2)
VALUES = {eta: 0.02, L: 5, M: 128, K: 256, d: 3, delta: 0.1}
NUMBERS = {letter.name: number for letter, number in VALUES.items()}


def features(g: Any = GAUSSIAN, *, cells: Any = M, **more: Any) -> Any:
    return bs.blocks.similarity(g, multiplied=True, **more).by_features(K, delta=delta, cells=cells)


def scored(similarity: Any, **known: Any) -> bs.Theorem:
    query = bs.quantised(bs.vector("q", d, size=1), eta)
    output = similarity(query, bs.tokens("k", L, d, size=1))
    unused = set() if similarity.delta is not None else {delta}
    unused |= set() if similarity.cells is not None else {M}
    return bs.theorem("scores", output, parameters={s: x for s, x in VALUES.items() if s not in unused}, **known)


def drawn(rng: np.random.Generator, rows: int = 256) -> np.ndarray:
    """Of a law of the same frequencies."""
    places, signs = rng.integers(0, 3, (rows, 3)), rng.choice([-1, 1], (rows, 3))
    return np.hstack([np.ones((rows, 1)), np.pi / 5 * places * signs])


def test_what_runs_is_the_mean_of_the_drawn_cosines() -> None:
    rng, theorem = np.random.default_rng(0), scored(features(cells=None))
    for _ in range(20):
        rows, q, k = drawn(rng), rng.uniform(-1, 1, 3), rng.uniform(-1, 1, (5, 3))
        exact, near = ran(theorem, q=q, k=k, features_g=rows, **NUMBERS)
        rounded = 0.02 * np.floor(q / 0.02 + 0.5)
        assert np.allclose(exact, np.exp(-((q - k) ** 2).sum(-1) / 2), rtol=1e-12)
        # The coefficients of the Gaussian add up to 1, up to 1e-5.
        assert np.allclose(near, np.cos((rounded - k) @ rows[:, 1:].T).mean(-1), atol=1e-4)


def test_of_many_draws_all_keep_the_bound_and_none_is_far_below_it() -> None:
    theorem, rng, largest = scored(features()), np.random.default_rng(0), []
    known = {"A_g": 1.0001, "omega_g": 8 * np.pi / 5, "rho_g": 1e-5}
    bound = bound_of(theorem, **NUMBERS, **known)
    for seed in range(40):
        rows = theorem.weights["features_g"](K=256, d=3, seed=seed).numpy()
        errors = []
        for _ in range(20):
            exact, near = ran(
                theorem, q=rng.uniform(-1, 1, 3), k=rng.uniform(-1, 1, (5, 3)), features_g=rows, **NUMBERS
            )
            errors.append(abs(exact - near).max())
        largest.append(max(errors))
    assert 0.2 * bound < max(largest) <= bound


def test_the_bound_has_hoeffding_a_cover_the_cosines_and_the_straight_lines() -> None:
    derived = scored(features()).statement.quantity("output").derived()
    A, omega, rho = (
        sp.Symbol("A_g", nonnegative=True),
        sp.Symbol("omega_g", positive=True),
        sp.Symbol("rho_g", nonnegative=True),
    )
    assert derived.free_symbols == {A, omega, rho, d, eta, K, M, delta}
    at = {d: 3, eta: 0, M: 64, K: 400, A: 1.5, omega: 4, delta: 0.2, rho: 0}
    spread = 1.5**3 / 20 * (1 + np.sqrt(2 * np.log(2 * (1 + 4 * 3 * 4 * 20) ** 3 / 0.2)))
    assert float(derived.subs(at)) == pytest.approx(spread + 1.5**3 * (3 * 4 / 64) ** 2, rel=1e-9)
    more = float(derived.subs({**at, rho: 0.01})) - float(derived.subs(at))
    assert more == pytest.approx(1.01**3 - 1, rel=1e-3)
    slope = float(derived.subs({**at, eta: 1})) - float(derived.subs(at))
    assert slope == pytest.approx(3 * np.exp(-0.5) / 2, rel=3e-3)


@pytest.mark.parametrize("cells", [None, M])
def test_the_bound_with_probability_is_kept(cells: Any) -> None:
    (row,) = compared(scored(features(cells=cells)), samples=64, attack=10).values()
    assert set(row.verdict.values()) == KEPT
    assert row.quantifier == (
        "with probability at least 1 - delta over the draw of the features of g, for all q, k at once"
    )
    assert 1.5 < row.derived / row.attacked < 6


def test_straight_lines_alone_have_a_bound_at_every_draw_and_prompt() -> None:
    rows = compared(scored(features(name="h").of_cosines))
    assert {scope for _, scope in rows} >= {"network", "prompt"}
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())


def test_a_parameter_may_be_the_similarity() -> None:
    read = {"Gaussian": GAUSSIAN, "Laplace": sp.exp(-sp.Abs(u - v))}
    text = bs.Text("g", lambda g: read[g], takes="NAME", default="Gaussian")
    similarity = bs.blocks.similarity(given="g", multiplied=True).by_features(K, delta=delta, cells=M)
    theorem = scored(similarity, texts=[text])
    for name, least in (("Gaussian", 0.0), ("Laplace", 0.1)):
        (row,) = compared(theorem, samples=32, attack=0, g=name).values()
        assert set(row.verdict.values()) == KEPT
        assert row.derived > 0.4 + least


def test_it_says_what_it_computes() -> None:
    theorem = scored(features())
    objects, symbols = theorem.statement.objects, theorem.statement.symbols
    assert objects[r"\mathrm{output}"].endswith("multiplied over the coordinates, of a query u with each key v")
    near = objects[r"\widehat{\mathrm{output}}"]
    assert "the mean of A xi (cos(w^T u) cos(w^T v) + sin(w^T u) sin(w^T v)) over K signs xi and frequencies w" in near
    assert "a_0, ..., a_8 are numbers for which the sum of all a_j cos(j tau (u - v)) is at most rho_g away" in near
    assert near.endswith("each cosine and sine by straight lines between M + 1 knots")
    assert symbols[sp.Symbol("omega_g", positive=True)].startswith("largest frequency of the 8 cosines and a constant")
    lines = scored(features(name="h").of_cosines).statement.objects
    assert r"h(u, v) is the mean of A xi" in lines[r"\mathrm{output}"]
    assert lines[r"\widehat{\mathrm{output}}"].endswith(
        "h_hat(u, v) is h(u, v), each cosine and sine by straight lines between M + 1 knots"
    )


def product(**more: Any) -> Any:
    return bs.blocks.similarity(GAUSSIAN, multiplied=True, **more)


TWICE = features()
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a sum": (
        lambda: bs.blocks.similarity(GAUSSIAN).by_features(K, delta=delta),
        "g: features are those of a product over coordinates; give similarity(..., multiplied=True), or cells and a",
    ),
    "another function": (
        lambda: bs.blocks.similarity(u * v, multiplied=True).by_features(K, delta=delta),
        "u*v: cosine features take an even function of u - v, and this is none; give cells and a rank",
    ),
    "a text": (lambda: product().by_features("K", delta=delta), "expected a number or a SymPy expression as a number"),
    "no probability": (
        lambda: product().by_features(K, delta="0.1"),
        "expected a number or a SymPy expression as a probability of failure, got str",
    ),
    "no cosines": (lambda: product().by_features(K, delta=delta, terms=0), "g: terms=0; give a whole number of cosin"),
    "cosines that are exact": (
        lambda: product().by_features(K, delta=delta).of_cosines,
        "g: its features are cosines, which nothing stands in the place of; give cells",
    ),
    "no features": (lambda: product().of_cosines, "g: it has no random features; give by_features(count, delta=, cel"),
    "a certain bound": (
        lambda: scored(product().by_features(K, delta=2, cells=M)),
        "give a probability of failure above 0, at most 1",
    ),
    "part of a feature": (
        lambda: scored(product().by_features(K / 3, delta=delta)),
        "sample_mean: the count of 'output' is 256/3; give a whole number, at least 1",
    ),
    "part of a cell": (
        lambda: bs.compare(scored(product().by_features(K, delta=delta, cells=M / 3)), samples=2, attack=0),
        "g: M/3 is 128/3 here; numbers of cells and features, and a rank, are whole",
    ),
    "many cells": (
        lambda: bs.compare(scored(features()), M=4096, samples=2, attack=0),
        "g: 4096 cells; give 1 to 2048",
    ),
    "many features": (
        lambda: bs.compare(scored(features()), K=10**9, samples=2, attack=0),
        "g: 1000000000 features of 3 coordinates; give at most 4194304 numbers in all",
    ),
    "two dimensions": (
        lambda: bs.theorem(
            "s",
            *(TWICE(bs.vector(f"q{m}", m, size=1), bs.tokens(f"k{m}", L, m, size=1)).named(f"s{m}") for m in (2, 3)),
            parameters=VALUES,
        ),
        "s: g has features of one dimension, and scores vectors in R^2 and R^3; give one of them another name",
    ),
    "one key": (
        lambda: features()(bs.vector("q", d, size=1), bs.vector("k", d, size=1)),
        "a similarity of keys with queries: tokens and one dimension are needed",
    ),
    "a number as a query": (lambda: features()(1, 2), "g: expected an expression of queries and one of keys, got 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    require_refused(REFUSED[name])
