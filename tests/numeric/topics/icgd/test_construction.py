from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from numeric.networks.families import (
    ActivationHeads,
    BoxAndClear,
    FamilyAttention,
    FamilyMultiplication,
    HadamardHeads,
    MaskedUnits,
    OuterProductHeads,
    TransposeHeads,
    layer_size,
)
from numeric.networks.layers import Head
from numeric.networks.maps import BlockMap
from numeric.networks.stream import Block, Stream, StreamError
from numeric.tools.layered import Shape
from numeric.topics.icgd import icgd_setting
from numeric.topics.icgd.construction import token_stream
from tests.numeric.topics.icgd.cases import B_V, CASES, ETA, SQUARE, TANH, build, interpolant, loss_sum


@pytest.mark.parametrize("name", CASES)
def test_a_step_takes_2N_plus_4_layers_in_the_order_of_the_theorem(name):
    case, construction = CASES[name], CASES[name].build()
    N = case.shape.N
    kinds = [FamilyAttention] * (N + 1) + [MaskedUnits] + [FamilyMultiplication] * N
    assert [type(layer) for layer in construction.block] == [*kinds, FamilyAttention, BoxAndClear]
    assert len(construction.construction.layers) == (2 * N + 4) * case.steps


@pytest.mark.parametrize("name", CASES)
def test_the_stream_holds_each_quantity_once(name):
    shape = CASES[name].shape
    outputs = (shape.N - 1) * shape.K + shape.d_y
    assert token_stream(shape).width == shape.d_x + shape.d_y + shape.parameters + 3 * outputs + shape.d_y + 2


def column_sum(block_map: BlockMap | None) -> float:
    assert block_map is not None
    return float(np.abs(block_map.dense()).sum(axis=0).max())


def norms_of_heads(heads: list[Head], multiplication: bool) -> tuple[float, float]:
    query_key = max(max(column_sum(head.query), column_sum(head.key)) for head in heads)
    values = [column_sum(head.value) for head in heads]
    return query_key, max(values) if multiplication else sum(values)


