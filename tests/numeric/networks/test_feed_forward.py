import numpy as np
import pytest
import torch

from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.feed_forward import Multiply, Select, clear, require_ranges, terms_layer
from numeric.networks.maps import LowRank
from numeric.networks.network import Network
from numeric.networks.products import product_sum
from numeric.networks.stream import Block, Stream, StreamError

STREAM = Stream([Block("x", 2), Block("y", 2), Block("t", 1), Block("a", 1), Block("b", 1)])
W = np.array([[1.0, -2.0], [0.5, 3.0]])


def network(*terms: Select | Multiply, dtype: torch.dtype = torch.float64) -> Network:
    return Network(Construction.of("terms", STREAM, terms_layer(STREAM, *terms)), dtype)


def tokens(size: float = 1.0) -> torch.Tensor:
    """Four tokens, (a, b) = (0, 0), (1, 0), (0, 1), (1, 1); x up to `size`."""
    x = size * torch.tensor([[0.3, -0.7], [1.0, 1 / 3], [-1.0, 0.1], [0.0, -1.0]], dtype=torch.float64)
    bits = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    return torch.cat([x, torch.ones(4, 2, dtype=torch.float64), torch.full((4, 1), 0.5, dtype=torch.float64), bits], 1)[
        None
    ]


SELECTIONS = {
    "unless a": (("y",), {"unless": ("a",)}, [1, 0, 1, 0]),
    "when a": (("y",), {"when": ("a",)}, [0, 1, 0, 1]),
    "when a and b": (("y",), {"when": ("a", "b")}, [0, 0, 0, 1]),
    "unless a or b": (("y",), {"unless": ("a", "b")}, [1, 0, 0, 0]),
    "when a, unless b": (("y",), {"when": ("a",), "unless": ("b",)}, [0, 1, 0, 0]),
}


@pytest.mark.parametrize("weight", [1.0, -0.25, W, LowRank(W[:, :1], W[:1])], ids=["1", "-1/4", "W", "low rank"])
@pytest.mark.parametrize("case", SELECTIONS)
def test_a_selection_is_the_source_times_its_indicator(case, weight):
    _, indicators, chosen = SELECTIONS[case]
    x = tokens()
    selection = Construction.of("terms", STREAM, terms_layer(STREAM, Select("y", "x", weight, **indicators, bound=1.0)))
    selection = type(selection)("terms", STREAM, selection.embedding, selection.layers, selection.readout)
    matrix = weight.left @ weight.right if isinstance(weight, LowRank) else weight * np.eye(2) if weight is not W else W
    expected = x.clone()
    expected[0, :, 2:4] += torch.tensor(chosen)[:, None] * (x[0, :, :2] @ torch.tensor(matrix).T)
    exact = run_exact(selection, x[0].numpy())["output"]
    assert (exact - expected[0].numpy()).sup_norm() < 1e-15
    found = Network(selection)(x)
    if "when" in indicators:
        torch.testing.assert_close(found, expected, rtol=0, atol=2**-50)
    else:
        torch.testing.assert_close(found, expected, rtol=0, atol=2**-52)


