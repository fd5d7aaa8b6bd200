"""Real inputs: the prompts of a source stand in for random ones, and what its programs predict at them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from bridge.instances.inputs import Batch, Drawn
from bridge.instances.instance import Instance
from bridge.instances.point import Point, completed
from bridge.limits.arguments import Function, arguments_of, called_for
from bridge.limits.run import Run
from bridge.lowering.ball_values import BASE_BITS
from bridge.theorems.parts import Knobs
from bridge.theorems.real_inputs import Material
from bridge.theorems.record import NamedTable, Row, Verdict
from bridge.theorems.refusal import Refusal
from bridge.theorems.sources.series import Series
from bridge.theorems.sources.source import AboutRows, InputSource, Predicted
from bridge.theorems.theorem import Theorem
from numeric.balls import BallArray
from symbolic.words.errors import UsageError


def source_for(theorem: Theorem, material: Material) -> InputSource | None:
    """How the theorem reads such inputs; None where it does not."""
    return next((each for each in theorem.sources if isinstance(material, each.reads)), None)


def lags_of(theorem: Theorem) -> str:
    """The parameter that is the number of lags, of a theorem that reads tables as series; else ""."""
    return next((each.lags for each in theorem.sources if isinstance(each, Series)), "")


def suiting(theorem: Theorem, params: Mapping[str, Any], material: Material) -> dict[str, Any]:
    """Parameters that suit the material, for those that the user has not given."""
    source = source_for(theorem, material)
    return {} if source is None else source.suiting(theorem.statement, params, material)


def real_instance(theorem: Theorem, params: Mapping[str, Any], material: Material, run: Run) -> Instance:
    """The theorem at real inputs. Raises UsageError where it takes none of their kind, or these do not fit."""
    source = source_for(theorem, material)
    if source is None:
        raise UsageError(f"{theorem.id} {material.refused}")
    source.require_run(theorem.id, **run.format.names)
    known = completed(theorem, params)
    source.require_fit(theorem.id, known, material)
    source.require_affordable(theorem.id, known, material)
    data = source.read(theorem.id, known, material)
    here = at_source(theorem, source, material.source)
    found = source.completed(known, params, data, run)
    point = Point.at(here, {**params, **found}, run)
    instance = Instance.at(point, run.format, lambda drawn: Real(drawn, source, data, params, run))
    instance.require()
    inputs = instance.inputs
    assert isinstance(inputs, Real)  # just made
    inputs.join(instance)
    inputs.require_inside()
    return instance


def at_source(theorem: Theorem, source: InputSource, name: str) -> Theorem:
    """The theorem as it is compared at the real input of that name; its parameters alone, where no prompt is made."""
    if not source.makes_prompts:
        statement = replace(theorem.statement, hypotheses=(), quantities=())
        knobs = Knobs(implied=theorem.knobs.implied, automatic=theorem.knobs.automatic)
        return Theorem(statement, theorem.main, knobs=knobs)
    found = replace(theorem if source.instead is None else source.instead(theorem), sources=())
    if not source.outside:
        return found
    why = Refusal(Verdict.OUTSIDE, source.outside.format(source=name))
    return found.with_at_point(refusal=lambda: why)


class ByQuantity(dict[str, Any]):
    """By quantity, each computed when it is asked for."""

    def __init__(self, output: Callable[[str], Any]) -> None:
        super().__init__()
        self._output = output

    def __missing__(self, name: str) -> Any:
        self[name] = self._output(name)
        return self[name]


class Real:
    """The prompts of one source, which are not attacked. `given` are the parameters of the user, `run` what he asked.

    What functions of the source take is one namespace, each value made once: what functions of the theorem take, what
    was read, the prompt that is shown, and (once it is joined to its instance) what network and reference make of it.
    """

    attacked = False

    def __init__(self, drawn: Drawn, source: InputSource, data: Any, given: Mapping[str, Any], run: Run) -> None:
        self._drawn, self._known, self.domain = drawn, drawn.known, drawn.domain
        self.source, self.data, self.given, self.run = source, data, given, run
        self._values: dict[str, Any] = {}
        self._joined: dict[str, Callable[[], Any]] = {}

    @property
    def covers_rounding(self) -> bool:
        return self.source.covers_rounding

    def sample(self, count: int, seed: int) -> Batch:
        return self.admit(self._prompts(count, seed)) if self._known.theorem.inputs else {}

    def _prompts(self, count: int, seed: int) -> Batch:
        return dict(self.source.inputs(self.called, self.data, count, seed))

    def starts(self, count: int, seed: int) -> Batch:
        raise UsageError(f"{self.data.source} is measured as it is and not attacked")

    def project(self, batch: Batch) -> Batch:
        return self._drawn.project(batch)

    def admit(self, batch: Batch) -> Batch:
        return self._drawn.admit(batch)

    def members(self, one: Batch, bits: int = BASE_BITS) -> dict[str, BallArray]:
        return self._drawn.members(one, bits)

    def require(self, one: Batch) -> None:
        self._drawn.require(one)

    def require_inside(self) -> None:
        """Raises UsageError for a prompt that does not meet the hypotheses, before anything runs."""
        theorem = self._known.theorem
        if theorem.inputs:
            found = self._prompts(1, self.run.seed)
            complaint = self.domain.complaint({name: each[0] for name, each in found.items()})
            if complaint:
                raise UsageError(f"{theorem.id}: {self.data.source} does not meet the hypotheses: {complaint}")
        if self.source.require is not None:
            self.called(self.source.require)

    # What functions of the source take.

    def join(self, instance: Instance) -> None:
        """From now on they may ask what network and reference make of the prompt, and for its letters."""

        def both(name: str) -> tuple[Tensor, ...]:
            return tuple(map(self._one, instance.runs.outputs(self._shown, [name])[name]))

        runs = ByQuantity(both)
        self._joined = {
            "network": lambda: ByQuantity(lambda name: runs[name][0]),
            "reference": lambda: ByQuantity(lambda name: runs[name][1]),
            "letters": lambda: instance.letters.at("prompt", self._shown),
        }

    def called(self, function: Function, more: Mapping[str, Any] = MappingProxyType({})) -> Any:
        taken = {name: more[name] if name in more else self._value(name) for name in arguments_of(function)}
        with called_for(f"{self._known.theorem.id}: a function of its {self.source.called}", function):
            return function(**taken)

    def _value(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._computed(name)
        return self._values[name]

    def _computed(self, name: str) -> Any:
        if name in self.source.built:
            return self.called(self.source.built[name])
        if name in self._known.theorem.inputs:
            return self._one(self._shown[name])
        if name in self._joined:
            return self._joined[name]()
        of_run = {**self._known.format.names, "seed": self.run.seed}
        read = {**of_run, "data": self.data, "params": self._known.params, "given": self.given}
        return read[name] if name in read else self._known[name]

    @cached_property
    def _shown(self) -> Batch:
        """The prompts whose predictions are shown."""
        return self.sample(self.run.samples if self.source.batched else 1, self.run.seed)

    def _one(self, batch: Tensor) -> Tensor:
        found = batch if self.source.batched else batch[0]
        return found.detach().double().cpu()

    # What is shown beside the rows of errors.

    @property
    def settings(self) -> frozenset[str]:
        """Those of a run that functions of the source take."""
        functions = [self.source.implied, *(each for _, each in self.source.functions())]
        return frozenset({"seed", "dtype"} & {n for each in functions if each is not None for n in arguments_of(each)})

    def predictions(self, shown: Mapping[str, Any], run: Run) -> Iterator[Row]:
        """Beside the truth. `shown` are the parameters of the rows."""
        if not self.source.predictions:
            return
        with torch.no_grad():
            made = [(each, self.called(each.function)) for each in self.source.predictions]
        found = [(each, x if isinstance(x, Predicted) else Predicted(x)) for each, x in made if x is not None]
        yield from self.source.compared(self.data, found, AboutRows(dict(shown), run))

    def tables(self) -> list[NamedTable]:
        found = (self.called(each) for each in self.source.tables)
        return [table for table in found if table is not None]
