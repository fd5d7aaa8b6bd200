"""What softmax attention leaks against hard max, without the network's own code.

Queries, keys and values in full, at the states of a hard-max run; the two attentions are the emulated and the exact
value of the derivation (symbolic.machines.temperature).
Shapes: s steps of the decoder, m symbols, w width of the stream, K width of query and key, n keys.
"""

from collections.abc import Sequence

import numpy as np
import torch

from bridge.readings import Emulated, Operands, read
from numeric.machines.decoder import run
from numeric.machines.modules import NullKeyAttention
from numeric.machines.simulation import SimulatingDecoder
from symbolic.machines import temperature

LEAK_STEPS = 512  # every pair of these steps is compared


def measured_leak(
    network: SimulatingDecoder, tokens: Sequence[str], inverse_temperature: float, device: torch.device
) -> float:
    """The largest difference of a coordinate between softmax and hard-max attention, over all layers and steps."""
    steps = min(network.steps, LEAK_STEPS)
    layers = network.decoder.layers
    seen = [k for k, layer in enumerate(layers) if layer.decoder_attention or layer.encoder_attention]
    symbols, lengths = network.encode([tokens])
    behind = run(
        network.decoder, symbols, steps, lengths=lengths, device=device, taps=[f"layer[{k}]" for k in seen]
    ).taps  # fmt: skip
    table = network.decoder.position_table(max(steps, len(symbols[0])) + 1)  # (P, w)
    encoded = network.decoder.embedding.T[symbols[0].numpy()] + table[1 : len(symbols[0]) + 1]  # (m, w)
    worst = 0.0
    for k in seen:
        h = behind[f"layer[{k}]"][0].double().cpu().numpy()  # (s, w)
        for attention, keys, causal in (
            (layers[k].decoder_attention, h, True),
            (layers[k].encoder_attention, encoded, False),
        ):
            if attention is not None:
                found = attended(attention, h, keys, causal, inverse_temperature)
                worst = max(worst, float(abs(found.emulated - found.exact).max()))
                h = h + found.exact.numpy()
    return worst


# Keys that tie carry one and the same value (symbolic.machines.temperature): the first of them stands for their mean.
def attended(attention: NullKeyAttention, h: np.ndarray, asked: np.ndarray, causal: bool, beta: float) -> Emulated:
    """What each step attends to, (s, w): the value of the best key, and the softmax mean at `beta`."""
    scores, values = attention.in_full(h, asked, causal=causal)
    operands = {"scores": torch.as_tensor(scores), "values": torch.as_tensor(values)}
    known = Operands(operands, {temperature.inverse_temperature: beta})
    return read(temperature.leak_derivation(), known, ["leak"])["leak"]
