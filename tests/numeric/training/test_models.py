"""The models beside their formulas, written out token by token."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from numeric.networks.attention import attention_weights
from numeric.networks.construction import Construction
from numeric.networks.layers import Head, LinearAttention, ReluAttention
from numeric.networks.maps import BlockMap
from numeric.networks.network import Network
from numeric.networks.stream import Block, Stream
from numeric.training.catalogue import MODELS
from numeric.training.errors import TrainingError
from numeric.training.models import (
    Architecture,
    CausalAttention,
    Form,
    FromConstruction,
    LinearArchitecture,
    LoopedArchitecture,
    seeded,
)

FORM = Form(length=7, inputs=3, outputs=2)
TOKENS = torch.randn(4, 7, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float32)


def model(name: str, **sizes: Any) -> Any:
    kind, make = MODELS[name]
    return seeded(lambda: make(kind(width=8, heads=2, **sizes), FORM), 0)


@pytest.mark.parametrize("name", ["standard", "looped", "algoformer"])
def test_first_weights_depend_on_the_seed_alone(name: str) -> None:
    wanted = model(name).state_dict()
    torch.rand(1, dtype=torch.float32)
    found = model(name).state_dict()
    assert all(torch.equal(each, found[key]) and found[key].dtype == each.dtype for key, each in wanted.items())


@torch.no_grad()
def attended(module: CausalAttention, x: Tensor, slopes: list[float]) -> Tensor:
    """By the definition, each token and head by itself."""
    H, h = x.shape[-1], len(slopes)
    W, b = module.query_key_value.weight, module.query_key_value.bias
    q, k, v = ((x @ W[j * H : (j + 1) * H].T + b[j * H : (j + 1) * H]).split(H // h, -1) for j in range(3))
    rows = []
    for i in range(len(x)):
        mixed = []
        for a in range(h):
            scores = [float(q[a][i] @ k[a][j]) / math.sqrt(H / h) - slopes[a] * (i - j) for j in range(i + 1)]
            if module.kind == "softmax":
                weights = [math.exp(s) / sum(map(math.exp, scores)) for s in scores]
            else:
                weights = [max(s, 0) / (i + 1) for s in scores]
            mixed.append(sum(w * v[a][j] for j, w in enumerate(weights)))
        rows.append(torch.cat(mixed))
    return module.output(torch.stack(rows))


@pytest.mark.parametrize("kind", ["softmax", "relu"])
@pytest.mark.parametrize("positions", ["none", "alibi"])
def test_attention_is_its_definition(kind: str, positions: str) -> None:
    module = seeded(lambda: CausalAttention(Architecture(8, 2, attention=kind, positions=positions)), 0)
    slopes = [2.0**-4, 2.0**-8] if positions == "alibi" else [0.0, 0.0]
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(2), dtype=torch.float32)
    torch.testing.assert_close(module(x[None])[0], attended(module, x, slopes), atol=1e-5, rtol=1e-5)


def test_relu_attention_at_the_last_token_is_that_of_icgd() -> None:
    module = CausalAttention(Architecture(8, 2, attention="relu"))
    scores = torch.randn(1, 2, 6, 6, generator=torch.Generator().manual_seed(3), dtype=torch.float32)
    wanted = attention_weights(ReluAttention, scores[0])[:, -1]
    torch.testing.assert_close(module.weights(scores)[0, :, -1], wanted)


def test_places_are_counted_in_half_precision_too() -> None:
    module = CausalAttention(Architecture(8, 2, attention="relu"))
    weights = module.weights(torch.ones(1, 2, 600, 600, dtype=torch.bfloat16))
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, 600, dtype=torch.float32))


@pytest.mark.parametrize("name", ["standard", "looped", "algoformer"])
@pytest.mark.parametrize("attention", ["softmax", "relu"])
def test_no_prediction_depends_on_later_tokens(name: str, attention: str) -> None:
    run = model(name, attention=attention, positions="alibi")
    changed = TOKENS.clone()
    changed[:, 4:] += 1
    before, after = run(TOKENS), run(changed)
    torch.testing.assert_close(before[:, :, :4], after[:, :, :4])
    assert not torch.allclose(before[:, :, 4:], after[:, :, 4:])


def test_a_context_beyond_the_prompts_changes_nothing_inside_them() -> None:
    longer = model("standard", context=20)
    within = model("standard")
    within.load_state_dict({**longer.state_dict(), "read.position.weight": longer.read.position.weight[:7]})
    torch.testing.assert_close(within(TOKENS), longer(TOKENS))
    assert longer(torch.cat([TOKENS] * 2, 1)).shape == (1, 4, 14, 2)


def test_loops_are_those_of_the_papers() -> None:
    looped, algo = model("looped", T=3, delta_T=2), model("algoformer", T=3, delta_T=3)
    x = looped.read(TOKENS)
    state, iterates = torch.zeros_like(x), []
    for _ in range(3):
        state = looped.stack(state + x)
        iterates.append(looped.write(state))
    torch.testing.assert_close(looped(TOKENS), torch.stack(iterates))  # t = 1, 2, 3
    state, iterates = algo.pre(algo.read(TOKENS)), []
    for _ in range(4):
        iterates.append(algo.write(algo.post(state)))
        state = algo.loop(state)
    torch.testing.assert_close(algo(TOKENS), torch.stack(iterates))  # t = 0 .. 3
    torch.testing.assert_close(algo(TOKENS, first=2, last=5)[:2], torch.stack(iterates[2:]))


def test_a_linear_layer_with_the_weights_of_one_step_takes_it() -> None:
    N, d, eta = 6, 3, 0.7
    layer = seeded(lambda: MODELS["linear"][1](LinearArchitecture(), Form(N + 1, d + 1, 1, joined=True)), 0)
    with torch.no_grad():
        layer.value.copy_(torch.diag(torch.tensor([0.0] * d + [1.0], dtype=torch.float32, device="cpu")))
        layer.key_query.copy_(torch.diag(torch.tensor([eta] * d + [0.0], dtype=torch.float32, device="cpu")))
    source = torch.Generator().manual_seed(4)
    x = torch.randn(5, N + 1, d, generator=source, dtype=torch.float32)
    y = torch.randn(5, N, 1, generator=source, dtype=torch.float32)
    joined = torch.cat([x, torch.cat([y, 0 * y[:, :1]], 1)], -1)
    w = torch.zeros(5, d, 1, requires_grad=True, dtype=torch.float32)
    ((x[:, :-1] @ w - y) ** 2).sum().div(2 * N).backward()
    assert w.grad is not None
    torch.testing.assert_close(layer(joined)[0], x[:, -1:] @ (-eta * w.grad))


def construction() -> Construction:
    """One step of gradient descent with step size 1/2, as a linear head on tokens (x, y)."""
    stream = Stream([Block("x", 2), Block("y", 1), Block("out", 1)])
    dot = stream.only(["x"])
    query, key = (BlockMap(stream, dot, {("x", "x"): c}) for c in (0.5, 1.0))
    head = Head("step", query, key, BlockMap(stream, stream, {("out", "y"): 1.0}))
    layer = LinearAttention((head,), residual=True)
    return Construction.of("step", stream, layer)


def test_a_construction_is_a_model_that_starts_at_its_own_outputs_and_trains() -> None:
    def prompt(joined: Tensor) -> Tensor:
        return nn.functional.pad(joined, (0, 1))

    started = FromConstruction(construction(), prompt, lambda output: output[:, 3:], torch.float64)
    joined = torch.randn(3, 5, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    joined[:, -1, 2] = 0
    kept = Network(construction())(prompt(joined))[:, 3:]
    torch.testing.assert_close(started(joined)[0, :, 0], kept, atol=1e-12, rtol=0)
    assert sum(each.numel() for each in started.parameters()) > 50
    started(joined).sum().backward()
    assert all(each.grad is not None for name, each in started.named_parameters() if "place" not in name)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Architecture(width=10, heads=4),
            "width = 10 is no multiple of heads = 4; each head has",
        ),
        (lambda: Architecture(layers=0), "layers = 0; give a whole number >= 1"),
        (lambda: Architecture(attention="hard"), "attention = 'hard'; choose softmax, relu"),
        (lambda: Architecture(positions="rotary"), "positions = 'rotary'; choose learnt, none, alibi"),
        (lambda: LoopedArchitecture(T=6, delta_T=10), "delta_T = 10 is above T = 6; give delta_T <= T"),
        (lambda: LoopedArchitecture(T=0, delta_T=0), "T = 0; loop once at least"),
        (lambda: LoopedArchitecture(delta_T=-1), "delta_T = -1; give a whole number >= 0"),
        (lambda: model("standard")(torch.zeros(1, 9, 3, dtype=torch.float32)), "9 tokens, more than the 7 positions"),
        (lambda: model("standard", context=5), "context = 5 for prompts of 7 tokens; give a position to each, or 0"),
        (lambda: MODELS["linear"][1](LinearArchitecture(), FORM), "a linear attention layer without joined tokens"),
    ],
)
def test_refusals(make: Any, message: str) -> None:
    with pytest.raises(TrainingError) as refused:
        make()
    assert str(refused.value).startswith(message)
