"""Where a printed constant fails at one input: rows at parameters of their own, whose witnesses replay like others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.export.layout import parameter_words
from bridge.limits.run import ONE_INPUT
from bridge.measure import evidence_at
from bridge.record import Row
from bridge.rows import judged_row
from bridge.study import Case
from symbolic.prose import joined
from symbolic.statements import Quantity, Result


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

    def stated(self, result: Result) -> Quantity:
        """The quantity by the name of its row."""
        return replace(result.quantity(self.quantity), name=f"erratum.{self.name}")

    def row(self, case: Case, prompt: Mapping[str, Any], automatic: tuple[str, ...]) -> Row:
        """The row at the prompt that `inputs` gives."""
        quantity = case.quantity(self.quantity)
        found = evidence_at(case, quantity, case.admit({name: each.unsqueeze(0) for name, each in prompt.items()}))
        tiers = {"printed": case.printed(quantity), "derived": case.derived(quantity)}
        row = judged_row(case, quantity, "network", tiers, [found], ONE_INPUT)
        where = ", ".join(f"{name} = {parameter_words(name, value, automatic)}" for name, value in self.params.items())
        remark = joined([f"at {where}", row.remark])
        return row.model_copy(update={"quantity": f"erratum.{self.name}", "params": {}, "remark": remark})
