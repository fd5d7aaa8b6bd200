"""Theorem 4.1 on a real text: windows of bytes as prompts, and how often the head predicts the next byte.

A byte becomes a vector of signs in [-1, 1]^d: its own eight bits for d = 8, seeded signs beyond.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.files import read_bytes
from bridge.induction.vanilla import VANILLA
from bridge.record import Row
from bridge.study import Inputs
from bridge.theorem_case import TheoremCase
from symbolic.statements import UsageError

BYTES = 256
EMBEDDING_SEED = 0


def embed_bytes(d: int) -> np.ndarray:
    """The (256, d) sign vectors of all bytes, all different. Raises UsageError for d < 8."""
    if d < 8:
        raise UsageError(f"--text: d = {d}, but 256 bytes need at least 8 signs to differ; take d >= 8")
    bits = (np.arange(BYTES)[:, None] >> np.arange(8)) & 1  # (256, 8)
    more = np.random.default_rng(EMBEDDING_SEED).integers(0, 2, (BYTES, d - 8))  # (256, d - 8)
    return 2.0 * np.concatenate([bits, more], axis=1) - 1.0


@dataclass(frozen=True)
class Windows:
    """L bytes each, with the byte that follows; `repeated` where the last byte occurred before, with a successor."""

    context: np.ndarray  # (B, L) bytes
    following: np.ndarray  # (B,) bytes
    repeated: np.ndarray  # (B,) bool


def cut_windows(content: bytes, L: int, count: int, seed: int, path: str) -> Windows:
    """`count` windows at seeded places (all of them if there are no more). Raises UsageError if none fits."""
    if len(content) < L + 1:
        raise UsageError(
            f"--text: '{path}' has {len(content)} bytes; a window of L = {L} and the next byte need {L + 1}"
        )
    data = np.frombuffer(content, dtype=np.uint8)
    places = np.arange(len(data) - L)
    if len(places) > count:
        places = np.sort(np.random.default_rng(seed).choice(places, count, replace=False))
    context = np.lib.stride_tricks.sliding_window_view(data, L)[places]  # (B, L)
    repeated = (context[:, :-2] == context[:, -1:]).any(axis=1)  # x_{s-1} = x_L for some s in 2 .. L-1
    return Windows(context, data[places + L], repeated)


class TextCase(TheoremCase):
    """Theorem 4.1 at one (p, L, d, W*), the inputs being windows of a text."""

    def __init__(
        self, params: Mapping[str, Any], weights: Mapping[str, Tensor], dtype: str, device: str, path: str
    ) -> None:
        self.bytes_as_signs = embed_bytes(int(params["d"]))
        self.L, self.path, self.content = int(params["L"]), path, read_bytes(path, "--text")
        super().__init__(VANILLA, params, weights, dtype, device)
        self.attackable = False
        # Raises UsageError for a text that is too short, before anything runs.
        cut_windows(self.content, self.L, 1, 0, path)

    def windows(self, count: int, seed: int) -> Windows:
        return cut_windows(self.content, self.L, count, seed, self.path)

    def sample(self, count: int, seed: int) -> Inputs:
        return self.embedded(self.windows(count, seed))

    def embedded(self, windows: Windows) -> Inputs:
        x = self.bytes_as_signs[windows.context]  # (B, L, d)
        return {"x": torch.as_tensor(x, dtype=self.dtype, device=self.device)}

    def extra_rows(self, budget: Budget) -> list[Row]:
        """How often network and IH_2 give the next byte after a repeated context, and how often they agree."""
        windows = self.windows(budget.samples, budget.seed)
        x = self.embedded(windows)["x"]
        network = self.decode(self.runner.network({"x": x}, ["output"], self.dtype)["output"])
        target = self.decode(self.runner.reference({"x": x}, ["output"])["output"])
        common = np.bincount(np.frombuffer(self.content, dtype=np.uint8), minlength=BYTES).argmax()
        shares = {
            "prediction.network": (network == windows.following, "network: next byte right after a repeated context"),
            "prediction.target": (target == windows.following, "exact IH_2: next byte right after a repeated context"),
            "prediction.agreement": (network == target, "network and exact IH_2 decode to the same byte"),
            "prediction.commonest": (windows.following == common, "baseline: always the text's commonest byte"),
        }
        return [
            self._share_row(name, right[windows.repeated], meaning, budget) for name, (right, meaning) in shares.items()
        ]

    def decode(self, output: Tensor) -> np.ndarray:
        """The byte whose sign vector is nearest to each output (B, d)."""
        signs = torch.as_tensor(self.bytes_as_signs, device=output.device)  # (256, d)
        return torch.cdist(output.double(), signs).argmin(-1).cpu().numpy().astype(np.uint8)  # (B,)

    def _share_row(self, name: str, right: np.ndarray, meaning: str, budget: Budget) -> Row:
        return Row(
            quantity=name,
            kind="exact",
            quantifier="on these windows",
            params=dict(self.params),
            measured=float(right.mean()) if len(right) else None,
            norm="share",
            domain=f"{len(right)} windows whose last byte occurred before",
            meaning=meaning,
            remark="" if len(right) else "no window's last byte occurred before in it",
            seed=budget.seed,
            samples=budget.samples,
        )
