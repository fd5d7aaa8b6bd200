import copy

import pytest
import torch

from numeric.networks import attention
from numeric.networks.construction import Construction, Embedding
from numeric.networks.layers import Causal, Head, LinearAttention, RelativePositions, SoftmaxAttention
from numeric.networks.maps import BlockMap, identity_map
from numeric.networks.network import Network
from numeric.networks.stream import Block, Stream, StreamError
from tests.counting import Tensors
from tests.numeric.by_definition import run_by_definition
from tests.numeric.cases import CASES, INPUT, STREAM, D, free_attention, two_attentions


def prompts(batch: int = 2, length: int = 6) -> torch.Tensor:
    return 2 * torch.rand(batch, length, D, generator=torch.Generator().manual_seed(3), dtype=torch.float64) - 1


def assert_close(left: torch.Tensor, right: torch.Tensor, relative: float = 1e-12) -> None:
    assert left.shape == right.shape
    assert float((left - right).abs().max()) <= relative * max(1.0, float(right.abs().max()))


@pytest.mark.parametrize("case", CASES)
def test_network_is_its_definition(case):
    construction, x = CASES[case](), prompts()
    results = Network(construction).run(x)
    for index in range(2):
        expected = run_by_definition(construction, x[index].numpy())
        assert results.keys() == expected.keys()
        for name, value in expected.items():
            assert_close(results[name][index], torch.tensor(value.astype(float)))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("length", [1, 5, 150])
