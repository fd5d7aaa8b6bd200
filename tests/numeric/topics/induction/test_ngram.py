"""The reference IH_n, by loops; the network of Theorem 4.3 against it; a text; time and memory by counts."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from bridge.lowering.exponential_sums import ExponentialSums, best_rates
from numeric.balls import BallArray
from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.exponential_heads import unseen
from numeric.networks.network import Network
from numeric.networks.stream import StreamError
from numeric.topics.induction.ngram import READ, indistinct_prompts, ngram, ngram_head

TEXT = Path(__file__).parents[4] / "examples" / "harbour.txt"


def by_loops(x: np.ndarray, W: np.ndarray, n: int) -> np.ndarray:
    """IH_n as (14) prints it, position by position."""
    length = len(x)
    query = np.concatenate([x[length - 1 - lag] for lag in range(n - 1)])
    scores = {s: query @ W @ np.concatenate([x[s - 1 - lag] for lag in range(1, n)]) for s in range(n, length)}
    total = sum(math.exp(score) for score in scores.values())
    return sum(math.exp(score) / total * x[s - 1] for s, score in scores.items())


def network(sums: ExponentialSums, W: np.ndarray, n: int, *, exact: bool = False) -> Construction:
    weights = np.array([sums.combined(lag) for lag in range(1, n)], dtype=object)
    return ngram(sums.slopes, weights if exact else weights.astype(float), W)


@pytest.mark.parametrize(("n", "L", "d"), [(2, 3, 1), (3, 9, 2), (5, 6, 3), (6, 20, 1)])
def test_the_reference_is_the_printed_sum(n: int, L: int, d: int) -> None:
    generator = np.random.default_rng(n)
    x, W = generator.uniform(-1, 1, (L, d)), generator.standard_normal(((n - 1) * d,) * 2)
    found = ngram_head(torch.as_tensor(x), torch.as_tensor(W), n)["output"]
    assert np.abs(found.numpy() - by_loops(x, W, n)).max() < 1e-13
    balls = ngram_head(BallArray.exactly(x), BallArray.exactly(W), n)["output"]
    assert balls.contains(found.numpy()).all() or np.abs(balls.midpoint() - found.numpy()).max() < 1e-13


ACCURATE = [
    (3, 4, torch.float64, 1e-11),
    (5, 8, torch.float64, 1e-6),
    (3, 3, torch.float32, 1e-4),
    (5, 6, torch.float32, 1.6e-2),  # the floor of this format
]


@pytest.mark.parametrize("L", [8, 64, 1024])
@pytest.mark.parametrize(("n", "heads", "dtype", "accuracy"), ACCURATE)
def test_the_network_is_as_accurate_as_its_format(
    n: int, heads: int, dtype: torch.dtype, accuracy: float, L: int
) -> None:
    sums = best_rates(heads, n - 1, unit=torch.finfo(dtype).eps / 2)
    W = 0.25 * np.eye(3 * (n - 1))
    run = Network(network(sums, W, n), dtype)
    x = 2 * torch.rand(8, L, 3, generator=torch.Generator().manual_seed(L), dtype=torch.float64) - 1
    x[::2] = x[::2].sign()
    found = run.run(x.to(dtype))["output"].double()
    expected = torch.stack([ngram_head(each, torch.as_tensor(W), n)["output"] for each in x.to(dtype).double()])
    assert (found - expected).abs().max() <= accuracy


def test_64_bits_and_12_heads_give_5_grams_to_1e_9() -> None:
    sums, W = best_rates(12, 4, unit=2.0**-64), 0.25 * np.eye(12)
    assert sums.bits(4, 1e-9) <= 64
    x = np.random.default_rng(0).choice([-1.0, 1.0], (40, 3))
    found = run_exact(network(sums, W, 5, exact=True), x, bits=64)["keys"]
    assert found.radius().max() < 1e-9
    keys = ngram_head(torch.as_tensor(x), torch.as_tensor(W), 5)["keys"].numpy()
    assert np.abs(READ["keys"](found, 5).midpoint() - keys).max() < 1e-9


# The key s = n of prompts a v, 0, b u, with v hidden from layer 1 and u = sign(v): scores are affine in a and in b.
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_n_minus_2_heads_of_positions_alone_miss_a_score_by_1(n: int) -> None:
    """Any weights by position, any values, residual and bias, any bilinear second layer; W* = I, one coordinate."""
    generator, width, L = np.random.default_rng(n), 5, 3 * n
    for _ in range(1000):
        of_key, of_query = (generator.dirichlet(np.ones(length), n - 2) for length in (n - 1, L - 1))  # (H, positions)
        patch = np.linalg.svd(of_key[:, ::-1])[2][-1]  # by lag
        patch /= np.abs(patch).max()
        values, residual, bias = (generator.standard_normal((count, width)) for count in (n - 2, 1, 1))
        form, errors, parts = generator.standard_normal((width, width)), [], []
        for a, b in itertools.product((1, -1), repeat=2):
            x = np.zeros(L)
            x[: n - 1] = a * patch[::-1]
            x[1 - n :] = b * np.sign(patch)[::-1]
            key, query = (
                x[place] * residual[0] + weights @ x[:place] @ values + bias[0]
                for place, weights in ((n - 1, of_key), (L - 1, of_query))
            )
            score, exact = query @ form @ key, ngram_head(torch.as_tensor(x[:, None]), torch.eye(n - 1).double(), n)
            errors.append(abs(score - float(exact["scores"][0])))
            parts.append(a * b * score)
        assert max(errors) >= np.abs(patch).sum() - 1e-9 >= 1 - 1e-9
        assert abs(np.mean(parts)) < 1e-9


def any_network(x: np.ndarray, rates: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Heads of these rates, residual and bias; ReLUs; three heads in layer 2, one without slope; tanh. By recursion."""
    draw, (d, width) = generator.standard_normal, (x.shape[1], 6)
    z, sizes, sums = x @ draw((d, width)) + draw(width), np.zeros(len(rates)), np.zeros((len(rates), d))
    maps = draw((len(rates), d, width))
    for s, token in enumerate(x):
        if s:
            z[s] += np.einsum("hd,hdw->w", sums / sizes[:, None], maps)
        sums, sizes = rates[:, None] * sums + token, rates * sizes + 1
    z = z + np.maximum(z @ draw((width, 8)) / 3 + draw(8), 0) @ draw((8, width)) / 3
    found, places = 0, np.arange(len(x) - 1)
    for slope in (0.0, 0.3, -0.3):
        scores = z[:-1] @ (draw((width, width)) @ z[-1]) / width**2 + slope * places
        weights = np.exp(scores - scores.max())
        found = found + weights @ z[:-1] / weights.sum() @ draw((width, d))
    return np.tanh(found)


