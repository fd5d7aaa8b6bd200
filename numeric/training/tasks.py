"""What the models are trained on: prompts with targets, drawn from streams in which each batch has its own seed.

Shapes: B prompts, n examples, L tokens, k coordinates of a token, m outputs, M predicted tokens, S iterates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from numeric.training.errors import require
from numeric.training.models import Form

TRAINED, HELD_OUT, FIXED = range(3)  # streams
LEAK = 0.01  # of the leaky ReLUs


def generator(seed: int, stream: int, number: int = 0) -> torch.Generator:
    """That of one batch: it depends on nothing that was drawn before."""
    state = np.random.SeedSequence([seed, stream, number]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state))


@dataclass(frozen=True)
class TrainingBatch:
    """Tokens (B, L, k), or (B, L) of letters, and targets (B, M, m) or (B, M).

    Where the task is a regression, `x` (B, n + 1, d) and `y` (B, n + 1, m) are its examples, the query last.
    """

    tokens: Tensor
    targets: Tensor
    x: Tensor | None = None
    y: Tensor | None = None

    def to(self, device: torch.device) -> "TrainingBatch":
        """The tokens and targets there."""
        return TrainingBatch(self.tokens.to(device), self.targets.to(device), self.x, self.y)


@dataclass(frozen=True)
class LearningTask:
    """A distribution of prompts. `aligned`: the predicted tokens stand at the same places of all prompts."""

    aligned: ClassVar[bool] = True

    @property
    def places(self) -> slice:
        """The tokens that predict, in the order of the targets."""
        return slice(None)

    @property
    def form(self) -> Form:
        raise NotImplementedError

    def draw(self, count: int, source: torch.Generator, dtype: torch.dtype) -> TrainingBatch:
        raise NotImplementedError

    def batch(
        self, count: int, seed: int, number: int, stream: int = TRAINED, dtype: torch.dtype = torch.float32
    ) -> TrainingBatch:
        """Batch `number` of that seed and stream. A regression is drawn in `dtype`."""
        return self.draw(count, generator(seed, stream, number), dtype)

    def errors(self, predicted: Tensor, batch: TrainingBatch) -> Float[Tensor, "S B M"]:
        """|prediction - target|^2 at each predicted token, for each iterate."""
        return ((predicted[..., self.places, :] - batch.targets) ** 2).sum(-1)

    def loss(self, predicted: Tensor, batch: TrainingBatch) -> Tensor:
        """(6): the mean over the iterates, prompts and predicted tokens."""
        # (6) divides the sum of its T - T_0 + 1 losses by T - T_0: another factor, which moves no minimum.
        return self.errors(predicted, batch).mean()


def normal(source: torch.Generator, dtype: torch.dtype, *size: int) -> Tensor:
    return torch.randn(size, generator=source, dtype=dtype, device="cpu")


def represented(x: Float[Tensor, "... d"], layers: Sequence[Tensor]) -> Float[Tensor, "... D"]:
    """A leaky ReLU MLP without biases."""
    for W in layers:
        x = functional.leaky_relu(x @ W.mT, LEAK)
    return x


def he_layers(source: torch.Generator, dtype: torch.dtype, *sizes: int) -> list[Tensor]:
    """Matrices that keep the size of what a (leaky) ReLU passes on: entries N(0, 2 / in)."""
    pairs = zip(sizes[1:], sizes[:-1], strict=True)
    return [normal(source, dtype, out, into) * (2 / into) ** 0.5 for out, into in pairs]


@dataclass(frozen=True)
class Regression(LearningTask):
    """n = `examples` pairs (x_i, y_i), then a query. Tokens (x_1, 0), (0, y_1), ..., (x, 0), where each x predicts.

    With `joined` tokens, (x_i, y_i) and (x, 0), only the query predicts.
    """

    d: int = 5
    examples: int = 20
    joined: bool = False
    outputs: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for name in ("d", "examples"):
            require(getattr(self, name) >= 1, f"{name} = {getattr(self, name)}", "give a whole number >= 1")

    @property
    def places(self) -> slice:
        return slice(None) if self.joined else slice(0, None, 2)

    @property
    def form(self) -> Form:
        length = self.examples + 1 if self.joined else 2 * self.examples + 1
        return Form(length, self.d + self.outputs, self.outputs, joined=self.joined)

    def pairs(self, count: int, source: torch.Generator, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """x (B, n + 1, d), y (B, n + 1, m)."""
        raise NotImplementedError

    def draw(self, count: int, source: torch.Generator, dtype: torch.dtype) -> TrainingBatch:
        return self.prompts(*self.pairs(count, source, dtype))

    def prompts(self, x: Float[Tensor, "B N d"], y: Float[Tensor, "B N m"]) -> TrainingBatch:
        """Those of these examples, the query last."""
        if self.joined:
            known = torch.cat([y[:, :-1], torch.zeros_like(y[:, :1])], 1)  # (B, n + 1, m)
            return TrainingBatch(torch.cat([x, known], -1), y[:, -1:], x, y)
        features, labels = functional.pad(x, (0, y.shape[-1])), functional.pad(y, (x.shape[-1], 0))
        turns = torch.stack([features, labels], 2).flatten(1, 2)  # (B, 2n + 2, d + m)
        return TrainingBatch(turns[:, :-1], y, x, y)


@dataclass(frozen=True)
class LinearRegression(Regression):
    """y = w^T x + noise, x ~ N(0, I), w ~ N(0, I / d): y has variance 1 without noise."""

    noise: float = 0.0

    def pairs(self, count: int, source: torch.Generator, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        x = normal(source, dtype, count, self.examples + 1, self.d)
        w = normal(source, dtype, count, self.d, self.outputs) / self.d**0.5
        return x, x @ w + self.noise * normal(source, dtype, count, self.examples + 1, self.outputs)


@dataclass(frozen=True)
class RegressionWithRepresentation(Regression):
    """y = A Phi(x) + noise, with an MLP Phi of 3 layers that all prompts share, A ~ N(0, I / d) (algoformer, 5)."""

    noise: float = 0.0
    representation: int = 0  # the seed of Phi

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.representation >= 0, f"representation = {self.representation}", "it is a seed; give one >= 0")

    @cached_property
    def Phi(self) -> list[Tensor]:
        return he_layers(generator(self.representation, FIXED), torch.float64, *[self.d] * 4)

    def pairs(self, count: int, source: torch.Generator, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        x = normal(source, dtype, count, self.examples + 1, self.d)
        A = normal(source, dtype, count, self.d, self.outputs) / self.d**0.5
        noise = self.noise * normal(source, dtype, count, self.examples + 1, self.outputs)
        return x, represented(x, [W.to(dtype) for W in self.Phi]) @ A + noise


@dataclass(frozen=True)
class NetworkRegression(Regression):
    """y = f(x) of a ReLU network of `depth` layers for each prompt (wu2024, Appendix G).

    Its weights are N(0, 2 / in), without biases; x ~ w1 N(-2, I) + (1 - w1) N(2, I), and `hidden` counts units.
    """

    d: int = 3
    depth: int = 3
    hidden: int = 8
    w1: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.depth >= 2, f"depth = {self.depth}", "a network has two layers at least")
        require(self.hidden >= 1, f"hidden = {self.hidden}", "give a whole number >= 1")
        require(0 <= self.w1 <= 1, f"w1 = {self.w1}", "give the weight of N(-2, I), from 0 to 1")

    def pairs(self, count: int, source: torch.Generator, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        chosen = torch.rand(count, self.examples + 1, 1, generator=source, dtype=dtype, device="cpu")
        x = normal(source, dtype, count, self.examples + 1, self.d) + 2 - 4 * (chosen < self.w1).to(dtype)
        sizes = [self.d, *[self.hidden] * (self.depth - 1), self.outputs]
        passed = x
        for number, (out, into) in enumerate(zip(sizes[1:], sizes[:-1], strict=True), start=1):
            passed = passed @ (normal(source, dtype, count, into, out) * (2 / into) ** 0.5)  # (B, n + 1, out)
            passed = torch.relu(passed) if number < self.depth else passed
        return x, passed
