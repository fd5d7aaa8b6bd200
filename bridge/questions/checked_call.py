"""A comparison that is checked and not yet run: its points one by one, in any order or place, and the record of all."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from bridge.export.comparison import Comparison
from bridge.instances.instance import Instance
from bridge.instances.point import cost_of
from bridge.instances.search import Points, companies, memory_at_once, memory_of, searched
from bridge.judging.elsewhere import rows_elsewhere
from bridge.judging.judged import rows_at, run_at, settings_used, tables_at
from bridge.judging.rates import rate_rows
from bridge.limits.cost import Cost
from bridge.limits.files import digests
from bridge.limits.memory import require_memory
from bridge.limits.refusals import explained
from bridge.limits.run import Format, Run
from bridge.questions.grid import grid_of, listed, with_defaults
from bridge.questions.kept import KeptParts
from bridge.questions.origins import InputOrigin, origin_of
from bridge.questions.point_rows import PointRows, points_of_text, points_text
from bridge.theorems.numbers import value_words
from bridge.theorems.registry import TheoremLike, find_theorem
from bridge.theorems.theorem import Theorem
from numeric.search.threads import one_thread
from symbolic.statements.result import Kind
from symbolic.words.errors import UsageError

Progress = Callable[[int, int, str], None]
RANDOM = "the inputs are named randomness: they are drawn by seeds, and not attacked"
REMEDY = "lower the sizes, --samples or --restarts"
DEFAULTS = {"samples": 256, "attack": 100, "restarts": 12, "seed": 0}
OF_INPUTS = ("text", "data", "csv", "target", "features")


class Interrupted(KeyboardInterrupt):
    """An interrupt of a comparison; `comparison` holds the rows of the `points` that are done, `of` so many."""

    def __init__(self, comparison: Comparison, points: int, of: int) -> None:
        super().__init__()
        self.comparison, self.points, self.of = comparison, points, of


def checked_call(
    result: "TheoremLike", options: Mapping[str, Any], params: Mapping[str, Any], only: Sequence[int] | None = None
) -> "CheckedCall":
    """The comparison that `compare` makes with these options and parameters, checked and not run.

    `only`: the places in the grid of the points that are wanted. Raises UsageError for anything the call gets wrong.
    """
    theorem = find_theorem(result)
    asked = {name: options.get(name) for name in DEFAULTS}
    given: dict[str, Any] = {name: number for name, number in asked.items() if number is not None}
    settings = _whole_numbers(**{**DEFAULTS, **theorem.settings, **given})
    dtype, claim, attack = options.get("dtype"), options.get("claim") or (), options.get("attack")
    run = Run(**settings, format=Format.named(dtype or "float64", options.get("device") or "cpu"))
    given |= {} if dtype is None else {"dtype": dtype}
    origin = origin_of(*(options.get(name) for name in OF_INPUTS))
    params = {**params, **origin.lagged(theorem, options.get("lags"), params)}
    params = {**origin.defaults(theorem, params), **params}
    grid = grid_of(theorem, params)
    places = range(len(grid)) if only is None else only
    points = [grid[place] for place in places]
    cost = _required_cost(theorem, points, origin.least(run))
    claims = [claim] if isinstance(claim, str) else list(claim)
    with explained(f"compare {theorem.id}", points), one_thread():
        instances = [origin.instance(theorem, point, run) for point in points]
    if claims:
        from bridge.questions.claims import with_claims  # with the proofs that it takes to read one

        instances = with_claims(instances, claims)
    for instance in instances:
        _refuse_unused(instance, given)
    if attack and not all(_is_attacked(instance) for instance in instances):
        which = f"{theorem.id} has no input that an attack could move"
        which = which if origin.random else f"{origin.words} is measured as it is and not attacked"
        raise UsageError(f"compare: {which}; leave out attack = {attack}")
    runs = [run_at(instance, run) for instance in instances]
    files = [str(options[name]) for name in ("text", "csv") if options.get(name) is not None]
    return CheckedCall(
        theorem=theorem,
        params={name: listed(value) for name, value in with_defaults(theorem, params).items()},
        grid=grid,
        instances=dict(zip(places, instances, strict=True)),
        runs=dict(zip(places, runs, strict=True)),
        run=run,
        origin=origin,
        claims=claims,
        files=files + [value for point in grid for value in point.values() if isinstance(value, str)],
        bytes=max(int(cost.bytes), _required_memory(theorem, points, instances, runs, origin)),
    )


@dataclass(frozen=True)
class CheckedCall:
    """A comparison whose points are instances; by their places in the grid, of which it may have a part alone.

    Points of one company are attacked together, so that all of `attacked` is found before any of their rows.
    """

    theorem: Theorem
    params: Mapping[str, Any]
    grid: Sequence[Mapping[str, Any]]
    instances: Mapping[int, Instance]
    runs: Mapping[int, Run]
    run: Run
    origin: InputOrigin
    claims: Sequence[str]
    files: Sequence[str]  # and text that may be the name of one
    bytes: int  # about what the largest step takes

    @property
    def identity(self) -> dict[str, Any]:
        """All that the rows depend on, as JSON."""
        return {
            "result": self.theorem.id,
            "params": self.params,
            "claims": list(self.claims),
            "files": digests(self.files) | ({"theorem": self.theorem.sha256} if self.theorem.sha256 else {}),
            "environment": environment(self.run, self.origin.words),
        }

    def groups(self) -> list[list[int]]:
        """The places of points that are attacked together, where there are several."""
        if not next(iter(self.runs.values())).attack:
            return []
        place_of = {instance: place for place, instance in self.instances.items()}
        found = [[place_of[each] for each in group] for group in companies(self.instances.values())]
        return [group for group in found if len(group) > 1 and self.runs[group[0]].attack]

    def attacked(self, group: Sequence[int]) -> dict[int, Points]:
        """What the attack finds for these points together; nothing if it fails.

        Each is then attacked by itself, after its random inputs: a refusal names an input of those if one fails.
        """
        with explained(f"compare {self.theorem.id}", [self.grid[place] for place in group]), one_thread():
            try:
                found = searched([self.instances[place] for place in group], self.runs[group[0]])
            except UsageError:
                return {}
        return dict(zip(group, found, strict=True))

    def point(self, place: int, points: Points | None = None) -> PointRows:
        """The rows of a point, with the points that an attack has found; None: it is still to be made."""
        instance, run = self.instances[place], self.runs[place]
        with explained(f"compare {self.theorem.id}", [self.grid[place]]), one_thread():
            return PointRows(list(rows_at(instance, run, points)), tables_at(instance, run))

    def compared(self, progress: Progress, kept: KeptParts | None = None) -> Comparison:
        """All rows. What is `kept` is not run again; what is done is kept."""
        done: dict[int, PointRows] = {}
        try:
            self._run(done, progress, kept)
            return self.comparison(done)
        except KeyboardInterrupt as stop:
            raise Interrupted(self.comparison(done, whole=False), len(done), len(self.instances)) from stop

    def _run(self, done: dict[int, PointRows], progress: Progress, kept: KeptParts | None) -> None:
        """Adds what each point gives as it is done."""
        known = {place: kept.read(point_name(place)) if kept else None for place in self.instances}
        groups, points = {group[0]: group for group in self.groups()}, dict[int, Points]()
        for place, instance in self.instances.items():
            progress(len(done), len(self.instances), _words(instance.shown))
            if any(known[each] is None for each in groups.get(place, ())):
                points |= self._attacked(groups[place], kept)
            text, found = known[place], points.pop(place, None)
            rows = self.point(place, found) if text is None else PointRows.of_text(text)
            if kept and text is None:
                kept.keep(point_name(place), text := rows.text())
                rows = PointRows.of_text(text)  # as a resumed run has it
            done[place] = rows
        progress(len(self.instances), len(self.instances), "done")

    def _attacked(self, group: Sequence[int], kept: KeptParts | None) -> dict[int, Points]:
        if kept is None:
            return self.attacked(group)
        text = kept.read(attack_name(group))
        if text is None:
            kept.keep(attack_name(group), text := points_text(self.attacked(group)))
        return self.found_in(text)

    def found_in(self, text: str) -> dict[int, Points]:
        """What an attack has found, from its text, on the device of this call."""
        place = self.run.format.place
        return {at: {goal: place(x) for goal, x in found.items()} for at, found in points_of_text(text).items()}

    def comparison(self, done: Mapping[int, PointRows], *, whole: bool = True) -> Comparison:
        """The record of the rows that are done: with rates along the grid, and if it is `whole` with rows elsewhere."""
        found = {self.instances[place]: list(done[place].rows) for place in self.instances if place in done}
        first = next(iter(self.runs.values()))
        with explained(f"compare {self.theorem.id}", self.grid), one_thread():
            rows = [row for rows in found.values() for row in rows]
            if any(each.kind is Kind.RATE for instance in found for each in instance.point.stated.quantities):
                rows += rate_rows(list(found.items()), first)
            rows += rows_elsewhere(self.theorem) if whole and self._has_rows_elsewhere else []
        comparison = Comparison(
            result=self.theorem.id,
            citation=str(self.theorem.statement.citation),
            params=dict(self.params),
            environment=environment(first, self.origin.words)
            | ({"claims": "; ".join(self.claims)} if self.claims else {}),
            rows=rows,
            tables=[table for place in self.instances if place in done for table in done[place].tables],
            automatic=list(self.theorem.knobs.automatic),
        )
        return comparison.of(self.theorem)

    @property
    def _has_rows_elsewhere(self) -> bool:
        """Whether there are rows at parameters of their own."""
        theorem = self.theorem
        own = theorem.refuting.refutations or any(check.params is not None for check in theorem.checks)
        return self.origin.random and bool(own)


def point_name(place: int) -> str:
    """Of the part that a point of the grid is."""
    return f"point-{place + 1:05}"


def attack_name(group: Sequence[int]) -> str:
    """Of the part that an attack on several points is, by the first of them."""
    return f"attack-{group[0] + 1:05}"


def _required_cost(theorem: Theorem, grid: Sequence[Mapping[str, Any]], run: Run | None) -> Cost:
    """Raises UsageError for a point, or a grid, that takes too much; warns of one that takes more than a minute."""
    whole = Cost()
    for point in grid:
        cost = cost_of(theorem, point, run)
        cost.require(f"compare {_words(point)}", REMEDY)
        whole += cost
    call = f"compare {theorem.id}{f' ({len(grid)} points)' if len(grid) > 1 else ''}"
    whole.require(call, REMEDY)
    whole.announce(call)
    return whole


def _required_memory(
    theorem: Theorem,
    points: Sequence[Mapping[str, Any]],
    instances: Sequence[Instance],
    runs: Sequence[Run],
    origin: InputOrigin,
) -> int:
    """The bytes of the largest step, once the points are known. Raises UsageError if they are more than there are."""
    needed = [0]
    for each, own in zip(instances, runs, strict=True):
        if origin.counts(each):  # nothing where the source has said it, before the prompt was made
            needed.append(memory_of(each, own))
            require_memory(f"compare {_words(each.shown)}", needed[-1], REMEDY)
    with explained(f"compare {theorem.id}", points):
        for group in companies(instances) if runs[0].attack else []:
            needed.append(memory_at_once(group, runs[0]))
            require_memory(f"compare {_words(group[0].shown)}", needed[-1], REMEDY)
    return max(needed)


def _is_attacked(instance: Instance) -> bool:
    return instance.inputs.attacked and "attack" in settings_used(instance)


def _refuse_unused(instance: Instance, given: Mapping[str, Any]) -> None:
    """Raises UsageError for settings that were given and that no row of the point depends on."""
    idle, used = {"attack": 0, "dtype": "float64"}, settings_used(instance)  # these change nothing
    unused = [f"{name} = {x}" for name, x in given.items() if name not in used and idle.get(name) != x]
    if unused:
        drawn = instance.inputs.attacked and instance.theorem.over_draws
        why = f" ({RANDOM})" if drawn and "attack" in given and "attack" not in used else ""
        raise UsageError(
            f"compare: {', '.join(unused)} has no effect on any row of {instance.theorem.id}{why}; omit it"
        )


def environment(run: Run, inputs: str) -> dict[str, Any]:
    """What the numbers depend on beside the parameters."""
    packages = ("boundsmith", "torch", "sympy", "numpy", "python-flint")
    return {
        **{name: version(name) for name in packages},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "dtype": run.format.name,
        "device": run.format.described,
        "seed": run.seed,
        "samples": run.samples,
        "attack": run.attack,
        "restarts": run.restarts,
        "inputs": f"{inputs} and attacked" if run.attack else inputs,
    }


def _whole_numbers(**numbers: Any) -> dict[str, int]:
    lowest = {"samples": 1, "attack": 0, "restarts": 1, "seed": 0}
    wrong = [
        f"{name} = {number!r} has to be a whole number of at least {lowest[name]} (and below 2^63)"
        for name, number in numbers.items()
        if not isinstance(number, int) or isinstance(number, bool) or not lowest[name] <= number < 2**63
    ]
    if wrong:
        raise UsageError("compare: " + "; ".join(wrong) + ".")
    return numbers


def _words(params: Mapping[str, Any]) -> str:
    shown = {name: value for name, value in params.items() if isinstance(value, int | float | str)}
    return ", ".join(f"{name} = {value_words(value)}" for name, value in shown.items())