@pytest.mark.parametrize(("n", "most"), [(3, 0.5), (4, 0.4), (5, 0.4)])
def test_no_network_whose_n_minus_2_heads_see_positions_alone_tells_two_prompts_apart(n: int, most: float) -> None:
    generator = np.random.default_rng(n)
    for _ in range(3):
        rates = generator.uniform(0.05, most, n - 2)
        x = indistinct_prompts(*(unseen(rates.tolist(), gap) for gap in (0, n - 2)), 2, quiet=60, blocks=40)
        exact = [ngram_head(each, torch.eye(2 * (n - 1), dtype=torch.float64), n)["output"] for each in x]
        one, other = (any_network(each.numpy(), rates, np.random.default_rng(n)) for each in x)
        assert abs(one - other).max() < 1e-7
        assert float(exact[0][1]) == pytest.approx(-float(exact[1][1]))
        assert float(exact[0][1]) > 0.1 / 2**n


@pytest.mark.long
def test_the_text_is_predicted_as_by_the_exact_head() -> None:
    alphabet, indices = np.unique(np.frombuffer(TEXT.read_bytes(), dtype=np.uint8), return_inverse=True)
    tokens = torch.eye(len(alphabet), dtype=torch.float64)[torch.as_tensor(indices)]
    places = range(len(tokens) // 2 + 1, len(tokens), 3)
    expected = {2: 0.417, 3: 0.542, 4: 0.605, 5: 0.650}
    for n, share in expected.items():
        W = 4 * torch.eye((n - 1) * len(alphabet), dtype=torch.float64)
        exact = [int(ngram_head(tokens[:place], W, n)["output"].argmax()) for place in places]
        assert np.mean([guess == indices[place] for guess, place in zip(exact, places, strict=True)]) == pytest.approx(
            share, abs=1e-3
        )
        run = Network(network(best_rates(8, n - 1, unit=2.0**-53), W.numpy(), n))
        some = places[:: 1 if n == 3 else 20]
        found = [int(run(tokens[None, :place])[0].argmax()) for place in some]
        wanted = exact[:: 1 if n == 3 else 20]
        assert np.mean([one == other for one, other in zip(found, wanted, strict=True)]) >= 0.99


def test_structured_equals_dense() -> None:
    sums, W = best_rates(18, 3, unit=2.0**-53), 0.25 * np.eye(96)
    built = network(sums, W, 4)
    x = 2 * torch.rand(1, 256, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 1
    structured, dense = Network(built).run(x)["output"], Network(built, dense=True).run(x)["output"]
    assert (structured - dense).abs().max() < 1e-10
    easy = network(ExponentialSums.spread(3, 0.9), W, 4)
    assert (Network(easy).run(x)["output"] - Network(easy, dense=True).run(x)["output"]).abs().max() < 1e-12


def test_memory_is_linear_in_the_length() -> None:
    """A square of this length in floats is 28 GB."""
    built = network(best_rates(4, 2, unit=2.0**-53), 0.25 * np.eye(2), 3)
    x = torch.ones(1, 60_000, 1, dtype=torch.float64)
    assert float(Network(built).run(x, taps=())["output"]) == pytest.approx(1, abs=1e-9)


def test_what_does_not_fit_is_refused() -> None:
    x, W = torch.zeros(3, 2, dtype=torch.float64), torch.eye(4, dtype=torch.float64)
    with pytest.raises(
        StreamError, match=r"ngram_head: n = 3 and a prompt of 3 tokens\. Give n of at least 2, and more "
    ):
        ngram_head(x, W, 3)
    with pytest.raises(StreamError, match=r"ngram: W_star of shape \(3, 3\) for 2 lags. Give \(\(n-1\) d, \(n-1\) d\)"):
        ngram((1.0, 2.0), np.ones((2, 2)), np.eye(3))
