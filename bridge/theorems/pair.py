"""Two implementations of one function, for the rare cases in which one would prove nothing or not run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pair:
    """A network or a reference that is written twice: for tensors, and for arrays of balls.

    Right where the exact side has to be independent of the other (autograd on tensors, difference quotients in balls),
    or where one of them cannot run as the other does. Both take one prompt and return arrays of one shape. What the two
    compute is only compared at the inputs of a run, so write one function wherever it serves both.
    """

    tensors: Callable[..., Any]
    balls: Callable[..., Any]