@pytest.mark.parametrize("name", CASES)
def test_sizes_and_norms_are_those_of_the_dense_matrices(name):
    construction = CASES[name].build()
    D = construction.stream.width
    for layer, size in ((layer, layer_size(layer)) for layer in construction.block):
        if isinstance(layer, FamilyAttention | FamilyMultiplication):
            heads = list(layer.heads())
            assert all(each.dense().shape == (D, D) for each in (heads[0].query, heads[0].key, heads[0].value))
            multiplication = isinstance(layer, FamilyMultiplication)
            assert size.heads == len(heads)
            found = norms_of_heads(heads, multiplication)
            assert (float(size.query_key), float(size.value)) == pytest.approx(found, rel=1e-14)
            assert float(size.norm) == pytest.approx(max(found) if multiplication else sum(found), rel=1e-14)
        else:
            spelled_out = layer.spelled_out()
            inner, outer = spelled_out.inner, spelled_out.outer
            assert inner.dense().shape == (size.hidden_width, D)
            assert outer.dense().shape == (D, size.hidden_width)
            assert float(size.norm) == pytest.approx(column_sum(inner) + column_sum(outer), rel=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_the_norms_of_the_attention_layers_keep_the_papers_bounds(name):
    """Lemma 2: B <= 1 + K C_1, here with the layer's own width in place of K, and equality."""
    case, construction = CASES[name], CASES[name].build()
    for size, outputs in zip(map(layer_size, construction.block), case.shape.widths[1:], strict=False):
        assert float(size.norm) == pytest.approx(1 + outputs * construction.r.one_norm, rel=1e-14)
    for layer in construction.block[case.shape.N + 2 : 2 * case.shape.N + 2]:
        assert layer_size(layer).norm <= 1  # Lemma 5
    step = layer_size(construction.block[-2])
    n, outputs = case.n, sum(case.shape.widths[1:])
    assert float(step.value) == pytest.approx(ETA * (n + 1) / n * outputs, rel=1e-14)


def test_the_loss_layer_has_a_larger_norm_than_printed():
    """Lemma 4 prints ||W_1||_1 <= R_3 + 1, but the columns at `one` and `t` add up all units."""
    construction = build(Shape(2, 2, 2, 2), 2)
    size = layer_size(construction.block[3])
    assert size.hidden_width > 0
    assert size.inner > construction.bound + 1
    rows = np.abs(construction.block[3].spelled_out().inner.dense()).sum(axis=1)
    assert rows.max() > construction.bound + 1  # nor as a sum over a row
    assert rows.max() <= 2 * construction.bound + 1


def test_the_mask_is_as_large_as_the_activation():
    assert build(Shape(1, 1, 1, 1), 1).bound == 1.0  # tanh
    wide = interpolant(lambda t: 3 * torch.tanh(t), 2.0, 8)
    construction = icgd_setting(Shape(1, 1, 1, 1), wide, wide, loss_sum(SQUARE, 1.0, 2), eta=1.0, B_v=1.0, n=1)
    assert construction.bound == pytest.approx(3 * np.tanh(2.0), rel=1e-5)
    assert construction.bound >= np.abs(wide.values).max()


def test_the_scale_is_kept_as_a_rational_number():
    families = build(Shape(2, 2, 2, 2), 3).block[-2].families
    assert {family.scale for family in families} == {Fraction(ETA) * Fraction(4, 6)}


def test_numbers_that_make_no_network_are_refused():
    r, u = interpolant(TANH.r, 2.0, 4), loss_sum(SQUARE, 1.0, 2)
    shape = Shape(1, 1, 1, 1)
    with pytest.raises(StreamError, match=r"eta=0.0"):
        icgd_setting(shape, r, r, u, eta=0.0, B_v=B_V, n=1)
    with pytest.raises(StreamError, match="n=0, steps=1"):
        icgd_setting(shape, r, r, u, eta=1.0, B_v=B_V, n=0)
    with pytest.raises(StreamError, match=r"row_norm=0.0"):
        icgd_setting(shape, r, r, u, eta=1.0, B_v=0.0, n=1)
    with pytest.raises(StreamError, match=r"bound=0.5"):
        icgd_setting(shape, r, r, u, eta=1.0, B_v=B_V, n=1, bound=0.5)


def test_families_that_do_not_fit_their_stream_are_refused():
    stream = Stream([Block("x", 2), Block("y", 3), Block("v", 6), Block("one", 1)])
    r = interpolant(TANH.r, 2.0, 4)
    FamilyAttention(stream, (ActivationHeads("x", "v", "y", r),))
    with pytest.raises(StreamError, match="matrix in block 'v': size 6 for 2 rows of 2"):
        FamilyAttention(stream, (ActivationHeads("x", "v", "x", r),))
    with pytest.raises(StreamError, match="size 6 for 3 rows of 3"):
        FamilyAttention(stream, (OuterProductHeads("y", "y", "v", Fraction(1)),))
    with pytest.raises(StreamError, match="size 6 for 2 rows of 2"):
        FamilyMultiplication(stream, (TransposeHeads("x", "v", "x", "x"),))
    with pytest.raises(StreamError, match=r"blocks of sizes {'x': 2, 'y': 3}"):
        FamilyMultiplication(stream, (HadamardHeads("x", "y", "x"),))
    with pytest.raises(StreamError, match="no families of heads"):
        FamilyAttention(stream, ())
    with pytest.raises(StreamError, match=r"'x' of size 2. It must be a block of size 1"):
        FamilyAttention(stream, (ActivationHeads("x", "v", "y", r),), one="x")
    with pytest.raises(StreamError, match=r"half widths .*'v', -1.0"):
        BoxAndClear(stream, (("v", -1.0),), ())
    with pytest.raises(StreamError, match="Name each block once"):
        BoxAndClear(stream, (("v", 1.0),), ("v",))
    with pytest.raises(StreamError, match="no such block"):
        BoxAndClear(stream, (("w", 1.0),), ())
    masked = build(Shape(1, 1, 2, 2), 1).block[2]
    with pytest.raises(StreamError, match="'y' of size 2"):
        replace(masked, mask="y")
