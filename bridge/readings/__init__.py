"""Readings of a derivation at an instance: what its steps compute, and how far each errs there.

`read` gives the exact and the emulated value of each step; `enclose` their distance, as a bound that is proved for
this prompt; `bound_network` bounds it for every prompt, from norms. The first two run on tensors (one prompt;
`torch.func.vmap` batches them) and on arrays of balls.
"""

from bridge.readings import rules  # noqa: F401 - each registers what it says of its operation
from bridge.readings.enclosed import AtHand
from bridge.readings.functions import Smooth
from bridge.readings.operands import Emulated, Operands
from bridge.readings.reading import Reading, enclose
from bridge.readings.steps import Steps, at
from bridge.readings.values import read, read_exact

__all__ = ["Emulated", "AtHand", "Operands", "Reading", "Smooth", "Steps", "at", "enclose", "read", "read_exact"]
