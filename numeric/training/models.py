"""The transformers that are trained: standard, looped, AlgoFormer (algoformer, section 2), one linear attention layer.

Each is called with the tokens of a batch and returns the predictions of S iterates, the last one last: those that the
loss averages. S is 1 for a model without a loop.

Shapes: B prompts, L tokens, k coordinates of a token, H width, h heads, m outputs, S iterates.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from numeric.networks.attention import kernel_dtype
from numeric.networks.construction import Construction
from numeric.networks.network import Network
from numeric.training.errors import require

Linear = partial(nn.Linear, dtype=torch.float32)
LayerNorm = partial(nn.LayerNorm, dtype=torch.float32)
Embedding = partial(nn.Embedding, dtype=torch.float32)
ATTENTION = "softmax", "relu"
POSITIONS = "learnt", "none", "alibi"
FIRST_POSITIONS = 0.1  # standard deviation; of size 1 they hide the tokens, and some trainings never start


@dataclass(frozen=True)
class Form:
    """What a model has to know of the tokens of a task.

    `inputs` and `outputs` count coordinates; of `symbols` (whole numbers) they count the letters. A `joined` prompt has
    a token (x_i, y_i) for each example and (x, 0) for the query, whose y alone is predicted. Of a prompt with a `head`
    the last token alone predicts, as an induction head.
    """

    length: int
    inputs: int
    outputs: int
    symbols: bool = False
    joined: bool = False
    head: bool = False


@dataclass(frozen=True)
class Architecture:
    """Sizes of a decoder: `layers` blocks of `heads` heads and an MLP of 4 `width`, attention, positions.

    `context` counts learnt positions; 0 means as many as the prompts of the task have tokens. Those behind the prompts
    stay as they were drawn, as those of GPT-2 in wu2024, Appendix G.
    """

    width: int = 32
    heads: int = 4
    layers: int = 3
    attention: str = "softmax"
    positions: str = "learnt"
    context: int = 0

    def __post_init__(self) -> None:
        for name in ("width", "heads", "layers"):
            require(getattr(self, name) >= 1, f"{name} = {getattr(self, name)}", "give a whole number >= 1")
        divides = f"width = {self.width} is no multiple of heads = {self.heads}"
        require(self.width % self.heads == 0, divides, "each head has width / heads coordinates")
        for name, known in (("attention", ATTENTION), ("positions", POSITIONS)):
            given = getattr(self, name)
            require(given in known, f"{name} = {given!r:.80}", f"choose {', '.join(known)}")


@dataclass(frozen=True)
class LoopedArchitecture(Architecture):
    """The `layers` are those of each part. T loops; the loss averages the iterates T - delta_T .. T, as (6) does."""

    layers: int = 1
    T: int = 12
    delta_T: int = 6  # noqa: N815 - the paper's letter

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.T >= 1, f"T = {self.T}", "loop once at least")
        require(self.delta_T >= 0, f"delta_T = {self.delta_T}", "give a whole number >= 0")
        require(self.delta_T <= self.T, f"delta_T = {self.delta_T} is above T = {self.T}", "give delta_T <= T")


class CausalAttention(nn.Module):
    """sum over the heads of W_V h_j weighted by softmax_j(s_ij), or by ReLU(s_ij) / i, over the tokens j = 1 .. i.

    At the last of i tokens ReLU(s_ij) / i is ReLU attention as wu2024 defines it, on the first i tokens. The scores are
    s_ij = <W_Q h_i, W_K h_j> / sqrt(H/h); `alibi` subtracts 2^(-8a/h) (i - j) in head a = 1 .. h.
    """

    def __init__(self, at: Architecture) -> None:
        super().__init__()
        self.heads, self.kind = at.heads, at.attention
        self.query_key_value = Linear(at.width, 3 * at.width)
        self.output = Linear(at.width, at.width)
        self.slopes = [2 ** (-8 * a / at.heads) for a in range(1, at.heads + 1)] if at.positions == "alibi" else None

    def forward(self, x: Float[Tensor, "B L H"]) -> Float[Tensor, "B L H"]:
        q, k, v = self.split(x)
        if self.kind == "softmax" and self.slopes is None:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # (B, h, L, H/h)
        else:
            mixed = self.weights(q @ k.mT / math.sqrt(q.shape[-1])) @ v  # (B, h, L, H/h)
        return self.output(mixed.transpose(1, 2).flatten(2))

    def split(self, x: Float[Tensor, "B L H"]) -> Float[Tensor, "3 B h L K"]:
        """Queries, keys and values, of K = H/h coordinates."""
        return self.query_key_value(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)

    def pattern(self, x: Float[Tensor, "B L H"]) -> Float[Tensor, "B h L L"]:
        """The weights of what `forward` averages."""
        q, k, _ = self.split(x)
        return self.weights(q @ k.mT / math.sqrt(q.shape[-1]))

    def weights(self, scores: Float[Tensor, "B h L L"]) -> Float[Tensor, "B h L L"]:
        format = kernel_dtype(scores)  # bfloat16 counts no further than 256
        place = torch.arange(scores.shape[-1], device=scores.device, dtype=format)  # (L)
        lags = place[:, None] - place  # (L, L)
        if self.slopes is not None:
            slopes = torch.tensor(self.slopes, device=scores.device, dtype=format)  # (h)
            scores = scores - slopes[:, None, None] * lags  # (B, h, L, L)
        if self.kind == "softmax":
            return torch.softmax(scores.masked_fill(lags < 0, -torch.inf), -1)  # (B, h, L, L)
        return torch.relu(scores).tril() / (place + 1)[:, None]  # (B, h, L, L)


class DecoderBlock(nn.Module):
    """Attention and an MLP, each residual and behind a layer norm, as in GPT-2; the MLP with ReLU, as in eq. (1)."""

    def __init__(self, at: Architecture) -> None:
        super().__init__()
        self.attention_norm, self.attention = LayerNorm(at.width), CausalAttention(at)
        self.mlp_norm = LayerNorm(at.width)
        self.mlp = nn.Sequential(Linear(at.width, 4 * at.width), nn.ReLU(), Linear(4 * at.width, at.width))

    def forward(self, x: Float[Tensor, "B L H"]) -> Float[Tensor, "B L H"]:
        x = x + self.attention(self.attention_norm(x))  # (B, L, H)
        return x + self.mlp(self.mlp_norm(x))


def stack(at: Architecture) -> nn.Sequential:
    """The blocks and a last norm, which keeps the states of a loop bounded."""
    return nn.Sequential(*(DecoderBlock(at) for _ in range(at.layers)), LayerNorm(at.width))


class TokenReading(nn.Module):
    """The tokens as vectors of the stream, with learnt positions where there are some."""

    def __init__(self, at: Architecture, form: Form) -> None:
        super().__init__()
        self.token = Embedding(form.inputs, at.width) if form.symbols else Linear(form.inputs, at.width)
        context = at.context or form.length
        few = f"context = {at.context} for prompts of {form.length} tokens"
        require(context >= form.length, few, "give a position to each, or 0")
        self.position = Embedding(context, at.width) if at.positions == "learnt" else None
        if self.position is not None:
            nn.init.normal_(self.position.weight, std=FIRST_POSITIONS)

    def forward(self, tokens: Tensor) -> Float[Tensor, "B L H"]:
        x, length = self.token(tokens), tokens.shape[1]  # (B, L, H)
        if self.position is None:
            return x
        has = self.position.num_embeddings
        require(length <= has, f"{length} tokens, more than the {has} positions learnt", "give fewer examples")
        return x + self.position.weight[:length]


class StandardTransformer(nn.Module):
    """The decoder: S = 1."""

    def __init__(self, at: Architecture, form: Form) -> None:
        super().__init__()
        self.form = form
        self.read, self.stack, self.write = TokenReading(at, form), stack(at), Linear(at.width, form.outputs)

    def forward(self, tokens: Tensor) -> Float[Tensor, "1 B L m"]:
        return self.write(self.stack(self.read(tokens)))[None]


class LoopedModel(nn.Module):
    """What is called with the numbers of the first and the last iterate, by default T - delta_T and T."""

    at: LoopedArchitecture

    def start(self, tokens: Tensor) -> Callable[[Tensor | None], Tensor]:
        """The map of one state to the next; of None to the first."""
        raise NotImplementedError

    def predict(self, state: Float[Tensor, "B L H"]) -> Float[Tensor, "B L m"]:
        raise NotImplementedError

    def forward(self, tokens: Tensor, first: int | None = None, last: int | None = None) -> Float[Tensor, "S B L m"]:
        last = self.at.T if last is None else last
        first = max(last - self.at.delta_T, 0) if first is None else first
        step, state, found = self.start(tokens), None, []
        for t in range(last + 1):
            state = step(state)
            if t >= first:
                found.append(self.predict(state))
        return torch.stack(found)


class LoopedTransformer(LoopedModel):
    """state -> stack(state + tokens), the input injected at each loop, from the state 0 (the vanilla looped one)."""

    def __init__(self, at: LoopedArchitecture, form: Form) -> None:
        super().__init__()
        self.at, self.form = at, form
        self.read, self.stack, self.write = TokenReading(at, form), stack(at), Linear(at.width, form.outputs)

    def start(self, tokens: Tensor) -> Callable[[Tensor | None], Tensor]:
        read = self.read(tokens)  # (B, L, H)
        return lambda state: torch.zeros_like(read) if state is None else self.stack(state + read)

    def predict(self, state: Float[Tensor, "B L H"]) -> Float[Tensor, "B L m"]:
        return self.write(state)


class AlgoFormer(LoopedModel):
    """post(loop^t(pre(tokens))), eq. (2)."""

    def __init__(self, at: LoopedArchitecture, form: Form) -> None:
        super().__init__()
        self.at, self.form = at, form
        self.read, self.write = TokenReading(at, form), Linear(at.width, form.outputs)
        self.pre, self.loop, self.post = stack(at), stack(at), stack(at)

    def start(self, tokens: Tensor) -> Callable[[Tensor | None], Tensor]:
        return lambda state: self.pre(self.read(tokens)) if state is None else self.loop(state)

    def predict(self, state: Float[Tensor, "B L H"]) -> Float[Tensor, "B L m"]:
        return self.write(self.post(state))


@dataclass(frozen=True)
class LinearArchitecture:
    """One linear attention layer has no sizes of its own; `spread` is the standard deviation of its first weights."""

    spread: float = 0.1

    def __post_init__(self) -> None:
        require(0 <= self.spread < math.inf, f"spread = {self.spread}", "give a number >= 0")


class LinearAttentionLayer(nn.Module):
    """V E (E^T A e) / N for the query e = (x, 0) of joined tokens E, whose last coordinates are the prediction.

    One step of gradient descent from 0 with step size eta is V = diag(0, 1), A = diag(eta, 0).
    """

    def __init__(self, at: LinearArchitecture, form: Form) -> None:
        super().__init__()
        require(form.joined, "a linear attention layer without joined tokens", "train it on linear regression")
        self.form, self.outputs = form, form.outputs
        self.value = nn.Parameter(at.spread * torch.randn(form.inputs, form.inputs, dtype=torch.float32, device="cpu"))
        self.key_query = nn.Parameter(torch.zeros_like(self.value).normal_(std=at.spread))

    def forward(self, tokens: Float[Tensor, "B L k"]) -> Float[Tensor, "1 B 1 m"]:
        scores = tokens @ (tokens[:, -1] @ self.key_query.mT)[..., None]  # (B, L, 1)
        mixed = (tokens @ self.value.mT).mT @ scores / (tokens.shape[1] - 1)  # (B, k, 1)
        return mixed.mT[None, :, :, -self.outputs :]


class FromConstruction(nn.Module):
    """A construction of ours as a model to train: its full matrices and biases are the first parameters.

    A layer that the construction repeats stays one layer. `prompt` makes the construction's tokens (B, L, d) of joined
    ones, and `answer` the prediction (B, m) of what it returns.
    """

    def __init__(
        self,
        construction: Construction,
        prompt: Callable[[Tensor], Tensor],
        answer: Callable[[Tensor], Tensor],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.prompt, self.answer = prompt, answer
        self.network = Network(construction, dtype=dtype, dense=True)
        for module in self.network.modules():
            for name, weights in list(module.named_buffers(recurse=False)):
                delattr(module, name)
                module.register_parameter(name, nn.Parameter(weights))

    def forward(self, tokens: Float[Tensor, "B L k"]) -> Float[Tensor, "1 B 1 m"]:
        return self.answer(self.network(self.prompt(tokens)))[None, :, None]


def seeded(make: Callable[[], nn.Module], seed: int) -> nn.Module:
    """The module with the first weights of that seed, whatever was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()
