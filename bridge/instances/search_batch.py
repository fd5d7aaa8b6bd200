"""Restarts of several goals of a theorem, at points that differ in numbers alone, as the items of one batch.

Shapes: R items, the restarts of each cell in turn; a cell is one goal of one instance.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import sympy as sp
import torch
from torch import Tensor

from bridge.instances.bindings import IS_LOCAL
from bridge.instances.envelopes import FIRST_STEP, SECOND_STEP, starts_around
from bridge.instances.goals import Goal, Items, ratio
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.letters import EVERY, LOCAL
from bridge.instances.transformer_batch import BatchMember, Found, TransformerBatch, together
from bridge.limits.run import Run
from bridge.theorems.transformer import Transformer
from numeric.search.attack import attack_groups
from symbolic.statements.result import Quantity


class SearchBatch:
    """Each item has the parameters and weights of its instance, and the objective of its goal."""

    def __init__(self, cells: Sequence[tuple[Instance, Goal]], run: Run) -> None:
        self.cells, self.restarts = list(cells), run.restarts
        self.instances = list(dict.fromkeys(instance for instance, _ in cells))
        self.first = self.instances[0]
        self.known, self.networks = self.first.known, self.first.networks
        drawn = {instance: instance.inputs.starts(run.restarts, run.seed) for instance in self.instances}
        self.starts = _joined([drawn[instance] for instance, _ in cells])
        self.names = [goal.quantity.name for _, goal in cells for _ in range(self.restarts)]  # R
        self.varying = self._varying()
        self.read = self.first.readings.bindings.read
        own = self.known.theorem.bounds is not None
        self.rounding_beside = self.first.on_tensors.rounding_beside if self.read or own else 0.0
        self.one_domain = all(instance.inputs.domain == self.first.inputs.domain for instance in self.instances)

    def ascended(self, run: Run) -> list[Batch]:
        steps = 0 if self.known.theorem.search.envelope is None else run.attack // 2
        if not steps:
            return self._attacked(self.objective, run.attack, FIRST_STEP, run.seed)

        def climb(cells: Sequence[tuple[Instance, Goal]]) -> list[Batch]:
            batch = SearchBatch(cells, run)
            return batch._attacked(batch.envelope, steps, FIRST_STEP, run.seed)

        self.starts = _joined(starts_around(self.cells, climb, self.restarts, run.seed))
        return self._attacked(self.objective, run.attack - steps, SECOND_STEP, run.seed)

    def _attacked(self, objective: Callable[[Batch], Tensor], steps: int, size: float, seed: int) -> list[Batch]:
        results = attack_groups(
            objective, self.starts, self.project, len(self.cells), steps=steps, step_size=size, seed=seed
        )
        witnesses = [result.witness for result in results]
        return [witness for witness in witnesses if isinstance(witness, dict)]  # the structure of the starts

    def envelope(self, inputs: Batch) -> Tensor:
        """What each item would err by if the envelope were the network, (R)."""
        return self._errors_of({**inputs, **self.varying}, [_FunctionBatch(self, "", of_envelope=True)])

    def project(self, inputs: Batch) -> Batch:
        if self.one_domain:
            return self.first.inputs.project(inputs)
        counts = [self.restarts * sum(each is instance for each, _ in self.cells) for instance in self.instances]
        parts = {name: value.split(counts) for name, value in inputs.items()}
        return _joined(
            [
                instance.inputs.project({name: part[place] for name, part in parts.items()})
                for place, instance in enumerate(self.instances)
            ]
        )

    def objective(self, inputs: Batch) -> Tensor:
        """The error of each item, or its ratio to the bound at the item, (R)."""
        known = {**inputs, **self.varying}
        return ratio(self._errors(known), self._bounds(known))

    def _varying(self) -> dict[str, Tensor]:
        """The parameters and weights in which the instances differ, (R, ...) each."""
        first, others = self.known, [instance.known for instance in self.instances]
        floats = {name: value for name, value in first.params.items() if isinstance(value, float)}
        params = [name for name, value in floats.items() if any(each.params[name] != value for each in others)]
        weights = [n for n, x in first.weights.items() if any(not each.weights[n].equal(x) for each in others)]
        return {
            **{
                n: self._of_items(
                    [self.known.format.wide.tensor(instance.known.params[n]) for instance, _ in self.cells]
                )
                for n in params
            },
            **{n: self._of_items([instance.known.weights[n] for instance, _ in self.cells]) for n in weights},
        }

    def _of_items(self, of_cells: Sequence[Tensor]) -> Tensor:
        stacked = torch.stack(list(of_cells)).to(self.known.format.device, torch.float64)
        return stacked.repeat_interleave(self.restarts, 0)

    def items(self, flags: Sequence[bool]) -> Items:
        """The items of the cells that have a flag."""
        return self._all.where([flag for flag in flags for _ in range(self.restarts)])

    @cached_property
    def _all(self) -> Items:
        return Items(range(len(self.names)), len(self.names), self.known.format.device)

    # Errors.

    def _errors(self, known: Mapping[str, Tensor]) -> Tensor:
        return self._errors_of(known, self._parts)

    def _errors_of(self, known: Mapping[str, Tensor], parts: "Sequence[_FunctionBatch | TransformerBatch]") -> Tensor:
        truth = self.networks.reference(known, list(dict.fromkeys(self.names)))
        errors = next(iter(known.values())).new_zeros(len(self.names))  # (R)
        for part in parts:
            for name, items, found in part.run(known):
                errors = items.into(errors, self.first.runs.distance(name, found, items.of(truth[name])))
        return errors

    @cached_property
    def _parts(self) -> "list[_FunctionBatch | TransformerBatch]":
        """Each network, with the items whose goals it makes; all transformers of one shape as one."""
        keys = list(dict.fromkeys(self.networks.network_key(name) for name in self.names))
        transformers = {key: each for key, each in self.known.theorem.networks.items() if isinstance(each, Transformer)}
        functions = [_FunctionBatch(self, key) for key in keys if key not in transformers]
        members = [
            self._member(instance, key, transformers[key])
            for key in keys
            if key in transformers
            for instance in self.instances
        ]
        chosen = [member for member in members if member.places]
        return [*functions, *(together(chosen, self.networks, self.names, self.varying) if chosen else ())]

    def _member(self, instance: Instance, key: str, transformer: Transformer) -> BatchMember:
        flags = [each is instance and self.networks.network_key(goal.quantity.name) == key for each, goal in self.cells]
        network = instance.networks.torch_network(key, torch.float64)
        return BatchMember(transformer, network, instance.networks.length(transformer), self.items(flags).places)

    # Bounds at the prompt.

    def _bounds(self, known: Mapping[str, Tensor]) -> Tensor:
        """The bound at each item whose goal is a ratio, 1 at the others, (R)."""
        bounds = next(iter(known.values())).new_ones(len(self.names))  # (R)
        values = {letter: self._letter(letter, items, known) for letter, items in self._letters.items()}
        for quantity, _, items in self._ratios:
            bounds = items.into(bounds, self._by_formula(quantity, items, values) * items.of(torch.ones_like(bounds)))
        for reading in self._readings:
            for items, read in reading.bounds(known, self._numbers):
                bounds = items.into(bounds, torch.minimum(items.of(bounds), read) + self.rounding_beside)
        return bounds

    def _by_formula(self, quantity: Quantity, items: Items, values: Mapping[sp.Symbol, Tensor]) -> Tensor | float:
        if self.first.bounds.reads_alone(quantity):
            return torch.inf
        formula = self.first.on_tensors.formula(quantity)
        arguments = [items.of(values[s]) if s in values else items.of(self._numbers[s]) for s in formula.letters]
        bound: Tensor = formula.bound(*arguments)
        return bound

    @cached_property
    def _readings(self) -> "list[_ReadingBatch]":
        """The quantities of one derivation share a reading; bounds of the theorem's own are those of one scope."""
        scopes = dict.fromkeys(scope for _, scope, _ in self._ratios)
        apart = scopes if self.known.theorem.bounds is not None else [each for each in scopes if each == EVERY]
        parts = [[each for each in self._ratios if each[1] == scope] for scope in apart]
        parts += [rest] if (rest := [each for each in self._ratios if each[1] not in apart]) else []
        return [_ReadingBatch(self, ratios) for part in parts for ratios in self._read_together(part)]

    def _read_together(self, ratios: Sequence[tuple[Quantity, str, Items]]) -> list[list[tuple[Quantity, str, Items]]]:
        quantities = {each.name: each for each, _, _ in ratios}
        groups = self.first.on_tensors.groups([q for q in quantities.values() if self.first.bounds.is_read(q)])
        names = [{each.name for each in group} for group in groups]
        return [[each for each in ratios if each[0].name in group] for group in names]

    def _letter(self, letter: sp.Symbol, items: Items, known: Mapping[str, Tensor]) -> Tensor:
        """The letter at those items, 0 at the others, (R)."""
        found = self.known.batched(self.first.letters.of_prompt[letter], items.of_each(known))
        return items.into(found.new_zeros(len(self.names)), found)

    @cached_property
    def _ratios(self) -> list[tuple[Quantity, str, Items]]:
        """Each quantity that is a goal at prompts, its scope, and the items of those goals."""
        goals = {goal.key: goal.quantity for _, goal in self.cells if goal.scope is not None}
        return [
            (quantity, str(scope), self.items([goal.key == (name, scope) for _, goal in self.cells]))
            for (name, scope), quantity in goals.items()
        ]

    @cached_property
    def _letters(self) -> dict[sp.Symbol, Items]:
        """Each letter that depends on the prompt, and the items whose bounds have it."""
        needed: dict[sp.Symbol, set[int]] = {}
        for quantity, _, items in self._ratios:
            for letter in self._letters_of(quantity):
                if letter in self.first.letters.of_prompt:
                    needed.setdefault(letter, set()).update(items.places)
        return {
            letter: Items(sorted(each), len(self.names), self.known.format.device) for letter, each in needed.items()
        }

    def _letters_of(self, quantity: Quantity) -> tuple[sp.Symbol, ...]:
        alone = self.first.bounds.reads_alone(quantity)
        return () if alone else self.first.on_tensors.formula(quantity).letters

    @cached_property
    def _numbers(self) -> dict[sp.Symbol, Tensor]:
        """The other letters, at each item, (R)."""
        letters = {s for quantity, _, _ in self._ratios for s in self._letters_of(quantity)}
        letters |= set(self.first.letters.of_network) if self.read else set()
        return {
            letter: self._of_items(
                [self.known.format.wide.tensor(instance.letters.number(letter)) for instance, _ in self.cells]
            )
            for letter in letters
            if letter not in self._letters or letter in self.first.letters.of_network
        }