def test_structured_and_dense_networks_agree(case, length):
    construction, x = CASES[case](), prompts(length=length)
    structured, dense = Network(construction).run(x), Network(construction, dense=True).run(x)
    for name, value in structured.items():
        assert_close(value, dense[name])


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_float32_stays_float32(case, dense):
    network = Network(CASES[case](), dtype=torch.float32, dense=dense)
    results = network.run(prompts().float())
    assert {value.dtype for value in results.values()} == {torch.float32}
    exact = Network(CASES[case]()).run(prompts())
    for name, value in results.items():
        assert_close(value.double(), exact[name], relative=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", ["free, alibi", "softmax, alibi", "relu", "feed-forward", "vanilla, masked"])
def test_half_precision_stays_half_and_near(case, dtype):
    results = Network(CASES[case](), dtype=dtype).run(prompts(length=600).to(dtype))
    exact = Network(CASES[case]()).run(prompts(length=600))
    for name, value in results.items():
        assert value.dtype == dtype
        assert_close(value.double(), exact[name], relative=0.1)


@pytest.mark.parametrize("case", CASES)
def test_gradient_is_the_difference_quotient(case):
    network = Network(CASES[case]())
    x = prompts(1, 4).requires_grad_(True)
    assert torch.autograd.gradcheck(network, (x,))


@pytest.mark.parametrize("positions", [RelativePositions(1.0), RelativePositions(1.0, first_key=9), Causal(True)])
@pytest.mark.parametrize("dense", [False, True])
def test_empty_attention_gives_zero_and_a_finite_gradient(positions, dense):
    for construction in (free_attention(positions), two_attentions(SoftmaxAttention, positions, False)):
        x = prompts().requires_grad_(True)
        results = Network(construction, dense=dense).run(x)
        with torch.autograd.set_detect_anomaly(True):  # not even an intermediate gradient may be nan
            sum(value.sum() for value in results.values()).backward()
        weights = results["kernel" if "kernel" in results else "weights[1]"]
        assert torch.equal(weights[:, 0], torch.zeros_like(weights[:, 0]))
        assert all(bool(value.isfinite().all()) for value in results.values())
        assert bool(x.grad.isfinite().all())


@pytest.mark.parametrize("scores_at_once", [1, 7, 40])
@pytest.mark.parametrize("case", ["softmax, alibi", "softmax, full", "relu", "vanilla, masked"])
def test_streaming_over_queries_changes_nothing(case, scores_at_once, monkeypatch):
    x = prompts(length=11)
    whole = Network(CASES[case]())(x)
    monkeypatch.setattr(attention, "SCORES_AT_ONCE", scores_at_once)
    assert_close(Network(CASES[case]())(x), whole, relative=1e-14)


@pytest.mark.parametrize("slope", [0.0, 1e-3, 0.4, 60.0, 1e6])
@pytest.mark.parametrize("first_key", [1, 2, 70, 400])
def test_chunked_average_is_the_softmax_average(slope, first_key):
    positions = RelativePositions(slope, first_key)
    values = torch.randn(2, 300, 3, dtype=torch.float64)
    kernel = torch.zeros(300, 300, dtype=torch.float64)
    for i in range(1, 301):
        keys = [j for j in range(1, i) if j >= first_key]
        if keys:
            logits = torch.tensor([-slope * (i - j - 1) for j in keys], dtype=torch.float64)
            kernel[i - 1, [j - 1 for j in keys]] = torch.softmax(logits, 0)
    assert_close(attention.geometric_average(values, positions), kernel @ values)


def test_long_prompts_need_no_square_kernel():
    length = 100_000  # a square kernel of this length would take 80 GB
    averages = attention.geometric_average(torch.ones(1, length, 1, dtype=torch.float64), RelativePositions(0.3))
    assert_close(averages[:, 1:], torch.ones(1, length - 1, 1, dtype=torch.float64))


@pytest.mark.parametrize("last", ["", ", last"])
def test_linear_attention_forms_no_scores(last):
    length = 3000
    with Tensors() as made:
        Network(CASES[f"linear{last}"]())(prompts(1, length))
    assert made.largest <= STREAM.width * length


def test_linear_attention_is_one_step_of_gradient_descent():
    """Keys x_j, values y_j, and a query x: the sum is <-grad, x> for half the squared loss at weight 0."""
    eta, x, w = 0.1, torch.randn(8, D, dtype=torch.float64), torch.randn(D, dtype=torch.float64)
    pair = Stream([Block("x", D), Block("y", 1)])
    look = BlockMap(pair, INPUT, {("x", "x"): 1.0})
    value = BlockMap(pair, pair, {("y", "y"): eta / 8})
    layer = LinearAttention((Head("step", look, look, value),), residual=True)
    network = Network(Construction("step", pair, Embedding(identity_map(pair)), (layer,), identity_map(pair)))
    tokens = torch.cat(
        [
            torch.cat([x, x @ w[:, None]], dim=1),
            torch.cat([torch.ones(D, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)])[None],
        ]
    )
    weight = torch.zeros(D, requires_grad=True, dtype=torch.float64)
    (0.5 * (x @ weight - x @ w) ** 2).mean().backward()
    assert weight.grad is not None
    assert_close(network(tokens[None])[0, -1, -1], (-eta * weight.grad).sum())


def test_no_weight_is_left_on_another_device_or_dtype():
    network = copy.deepcopy(Network(CASES["softmax, alibi"]())).to(torch.float32)
    assert network(prompts().float()).dtype == torch.float32


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_cuda_agrees_with_cpu(case, dense):
    on_cpu = Network(CASES[case](), dense=dense).run(prompts())
    on_cuda = Network(CASES[case](), device="cuda", dense=dense).run(prompts().cuda())
    for name, value in on_cuda.items():
        assert value.device.type == "cuda"
        assert_close(value.cpu(), on_cpu[name], relative=1e-11)


def test_only_the_taps_asked_for_are_returned():
    assert Network(CASES["relu"]()).run(prompts(), taps=["y[1]"]).keys() == {"y[1]", "output"}


def test_inputs_that_do_not_fit_are_refused():
    network = Network(CASES["relu"]())
    with pytest.raises(StreamError, match=r"an input of shape \(2, 6, 2\). Give \(batch, length, 3\)"):
        network(prompts()[..., :2])
    with pytest.raises(StreamError, match=r"input of torch.float32 on cpu for a network of torch.float64 on cpu"):
        network(prompts().float())
    with pytest.raises(StreamError, match="no tap 'weight'"):
        network.run(prompts(), taps=["weight"])


def test_all_weights_are_buffers():
    network = Network(CASES["vanilla, masked"]())
    assert not list(network.parameters())
    assert any(buffer.shape == (D, D) for buffer in network.buffers())
