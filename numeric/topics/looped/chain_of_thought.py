"""The transformer of algoformer, Theorem 3.3: it continues a chain of states from examples of such chains.

The prompt holds N chains s_i^0, ..., s_i^L and the begun one s^0, ..., s^l, with s^(k+1) = sigma(W^k s^k), sigma leaky
ReLU of slope `leak`. The filter keeps s_i^l, s_i^(l+1) and s^l, and undoes sigma; T loops of Lemma A.2 fit W^l.

Shapes: K = L + 1 states of a chain, d coordinates of a state, n = N K + l + 2 tokens: a first one, which is the sink of
Lemma A.2, the chains, and the begun chain, whose last token is the query.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from numeric.networks.construction import Embedding, StreamTap
from numeric.networks.feed_forward import Select, terms_layer
from numeric.networks.layers import FeedForward, Head, SoftmaxAttention
from numeric.networks.loops import Looped, looped
from numeric.networks.maps import BlockMap, Number, identity_map, injection
from numeric.networks.stream import Block, Stream, StreamError
from numeric.topics.looped import gradient_descent
from numeric.topics.looped.positions import digits

FILTERED = {"features": "x", "keys": "key", "filtered": "r"}  # taps behind the filter
CODES = {"feature": "step", "next": "before"}  # indicators, by the code that the last token's step meets
MARKS = ("place", "begun", "sink", "one")


# The prompt.


def tokens(examples: Any, begun: Any) -> Any:
    """(n, d + 2K + D + 4), from examples (N, K, d) and begun (l + 1, d): states, steps, chains and places."""
    N, K, count = len(examples), len(examples[0]), len(begun)
    states = torch.cat([0 * begun[:1], examples.flatten(0, 1), begun])
    steps = torch.cat(
        [
            torch.zeros(1, K, dtype=torch.float64, device=begun.device),
            torch.eye(K, dtype=torch.float64, device=begun.device).repeat(N, 1),
            torch.eye(K, dtype=torch.float64, device=begun.device)[:count],
        ]
    )
    before = torch.cat([steps[:, 1:], 0 * steps[:, :1]], 1)  # of the token with the state after: step k + 1 has 1 at k
    codes = digits(N + 1).to(begun.device, torch.float64)
    chains = torch.cat([0 * codes[:1], codes[:-1].repeat_interleave(K, 0), codes[-1:].repeat(count, 1)])
    places = torch.arange(1 + N * K + count, dtype=torch.float64, device=begun.device)[:, None]
    sink = (places == 0).to(torch.float64)
    last = (places > N * K).to(torch.float64)
    return torch.cat([states, steps, before, chains, places, last, sink, 0 * places + 1], 1)


def require_chains(examples: Any, begun: Any) -> None:
    """Raises StreamError for chains of unequal lengths, for fewer than two, and for one that is already complete."""
    lengths = sorted({len(chain) for chain in examples})
    call = f"prompt of {len(examples)} chains, begun with {len(begun)} states"
    if len(examples) < 2:
        raise StreamError(call, f"{len(examples)} chain", "Give two chains at least.")
    if len(lengths) > 1:
        raise StreamError(call, f"chains of unequal lengths {lengths}", "Give all examples the same number of states.")
    if not 1 <= len(begun) < lengths[0]:
        raise StreamError(
            call, f"no state after {len(begun)} in chains of {lengths[0]}", f"Give 1 to {lengths[0] - 1} states of it."
        )


# The network.


@dataclass(frozen=True)
class ChainSetting:
    """What the weights depend on: inner numbers as in `gradient_descent.DescentSetting`; |states| <= `reach`."""

    N: int
    K: int
    d: int
    leak: Number
    eta: Number
    c: Number
    C: Number
    tau: Number
    reach: Number
    second: str = "opposite"

    def __post_init__(self) -> None:
        if not 0 < self.leak <= 1:
            got = f"a leaky slope of {self.leak}"
            raise StreamError("looped.chain_of_thought", got, "Give one in (0, 1]: a slope of 0 has no inverse.")

    @property
    def descent(self) -> gradient_descent.DescentSetting:
        largest = self.reach / self.leak  # of what the inverse makes of a state
        return gradient_descent.DescentSetting(
            self.N, self.d, self.d, self.eta, self.c, self.C, self.tau, self.reach, largest, self.second
        )


def streams(at: ChainSetting) -> tuple[Stream, Stream]:
    """Those of a prompt and of the layers."""
    of_chains = Block("chain", digits(at.N + 1).shape[1])
    blocks = [Block("s", at.d), Block("step", at.K), Block("before", at.K), of_chains]
    prompt = Stream([*blocks, *(Block(name, 1) for name in MARKS)])
    states = [Block(name, at.d) for name in ("copy", "x", "key", "r", "g", "out")]
    return prompt, prompt.extend(Block("asked", at.K), *(Block(name, 1) for name in (*CODES, "label")), *states)


def transformer(at: ChainSetting, T: int) -> Looped:
    """The output is the state after the last one, (d); the block r holds A_k s_i - sigma^(-1)(s_i^(l+1)), and A_k s."""
    prompt, stream = streams(at)
    answer, pre = Stream([Block("out", at.d)]), filter_layers(stream, at)
    return looped(
        "looped.chain_of_thought",
        stream,
        pre=pre,
        loop=gradient_descent.step_layers(stream, at.descent),
        post=(_leaky_layer(stream, at.leak),),
        T=T,
        states=("r",),
        taps={name: StreamTap(len(pre), block) for name, block in FILTERED.items()},
        embedding=Embedding(injection(prompt, stream)),
        readout=BlockMap(stream, answer, identity_map(answer).action),
        last_token_only=True,
    )


# Two layers of one head each.
def filter_layers(stream: Stream, at: ChainSetting) -> tuple[SoftmaxAttention | FeedForward, ...]:
    return _asking(stream, at), _marking(stream, at), _pairing(stream, at), _selecting(stream, at)


# tau t is largest at the last token, by tau.
def _asking(stream: Stream, at: ChainSetting) -> SoftmaxAttention:
    """Each token reads the step l of the last one."""
    scores = stream.only(["place"])
    query = BlockMap(stream, scores, {("place", "one"): at.tau})
    key = BlockMap(stream, scores, {("place", "place"): 1.0})
    return SoftmaxAttention(
        (Head("asking", query, key, BlockMap(stream, stream, {("asked", "step"): 1.0})),), residual=True
    )


# For e in {0, 1} and a in [0, 1/4] or [3/4, 1]: relu(2 a + 4 e - 9/2) - relu(2 a + 4 e - 11/2) is 1 if e = 1 and
# a >= 3/4, and else 0.
def _marking(stream: Stream, at: ChainSetting) -> FeedForward:
    """Indicators of the tokens of step l, of those of step l + 1, and of all but the former, which the loops leave."""
    hidden = Stream([*(Block(f"{mark}{side}", at.K) for mark in CODES for side in "+-"), Block("one", 1)])
    inner: dict[tuple[str, str], Any] = {("one", "one"): 1.0}
    outer: dict[tuple[str, str], Any] = {("label", "one"): 1.0}
    for mark, code in CODES.items():
        for side, sign in (("+", 1), ("-", -1)):
            inner |= {(f"{mark}{side}", "asked"): 2.0, (f"{mark}{side}", code): 4.0}
            outer[mark, f"{mark}{side}"] = sign * np.ones((1, at.K))
    outer |= {("label", f"feature{side}"): -1 * outer["feature", f"feature{side}"] for side in "+-"}
    bias = {f"{mark}{side}": np.full(at.K, -4.5 if side == "+" else -5.5) for mark in CODES for side in "+-"}
    return FeedForward(BlockMap(stream, hidden, inner), bias, BlockMap(hidden, stream, outer), residual=True)


# tau (<p_i, p_j> + 2 next_j): codes of +-1 differ in a place at least: the own chain's next state leads by 2 tau.
def _pairing(stream: Stream, at: ChainSetting) -> SoftmaxAttention:
    """The tokens of a chain read its state of step l + 1."""
    scores = stream.only(["chain", "next"])
    query = BlockMap(stream, scores, {("chain", "chain"): at.tau, ("next", "one"): 2 * at.tau})
    key = BlockMap(stream, scores, {("chain", "chain"): 1.0, ("next", "next"): 1.0})
    return SoftmaxAttention(
        (Head("pairing", query, key, BlockMap(stream, stream, {("copy", "s"): 1.0})),), residual=True
    )


# A_0 = 0: the residual of an example is -sigma^(-1) of its label. At all other tokens x, key and r stay 0.
def _selecting(stream: Stream, at: ChainSetting) -> FeedForward:
    """x = s_i^l, key = x / N, and r = -sigma^(-1)(s_i^(l+1)) beside it; x = s^l at the last token."""
    kept: dict[str, Any] = {"when": ("feature",), "bound": at.reach}
    examples = {**kept, "unless": ("begun",)}
    return terms_layer(
        stream,
        Select("x", "s", **kept),
        Select("key", "s", 1 / at.N, **examples),
        Select("r", "copy", -1.0, negative=1 / at.leak, **examples),
    )


def _leaky_layer(stream: Stream, leak: Number) -> FeedForward:
    """out = sigma(r)."""
    return terms_layer(stream, Select("out", "r", negative=leak))


# What the network is to compute.


def leaky(z: Any, leak: Any) -> Any:
    return torch.relu(z) - leak * torch.relu(-z)


def unleaky(z: Any, leak: Any) -> Any:
    """The inverse of `leaky`, for a slope above 0."""
    return leaky(z, 1 / leak)


def chains(starts: Any, weights: Any, leak: Any) -> Any:
    """(N, K, d), from starts (N, d) and weights (L, d, d)."""
    states = [starts]
    for W in weights:
        states.append(leaky(states[-1] @ W.mT, leak))
    return torch.stack(states, 1)
