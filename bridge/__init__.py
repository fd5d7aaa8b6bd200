"""The floor that uses both others: lowering, comparison, solving, proofs, export, the command line.

`compare`, `lower`, `solve` and `replay` are imported on first use, so that `boundsmith --help` does
not wait for SymPy and torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bridge.lowering import LoweringError, lower
    from bridge.questions.compare import compare
    from bridge.questions.replaying import replay
    from bridge.questions.solve import solve

_HOMES = {
    "compare": "bridge.questions.compare",
    "replay": "bridge.questions.replaying",
    "solve": "bridge.questions.solve",
    "lower": "bridge.lowering",
    "LoweringError": "bridge.lowering",
}

__all__ = ["LoweringError", "compare", "lower", "replay", "solve"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bridge' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
