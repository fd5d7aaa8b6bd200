"""The inputs of an instance: drawn from the domains of its theorem, and searched in them."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Product
from bridge.instances.known import Known
from bridge.limits.arguments import Function
from bridge.lowering.ball_values import BASE_BITS
from numeric.balls import BallArray
from symbolic.words.errors import UsageError

Given = TypeVar("Given")
MOST, LAST = 64, 16  # inputs: of numbers, and of what takes memory


class KeptRuns(Generic[Given]):
    """For each of the last few inputs, what is known of each quantity."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._found: dict[Hashable, dict[str, Given]] = {}  # the input asked for last comes last

    def at(self, inputs: Mapping[str, Tensor], *settings: Hashable) -> dict[str, Given]:
        """By quantity, at this input with these settings; what is found out is put in."""
        key = (*settings, *(value.detach().double().cpu().numpy().tobytes() for value in inputs.values()))
        found = self._found[key] = self._found.pop(key, {})
        if len(self._found) > self._most:
            del self._found[next(iter(self._found))]
        return found


Batch = dict[str, Tensor]  # name to tensor, the first dimension counting the prompts


@runtime_checkable
class Inputs(Protocol):
    """What an instance asks of its inputs; `attacked`: whether an attack may move them.

    `covers_rounding`: whether the bounds cover the rounding of a run at them.
    """

    attacked: bool
    domain: Product

    @property
    def covers_rounding(self) -> bool: ...
    def sample(self, count: int, seed: int) -> Batch: ...
    def starts(self, count: int, seed: int) -> Batch: ...
    def project(self, batch: Batch) -> Batch: ...
    def admit(self, batch: Batch) -> Batch: ...
    def members(self, one: Batch, bits: int = BASE_BITS) -> dict[str, BallArray]: ...
    def require(self, one: Batch) -> None: ...


class Drawn:
    """From the domains, or by functions of the theorem: random inputs, and those where an attack starts."""

    attacked = True
    covers_rounding = False

    def __init__(self, known: Known, numbers: Mapping[sp.Symbol, Any]) -> None:
        self.known, self._search = known, known.theorem.search
        self.domain = Product(dict(known.theorem.inputs)).at(numbers)

    def sample(self, count: int, seed: int) -> Batch:
        """`count` random inputs that meet the hypotheses."""
        return self.admit(self._drawn(self._search.samples, self.domain.sample, count, seed))

    def starts(self, count: int, seed: int) -> Batch:
        """Inputs at which an attack starts."""
        return self.known.format.place(self._drawn(self._search.starts, self.domain.starts, count, seed))

    def _drawn(self, own: Function | None, general: Callable[..., Batch], count: int, seed: int) -> Batch:
        generator = torch.Generator().manual_seed(seed)
        if own is None:
            return general(count, generator)
        drawn: Batch = self.known.call(own, {"count": count, "generator": generator})
        return drawn

    def project(self, batch: Batch) -> Batch:
        """The inputs moved back into the hypotheses."""
        return self.domain.project(batch)

    def admit(self, batch: Batch) -> Batch:
        """The inputs as they are measured: inside the hypotheses, in the format of the run."""
        return self.project(self.known.format.each(batch))

    def members(self, one: Batch, bits: int = BASE_BITS) -> dict[str, BallArray]:
        """Elements of the domains, near the one prompt: floats may meet a domain up to a tolerance only."""
        return self.domain.members({name: value[0] for name, value in one.items()}, bits)

    def require(self, one: Batch) -> None:
        """Raises UsageError for what is not one prompt of the domains."""
        batches = {name: value.shape[:1] for name, value in one.items()}
        complaint = f"expected one prompt, got {batches}" if any(b != (1,) for b in batches.values()) else None
        complaint = complaint or self.domain.complaint({name: value[0] for name, value in one.items()})
        if complaint:
            raise UsageError(f"{self.known.theorem.id}: {complaint}")