@pytest.mark.parametrize("weight", [2.0, W, LowRank(W[:, :1], W[:1])], ids=["2", "W", "low rank"])
def test_negative_entries_count_as_after_a_leaky_relu(weight):
    x = tokens()
    found = network(Select("y", "x", weight, when=("a",), bound=1.0, negative=0.25)).layers[0](x, 0)[0, :, 2:4]
    matrix = weight.left @ weight.right if isinstance(weight, LowRank) else weight * np.eye(2) if weight is not W else W
    expected = torch.nn.functional.leaky_relu(x[0, :, :2], 0.25) @ torch.tensor(matrix).T
    torch.testing.assert_close(
        found - 1, expected * torch.tensor([[0.0], [1.0], [0.0], [1.0]], dtype=torch.float64), rtol=0, atol=2**-50
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_selection_against_an_indicator_rounds_nothing(dtype):
    x = tokens().to(dtype)
    layer = network(Select("x", "x", -1.0, unless=("a",), bound=1.0), dtype=dtype).layers[0]
    found = layer(x, 0)[0, :, :2]
    assert torch.equal(found, x[0, :, :2] * torch.tensor([0, 1, 0, 1], dtype=dtype)[:, None])


def test_a_block_is_cleared_and_moved_exactly_at_any_size():
    x = tokens(1e12)
    found = network(clear("x"), Select("y", "x")).layers[0](x, 0)[0]
    assert torch.equal(found[:, :2], torch.zeros(4, 2, dtype=torch.float64))
    assert torch.equal(found[:, 2:4], 1 + x[0, :, :2])


@pytest.mark.parametrize("by_number", [True, False])
def test_a_product_is_within_its_certified_error(by_number):
    product = product_sum(1.0, 1.0, 64)
    x = tokens()
    right = "t" if by_number else "x"
    found = network(Multiply("y", "x", right, product, -2.0)).layers[0](x, 0)[0]
    factor = x[0, :, 4:5] if by_number else x[0, :, :2]
    error = (found[:, 2:4] - 1 + 2 * x[0, :, :2] * factor).abs().amax()
    assert 0 < error <= 2 * float(product.error)
    assert torch.equal(found[:, :2], x[0, :, :2])


def test_a_product_with_an_indicator_is_better_selected():
    """The product of ReLUs misses where the selection is exact."""
    x = tokens()
    missed = network(Multiply("y", "x", "a", product_sum(1.1, 1.2, 32))).layers[0](x, 0)[0, 1, 2:4] - 1 - x[0, 1, :2]
    selected = network(Select("y", "x", when=("a",), bound=1.0)).layers[0](x, 0)[0, 1, 2:4] - 1 - x[0, 1, :2]
    assert missed.abs().max() > 1e-4 > 2**-50 > selected.abs().max()


def test_prompts_outside_of_the_stated_ranges_are_refused_with_all_that_is_exceeded():
    terms = (Select("y", "x", unless=("a",), bound=1.0), Multiply("y", "y", "t", product_sum(1.0, 0.5, 4)))
    require_ranges(network(*terms), tokens())
    large = tokens(4.0)
    large[..., 4] = 0.75
    message = r"terms: layer 1: 'x' reaches 4, beyond the stated 1; layer 1: 't' reaches 0.75, beyond the stated 0.5\. "
    with pytest.raises(StreamError, match=message + "Scale the data, or state larger bounds"):
        require_ranges(network(*terms), large)


def test_a_selected_token_may_be_of_any_size():
    x = tokens()
    x[0, 0, :2] = 1e9  # neither indicator is 1
    require_ranges(network(Select("y", "x", unless=("a",), bound=1.0)), x)
    with pytest.raises(StreamError, match="'x' reaches 1e\\+09"):
        require_ranges(network(Select("y", "x", when=("a",), bound=1.0)), x)


def test_half_an_indicator_is_refused():
    x = tokens()
    x[..., 5] /= 2
    with pytest.raises(StreamError, match="an indicator of \\('a',\\) is neither 0 nor 1"):
        require_ranges(network(Select("y", "x", unless=("a",), bound=1.0)), x)


def test_ranges_are_looked_at_in_each_layer():
    grow = terms_layer(STREAM, Select("x", "x", 1.0))
    select = terms_layer(STREAM, Select("y", "x", unless=("a",), bound=1.0))
    with pytest.raises(StreamError, match="growing: layer 2: 'x' reaches 2, beyond the stated 1"):
        require_ranges(Network(Construction.of("growing", STREAM, grow, select)), tokens())


@pytest.mark.parametrize("bound", [0.0, -1.0, float("nan")])
def test_a_selection_needs_a_bound(bound):
    with pytest.raises(StreamError, match=r"Select\('y', 'x'\): bound = .* State how large the source may be"):
        Select("y", "x", when=("a",), bound=bound)
