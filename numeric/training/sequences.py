"""Tasks that are sequences: series, chains of the states of an MLP, induction heads, letters of a text.

Shapes: B prompts, n examples or letters, L tokens, d coordinates, C contexts, A letters, S iterates, M targets.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from numeric.training.errors import require
from numeric.training.models import Form
from numeric.training.tasks import FIXED, LearningTask, TrainingBatch, generator, he_layers, normal, represented

BELOW_ONE = 1 - 2.0**-30  # so that no chance is rounded to the last of the cumulated counts


@dataclass(frozen=True)
class AutoregressiveSeries(LearningTask):
    """x_{t+1} = A Phi(x_{t+1-q}, ..., x_t) + noise, `length` states in all; each from the q-th on predicts the next.

    Phi is an MLP of 3 layers, from q d to d coordinates, that all prompts share, and A ~ N(0, gain^2 I / d). The
    printed A ~ N(0, I) is gain = sqrt(d): at d = 20 and q = 3 its states grow by a factor of about 2.7 a step.
    """

    d: int = 5
    q: int = 3
    length: int = 20
    noise: float = 0.1
    gain: float = 1.0
    representation: int = 0

    def __post_init__(self) -> None:
        for name in ("d", "q"):
            require(getattr(self, name) >= 1, f"{name} = {getattr(self, name)}", "give a whole number >= 1")
        longest = f"q = {self.q} states before the next in a prompt of length = {self.length}"
        require(self.q < self.length, longest, "give q < length")
        require(self.representation >= 0, f"representation = {self.representation}", "it is a seed; give one >= 0")

    @property
    def places(self) -> slice:
        return slice(self.q - 1, None)

    @property
    def form(self) -> Form:
        return Form(self.length - 1, self.d, self.d)

    @cached_property
    def Phi(self) -> list[Tensor]:
        return he_layers(generator(self.representation, FIXED), torch.float64, self.q * self.d, *[self.d] * 3)

    def draw(self, count: int, source: torch.Generator, dtype: torch.dtype) -> TrainingBatch:
        A = self.gain * normal(source, dtype, count, self.d, self.d) / self.d**0.5
        states = list(normal(source, dtype, self.q, count, self.d))
        layers = [W.to(dtype) for W in self.Phi]
        for _ in range(self.length - self.q):
            seen = represented(torch.cat(states[-self.q :], -1), layers)  # (B, d)
            states.append((A @ seen[..., None])[..., 0] + self.noise * normal(source, dtype, count, self.d))
        x = torch.stack(states, 1)  # (B, length, d)
        past = x.unfold(1, self.q, 1)[:, :-1].mT.flatten(2)  # (B, length - q, q d)
        return TrainingBatch(x[:, :-1], x[:, self.q :], past, x[:, self.q :])


@dataclass(frozen=True)
class ChainOfStates(LearningTask):
    """Chains x, s_1, ..., s_depth of `examples` + 1 inputs: the states of an MLP that each prompt has of its own.

    Each state but the last of a chain predicts the next (algoformer, CoT with MLPs); the last chain is the test.
    """

    d: int = 5
    depth: int = 3
    examples: int = 5

    def __post_init__(self) -> None:
        for name in ("d", "depth", "examples"):
            require(getattr(self, name) >= 1, f"{name} = {getattr(self, name)}", "give a whole number >= 1")

    @property
    def form(self) -> Form:
        return Form((self.examples + 1) * (self.depth + 1), self.d, self.d)

    def draw(self, count: int, source: torch.Generator, dtype: torch.dtype) -> TrainingBatch:
        states = [normal(source, dtype, count, self.examples + 1, self.d)]
        for _ in range(self.depth):
            W = normal(source, dtype, count, 1, self.d, self.d) * (2 / self.d) ** 0.5
            states.append(represented(states[-1][..., None, :], [W])[..., 0, :])  # (B, examples + 1, d)
        chains = torch.stack(states, 2)  # (B, examples + 1, depth + 1, d)
        return TrainingBatch(chains.flatten(1, 2), chains[:, :, 1:].flatten(1, 2))

    def errors(self, predicted: Tensor, batch: TrainingBatch) -> Float[Tensor, "S B M"]:
        inside = predicted.unflatten(-2, (self.examples + 1, self.depth + 1))[..., :-1, :].flatten(-3, -2)
        return ((inside - batch.targets) ** 2).sum(-1)


@dataclass(frozen=True)
class InductionHeadTask(LearningTask):
    """IH_2 with W* = w I (wang2024): sum over s = 2 .. L-1 of softmax_s(w x_L^T x_{s-1}) x_s, of uniform x in [-1, 1].

    L = `length`, and the last token predicts it.
    """

    d: int = 2
    length: int = 12
    w: float = 8.0

    def __post_init__(self) -> None:
        require(self.d >= 1, f"d = {self.d}", "give a whole number >= 1")
        require(self.length >= 3, f"length = {self.length}", "an induction head reads three tokens at least")

    @property
    def places(self) -> slice:
        return slice(-1, None)

    @property
    def form(self) -> Form:
        return Form(self.length, self.d, self.d, head=True)

    def draw(self, count: int, source: torch.Generator, dtype: torch.dtype) -> TrainingBatch:
        x = 2 * torch.rand(count, self.length, self.d, generator=source, dtype=dtype, device="cpu") - 1
        attention = torch.softmax(self.w * x[:, -1:] @ x[:, :-2].mT, -1)  # (B, 1, L - 2)
        return TrainingBatch(x, attention @ x[:, 1:-1])


@dataclass(frozen=True)
class LettersOfText(LearningTask):
    """Letters by the n-gram law of `text`: each by its frequency after the n - 1 before it, `length` + 1 in a prompt.

    The text is closed to a circle, so that each n - 1 letters have a next one. The loss is in nats.
    """

    text: str = ""
    n: int = 3
    length: int = 64

    def __post_init__(self) -> None:
        require(1 <= self.n <= self.length, f"n = {self.n} for prompts of {self.length} letters", "give n <= length")
        require(len(self.text) >= self.n, f"a text of {len(self.text)} letters for n = {self.n}", "give a longer one")

    @cached_property
    def letters(self) -> str:
        return "".join(sorted(set(self.text)))

    @property
    def form(self) -> Form:
        return Form(self.length, len(self.letters), len(self.letters), symbols=True)

    @cached_property
    def law(self) -> tuple[np.ndarray, np.ndarray, dict[tuple[int, ...], int], np.ndarray]:
        """Contexts (C, n - 1), how often each occurs (C), the number of each, and the counts of next letters (C, A)."""
        places = {letter: number for number, letter in enumerate(self.letters)}
        codes = np.array([places[letter] for letter in self.text + self.text[: self.n - 1]])
        windows = np.lib.stride_tricks.sliding_window_view(codes, self.n)
        contexts, number, often = np.unique(windows[:, :-1], axis=0, return_inverse=True, return_counts=True)
        counts = np.zeros((len(contexts), len(self.letters)))
        np.add.at(counts, (number.ravel(), windows[:, -1]), 1)
        return contexts, often, {tuple(each): place for place, each in enumerate(contexts.tolist())}, counts

    @property
    def entropy(self) -> float:
        """The least loss at a letter that n - 1 others precede: that of the law itself."""
        _, _, _, counts = self.law
        chances = counts / counts.sum(1, keepdims=True)
        return float(-(counts * np.log(np.where(counts > 0, chances, 1))).sum() / counts.sum())

    def draw(self, count: int, source: torch.Generator, dtype: torch.dtype) -> TrainingBatch:
        contexts, often, number, counts = self.law
        uniform = torch.rand(count, self.length + 3 - self.n, generator=source, dtype=torch.float64, device="cpu")
        first, *rest = uniform.numpy().T * BELOW_ONE  # each (B)
        start = np.searchsorted(np.cumsum(often), first * often.sum(), side="right")
        drawn = list(contexts[start].T)  # n - 1 of (B)
        steps = np.cumsum(counts, 1)  # (C, A)
        for chance in rest:
            last = zip(*drawn[len(drawn) - self.n + 1 :], strict=True) if self.n > 1 else [()] * count
            seen = steps[[number[each] for each in last]]  # (B, A)
            drawn.append((seen <= chance[:, None] * seen[:, -1:]).sum(-1))
        letters = torch.from_numpy(np.stack(drawn, 1).astype(np.int64))  # (B, length + 1)
        return TrainingBatch(letters[:, :-1], letters[:, 1:])

    def errors(self, predicted: Tensor, batch: TrainingBatch) -> Float[Tensor, "S B M"]:
        """The cross-entropy at each letter."""
        targets = batch.targets.expand(len(predicted), -1, -1)  # (S, B, M)
        return functional.cross_entropy(predicted.flatten(0, 2), targets.flatten(), reduction="none").view_as(targets)
