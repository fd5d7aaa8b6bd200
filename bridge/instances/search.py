"""The points that attacks find: for each goal of each instance by itself, or for many goals and instances in one batch.

Goals of an instance, and of instances that differ in numbers alone, share batches: these are a company.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from bridge.instances.goals import Goal, goals_of, ratio, stated_goals
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.search_batch import SearchBatch
from bridge.instances.transformer_batch import LONGEST
from bridge.limits.cost import KEPT, NUMBER
from bridge.limits.run import BLOCK, Run
from bridge.theorems.transformer import Transformer
from numeric.search.attack import NowhereFinite, attack
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError

AT_ONCE = 2**28  # bytes of one batch: a number that no machine decides, so that a record does not depend on it
KEPT_SCORES = 6  # matrices of attention weights that autograd keeps, about

Points = Mapping[tuple[str, str | None], Batch]  # by quantity and scope, without the first dimension
Cell = tuple[Instance, Goal]


def companies(instances: Iterable[Instance]) -> list[list[Instance]]:
    """The instances whose goals share batches, by company."""
    found: dict[Hashable, list[Instance]] = {}
    for each in instances:
        if each.inputs.attacked:
            found.setdefault(company(each), []).append(each)
    return list(found.values())


def company(instance: Instance) -> Hashable:
    """Equal for instances with the same quantities whose goals one batch takes: they differ in floats alone."""
    known = instance.known
    whole = tuple((name, _kept(value)) for name, value in known.params.items())
    weights = tuple((name, tuple(value.shape)) for name, value in known.weights.items())
    quantities = tuple((quantity.name, quantity.scopes) for quantity in instance.bounds.quantities.values())
    shape = tuple(instance.inputs.domain.shape.items())
    built = tuple(id(each) for each in known.built.values())  # of this point alone
    return id(known.theorem), whole, weights, quantities, shape, built, known.format


def _kept(value: Any) -> Any:
    """What two points of one company agree in: any two floats do; an array or a list only with itself."""
    if isinstance(value, float):
        return float
    return value if isinstance(value, int | str) else id(value)


def searched(instances: Sequence[Instance], run: Run, quantities: Sequence[Quantity] | None = None) -> list[Points]:
    """For each instance, of one company, the points at which the attack found each error and each ratio largest.

    Of all that are measured, or of these quantities.
    """
    quantities = instances[0].bounds.measured if quantities is None else quantities
    wanted = [(goal, _shown_at(instances[0], goal)) for goal in goals_of(quantities)]
    goals = list({goal.key: goal for _, goal in wanted}.values())
    cells = [(each, goal) for each in instances for goal in goals]
    found = iter([each for batch in _batches(cells, run) for each in _together(batch, run)])
    points = [{goal.key: next(found) for goal in goals} for _ in instances]
    return [
        {goal.key: own[instead.key] for goal, instead in wanted} | _stated(instance, quantities, run)
        for instance, own in zip(instances, points, strict=True)
    ]


def _shown_at(instance: Instance, goal: Goal) -> Goal:
    """The goal at whose input this one is shown: itself, or that of a quantity which decides for several."""
    leading = instance.theorem.search.leading
    return Goal(instance.quantity(leading[0])) if leading and goal.quantity.name not in leading else goal


def _stated(instance: Instance, quantities: Sequence[Quantity], run: Run) -> dict[tuple[str, str | None], Batch]:
    """Where errors come closest to bounds that are stated in letters of the prompt: few, so that no batch has them."""
    goals = [goal for each in quantities for goal in stated_goals(each, instance.bounds.prompt_tiers(each))]
    return {goal.key: _alone(instance, goal, run) for goal in goals}


# Memory.


def memory_at_once(instances: Sequence[Instance], run: Run) -> int:
    """About how many bytes the largest batch takes of the attack on instances of one company."""
    cells = [(each, goal) for each in instances for goal in goals_of(instances[0].bounds.measured)]
    return max((len(batch) * memory_of_goal(instances[0], run) for batch in _batches(cells, run)), default=0)


def memory_of_goal(instance: Instance, run: Run) -> int:
    """About how many bytes the restarts of one goal take in a batch."""
    numbers = sum(math.prod(shape) for shape in instance.inputs.domain.shape.values())
    numbers += sum(value.numel() for value in instance.known.weights.values())
    networks = [each for each in instance.theorem.networks.values() if isinstance(each, Transformer)]
    lengths = [instance.networks.length(each) for each in networks]
    kernel = max((length**2 for length in lengths if length <= LONGEST), default=0)
    return NUMBER * run.restarts * (KEPT * numbers + KEPT_SCORES * kernel)


def memory_of(instance: Instance, run: Run) -> int:
    """About how many bytes the largest step of a point takes, so that what cannot fit is refused before the start."""
    known = instance.known
    numbers = sum(math.prod(shape) for shape in instance.inputs.domain.shape.values())
    weights = sum(value.numel() for value in known.weights.values())
    drawn = NUMBER * (numbers * (run.samples + KEPT * run.restarts) + KEPT * weights)
    at_once = 4 * min(BLOCK, known.part or BLOCK) + KEPT * run.restarts if numbers else 1
    return drawn + known.bytes_of_one * at_once


def _batches(cells: Sequence[Cell], run: Run) -> Iterator[Sequence[Cell]]:
    """As many goals at once as memory allows, and at least one."""
    each = max(1, memory_of_goal(cells[0][0], run)) if cells else 1
    size = max(1, AT_ONCE // each)
    yield from (cells[start : start + size] for start in range(0, len(cells), size))


# Attacks.


def _together(cells: Sequence[Cell], run: Run) -> list[Batch]:
    try:
        return SearchBatch(cells, run).ascended(run)
    except (UsageError, RuntimeError, TypeError, NowhereFinite) as error:
        # A function may take a parameter as one number but not as one for each restart: `if eps > 0`, `math.sqrt(eps)`.
        # Then each instance is attacked by itself; an error that remains is raised there.
        own = [[cell for cell in cells if cell[0] is each] for each in dict.fromkeys(each for each, _ in cells)]
        if len(own) > 1:
            return [found for part in own for found in _together(part, run)]
        if not isinstance(error, NowhereFinite):
            raise
        return [_alone(instance, goal, run) for instance, goal in cells]  # names the quantity


def _alone(instance: Instance, goal: Goal, run: Run) -> Batch:
    quantity, name = goal.quantity, goal.quantity.name

    def objective(batch: Batch) -> Tensor:
        error = instance.runs.errors_to_attack(batch, [name])[name]
        if goal.tier:
            return ratio(error, instance.on_tensors.stated(quantity, goal.tier, batch))
        return (
            error if goal.scope is None else ratio(error, instance.on_tensors.at([quantity], batch, goal.scope)[name])
        )

    starts = instance.inputs.starts(run.restarts, run.seed)
    try:
        found = attack(objective, starts, instance.inputs.project, steps=run.attack, seed=run.seed).witness
    except NowhereFinite as error:
        raise UsageError(
            f"{instance.theorem.id}: the error of '{name}' is not finite in float64 at any input that the attack "
            f"visited; take parameters of smaller size, or attack = 0"
        ) from error
    assert isinstance(found, dict)  # the attack keeps the structure of its starts
    return found
