"""Blocks of real transformers, as expressions: of vectors, or of tokens, each token for itself.

- normalisation: rms_norm, layer_norm
- words and positions: embedding, rotary, recent, preceding
- scores and experts: similarity, mixture
- losses: log_softmax, cross_entropy
"""

from bridge.expressions.embeddings import embedding
from bridge.expressions.experts import mixture
from bridge.expressions.losses import cross_entropy, log_softmax
from bridge.expressions.normalisation import layer_norm, rms_norm
from bridge.expressions.positions import rotary
from bridge.expressions.preceding import preceding
from bridge.expressions.recency import recent
from bridge.expressions.similarities import similarity

__all__ = [
    "rms_norm",
    "layer_norm",
    "embedding",
    "rotary",
    "recent",
    "preceding",
    "similarity",
    "mixture",
    "log_softmax",
    "cross_entropy",
]
