"""The budget of a comparison at each point of the grid."""

from dataclasses import dataclass, replace

BLOCK = 64  # inputs measured at once, so that memory stays bounded


@dataclass(frozen=True)
class Budget:
    """Samples, attack steps and restarts at each point of the grid."""

    samples: int
    attack: int
    restarts: int
    seed: int

    def without_attack(self) -> "Budget":
        return replace(self, attack=0, restarts=0)
