"""A theorem at one point, its prompts made of real inputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.arguments import Function, arguments_of, called_for
from bridge.limits.run import Format, Run
from bridge.record import NamedTable, Row, Verdict
from bridge.sources.source import AboutRows, InputSource, Predicted
from bridge.study import Inputs, Refusal
from bridge.theorem import Theorem
from bridge.theorem_case import TheoremCase
from bridge.theorem_parts import Knobs
from numeric.exact_cost import TooManyBallOperations
from symbolic.statements import Quantity, UsageError

ENLARGED = 1e-6  # relative: letters that are computed in float64
NOT_APART = "the bound covers the rounding of the run, which is not measured apart; letters of the prompt in float64"


def at_source(theorem: Theorem, source: InputSource, name: str) -> Theorem:
    """The theorem as it is compared at the real input of that name; its parameters alone, where no prompt is made."""
    if not source.makes_prompts:
        statement = replace(theorem.statement, hypotheses=(), quantities=())
        return Theorem(
            statement,
            theorem.main,
            knobs=Knobs(implied=theorem.knobs.implied, automatic=theorem.knobs.automatic),
        )
    found = replace(theorem if source.instead is None else source.instead(theorem), sources=())
    if not source.outside:
        return found
    why = Refusal(Verdict.OUTSIDE, source.outside.format(source=name))
    return found.with_at_point(refusal=lambda: why)


@dataclass(frozen=True)
class Real:
    """What was read by a source, the parameters that were given, and the run of the run."""

    source: InputSource
    data: Any
    given: Mapping[str, Any]
    run: Run


class ByQuantity(dict[str, Any]):
    """By quantity, each computed when it is asked for."""

    def __init__(self, output: Callable[[str], Any]) -> None:
        super().__init__()
        self._output = output

    def __missing__(self, name: str) -> Any:
        self[name] = self._output(name)
        return self[name]


class SourceCase(TheoremCase):
    """The prompts are those of real inputs; they are not attacked."""

    def __init__(
        self,
        theorem: Theorem,
        params: Mapping[str, Any],
        weights: Mapping[str, Tensor],
        format: Format,
        real: Real,
    ) -> None:
        self.source, self.data, self.given, self.asked = real.source, real.data, real.given, real.run
        self._values: dict[str, Any] = {}
        super().__init__(theorem, params, weights, format)
        self.attackable = False
        taken = {name for _, each in self.source.functions() for name in arguments_of(each)}
        self.uses = self.uses - (set() if self.source.most(2) > 1 else {"samples"}) | ({"seed", "dtype"} & taken)
        self._require_inside()

    def _require_inside(self) -> None:
        """Raises UsageError for a prompt that does not meet the hypotheses, before anything runs."""
        if self.theorem.inputs:
            found = self._prompts(1, self.asked.seed)
            complaint = self.domain.complaint({name: each[0] for name, each in found.items()})
            if complaint:
                raise UsageError(f"{self.result.id}: {self.data.source} does not meet the hypotheses: {complaint}")
        if self.source.require is not None:
            self._called(self.source.require)

    # Inputs.

    def _prompts(self, count: int, seed: int) -> Inputs:
        return dict(self.source.inputs(self._called, self.data, count, seed))

    def sample(self, count: int, seed: int) -> Inputs:
        return self.admit(self._prompts(count, seed)) if self.theorem.inputs else {}

    def within(self, run: Run) -> Run:
        return replace(run.without_attack(), samples=max(1, self.source.most(run.samples)))

    def memory(self, run: Run) -> int:
        """Nothing where the source has said it, before the prompt was made."""
        return super().memory(run) if self.theorem.inputs and self.source.cost is None else 0

    # What functions of the source take.

    def _called(self, function: Function, more: Mapping[str, Any] = MappingProxyType({})) -> Any:
        taken = {name: more[name] if name in more else self._value(name) for name in arguments_of(function)}
        with called_for(f"{self.result.id}: a function of its {self.source.called}", function):
            return function(**taken)

    def _value(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._computed(name)
        return self._values[name]

    def _computed(self, name: str) -> Any:
        if name in self.source.built:
            return self._called(self.source.built[name])
        if name in self.theorem.inputs:
            return self._one(self._shown[name])
        runs: dict[str, Callable[[], Any]] = {
            "network": lambda: ByQuantity(lambda name: self._runs[name][0]),
            "reference": lambda: ByQuantity(lambda name: self._runs[name][1]),
            "letters": lambda: self.instance_values("prompt", self._shown),
        }
        return runs[name]() if name in runs else self._given[name]

    @property
    def _given(self) -> dict[str, Any]:
        of_run = {**self.format.names, "seed": self.asked.seed}
        return {**self.known, **of_run, "data": self.data, "params": self.known.params, "given": self.given}

    @cached_property
    def _shown(self) -> Inputs:
        """The prompts whose predictions are shown."""
        return self.sample(self.asked.samples if self.source.batched else 1, self.asked.seed)

    def _one(self, batch: Tensor) -> Tensor:
        found = batch if self.source.batched else batch[0]
        return found.detach().double().cpu()

    @cached_property
    def _runs(self) -> ByQuantity:
        """What network and reference make of each quantity."""

        def both(name: str) -> tuple[Tensor, ...]:
            return tuple(self._one(each[name]) for each in self._in_floats(self._shown, [name]))

        return ByQuantity(both)

    # Predictions.

    def extra_rows(self, run: Run) -> list[Row]:
        if not self.source.predictions:
            return []
        with torch.no_grad():
            made = [(each, self._called(each.function)) for each in self.source.predictions]
        found = [(each, x if isinstance(x, Predicted) else Predicted(x)) for each, x in made if x is not None]
        return list(self.source.compared(self.data, found, AboutRows(self.params, run)))

    def tables(self) -> list[NamedTable]:
        found = [self._called(each) for each in self.source.tables]
        return [*super().tables(), *(table for table in found if table is not None)]

    # Where bounds cover the rounding of the run.

    @cached_property
    def _scoped(self) -> dict[str, Quantity]:
        stated = super()._scoped
        return {name: _remarked(each) for name, each in stated.items()} if self.source.covers_rounding else stated

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        if self.source.covers_rounding:
            raise TooManyBallOperations(self.result.id, operations=1, limit=0)
        return super().exact(inputs, names, bits)

    def rounding_estimate(self) -> float:
        return 0.0 if self.source.covers_rounding else super().rounding_estimate()

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        if scope == "network" or not self.source.covers_rounding:
            return super().instance_values(scope, inputs)
        return {**self._of_network, **self._letters_in_floats}

    @cached_property
    def _letters_in_floats(self) -> dict[sp.Symbol, flint.arb]:
        """Those of the first prompt, enlarged."""
        prompt = {name: value[:1].double() for name, value in self._shown.items()}
        with torch.no_grad():
            found = {s: float(self.known.batched(each, prompt)[0]) for s, each in self.prompt_functions.items()}
        return {letter: flint.arb(number) * (1 + ENLARGED) for letter, number in found.items()}

    def sample_bounds(self, quantities: Sequence[Quantity], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        if not self.source.covers_rounding:
            return super().sample_bounds(quantities, inputs, scope)
        found = {each.name: self.instance(each, scope, inputs) for each in quantities}
        return {
            name: torch.tensor([float(bound.ball)], dtype=torch.float64, device="cpu")
            for name, bound in found.items()
            if bound is not None
        }


def _remarked(quantity: Quantity) -> Quantity:
    return (
        replace(quantity, remark="; ".join(filter(None, [quantity.remark, NOT_APART]))) if quantity.scopes else quantity
    )
