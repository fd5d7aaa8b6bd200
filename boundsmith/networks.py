"""Transformers from constructed weights: layers, heads and streams as data, run in torch and on Arb balls.

The numbers of a construction are given by formula; `bs.Transformer` makes it the network of a theorem.

- the stream of tokens: Stream, Block, Embedding
- layers: FeedForward, SoftmaxAttention, ReluAttention, LinearAttention
- heads and masks: Head, Causal, RelativePositions, Sink, linear_heads
- feed-forward layers of terms: terms_layer, Multiply, Select, clear, require_ranges
- matrices by their structure: BlockMap, LowRank
- the whole network: Construction, Looped, looped
- what is read off a run: StreamTap, AttentionTap, ScoresTap, OutputTap
- accurate products: accurate_product, product_sum
"""

from numeric.networks.construction import AttentionTap, Construction, Embedding, OutputTap, ScoresTap, StreamTap
from numeric.networks.feed_forward import Multiply, Select, clear, require_ranges, terms_layer
from numeric.networks.layers import (
    Causal,
    FeedForward,
    Head,
    LinearAttention,
    RelativePositions,
    ReluAttention,
    SoftmaxAttention,
)
from numeric.networks.loops import Looped, looped
from numeric.networks.maps import BlockMap, LowRank
from numeric.networks.products import accurate_product, product_sum
from numeric.networks.sinks import Sink, linear_heads
from numeric.networks.stream import Block, Stream

__all__ = [
    "Stream",
    "Block",
    "Embedding",
    "FeedForward",
    "SoftmaxAttention",
    "ReluAttention",
    "LinearAttention",
    "Head",
    "Causal",
    "RelativePositions",
    "Sink",
    "linear_heads",
    "terms_layer",
    "Multiply",
    "Select",
    "clear",
    "require_ranges",
    "BlockMap",
    "LowRank",
    "Construction",
    "Looped",
    "looped",
    "StreamTap",
    "AttentionTap",
    "ScoresTap",
    "OutputTap",
    "accurate_product",
    "product_sum",
]
