"""The scope `prompt, every`: the prompt, with the matrices near the exact ones, at which the error comes closest to it.

The bound holds for every matrix within its distance of the exact one, so that the attack moves these too.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from bridge.domains import Product
from bridge.instances.goals import Goal, ratio
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.networks import for_balls, on_tensors
from bridge.limits.arguments import Function, arguments_of
from bridge.limits.run import Run
from bridge.theorems.pair import Pair
from bridge.theorems.transformer import Transformer
from numeric.search.attack import NowhereFinite, attack
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError

CHANGE = "change of "  # no name of a function's argument has a space
UNITS = 2.0**-50  # some roundings of a float64


class Neighbours:
    """What is built in the place of a weight, and may be any array as near to it.

    Raises UsageError for a domain of another shape than the weight.
    """

    def __init__(self, instance: Instance, goal: Goal) -> None:
        self.instance, self.goal, theorem = instance, goal, instance.theorem
        taken = _taken(theorem.networks[instance.networks.network_key(goal.quantity.name)])
        taken -= {name for function in theorem.built.values() for name in arguments_of(function)}
        self.near = {name: each for name, each in theorem.search.near.items() if name in taken}
        domains = {CHANGE + name: domain for name, (_, domain) in self.near.items()}
        self.changes = Product(domains).at(instance.point.numbers)
        for name, (of, _) in self.near.items():
            shape, own = self.changes.shape[CHANGE + name], tuple(instance.known[of].shape)
            if shape != own:
                raise UsageError(
                    f"{theorem.id}: near has for {name} - {of} a domain of the shape {shape}, and {of} has the shape "
                    f"{own}; make them agree"
                )

    def worst(self, start: Batch, run: Run) -> tuple[Batch, Instance] | None:
        """From one prompt on; None where nothing near is known, or nothing finite is found.

        Raises what a network does that does not run on a batch of matrices.
        """
        if not (self.near and run.attack and self.instance.inputs.attacked):
            return None
        generator = torch.Generator().manual_seed(run.seed)
        prompts = {name: value.double().repeat_interleave(run.restarts, 0) for name, value in start.items()}
        starts = self.instance.known.format.place({**prompts, **self.changes.starts(run.restarts, generator)})
        try:
            found = attack(self.objective, starts, self.project, steps=run.attack, seed=run.seed).witness
        except NowhereFinite:
            return None
        assert isinstance(found, dict)  # the attack keeps the structure of its starts
        one = {name: value.unsqueeze(0) for name, value in found.items()}
        arrays = {name: value[0] for name, value in self._arrays(one).items()}
        return self.instance.inputs.admit(self._prompts(one)), self.instance.with_arrays(arrays)

    def objective(self, batch: Batch) -> Tensor:
        """The ratio of the error to the bound at each prompt, with the matrices of each, (R)."""
        name, prompts = self.goal.quantity.name, self._prompts(batch)
        errors = self.instance.runs.errors_to_attack({**prompts, **self._arrays(batch)}, [name])[name]
        return ratio(errors, self.instance.on_tensors.at([self.goal.quantity], prompts, str(self.goal.scope))[name])

    def project(self, batch: Batch) -> Batch:
        changes = {name: value for name, value in batch.items() if name in self.changes.domains}
        return {**self.instance.inputs.project(self._prompts(batch)), **self.changes.project(changes)}

    def _prompts(self, batch: Batch) -> Batch:
        return {name: value for name, value in batch.items() if name not in self.changes.domains}

    def _arrays(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: self._inside(name, of, batch[CHANGE + name]) for name, (of, _) in self.near.items()}

    # W + E in floats is off by a unit of |W| + |E| in each entry, and W itself is on balls a matrix of its domain that
    # is near. Both are at most the share `lost` of E in every norm; so E is made smaller by that.
    def _inside(self, name: str, of: str, change: Tensor) -> Tensor:
        exact = self.instance.known[of].to(change)
        largest = float(self.changes.domains[CHANGE + name].bound(Norm.INF))
        lost = UNITS * exact.numel() * (1 + float(exact.abs().max()) / largest) if largest else 1.0
        return exact + max(0.0, 1 - lost) * change


def _taken(network: Function | Pair | Transformer) -> set[str]:
    """What a network takes by name, both on tensors and on balls; a transformer is built of its weights."""
    if isinstance(network, Transformer):
        return set()
    return {*arguments_of(on_tensors(network))} & {*arguments_of(for_balls(network))}
