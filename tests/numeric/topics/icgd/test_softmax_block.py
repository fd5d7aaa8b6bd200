"""The softmax block: ids by brute force over all prompts of cells, its layers against look-up, and refusals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch

from numeric.balls import rational
from numeric.networks.exact import run_exact
from numeric.networks.network import Network
from numeric.networks.stream import StreamError
from numeric.tools.sum_sets import Ids
from numeric.topics.icgd.softmax_block import (
    SoftmaxBlock,
    distinct_prompts,
    printed_quantiser,
    quantised,
    rank_one_head,
    separating_direction,
)


# A value that no sum over coordinates or tokens gives, and that is not the own token's alone.
def f(Z: np.ndarray) -> np.ndarray:
    others = Z.sum(-2, keepdims=True) - Z
    return Z[..., ::-1] * others + others**2 / 3


def block(n: int, D: int, delta: Fraction = Fraction(1, 64), B: Fraction = Fraction(1), d: int = 1) -> SoftmaxBlock:
    return SoftmaxBlock(lambda Z: f(np.array(Z))[0].tolist(), n, d, D, B, delta)


def layers(at: SoftmaxBlock, prompts: np.ndarray) -> np.ndarray:
    return Network(at.construction())(torch.tensor(prompts)).numpy()


@pytest.mark.parametrize(("cells", "n"), [(2, 2), (8, 2), (5, 3), (8, 3), (3, 4)])
def test_ids_tell_the_token_and_the_others_apart(cells: int, n: int) -> None:
    ids, seen = Ids(cells, n), {}
    for prompt in product(range(cells), repeat=n):
        id = prompt[0] * ids.width + sum(ids.marks[cell] for cell in prompt[1:])
        assert seen.setdefault(id, (prompt[0], *sorted(prompt[1:]))) == (prompt[0], *sorted(prompt[1:]))
    assert seen == dict(ids.all())
    assert list(ids.all()) == sorted(seen)
    assert ids.count == len(seen)
    assert max(seen) < ids.range


@pytest.mark.parametrize(
    ("n", "D", "d", "B"),
    [(2, 8, 1, 1), (2, 5, 1, Fraction(3, 2)), (3, 4, 1, 1), (2, 4, 2, 1), (3, 2, 2, 1), (2, 3, 2, Fraction(3, 2))],
)
def test_every_prompt_of_cells_gets_f_at_their_middles(n: int, D: int, d: int, B: Fraction) -> None:
    at = block(n, D, B=Fraction(B), d=d)
    steps = np.array(list(product(range(D), repeat=n * d))).reshape(-1, n, d)
    prompts = (steps + 0.5) * float(B) / D
    assert abs(at.run(prompts) - f(prompts)).max() < 1e-12
    assert abs(layers(at, prompts) - f(prompts)).max() < 1e-9


@pytest.mark.parametrize(("n", "D", "d"), [(3, 4, 1), (2, 3, 2), (3, 2, 2)])
def test_layers_and_look_up_agree_on_ramps_and_between(n: int, D: int, d: int) -> None:
    rng, at = np.random.default_rng(0), block(n, D, Fraction(1, 5), d=d)
    prompts = rng.random((200, n, d))
    codes = at.codes(prompts)
    off = sum(float(high - low) for low, high in map(at.ends, range(D))) ** (n * d)
    assert (codes != codes.round()).any((-2, -1)).mean() == pytest.approx(1 - off, abs=0.1)
    found = layers(at, prompts)
    assert abs(found - at.run(prompts)).max() < 1e-11
    exact = run_exact(at.construction(rational), prompts[0], 128)["output"]
    assert max(abs(float(a) - b) for a, b in zip(exact.balls, found[0].ravel(), strict=True)) < 1e-11
    assert [float(at.code(Fraction(z))) for z in prompts[0].ravel()] == pytest.approx(codes[0].ravel(), abs=1e-13)


# Whatever the other tokens are: one coordinate outside, by a ramp or far, takes the value of the whole prompt to 0.
@pytest.mark.parametrize(("n", "D", "d"), [(2, 8, 1), (3, 3, 1), (2, 3, 2), (3, 2, 2)])
def test_outside_the_cube_the_value_is_0(n: int, D: int, d: int) -> None:
    rng, at = np.random.default_rng(0), block(n, D, Fraction(1, 32), d=d)
    prompts = rng.random((200, n, d))
    assert abs(layers(at, prompts)).max((-2, -1)).min() > 0
    prompts[np.arange(200), rng.integers(n, size=200), rng.integers(d, size=200)] = rng.choice(
        [-9, -1 / 32, 33 / 32, 9], 200
    )
    assert abs(layers(at, prompts)).max() == 0


# By the table of values: (F.10) at the end of each step, penalties beyond both ramps. (F.12) by its text.
def test_the_first_layer_of_the_proof() -> None:
    B, delta = Fraction(2), Fraction(1, 16)
    network = Network(printed_quantiser(2, 4, B, delta))
    inside = [0.2, 0.5 + 0.2, 1 + 0.2, 1.5 + 0.2, 2.0]
    Z = torch.tensor([[z, w] for z in inside for w in (0.2, -3.0)], dtype=torch.float64)
    found = network(Z[None])[0]
    steps = [[s, w] for s in (0.5, 1.0, 1.5, 2.0, 2.0) for w in (0.5, 0.0)]
    assert found[:, :2].numpy() == pytest.approx(np.array(steps), abs=1e-13)
    assert found[:, 2:].tolist() == [[each, each] for _ in inside for each in (0.0, -2.0)]
    assert network(torch.tensor([[[3.0, -1 / 16]]], dtype=torch.float64)).tolist() == [
        [[1.0, 0.0, -4.0, -4.0]]
    ]  # 1 and not 0: B - 1
    first, second = [Fraction(1, 5), Fraction(17, 10)], [Fraction(-1), Fraction(3)]
    assert quantised([first, second], 4, B) == [[0.5 - 4, 2.0 - 4], [-4, -4]]


@pytest.mark.parametrize(("d", "D"), [(1, 4), (2, 3), (2, 8), (3, 3)])
def test_the_direction_separates_the_grid(d: int, D: int) -> None:
    grid = np.array(list(product(range(D), repeat=d)))
    apart = (grid[:, None] - grid)[~np.eye(len(grid), dtype=bool)]
    least = (abs(apart @ separating_direction(d, D)) / np.linalg.norm(apart, axis=1)).min()
    assert least >= 1 / (d**0.5 * D**d) >= (8 / np.pi / d) ** 0.5 / (D**d + 1) ** 2


def test_the_head_has_rank_one_and_attends_by_products() -> None:
    construction = rank_one_head(2, 3, 5.0, 0.25, residual=True)
    (head,) = construction.layers[0].heads
    assert [np.linalg.matrix_rank(each.dense()) for each in (head.query, head.key, head.value)] == [1, 1, 1]
    assert head.value.spectral_norm() == pytest.approx(0.25)
    Z = torch.tensor(distinct_prompts(2, 3, 3)[7] / 3)
    v = torch.tensor([1.0, 3.0]).double() / 10**0.5
    weights = torch.softmax(5.0 * (Z @ v)[:, None] * (Z @ v), dim=-1)
    wanted = Z + 0.25 * (weights @ (Z @ v))[:, None] * v
    assert torch.allclose(Network(construction)(Z[None])[0], wanted, rtol=0, atol=1e-14)


def test_the_block_has_three_layers_and_one_uniform_head() -> None:
    first, head, last = block(2, 8).construction().layers
    assert (len(head.heads), head.heads[0].query) == (1, None)
    assert first.inner.target.width == 2 * (7 + 2)  # ramps in the cube, and beyond
    assert last.inner.target.width == 8 * 8
    assert len(block(3, 2, d=2).construction().layers) == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: block(2, 1), "SoftmaxBlock.n=2, D=1, delta=0.015625.: one cell or one token. There is nothing to"),
        (lambda: block(1, 4), "n=1, D=4.*one cell or one token"),
        (lambda: block(2, 8, Fraction(1, 8)), "ramps that are no part of a cell. Give 0 < delta < 1/8"),
        (lambda: Ids(1 << 11, 2).all(), "4194304 ids below 4194304. Take a coarser grid: at most 1048576"),
    ],
)
def test_refusals(make, message: str) -> None:
    with pytest.raises(StreamError, match=message):
        make()
