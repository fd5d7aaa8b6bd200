"""The steps of a theorem's derivations at a prompt of its own: exact size, error and bound of each."""

from collections.abc import Mapping
from typing import Any

import torch

from bridge.instances.bindings import steps_of
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.limits.run import Run
from bridge.questions.compare import grid_of
from bridge.readings import Operands, Steps
from bridge.readings.steps import BITS, table
from bridge.theorems.registry import TheoremLike, find_theorem
from numeric.balls.limits import TooLargeForExact
from numeric.search.threads import one_thread
from symbolic.derivations.derivation import Derivation
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError


def steps(
    result: TheoremLike,
    inputs: Mapping[str, Any] | None = None,
    *,
    quantity: str = "",
    seed: int = 0,
    exact: bool = False,
    local: bool = True,
    **params: Any,
) -> Steps:
    """The steps that lead to a quantity (the main one by default) at one prompt.

    `inputs` is the prompt, by name; without it one is drawn by the seed, as the weights are. `exact`: on balls, each
    number proved and rounded up; else in float64. `local`: approximants are known at each argument, not by their
    supremum alone. `params` take the parameters; of a grid of defaults the first point is taken.

    Raises UsageError for a theorem without handles, a quantity that is not read, a prompt outside the domain, and sizes
    that are too large for balls.
    """
    instance = _instance(result, params, seed)
    wanted, read = instance.quantity(quantity) if quantity else _main(instance), instance.readings.bindings.read
    if wanted.name not in read:
        raise UsageError(
            f"{instance.theorem.id}: '{wanted.name}' is not read at a prompt; there are: {', '.join(read)}"
        )
    return _steps(instance, wanted, _prompt(instance, inputs, seed), exact=exact, local=local)


def all_steps(result: TheoremLike, *, seed: int = 0, exact: bool = False, **params: Any) -> dict[str, Steps]:
    """The same of each quantity that is not a step on the way to another one."""
    instance = _instance(result, params, seed)
    read = [instance.quantity(name) for name in instance.readings.bindings.read]
    last = [each for each in read if not any(_leads_to(each, other) for other in read if other is not each)]
    prompt = _prompt(instance, None, seed)
    return {each.name: _steps(instance, each, prompt, exact=exact, local=True) for each in last}


def _instance(result: TheoremLike, params: Mapping[str, Any], seed: int) -> Instance:
    theorem = find_theorem(result)
    instance = Instance.of(theorem, grid_of(theorem, params)[0], Run(seed=seed))
    if theorem.handles is None:
        raise UsageError(f"{theorem.id} does not bind the operands of its steps, {_why_unbound(instance)}")
    return instance


def _why_unbound(instance: Instance) -> str:
    derived = {each.name for each in instance.point.stated.quantities if each.derivation is not None}
    if derived and derived <= {each.name for each in instance.point.over_draws}:
        return "since its bounds hold with probability, or in expectation: they are judged over draws, not at a prompt"
    if not instance.theorem.inputs:
        return "since it has no inputs, and so no prompt"
    return "so they have no values at a prompt; a theorem of your own binds them by handles="


def _main(instance: Instance) -> Quantity:
    """The main quantity, or the last one that is read."""
    main, read = instance.theorem.main, instance.readings.bindings.read
    return instance.quantity(main if main in read else read[-1])


def _leads_to(quantity: Quantity, other: Quantity) -> bool:
    """Whether the other's derivation holds the conclusion of this one."""
    return steps_of(quantity)[-1] in steps_of(other)[:-1]


def _prompt(instance: Instance, inputs: Mapping[str, Any] | None, seed: int) -> Batch:
    if inputs is None:
        return instance.inputs.sample(1, seed)
    given = {name: torch.as_tensor(each, dtype=torch.float64).unsqueeze(0) for name, each in inputs.items()}
    instance.inputs.require(given)
    return given


def _steps(instance: Instance, quantity: Quantity, prompt: Batch, *, exact: bool, local: bool) -> Steps:
    derivation = Derivation(steps_of(quantity))

    def use(operands: Operands) -> Steps:
        return table(derivation, operands, local=local)

    with one_thread():
        if not exact:
            found: Steps = instance.readings.at(quantity, use, prompt)
            return found
        try:
            proved: Steps = instance.readings.on_balls(quantity, use, prompt, BITS)
        except TooLargeForExact as error:
            raise UsageError(
                f"{instance.theorem.id}: the steps take more than {instance.theorem.exact.limit:,} ball operations; "
                f"lower the sizes, or leave out exact"
            ) from error
        return proved
