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
from numeric.topics.icgd.softmax_block import Ids, SoftmaxBlock


def others(n: int) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(Fraction(int(i != j), n - 1) for j in range(n)) for i in range(n))


def block(n: int, D: int, delta: Fraction = Fraction(1, 64), B: Fraction = Fraction(1)) -> SoftmaxBlock:
    return SoftmaxBlock(others(n), D, B, delta)


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


@pytest.mark.parametrize(("n", "D", "B"), [(2, 8, Fraction(1)), (2, 5, Fraction(3, 2)), (3, 4, Fraction(1))])
def test_every_prompt_of_cells_gets_f_at_their_middles(n: int, D: int, B: Fraction) -> None:
    at = block(n, D, B=B)
    cells = np.array(list(product(range(D), repeat=n)))
    prompts = np.vectorize(lambda cell: float(at.middle(int(cell))))(cells)
    wanted = prompts @ np.array(others(n), float).T
    assert abs(at.run(prompts) - wanted).max() < 1e-12
    layers = Network(at.construction())(torch.tensor(prompts)[..., None])[..., 0].numpy()
    assert abs(layers - wanted).max() < 1e-9


def test_layers_and_look_up_agree_on_ramps_and_between() -> None:
    rng, at = np.random.default_rng(0), block(3, 4, Fraction(1, 5))
    prompts = rng.random((200, 3))
    codes = at.codes(prompts)
    assert (codes != codes.round()).any(-1).mean() > 0.9  # most are on ramps
    layers = Network(at.construction())(torch.tensor(prompts)[..., None])[..., 0].numpy()
    assert abs(layers - at.run(prompts)).max() < 1e-11
    exact = run_exact(at.construction(rational), prompts[0][:, None], 128)["output"]
    assert max(abs(float(ball) - value) for ball, value in zip(exact.balls, layers[0], strict=True)) < 1e-11
    assert [float(at.code(Fraction(z))) for z in prompts[0]] == pytest.approx(codes[0], abs=1e-13)


def test_the_block_has_three_layers_and_one_uniform_head() -> None:
    first, head, last = block(2, 8).construction().layers
    assert (len(head.heads), head.heads[0].query) == (1, None)
    assert first.inner.target.width == 2 * 7
    assert last.inner.target.width == 8 * 8  # 63 knots and a constant


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: block(2, 1), "SoftmaxBlock.n=2, D=1, delta=0.015625.: one cell or one token. There is nothing to"),
        (lambda: SoftmaxBlock(((Fraction(1),),), 4, Fraction(1), Fraction(1, 8)), "n=1, D=4.*one cell or one token"),
        (lambda: block(2, 8, Fraction(1, 8)), "ramps that are no part of a cell. Give 0 < delta < 1/8"),
        (lambda: Ids(1 << 11, 2).all(), "4194304 ids below 4194304. Take a coarser grid: at most 1048576"),
    ],
)
def test_refusals(make, message: str) -> None:
    with pytest.raises(StreamError, match=message):
        make()