class _ReadingBatch:
    """Quantities that one reading bounds, each at the items whose goal is its ratio in some scope."""

    def __init__(self, batch: SearchBatch, ratios: Sequence[tuple[Quantity, str, Items]]) -> None:
        self.known, own = batch.known, [items for _, _, items in ratios]
        quantities, scopes = list({q.name: q for q, _, _ in ratios}.values()), {scope for _, scope, _ in ratios}
        self.function = batch.first.on_tensors.reading(quantities, scopes.pop() if len(scopes) == 1 else None)
        places = sorted(place for items in own for place in items.places)
        self.items = Items(places, len(batch.names), batch.known.format.device)
        self.readings, self.varying = list(self.items.by_name(batch.names)), set(batch.varying)
        of_items = [instance for instance, _ in batch.cells for _ in range(batch.restarts)]
        self.instances = _in_a_row([of_items[place] for place in places])
        local = {place for _, scope, items in ratios if scope == LOCAL for place in items.places}
        flags = torch.tensor([place in local for place in places], dtype=torch.bool, device=batch.known.format.device)
        self.local = flags.unflatten(0, (self.instances, -1))  # (C, I)

    def bounds(
        self, known: Mapping[str, Tensor], letters: Mapping[sp.Symbol, Tensor]
    ) -> Iterator[tuple[Items, Tensor]]:
        """What is the same for all items of a instance is computed once."""
        numbers = {name: self._by_case(letters[letter])[:, 0] for name, letter in self.function.letters.items()}
        own = {name: self._by_case(known[name])[:, 0] for name in self.varying}
        inputs = {name: self._by_case(value) for name, value in known.items() if name not in self.varying}
        found = self.known.batched_by_case(self.function, {**own, **numbers}, {**inputs, IS_LOCAL: self.local})
        for name, spots, items in self.readings:
            yield items, spots.of(found[name].flatten(0, 1))

    def _by_case(self, values: Tensor) -> Tensor:
        return self.items.of(values).unflatten(0, (self.instances, -1))  # (C, I, ...)


