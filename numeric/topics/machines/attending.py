"""Parameters as tensors, and attention with a null key whose keys and values are kept from step to step.

Shapes: B inputs, T and S widths of target and source, n tokens or coordinates, i keys so far, K width of query and key,
v coordinates that a value writes.
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional


class Weights:
    """Parameters by name: the given ones, else the construction's own, else the zeros of an unused attention."""

    def __init__(
        self,
        own: Mapping[str, np.ndarray],
        shapes: Mapping[str, tuple[int, ...]],
        given: Mapping[str, Tensor],
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.own, self.shapes, self.given = own, shapes, given
        self.dtype, self.device = dtype, device

    def __getitem__(self, name: str) -> Tensor:
        if name in self.given:
            return self.given[name].to(self.device, self.dtype)
        if name in self.own:
            return torch.tensor(self.own[name], dtype=self.dtype, device=self.device)
        return torch.zeros(self.shapes[name], dtype=self.dtype, device=self.device)

    def vector(self, name: str) -> Tensor:
        """A vector as (1, T), or (B, 1, T) where each input has a copy."""
        return self[name].unsqueeze(-2)

    def has(self, prefix: str) -> bool:
        """Is there a parameter of this module, own or given?"""
        return any(name.startswith(prefix + ".") for name in (*self.given, *self.own))

    def is_given(self, prefix: str) -> bool:
        return any(name.startswith(prefix) for name in self.given)


class AffineWeights:
    """x -> W x + b between chosen coordinates; W and b may each have a copy for each input."""

    def __init__(self, weights: Weights, name: str, rows: Tensor, columns: Tensor) -> None:
        self.W = weights[f"{name}.W"][..., rows, :][..., columns].contiguous()  # (T, S) or (B, T, S)
        self.b = weights.vector(f"{name}.b")[..., rows].contiguous()  # (1, T) or (B, 1, T)
        self.plain = self.W.ndim == 2 and self.b.ndim == 2

    def __call__(self, x: Tensor) -> Tensor:
        if self.plain:
            return functional.linear(x, self.W, self.b[0])  # (B, n, T)
        return x @ self.W.mT + self.b  # (B, n, T)


class Memory:
    """The keys and values of one attention, the null key first, for one batch of inputs."""

    def __init__(self, attention: "AttentionModule", inputs: int, count: int) -> None:
        like = attention.key.W
        self.keys = like.new_empty(inputs, count + 1, attention.key.W.shape[-2])  # (B, i + 1, K)
        self.values = like.new_empty(inputs, count + 1, attention.value.W.shape[-2])  # (B, i + 1, v)
        self.keys[:, :1], self.values[:, :1] = attention.null_key, attention.null_value
        self.absent: Tensor | None = None
        self.filled, self.leak = 1, 0.0

    def append(self, keys: Tensor, values: Tensor, absent: Tensor | None = None) -> None:
        """More keys (B, n, K) and values; `absent` (B, 1, n + 1) marks those that an input does not have."""
        end = self.filled + keys.shape[1]
        self.keys[:, self.filled : end], self.values[:, self.filled : end] = keys, values
        self.filled, self.absent = end, absent

    def mean(self, query: Tensor, inverse_temperature: float | None) -> Tensor:
        """The mean of the values at the best keys (B, 1, v), or their softmax mean."""
        scores = query @ self.keys[:, : self.filled].mT  # (B, 1, i + 1)
        if self.absent is not None:
            scores = scores.masked_fill(self.absent, -torch.inf)
        values = self.values[:, : self.filled]  # (B, i + 1, v)
        hard = _mean_of_best(scores, values)
        if inverse_temperature is None:
            return hard
        soft = torch.softmax(inverse_temperature * scores, -1) @ values  # (B, 1, v)
        self.leak = max(self.leak, float((soft - hard).abs().amax()) if hard.numel() else 0.0)
        return soft


def _mean_of_best(scores: Tensor, values: Tensor) -> Tensor:
    """Hard-max attention: the mean (B, 1, v) of the values (B, i, v) over the set J of the best scores (B, 1, i)."""
    # The set J is found by equality in floats. Scores that tie in exact arithmetic may differ by rounding (bits are
    # bits up to 1e-15), and then fewer of them enter the mean. That is harmless: scores that do not tie differ by
    # 1 at least, and where several keys tie their values are equal (Claims C.4 and C.5; in Claim C.6 and
    # Lemma C.7 the best key is alone), so that the mean over any part of J is the mean over J.
    best = (scores == scores.amax(-1, keepdim=True)).to(scores.dtype)  # (B, 1, i + 1)
    return best @ values / best.sum(-1, keepdim=True)


class AttentionModule:
    """One attention, its value restricted to the coordinates that it writes and that are read behind it."""

    def __init__(self, weights: Weights, name: str, rows: Tensor, asks: Tensor, keeps: Tensor) -> None:
        """`rows`: what the value writes; `asks`, `keeps`: coordinates of the tokens that ask and that are asked."""
        every = torch.arange(weights.shapes[f"{name}.null_key"][-1], device=weights.device, dtype=torch.int64)
        self.query, self.key = (
            AffineWeights(weights, f"{name}.{part}", every, of) for part, of in (("query", asks), ("key", keeps))
        )
        self.value = AffineWeights(weights, f"{name}.value", rows, keeps)
        self.null_key = weights.vector(f"{name}.null_key")  # (1, K) or (B, 1, K)
        self.null_value = weights.vector(f"{name}.null_value")[..., rows]  # (1, v) or (B, 1, v)
        self.target = torch.searchsorted(asks, rows)  # where the value goes among the coordinates that are read

    def add(self, h: Tensor, memory: Memory, inverse_temperature: float | None) -> Tensor:
        return h.index_add(-1, self.target, memory.mean(self.query(h), inverse_temperature))  # (B, 1, n)
