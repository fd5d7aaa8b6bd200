"""Blocks of real transformers, as expressions: of vectors, or of tokens, each token for itself.

- normalisation: rms_norm, layer_norm
- positions: rotary
"""

from bridge.expressions.normalisation import layer_norm, rms_norm
from bridge.expressions.positions import rotary

__all__ = ["rms_norm", "layer_norm", "rotary"]
