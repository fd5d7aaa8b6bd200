"""Random circuits for the tests: gates of fan-in up to four, mostly on recent values, in a shuffled order."""

import numpy as np

from numeric.topics.machines.gates import Circuit, Gate, GateKind

RECENT = 40


def random_circuit(m: int, gates: int, outputs: int, seed: int) -> Circuit:
    rng = np.random.default_rng(seed)
    names = [f"x{j}" for j in range(m)]
    made = []
    for k in range(gates):
        kind = list(GateKind)[rng.choice(4, p=[0.35, 0.35, 0.2, 0.1])]
        fan_in = 1 if kind.unary else int(rng.integers(1, 5))
        parents = rng.integers(max(0, len(names) - RECENT), len(names), fan_in)
        made.append(Gate(f"g{k}", kind, tuple(names[j] for j in parents)))
        names.append(f"g{k}")
    order = rng.permutation(gates)
    return Circuit(f"random {seed}", tuple(names[:m]), tuple(made[k] for k in order), tuple(names[-outputs:]))
