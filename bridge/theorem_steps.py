"""The steps of a theorem's derivations at a prompt of its own: exact size, error and bound of each."""

from collections.abc import Mapping
from typing import Any

import torch

from bridge.comparison import grid_of
from bridge.limits.run import Run
from bridge.readings import Operands, Steps
from bridge.readings.steps import BITS, table
from bridge.registry import TheoremLike, find_study
from bridge.study import Inputs
from bridge.theorem_case import TheoremCase
from bridge.theorem_readings import at_prompt, at_prompt_on_balls, steps_of
from numeric.exact_cost import TooLargeForExact
from numeric.threads import one_thread
from symbolic.derivation import Derivation
from symbolic.statements import Quantity, UsageError


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
    case = _case(result, params, seed)
    wanted = case.quantity(quantity) if quantity else _main(case, find_study(result).main_quantity)
    if wanted.name not in case.bindings.read:
        raise UsageError(
            f"{case.result.id}: '{wanted.name}' is not read at a prompt; there are: {', '.join(case.bindings.read)}"
        )
    return _steps(case, wanted, _prompt(case, inputs, seed), exact=exact, local=local)


def all_steps(result: TheoremLike, *, seed: int = 0, exact: bool = False, **params: Any) -> dict[str, Steps]:
    """The same of each quantity that is not a step on the way to another one."""
    case = _case(result, params, seed)
    read = [case.quantity(name) for name in case.bindings.read]
    last = [each for each in read if not any(_leads_to(each, other) for other in read if other is not each)]
    prompt = _prompt(case, None, seed)
    return {each.name: _steps(case, each, prompt, exact=exact, local=True) for each in last}


def _case(result: TheoremLike, params: Mapping[str, Any], seed: int) -> TheoremCase:
    study = find_study(result)
    case = study.case(grid_of(study, params)[0], Run(seed=seed))
    if not isinstance(case, TheoremCase) or case.theorem.handles is None:
        raise UsageError(
            f"{study.result.id} does not bind the operands of its steps, so they have no values at a prompt; a theorem "
            f"of your own binds them by handles="
        )
    return case


def _main(case: TheoremCase, name: str) -> Quantity:
    """The main quantity, or the last one that is read."""
    return case.quantity(name if name in case.bindings.read else case.bindings.read[-1])


def _leads_to(quantity: Quantity, other: Quantity) -> bool:
    """Whether the other's derivation holds the conclusion of this one."""
    return steps_of(quantity)[-1] in steps_of(other)[:-1]


def _prompt(case: TheoremCase, inputs: Mapping[str, Any] | None, seed: int) -> Inputs:
    if inputs is None:
        return case.sample(1, seed)
    given = {name: torch.as_tensor(each, dtype=torch.float64).unsqueeze(0) for name, each in inputs.items()}
    case.check_inputs(given)
    return given


def _steps(case: TheoremCase, quantity: Quantity, prompt: Inputs, *, exact: bool, local: bool) -> Steps:
    derivation = Derivation(steps_of(quantity))

    def use(operands: Operands) -> Steps:
        return table(derivation, operands, local=local)

    with one_thread():
        if not exact:
            found: Steps = at_prompt(case, quantity, use, prompt)
            return found
        try:
            proved: Steps = at_prompt_on_balls(case, quantity, use, prompt, BITS)
        except TooLargeForExact as error:
            raise UsageError(
                f"{case.result.id}: the steps take more than {case.theorem.exact.limit:,} ball operations; lower the "
                f"sizes, or leave out exact"
            ) from error
        return proved
