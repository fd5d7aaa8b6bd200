"""What softmax attention leaks against hard max, without the network's own code.

The two attentions are the emulated and the exact value of the derivation (symbolic.topics.machines.temperature).
"""

from collections.abc import Sequence

import torch

from bridge.readings import Emulated, Operands, read
from numeric.topics.machines.beside_simulator import attentions_in_full
from numeric.topics.machines.simulation import SimulatingDecoder
from symbolic.topics.machines import temperature

LEAK_STEPS = 512  # every pair of these steps is compared


def measured_leak(
    network: SimulatingDecoder, tokens: Sequence[str], inverse_temperature: float, device: torch.device
) -> float:
    """The largest difference of a coordinate between softmax and hard-max attention, over all layers and steps."""

    def attended(scores: object, values: object) -> Emulated:
        operands = {
            "scores": torch.as_tensor(scores, dtype=torch.float64),
            "values": torch.as_tensor(values, dtype=torch.float64),
        }
        known = Operands(operands, {temperature.inverse_temperature: inverse_temperature})
        return read(temperature.leak_derivation(), known, ["leak"])["leak"]

    found = (attended(*each) for each in attentions_in_full(network, tokens, LEAK_STEPS, device))
    return max((float(abs(each.emulated - each.exact).max()) for each in found), default=0.0)
