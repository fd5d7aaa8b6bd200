import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from numeric.networks.maps import BlockMap, LowRank, identity_map, injection
from numeric.networks.stream import Block, Stream, StreamError

SOURCE = Stream([Block("a", 2), Block("b", 3), Block("c", 2)])
TARGET = Stream([Block("u", 3), Block("v", 2), Block("w", 1)])


def mixed_map(seed: int = 0) -> BlockMap:
    rng = np.random.default_rng(seed)
    return BlockMap(
        SOURCE,
        TARGET,
        {
            ("u", "b"): -1.5,
            ("u", "a"): rng.normal(size=(3, 2)),
            ("v", "c"): rng.normal(size=2),
            ("v", "b"): LowRank(rng.normal(size=(2, 1)), rng.normal(size=(1, 3))),
        },
    )


def test_dense_matrix_is_the_blocks_by_hand():
    block_map = mixed_map()
    expected = np.zeros((6, 7))
    expected[0:3, 2:5] = np.diag([-1.5] * 3)
    expected[0:3, 0:2] = block_map.action["u", "a"]
    expected[3, 5], expected[4, 6] = block_map.action["v", "c"]
    low_rank = block_map.action["v", "b"]
    expected[3:5, 2:5] = np.outer(low_rank.left, low_rank.right)
    np.testing.assert_array_equal(block_map.dense(), expected)


@given(seed=st.integers(0, 1000), leading=st.sampled_from([(), (4,), (2, 3)]))
def test_structured_application_is_the_dense_product(seed, leading):
    block_map = mixed_map(seed)
    tokens = torch.randn(*leading, 7, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    expected = tokens.numpy() @ block_map.dense().T
    np.testing.assert_allclose(block_map.apply(tokens).numpy(), expected, rtol=1e-12, atol=1e-12)


def test_application_keeps_the_dtype():
    assert mixed_map().apply(torch.ones(7, dtype=torch.float32)).dtype == torch.float32


def test_norms_are_those_of_the_dense_matrix():
    block_map, matrix = mixed_map(), mixed_map().dense()
    assert block_map.spectral_norm() == pytest.approx(np.sqrt(np.linalg.eigvalsh(matrix.T @ matrix)[-1]), rel=1e-12)
    assert block_map.frobenius_norm() == pytest.approx(np.sqrt((matrix**2).sum()), rel=1e-14)
    assert block_map.one_one_norm() == pytest.approx(np.abs(matrix).sum(), rel=1e-14)
    assert block_map.max_norm() == np.abs(matrix).max()


def test_restriction_drops_rows():
    np.testing.assert_array_equal(mixed_map().onto(["v"]).dense(), mixed_map().dense()[3:5])
    assert mixed_map().written == ("u", "v")


def test_identity_and_injection():
    np.testing.assert_array_equal(identity_map(SOURCE).dense(), np.eye(7))
    np.testing.assert_array_equal(injection(SOURCE.only(["b"]), SOURCE).dense(), np.eye(7)[:, 2:5])


def test_weights_cannot_be_changed_from_outside():
    weight = np.ones((3, 2))
    block_map = BlockMap(SOURCE, TARGET, {("u", "a"): weight})
    weight[:] = 5.0
    assert block_map.dense()[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        block_map.action["u", "a"][0, 0] = 2.0


REFUSED = {
    "unknown target": ({("z", "a"): 1.0}, r"Stream.slice\('z'\): no such block"),
    "unknown source": ({("u", "bb"): 1.0}, r"Did you mean 'b'\?"),
    "scale between sizes": ({("u", "a"): 1.0}, r"\('u', 'a'\): a weight of shape \(2, 2\) where .* is \(3, 2\)"),
    "transposed matrix": (
        {("u", "a"): np.ones((2, 3))},
        r"a weight of shape \(2, 3\).*Give a dense array of that shape",
    ),
    "short diagonal": ({("v", "c"): np.ones(3)}, r"a weight of shape \(3, 3\)"),
    "low rank misfit": ({("u", "a"): LowRank(np.ones((3, 1)), np.ones((1, 3)))}, r"a weight of shape \(3, 3\)"),
    "three dimensions": ({("u", "a"): np.ones((1, 1, 1))}, "Give a number, a diagonal"),
    "nan": ({("u", "b"): float("nan")}, "a weight that is not finite"),
    "infinite entry": ({("u", "a"): np.full((3, 2), np.inf)}, "a weight that is not finite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mismatched_weights_are_refused(case):
    action, message = REFUSED[case]
    with pytest.raises(StreamError, match=message):
        BlockMap(SOURCE, TARGET, action)


def test_low_rank_factors_must_meet():
    with pytest.raises(StreamError, match=r"factors of shapes \(3, 2\) and \(1, 3\)"):
        LowRank(np.ones((3, 2)), np.ones((1, 3)))


def test_tokens_of_another_width_are_refused():
    with pytest.raises(StreamError, match=r"tokens of width 6 for the source \[a:2, b:3, c:2\] of width 7"):
        mixed_map().apply(torch.ones(2, 6, dtype=torch.float64))
