"""Theorem 4.4 for patches: the head against numpy for n = 2, ..., 5, its bounds, the terms of (17), refusals."""

from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.limits.arguments import called_with
from bridge.topics.induction.general import read
from bridge.topics.induction.patches import PATCHES
from tests.bridge.expressions.test_theorems import FEW

KEPT = {bs.Verdict.KEPT}
GAUSSIAN, LAPLACE = "exp(-(u-v)^2/2)", "exp(-abs(u-v))"
NUMPY = {
    GAUSSIAN: lambda u, v: np.exp(-((u - v) ** 2).sum(-1) / 2),
    LAPLACE: lambda u, v: np.exp(-abs(u - v).sum(-1)),
}


def generalised_head(x: np.ndarray, n: int, g: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores and output, key by key, by the definition (7)."""
    length = len(x)
    query = np.concatenate([x[length - 1 - lag] for lag in range(n - 1)])
    scores = []
    for s in range(n, length):  # the token s is x[s - 1]
        key = np.concatenate([x[s - 1 - lag] for lag in range(1, n)])
        scores.append(NUMPY[g](query, key))
    weights = np.exp(scores) / np.exp(scores).sum()
    return np.array(scores), sum(w * x[s - 1] for w, s in zip(weights, range(n, length), strict=True))


@pytest.mark.parametrize("g", NUMPY)
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("d", [1, 2])
def test_the_target_is_that_of_numpy_and_hats_are_near_it(g: str, n: int, d: int) -> None:
    rng = np.random.default_rng(0)
    numbers = {"n": n, "L": 11, "d": d, "H": 6, "M": 128, "K": 32, "delta": 0.1, "g": read(g)}
    drawn = {
        name: program(**{key: numbers[key] for key in ("K", "d", "n", "g")}, seed=1)
        for name, program in PATCHES.weights.items()
    }
    for _ in range(5):
        x = rng.uniform(-1, 1, (11, d))
        known = {**numbers, **drawn, "x": torch.tensor(x)}
        exact, near = (called_with(each, known) for each in (PATCHES.reference, PATCHES.network))
        scores, output = generalised_head(x, n, g)
        for name in ("scores", "scores.features", "scores.layer1"):
            assert np.allclose(exact[name], scores, rtol=1e-12)
        assert np.allclose(exact["output"], output, rtol=1e-12)
        assert np.allclose(exact["output.hats"], output, rtol=1e-12)
        assert abs(near["output.hats"].numpy() - output).max() < (1e-3 if g == GAUSSIAN else 0.03)
        # The features of layer 2 are those of the drawn cosines, read directly off them.
        rows, query = drawn["features_g_K"].numpy(), np.concatenate([x[10 - lag] for lag in range(n - 1)])
        keys = np.array([np.concatenate([x[s - 1 - lag] for lag in range(1, n)]) for s in range(n, 11)])
        mean = (rows[:, 0] * np.cos((query - keys) @ rows[:, 1:].T)).mean(-1)
        share = near["scores.features"].numpy() / mean
        assert np.allclose(share, share[0], rtol=1e-9)  # the mass of the law, to the power of (n-1) d


@pytest.fixture(scope="module")
def rows() -> dict[Any, Any]:
    found = bs.compare("induction.patches")
    return {(row.quantity, row.scope, row.params["n"]): row for row in found.rows}


def test_every_bound_is_kept_for_three_and_for_five_tokens(rows: dict[Any, Any]) -> None:
    assert {n for _, _, n in rows} == {3, 5}
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())


def test_the_terms_of_17_are_rows_and_add_up_to_that_of_the_scores(rows: dict[Any, Any]) -> None:
    for n in (3, 5):
        terms = [rows[f"scores.{each}", scope, n] for each, scope in
                 (("layer1", "network"), ("relus", "network"), ("features", None))]  # fmt: skip
        assert sum(row.derived for row in terms) == pytest.approx(rows["scores", None, n].derived, rel=1e-6)
        assert terms[0].ratio < 5
        assert terms[1].ratio < 2
        assert terms[2].ratio < 4
        assert rows["output", None, n].derived < 1
        assert rows["output.hats", "network", n].derived < 2e-3


def test_more_features_and_more_cells_and_more_heads_lower_their_terms() -> None:
    few = dict(samples=2, attack=0, n=3, L=6)  # noqa: C408
    found = [
        {row.quantity: row.derived for row in bs.compare("induction.patches", **few, **knobs).rows if row.derived}
        for knobs in ({"K": 64, "M": 32, "H": 2}, {"K": 256, "M": 128, "H": 4})
    ]
    shares = {name: found[0][name] / found[1][name] for name in found[0]}
    assert 1.7 < shares["scores.features"] < 2
    assert shares["scores.relus"] == pytest.approx(16, rel=1e-3)
    assert shares["scores.layer1"] > 100


@pytest.mark.long
@pytest.mark.parametrize("given", [{"g": LAPLACE, "K": 256, "M": 512}, {"d": 3, "K": 1024, "M": 512}])
def test_bounds_are_kept_for_kinks_and_for_more_coordinates(given: dict[str, Any]) -> None:
    found = bs.compare("induction.patches", n=3, L=6, **given, samples=4, attack=5, restarts=2)
    assert all(set(row.verdict.values()) == KEPT for row in found.rows)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "one token": ({"n": 1}, "induction.patches: n = 1 does not meet n >= 2"),
    "few heads": ({"n": 5, "H": 3}, "induction.patches: H = 3 does not meet H >= n - 1"),
    "a short prompt": ({"n": 5, "L": 5}, "induction.patches: L = 5 does not meet L >= n + 1"),
    "no function of u - v": ({"g": "u*v"}, "u*v: cosine features take an even function of u - v, and this is none"),
    "a pole": ({"g": "1/(u-v)"}, "1/(u - v) is not known to be finite on [-1, 1]^2"),
    "no probability": ({"delta": 0.0}, "induction.patches: delta = 0.0 does not meet delta > 0"),
    "a large probability": ({"delta": 2.0}, "induction.patches: delta = 2.0 does not meet delta <= 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_instance_is_refused(name: str) -> None:
    params, words = REFUSED[name]
    with pytest.raises(bs.UsageError) as error:
        bs.compare(PATCHES, **{"n": 3, "L": 6, **params}, **FEW)
    assert words in str(error.value)


def test_the_bound_states_its_constants() -> None:
    derived = PATCHES.statement.quantity("scores.relus").derived()
    A, omega = sp.Symbol("A_g_M", nonnegative=True), sp.Symbol("omega_g_M", positive=True)
    n, d, M = sp.symbols("n d M", integer=True, positive=True)
    assert sp.simplify(derived - A ** ((n - 1) * d) * ((n - 1) * d * omega / M) ** 2) == 0
