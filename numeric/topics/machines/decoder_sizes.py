"""Width, depth and norms of a simulating decoder, read off its dense parameters."""

from collections.abc import Mapping, Sequence

import numpy as np

from numeric.topics.machines.simulation import SimulatingDecoder

OWN_FIRST = ("C.1", "C.2", "C.5", "C.6", "C.8")  # lemmas that include W_1; the others only have the attention


def decoder_sizes(network: SimulatingDecoder, parts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Sizes by name, each norm by its lemma. `parts` has the lemmas whose layers another lemma puts together."""
    decoder = network.decoder
    norms = {name: float(np.abs(array).sum()) for name, array in decoder.arrays.items()}
    location = float(decoder.initial[decoder.stream.slice("pos2")].sum())  # as many ones as the number of the cell has
    return {
        "width": float(decoder.stream.width),
        "depth": float(len(decoder.layers)),
        **{f"norm[{label}]": norm for label, norm in _norms(network, norms, parts).items()},
        "norm": sum(norms.values()) - location,
        "parameters": float(sum(int(np.prod(shape)) for shape in decoder.shapes.values())),
    }


def _norms(
    network: SimulatingDecoder, norms: Mapping[str, float], parts: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """||theta||_1 of each lemma: its attentions, and W_1 where the lemma speaks of it."""
    own, whole = dict[str, list[float]](), dict[str, list[float]]()
    for k, layer in enumerate(network.decoder.layers, start=1):
        label = layer.lemma.split()[-1]
        attention = _under(norms, f"layer[{k}].decoder.") + _under(norms, f"layer[{k}].encoder.")
        first = _under(norms, f"layer[{k}].ff[1].")
        own.setdefault(label, []).append(attention + (first if label in OWN_FIRST else 0.0))
        whole.setdefault(label, []).append(attention + first)
    found = {label: own[label][-1] if label == "C.5" else sum(own[label]) for label in own}
    return found | {label: sum(sum(whole[part]) for part in of) for label, of in parts.items()}


def _under(norms: Mapping[str, float], prefix: str) -> float:
    return sum((norm for name, norm in norms.items() if name.startswith(prefix)), start=0.0)
