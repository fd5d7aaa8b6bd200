"""How much a comparison may try at each grid point."""

from dataclasses import dataclass, replace

BLOCK = 64  # inputs measured at once, so that memory stays bounded


@dataclass(frozen=True)
class Budget:
    """How much is tried at each grid point."""

    samples: int
    attack: int
    restarts: int
    seed: int

    def without_attack(self) -> "Budget":
        return replace(self, attack=0, restarts=0)
