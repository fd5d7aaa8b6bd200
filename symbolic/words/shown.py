"""How statements and derivations show themselves: what writes LaTeX knows both and sets it (latex/printing.py)."""

from collections.abc import Callable
from typing import Any


class Shown:
    """`expression`, `derivation` and `result` are their LaTeX, `display` is what a notebook shows of a result."""

    expression: Callable[..., str]
    derivation: Callable[[Any], str]
    result: Callable[..., str]
    display: Callable[[Any], str]


SHOWN = Shown()


def displayed(body: str) -> str:
    """A display that notebooks show as it is."""
    return f"$$\n{body}\n$$"
