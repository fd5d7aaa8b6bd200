"""What the number formats of PyTorch hold: bits of a significand, the largest number, the unit of sums."""

import math

import torch

from bridge.limits.formats import DTYPES

INFO = {name: torch.finfo(getattr(torch, name)) for name in DTYPES}
FORMATS = {name: 1 - round(math.log2(info.eps)) for name, info in INFO.items()}  # bits of a significand
SUMMED = {name: max(bits, FORMATS["float32"]) for name, bits in FORMATS.items()}  # half formats add up in float32
