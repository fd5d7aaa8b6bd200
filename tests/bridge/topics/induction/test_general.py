"""Theorem 4.4 as an expression: the head against numpy, its bounds under attack, Definition A.7, refusals, a text."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.limits.arguments import called_with
from bridge.lowering.formula import evaluate
from bridge.lowering.grids import kernel_grid
from bridge.topics.induction import well_behaved
from bridge.topics.induction.general import GENERAL, read
from bridge.topics.induction.well_behaved import BASIS, PROOF, K, proof
from numeric.tools.singular_functions import SingularFunctions
from tests.bridge.expressions.test_theorems import FEW

SHIPPED = str(Path(__file__).parents[4] / "examples" / "harbour.txt")
KEPT = {bs.Verdict.KEPT}
PROVABLE = {bs.Verdict.KEPT, bs.Verdict.PROVED, bs.Verdict.CONSISTENT}
GAUSSIAN, EXPONENTIAL = "exp(-(u-v)^2/2)", "exp(-abs(u-v))"
SIMILARITIES = {
    GAUSSIAN: lambda u, v: np.exp(-((u - v) ** 2) / 2),
    EXPONENTIAL: lambda u, v: np.exp(-abs(u - v)),
    "(1+u*v)^3": lambda u, v: (1 + u * v) ** 3,
    "exp(u-2*v)+u*sin(3*v)": lambda u, v: np.exp(u - 2 * v) + u * np.sin(3 * v),
}


def rows_of(**params: Any) -> dict[Any, Any]:
    """Without the erratum, which is violated at every point."""
    rows = {(row.quantity, row.scope): row for row in bs.compare(GENERAL, **params).rows}
    erratum = rows.pop(("basis.one_constant", None))
    assert erratum.verdict == {"printed": bs.Verdict.VIOLATED}
    return rows


@pytest.mark.parametrize("g", SIMILARITIES)
@pytest.mark.parametrize("length", [3, 9])
def test_the_target_is_that_of_numpy_and_the_network_is_near_it(g: str, length: int) -> None:
    rng, numbers = np.random.default_rng(0), {"p": 30.0, "L": length, "d": 2, "M": 64, "K": 2, "g": read(g)}
    places = np.arange(length - 2)
    lags = np.where(places[:, None] >= places, -30.0 * (places[:, None] - places), -np.inf)
    for _ in range(20):
        x = rng.uniform(-1, 1, (length, 2))
        known = {**numbers, "x": torch.tensor(x), "lags": torch.tensor(lags)}
        known |= {name: torch.tensor(lags) for name in ("lags_1", "lags_2")}
        exact, near = (called_with(each, known) for each in (GENERAL.reference, GENERAL.network))
        scores = sum(SIMILARITIES[g](x[-1, i], x[:-2, i]) for i in (0, 1))
        weights = np.exp(scores - scores.max())
        assert np.allclose(exact["output"], weights @ x[1:-1] / weights.sum(), rtol=1e-12)
        assert np.allclose(exact["previous"], x[:-2])
        full = abs(near["scores.relus"] - torch.tensor(scores)).max()
        assert float(full) < 0.032  # a kink in a cell of width 1/32: half of that in each coordinate


@pytest.mark.long
@pytest.mark.parametrize("length", [8, 64, 256])
def test_a_gaussian_by_514_relus_errs_by_less_than_1e_5_under_attack(length: int) -> None:
    rows = rows_of(L=length, M=256, K=8, g=GAUSSIAN)
    output = rows["output", "network"]
    assert output.attacked <= 1e-5
    assert output.derived == pytest.approx(1.1046e-5, rel=1e-3)  # at every length
    assert output.derived <= 5 * output.attacked
    assert kernel_grid(_certified(GAUSSIAN), 256, 8).grid.neurons == 514
    assert all(set(row.verdict.values()) <= PROVABLE for row in rows.values())


@pytest.mark.long
@pytest.mark.parametrize(("rank", "most", "derived"), [(129, 5e-3, 7.85e-3), (64, 5e-3, 1.3e-2), (16, 2.5e-2, 3.62e-2)])
def test_an_exponential_by_258_relus_needs_more_than_rank_16(rank: int, most: float, derived: float) -> None:
    rows = rows_of(L=8, M=128, K=rank, g=EXPONENTIAL)
    output = rows["output", "network"]
    assert 0.3 * most < output.attacked <= most
    assert output.derived <= derived
    assert output.derived <= 5 * output.attacked
    assert kernel_grid(_certified(EXPONENTIAL), 128, rank).grid.neurons == 258


def _certified(g: str) -> Any:
    return bs.blocks.similarity(read(g)).kernel({})


def test_the_terms_of_the_scores_have_rows_that_are_nearly_attained() -> None:
    rows = rows_of(L=8, M=16, K=4, p=3.0, g=GAUSSIAN)
    assert all(set(row.verdict.values()) <= PROVABLE for row in rows.values())
    for name in ("previous", "scores.layer1", "scores.relus"):
        assert rows[name, "network"].ratio < 1.1
    parts = sum(rows[name, "network"].derived for name in ("scores.layer1", "scores.relus"))
    rank = kernel_grid(_certified(GAUSSIAN), 16, 4).residual - kernel_grid(_certified(GAUSSIAN), 16).residual
    assert rows["scores", "network"].derived == pytest.approx(parts + rank, rel=1e-9)


# --- Definition A.7 --------------------------------------------------------------------------------------------------


def needed(count: int) -> float:
    return float(evaluate(BASIS.closed_form, {K: count}))


def test_orthonormal_functions_are_as_steep_as_the_bound_says() -> None:
    """Cosines, and any rotation of them: their energies add up to the same."""
    rng, points = np.random.default_rng(0), np.linspace(-2, 2, 8001)
    for count in range(2, 25):
        slopes = [
            -np.sqrt(1 / 2) * np.pi * k / 4 * np.sin(np.pi * k * (points + 2) / 4) for k in range(count)
        ]  # of 1/2 (k = 0) and sqrt(1/2) cos
        turned, _ = np.linalg.qr(rng.normal(size=(count, count)))
        for each in (np.array(slopes), turned @ np.array(slopes)):
            assert needed(count) <= abs(each).max(1).max()
        energies = (np.array(slopes) ** 2).sum() * (points[1] - points[0])
        assert needed(count) == pytest.approx(np.sqrt(energies / (4 * count)), rel=1e-3)


@pytest.mark.parametrize(("g", "at_24"), [(EXPONENTIAL, 12.8), (GAUSSIAN, None)])
def test_the_singular_functions_of_a_similarity_grow_steeper_without_end(g: str, at_24: float | None) -> None:
    for count in range(1, 25):
        found = SingularFunctions.of(SIMILARITIES[g], -2.0, 2.0, count)
        assert needed(count) <= found.steepness <= found.barron[1] or len(found.sizes) < count
    assert needed(24) == pytest.approx(5.27, rel=1e-3)
    if at_24:
        assert found.steepness == pytest.approx(at_24, rel=1e-2)


def test_the_rows_of_a_basis_have_its_constants_and_the_least_ones() -> None:
    rows = rows_of(K=8, L=8, **FEW)
    assert rows["basis", None].measured == pytest.approx(14.56, rel=1e-3)
    assert rows["basis", None].derived == rows["basis.barron", None].derived == pytest.approx(needed(8))
    low, high = SingularFunctions.of(SIMILARITIES[GAUSSIAN], -2.0, 2.0, 8).barron
    assert low < rows["basis.barron", None].measured == pytest.approx(high * 1.001)
    assert rows["basis.powers", None].verdict == {"printed": bs.Verdict.PROVED, "derived": bs.Verdict.PROVED}
    relus = rows["basis.relus", None]
    assert (relus.derived, relus.printed) == pytest.approx((high / 256, high / np.sqrt(257)))
    assert relus.verdict == {"printed": bs.Verdict.CONSISTENT, "derived": bs.Verdict.KEPT}
    assert "least constant for all M >= 1 is sqrt(2)" in relus.remark
    for name in ("basis", "basis.barron"):
        assert set(rows[name, None].verdict.values()) == KEPT
    nothing = rows_of(K=1, L=8, M=16, g="u-u", **FEW)
    for name in ("basis", "basis.barron", "basis.powers", "basis.relus", "output.proof"):
        assert set(nothing[name, None].verdict.values()) == {bs.Verdict.OUTSIDE}


# --- the mean over prompts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("g", "K"), [(GAUSSIAN, 3), (EXPONENTIAL, 4)])
def test_the_network_of_the_proof_errs_as_numpy_says_and_below_18(g: str, K: int) -> None:
    """Its singular functions are eigenvectors of a matrix of midpoints here."""
    rng, points = np.random.default_rng(0), np.linspace(-2, 2, 1601)[:-1] + 1 / 800
    _, sizes, right = np.linalg.svd(SIMILARITIES[g](points[:, None], points) / 400)
    left = SIMILARITIES[g](points[:, None], points) @ right.T[:, :K] / 400 / sizes[:K]  # g is symmetric
    knots = np.linspace(-2, 2, 32 // K)
    near = [np.interp(knots, points, each * 20) for each in left.T]
    squares = []
    for _ in range(2000):
        x = rng.uniform(0, 1, 6)
        at_last, at_keys = ([np.interp(at, knots, each) for each in near] for at in (x[-1], x[:-2]))
        found = sum(size * a * b for size, a, b in zip(sizes, at_last, at_keys, strict=False))
        weights = [np.exp(each) / np.exp(each).sum() for each in (found, SIMILARITIES[g](x[-1], x[:-2]))]
        squares.append(((weights[0] - weights[1]) @ x[1:-1]) ** 2)
    sides = proof(read(g), K=K, M=31, L=6, p=30.0, samples=2000, seed=0)
    assert sides.measured == pytest.approx(np.sqrt(np.mean(squares)), rel=0.1)
    letters = {letter.name: float(number) for letter, number in sides.letters.items()}
    assert letters["S"] == pytest.approx(sizes.sum(), rel=1e-2)
    assert letters["T"] == pytest.approx(sizes[K:].sum(), rel=3e-2)
    assert letters["C_Lip"] == pytest.approx(abs(np.diff(left * 20, axis=0)).max() * 400, rel=2e-2)
    printed = evaluate(PROOF.printed.bound, {**sides.letters, well_behaved.L: 6, well_behaved.p: 30.0})
    assert 100 * sides.measured < float(printed)  # it is loose


def test_the_mean_error_is_that_of_the_network_with_its_interval() -> None:
    rows = rows_of(L=6, M=16, K=4, d=2, p=3.0, samples=512, attack=1, restarts=1)
    mean, grid = rows["output.mean", None], kernel_grid(_certified(GAUSSIAN), 16, 4).grid
    rng, squares = np.random.default_rng(0), []
    weights = np.tril(np.exp(-3.0 * np.subtract.outer(np.arange(4), np.arange(4)).clip(0)))
    for _ in range(512):
        x = rng.uniform(0, 1, (6, 2))
        y = weights / weights.sum(1, keepdims=True) @ x[:-2]
        scores = [
            grid(torch.tensor(x[-1:]), torch.tensor(y))[0].numpy(),
            SIMILARITIES[GAUSSIAN](x[-1], x[:-2]).sum(-1),
        ]
        near, exact = (np.exp(each) @ x[1:-1] / np.exp(each).sum() for each in scores)
        squares.append(abs(near - exact).max() ** 2)
    assert mean.measured == pytest.approx(np.sqrt(np.mean(squares)), rel=0.1)
    assert mean.derived == rows["output", "network"].derived
    assert mean.verdict == {"derived": bs.Verdict.KEPT}
    assert "at a confidence of 1 - 1e-06" in mean.remark
    assert mean.samples == 512
    assert ("output.proof", None) not in rows  # of one coordinate


def test_an_interval_that_has_the_bound_inside_decides_nothing_and_says_so() -> None:
    for samples in (1, 32):
        mean = rows_of(L=8, M=16, K=4, samples=samples, attack=1, restarts=1)["output.mean", None]
        assert mean.verdict == {"derived": bs.Verdict.UNDECIDED}
        assert "derived: inside that interval; more samples make it shorter" in mean.remark
    kept = rows_of(L=8, M=16, K=4, samples=512, attack=1, restarts=1)["output.mean", None]
    assert kept.verdict == {"derived": bs.Verdict.KEPT}
    assert "inside that interval" not in kept.remark


def test_the_statement_says_how_the_mean_is_bounded_and_for_which_dimension_the_proof_is() -> None:
    words = GENERAL.latex()
    mean = words.split(r"\paragraph{Error of the output of the network here.}")[1].split(r"\paragraph")[0]
    assert "Derived by rules:" in mean
    assert "for $d = 1$." in words
    assert "Eq(" not in words


# --- what is refused -------------------------------------------------------------------------------------------------

REFUSED = {
    "a pole": ({"g": "1/(u-v)"}, "1/(u - v) is not known to be finite on [-1, 1]^2; give a smaller radius or another"),
    "another letter": ({"g": "exp(-w)"}, "similarity: exp(-w) has the letter w; give a function of u and v alone"),
    "no formula": ({"g": "import os"}, "the expression 'import os'"),
    "a rank": ({"g": "u*v", "K": 8}, "u*v: rank 8; its values at 257 knots have the numerical rank 1: give 1 to 1"),
    "a flat kernel": ({"p": 0.0}, "induction.general: p = 0.0 does not meet p > 0"),
    "two tokens": ({"L": 2}, "induction.general: L = 2 does not meet L >= 3"),
    "many cells": ({"M": 4096}, "exp(-(u - v)**2/2): 4096 cells; give 1 to 2048"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_instance_is_refused(name: str) -> None:
    params, words = REFUSED[name]
    with pytest.raises(bs.UsageError) as error:
        bs.compare(GENERAL, **{"L": 8, **params}, **FEW)
    assert words in str(error.value)


def test_tokens_outside_the_box_are_outside_the_hypotheses() -> None:
    x = bs.tokens("x", 4, 1, size=2)
    with pytest.raises(bs.UsageError, match=r"hypothesis violated: the argument of 'output' stays in \[-R, R\]"):
        bs.theorem("head", bs.blocks.similarity(read(GAUSSIAN))(x[-1], x[:-2]), parameters={sp.Symbol("n"): 1})


# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_shipped_text_keeps_the_bounds_and_agrees_with_the_exact_head() -> None:
    comparison = bs.compare("induction.general", text=SHIPPED, p=(8, 16), L=128, samples=64)
    shares = {(row.quantity, row.params["p"]): row.measured for row in comparison if row.quantity.startswith("pred")}
    violated = {row.quantity for row in comparison if bs.Verdict.VIOLATED in row.verdict.values()}
    assert violated <= {"basis.one_constant"}
    assert shares["prediction.exact", 16] > shares["prediction.commonest", 16]
    assert shares["prediction.agreement", 16] >= 0.95  # ties between bytes
