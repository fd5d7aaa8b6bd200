"""Where a printed constant fails at one input."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from symbolic.statements.result import Quantity, Result
from symbolic.words.shown import brief


@dataclass(frozen=True)
class Refutation:
    """A printed bound that fails at `params`: of which quantity, at which input.

    `inputs` takes parameters and what is built, by name, and gives the prompt, by name. The row has no parameters in
    common with the grid's: they stand in its remark, and in its witness.
    """

    name: str
    quantity: str
    params: Mapping[str, Any]
    inputs: Callable[..., Mapping[str, Any]]

    __repr__ = brief

    def stated(self, result: Result) -> Quantity:
        """The quantity by the name of its row."""
        return replace(result.quantity(self.quantity), name=f"erratum.{self.name}")
