import pytest

from numeric.networks.stream import Block, Stream, StreamError

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
