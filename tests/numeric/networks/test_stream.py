import flint
import pytest
import torch

from numeric.balls import BallArray
from numeric.networks.stream import Block, Stream, StreamError


def as_balls(values):
    return BallArray([flint.arb(each) for each in values.flatten().tolist()], tuple(values.shape), 64)


STREAM = Stream([Block("x", 3), Block("p[1]", 2), Block("one", 1)])


def test_slices_tile_the_width():
    covered = [index for name in STREAM.names for index in range(STREAM.width)[STREAM.slice(name)]]
    assert covered == list(range(6))


def test_sum_of_streams_appends_blocks():
    assert (STREAM + Stream([Block("t", 4)])).slice("t") == slice(6, 10)
    assert STREAM.extend(Block("t", 4)) == STREAM + Stream([Block("t", 4)])


def test_only_keeps_the_order_of_the_stream():
    assert STREAM.only({"one", "x"}).names == ("x", "one")


def test_unknown_block_names_the_nearest():
    with pytest.raises(StreamError, match=r"Stream.slice\('p\[2\]'\): no such block .* Did you mean 'p\[1\]'\?"):
        STREAM.slice("p[2]")


def test_repeated_block_is_refused():
    with pytest.raises(StreamError, match=r"repeated block names \['x'\]\. Give each block a name of its own"):
        STREAM.extend(Block("x", 1))


@pytest.mark.parametrize(("name", "size", "message"), [("", 1, "empty name"), ("x", 0, "size must be at least 1")])
def test_bad_block_is_refused(name, size, message):
    with pytest.raises(StreamError, match=message):
        Block(name, size)


def test_stream_error_is_a_value_error():
    assert issubclass(StreamError, ValueError)


def test_a_stream_from_names_has_their_sizes_in_order():
    assert Stream.of(x=3, one=1) == Stream([Block("x", 3), Block("one", 1)])


@pytest.mark.parametrize("as_kind", [lambda each: each, as_balls], ids=["floats", "balls"])
def test_tokens_hold_what_their_parts_name_and_else_0(as_kind):
    X, y, x = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([5.0, 6.0]), torch.tensor([7.0, 8.0])
    stream = Stream.of(x=2, query=2, one=1, y=1)
    tokens = stream.tokens({"x": as_kind(X), "one": 2, "y": as_kind(y)}, {"one": -1, "query": as_kind(x)})
    expected = [[1, 2, 0, 0, 2, 5], [3, 4, 0, 0, 2, 6], [0, 0, 7, 8, -1, 0]]
    found = tokens.midpoint() if isinstance(tokens, BallArray) else tokens
    assert found.tolist() == expected
    assert isinstance(tokens, type(as_kind(X)))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"x": torch.ones(2, 3)}, r"tokens\('x'\): an array of the shape \(2, 3\) for 2 tokens\. .*shape \(2, 2\)\."),
        ({"x": torch.ones(4)}, r"tokens\('x'\): an array of the shape \(4,\) for 1 tokens\. Give one of the shape"),
        ({"x": torch.ones(2, 2), "y": torch.ones(3)}, r"tokens\('y'\): .* \(3,\) for 2 tokens"),
        ({"x": 1}, r"Stream.tokens: no array among x\. Give one, for dtype and device\."),
        ({}, r"Stream.tokens: no array among no blocks\."),
        ({"z": torch.ones(2)}, r"no such block"),
        ({"z": 1, "x": torch.ones(2)}, r"no such block"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(part, message):
    with pytest.raises(StreamError, match=message):
        Stream.of(x=2, y=1).tokens(part)
