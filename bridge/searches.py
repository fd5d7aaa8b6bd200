"""The points that attacks find: for each goal of each case by itself, or for many goals and cases in one batch."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

from torch import Tensor

from bridge.goals import Goal, goals_of, ratio, stated_goals
from bridge.limits.run import Run
from bridge.study import Case, Inputs
from numeric.attack import NowhereFinite
from symbolic.statements import Quantity, UsageError

AT_ONCE = 2**28  # bytes of one batch: a number that no machine decides, so that a record does not depend on it

Points = Mapping[tuple[str, str | None], Inputs]  # by quantity and scope, without the first dimension
Cell = tuple[Case, Goal]


def searched(cases: Sequence[Case], quantities: Sequence[Quantity], run: Run) -> list[Points]:
    """For each case, of one company, the points at which the attack found each error and each ratio largest."""
    wanted = [(goal, cases[0].shown_at(goal)) for goal in goals_of(quantities)]
    goals = list({goal.key: goal for _, goal in wanted}.values())
    cells = [(case, goal) for case in cases for goal in goals]
    if cases[0].company is None:
        found = [_searched_alone(case, goal, run) for case, goal in cells]
    else:
        found = [each for batch in _batches(cells, run) for each in _searched_together(batch, run)]
    points = {(place, goal.key): each for (place, goal), each in zip(_places(cases, goals), found, strict=True)}
    return [
        {goal.key: points[place, instead.key] for goal, instead in wanted} | _stated(case, quantities, run)
        for place, case in enumerate(cases)
    ]


def _stated(case: Case, quantities: Sequence[Quantity], run: Run) -> dict[tuple[str, str | None], Inputs]:
    """Where errors come closest to bounds that are stated in letters of the prompt: few, so that no batch has them."""
    goals = [goal for each in quantities for goal in stated_goals(each, case.prompt_tiers(each))]
    return {goal.key: _searched_alone(case, goal, run) for goal in goals}


def _places(cases: Sequence[Case], goals: Sequence[Goal]) -> list[tuple[int, Goal]]:
    return [(place, goal) for place, _ in enumerate(cases) for goal in goals]


def companies(cases: Sequence[Case]) -> list[list[Case]]:
    """The cases whose goals share batches, by company."""
    found: dict[Hashable, list[Case]] = {}
    for case in cases:
        if case.company is not None:
            found.setdefault(case.company, []).append(case)
    return list(found.values())


def memory_at_once(cases: Sequence[Case], quantities: Sequence[Quantity], run: Run) -> int:
    """About how many bytes the largest batch takes of the attack on cases of one company."""
    cells = [(case, goal) for case in cases for goal in goals_of(quantities)]
    return max((len(batch) * cases[0].search_memory(run) for batch in _batches(cells, run)), default=0)


def _batches(cells: Sequence[Cell], run: Run) -> Iterator[Sequence[Cell]]:
    """As many goals at once as memory allows, and at least one."""
    each = max(1, cells[0][0].search_memory(run)) if cells else 1
    size = max(1, AT_ONCE // each)
    yield from (cells[start : start + size] for start in range(0, len(cells), size))


def _searched_together(cells: Sequence[Cell], run: Run) -> list[Inputs]:
    try:
        return _ascended(cells, run)
    except (UsageError, RuntimeError, TypeError, NowhereFinite) as error:
        # A function may take a parameter as one number but not as one for each restart: `if eps > 0`, `math.sqrt(eps)`.
        # Then each case is attacked by itself; an error that remains is raised there.
        own = [[cell for cell in cells if cell[0] is case] for case in dict.fromkeys(case for case, _ in cells)]
        if len(own) > 1:
            return [found for part in own for found in _searched_together(part, run)]
        if not isinstance(error, NowhereFinite):
            raise
        return [_searched_alone(case, goal, run) for case, goal in cells]  # names the quantity


def _ascended(cells: Sequence[Cell], run: Run) -> list[Inputs]:
    return cells[0][0].batch(cells, run).ascended(run)


def _searched_alone(case: Case, goal: Goal, run: Run) -> Inputs:
    name = goal.quantity.name

    def objective(inputs: Inputs) -> Tensor:
        error = case.errors(inputs, [name], attack=True)[name]
        if goal.tier:
            return ratio(error, case.stated_bounds(goal.quantity, goal.tier, inputs))
        return error if goal.scope is None else ratio(error, case.prompt_bounds(goal.quantity, inputs, goal.scope))

    return case.search(objective, goal.quantity, run)