def _in_a_row(instances: Sequence[Instance]) -> int:
    """How many instances there are, if each has as many items in a row; else how many items."""
    each = list(dict.fromkeys(instances))
    size = len(instances) // len(each)
    return len(each) if list(instances) == [instance for instance in each for _ in range(size)] else len(instances)


class _FunctionBatch:
    """A network that is a function, on the items whose goals it makes; or the envelope, on all."""

    def __init__(self, batch: SearchBatch, key: str, *, of_envelope: bool = False) -> None:
        self.networks, self.key, self.of_envelope = batch.networks, key, of_envelope
        networks = [self.networks.network_key(goal.quantity.name) for _, goal in batch.cells]
        self.items = batch.items([of_envelope or each == key for each in networks])
        self.readings = list(self.items.by_name(batch.names))

    def run(self, known: Mapping[str, Tensor]) -> Iterator[Found]:
        names = [name for name, _, _ in self.readings]
        inputs = self.items.of_each(known)
        if self.of_envelope:
            outputs = self.networks.envelope(inputs, names)
        else:
            outputs = self.networks.outputs(self.key, inputs, names, torch.float64)
        for name, spots, items in self.readings:
            yield name, items, spots.of(outputs[name])


def _joined(inputs: Sequence[Batch]) -> Batch:
    return {name: torch.cat([each[name] for each in inputs]) for name in inputs[0]}
