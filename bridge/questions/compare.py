"""`compare`: printed | derived | instance | measured | attacked | rounding, for every quantity at every grid point.

The engine knows no topic: it makes an instance of each point, attacks those that differ in numbers together, and asks
everything that is judged there for its rows.
"""

import itertools
import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from bridge.export.comparison import Comparison
from bridge.instances.instance import Instance
from bridge.instances.point import Point, cost_of, first_defaults
from bridge.instances.real import Real, lags_of, real_instance, suiting
from bridge.instances.search import Points, companies, memory_at_once, memory_of, searched
from bridge.judging.elsewhere import rows_elsewhere
from bridge.judging.faithful import NAME as FAITHFUL
from bridge.judging.judged import rows_at, run_at, settings_used, tables_at
from bridge.judging.rates import rate_rows
from bridge.limits.cost import Cost
from bridge.limits.memory import require_memory
from bridge.limits.refusals import briefly_refused, explained
from bridge.limits.run import Format, Run
from bridge.theorems.data import Table
from bridge.theorems.numbers import value_words
from bridge.theorems.real_inputs import Material, TextFile
from bridge.theorems.record import Row
from bridge.theorems.refutable import refutable
from bridge.theorems.registry import TheoremLike, find_theorem
from bridge.theorems.tables import load_table
from bridge.theorems.theorem import Theorem
from numeric.search.threads import one_thread
from symbolic.statements.result import Kind
from symbolic.words.errors import UsageError

Progress = Callable[[int, int, str], None]
MOST_POINTS = 10_000  # of a grid: each has rows of its own
RANDOM = "the inputs are named randomness: they are drawn by seeds, and not attacked"
REMEDY = "lower the sizes, --samples or --restarts"
DEFAULTS = {"samples": 256, "attack": 100, "restarts": 12, "seed": 0}


@briefly_refused
def compare(
    result: "TheoremLike",
    *,
    seed: int | None = None,
    samples: int | None = None,
    attack: int | None = None,
    restarts: int | None = None,
    dtype: str | None = None,
    device: str = "cpu",
    text: str | None = None,
    data: str | None = None,
    csv: str | None = None,
    target: str | None = None,
    features: str | Sequence[str] | None = None,
    lags: int | None = None,
    claim: str | Sequence[str] = (),
    progress: Progress | None = None,
    **params: Any,
) -> Comparison:
    """Set the bounds of a theorem beside the errors of its network.

    `result` is a `Theorem`, the id of a result, or the path of a Python file that holds a theorem (`own.py`,
    `own.py:NAME` where it holds several).
    `params` take the result's parameters; a list or tuple of values spans a grid. `samples` random inputs (256 by
    default, fewer where each takes long) are drawn per point, `attack` gradient steps (100) taken from each of
    `restarts` starts (12; 0 steps: no attack). The same seed (0) and dtype (float64) give the same record. What a
    result without inputs has no use for is refused.

    Real inputs come from one source at most: `text`, a file of which windows are the inputs, without an attack;
    `data`, the name of a bundled table; or `csv`, a file with a header row, and `target`, the column to be predicted.
    Of a table `features` are the columns that are taken beside the target ("bmi,bp", or a list), by default all others.
    Of a table that is a series, a value is predicted from the `lags` values before it.

    `claim` is a bound of your own, such as "output <= 2*W_norm*exp(-p)", or several: judged like a printed one, in the
    tier `claimed`; in letters that a prompt knows, at each prompt too.

    Raises UsageError for anything the call gets wrong, before anything long is started.
    """
    theorem = find_theorem(result)
    asked = {"samples": samples, "attack": attack, "restarts": restarts, "seed": seed}
    given: dict[str, Any] = {name: number for name, number in asked.items() if number is not None}
    settings = _whole_numbers(**{**DEFAULTS, **theorem.settings, **given})
    run = Run(**settings, format=Format.named("float64" if dtype is None else dtype, device))
    given |= {} if dtype is None else {"dtype": dtype}
    source = _source(text, data, csv, target, features)
    params |= source.lagged(theorem, lags, params)
    params = {**source.defaults(theorem, params), **params}
    grid = grid_of(theorem, params)
    _require_affordable(theorem, grid, source.least(run))
    claims = [claim] if isinstance(claim, str) else list(claim)
    with explained(f"compare {theorem.id}", grid):
        instances = [source.instance(theorem, point, run) for point in grid]
    if claims:
        from bridge.questions.claims import with_claims  # with the proofs that it takes to read one

        instances = with_claims(instances, claims)
    for instance in instances:
        _refuse_unused(instance, given)
    if attack and not all(_is_attacked(instance) for instance in instances):
        which = f"{theorem.id} has no input that an attack could move"
        which = which if source.random else f"{source.words} is measured as it is and not attacked"
        raise UsageError(f"compare: {which}; leave out attack = {attack}")
    runs = [run_at(instance, run) for instance in instances]
    # Nothing where the source has said it, before the prompt was made.
    needed = {each: memory_of(each, own) for each, own in zip(instances, runs, strict=True) if source.counts(each)}
    if needed:
        largest = max(needed, key=lambda each: needed[each])
        require_memory(f"compare {_words(largest.shown)}", needed[largest], REMEDY)
    with explained(f"compare {theorem.id}", grid):
        for group in companies(instances) if runs[0].attack else []:
            require_memory(f"compare {_words(group[0].shown)}", memory_at_once(group, runs[0]), REMEDY)
        rows = _rows(instances, runs, progress or (lambda done, total, label: None))
        with one_thread():
            rows += rows_elsewhere(theorem) if source.random and _has_rows_elsewhere(theorem) else []
            tables = [table for each, own in zip(instances, runs, strict=True) for table in tables_at(each, own)]
    comparison = Comparison(
        result=theorem.id,
        citation=str(theorem.statement.citation),
        params={name: _listed(value) for name, value in _with_defaults(theorem, params).items()},
        environment=environment(runs[0], source.words) | ({"claims": "; ".join(claims)} if claims else {}),
        rows=rows,
        tables=tables,
        automatic=list(theorem.knobs.automatic),
    )
    return comparison.of(theorem)


def _require_affordable(theorem: Theorem, grid: Sequence[Mapping[str, Any]], run: Run | None) -> None:
    """Raises UsageError for a point, or a grid, that takes too much; warns of one that takes more than a minute."""
    whole = Cost()
    for point in grid:
        cost = cost_of(theorem, point, run)
        cost.require(f"compare {_words(point)}", REMEDY)
        whole += cost
    call = f"compare {theorem.id}{f' ({len(grid)} points)' if len(grid) > 1 else ''}"
    whole.require(call, REMEDY)
    whole.announce(call)


def _has_rows_elsewhere(theorem: Theorem) -> bool:
    """Whether there are rows at parameters of their own."""
    return bool(theorem.refuting.refutations) or any(check.params is not None for check in theorem.checks)


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


def _rows(instances: Sequence[Instance], runs: Sequence[Run], progress: Progress) -> list[Row]:
    """The rows of all points, then those of the rates along the grid."""
    found: dict[Instance, list[Row]] = {}
    with one_thread():
        for instance, row in rows_of(instances, runs):
            if row is None:
                progress(len(found), len(instances), _words(instance.shown))
                found[instance] = []
            else:
                found[instance].append(row)
    progress(len(instances), len(instances), "done")
    rates = any(each.kind is Kind.RATE for instance in instances for each in instance.point.stated.quantities)
    along = rate_rows(list(found.items()), runs[0]) if rates else []
    return [*(row for rows in found.values() for row in rows), *along]


def rows_of(instances: Sequence[Instance], runs: Sequence[Run]) -> Iterator[tuple[Instance, Row | None]]:
    """Each row as it is done, with its point; None where a point begins.

    The attack on points that differ in numbers alone is made before the rows of the first of them.
    """
    points: dict[Instance, Points] = {}
    groups = {group[0]: group for group in companies(instances)} if runs and runs[0].attack else {}
    for instance, run in zip(instances, runs, strict=True):
        yield instance, None
        if instance in groups and run.attack:
            points |= _found_together(groups[instance], run)
        for row in rows_at(instance, run, points.pop(instance, None)):
            yield instance, row


def _found_together(group: Sequence[Instance], run: Run) -> dict[Instance, Points]:
    """What the attack finds for points of one company; nothing if it fails.

    Each is then attacked by itself, after its random inputs: a refusal names an input of those if one fails.
    """
    try:
        return dict(zip(group, searched(group, run), strict=True))
    except UsageError:
        return {}


def shown_quantities(theorem: Theorem, params: Mapping[str, Any]) -> list[str]:
    """The names of the quantities that a comparison at this point has rows of."""
    here = Point.at(theorem, first_defaults(theorem) | dict(params)).stated.quantities
    others = [*(each.quantity for each in theorem.checks), *refutable(theorem)]
    return [each.name for each in (*here, *others)] + [FAITHFUL]


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


@dataclass(frozen=True)
class _Source:
    """Where the inputs come from: a text, a table, or (None) the hypotheses."""

    words: str
    material: Material | None = None

    @property
    def random(self) -> bool:
        return self.material is None

    def least(self, run: Run) -> Run | None:
        """What is run at least: real inputs are not attacked; what a table takes its source tells, by its rows."""
        if isinstance(self.material, Table):
            return None
        return run if self.material is None else run.without_attack()

    def defaults(self, theorem: Theorem, params: Mapping[str, Any]) -> dict[str, Any]:
        return {} if self.material is None else suiting(theorem, params, self.material)

    def lagged(self, theorem: Theorem, lags: int | None, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameter that the lags of a series are. Raises UsageError where there is none, or it is given too."""
        if lags is None:
            return {}
        if not isinstance(self.material, Table):
            raise UsageError(
                f"compare: lags = {lags} goes with a series; give data = NAME or csv = FILE too, or omit it"
            )
        name = lags_of(theorem)
        if not name:
            raise UsageError(f"{theorem.id} takes no lags: it does not read a table as a series")
        if name in params:
            raise UsageError(f"compare: lags = {lags} is the parameter {name}, which is given too; keep one")
        return {name: lags}

    def instance(self, theorem: Theorem, point: Mapping[str, Any], run: Run) -> Instance:
        if self.material is None:
            return Instance.of(theorem, dict(point), run)
        return real_instance(theorem, point, self.material, run)

    def counts(self, instance: Instance) -> bool:
        """Whether the memory of a point is still to be told."""
        if self.material is None:
            return True
        inputs = instance.inputs
        return bool(instance.theorem.inputs) and isinstance(inputs, Real) and inputs.source.work is None


def _source(
    text: str | None, data: str | None, csv: str | None, target: str | None, features: str | Sequence[str] | None
) -> _Source:
    given = [name for name, value in (("text", text), ("data", data), ("csv", csv)) if value is not None]
    if len(given) > 1:
        raise UsageError(f"compare: inputs come from one source, but {' and '.join(given)} are given; keep one of them")
    if target is not None and csv is None:
        raise UsageError(f"compare: target = '{target}' names a column of a csv; give csv = FILE too, or no target")
    if features is not None and data is None and csv is None:
        raise UsageError(
            f"compare: features = {features!r} names columns of a table; give data = NAME or csv = FILE too, or omit it"
        )
    if text is not None:
        return _Source("text", TextFile.at(text))
    if not given:
        return _Source("random")
    table = load_table(data, csv, target, features)
    return _Source(f"table {table.source}{table.note}", table)


def grid_of(theorem: Theorem, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the given values; defaults where nothing is given."""
    for name in params:
        theorem.statement.parameter(name)  # raises for a name that is not a parameter
    chosen = _with_defaults(theorem, params)
    axes = []
    for name, value in chosen.items():
        values = _values(value, is_number=theorem.statement.parameter(name).symbol is not None)
        if len(values[: MOST_POINTS + 1]) > MOST_POINTS:  # a range may have more than `len` can tell
            raise UsageError(f"{theorem.id}: {name} has more than {MOST_POINTS} values; give fewer")
        if not values:
            raise UsageError(f"{theorem.id}: {name} has no values; give at least one")
        if any(each in values[:place] for place, each in enumerate(values)):
            raise UsageError(f"{theorem.id}: {name} has the same value twice in {values}")
        axes.append([(name, each) for each in values])
    points = math.prod(len(axis) for axis in axes)
    if points > MOST_POINTS:
        raise UsageError(f"{theorem.id}: the grid has {points} points, at most {MOST_POINTS}; give fewer values")
    return [dict(point) for point in itertools.product(*axes)]


def _with_defaults(theorem: Theorem, params: Mapping[str, Any]) -> dict[str, Any]:
    """The given parameters, with defaults for the others but for those that these imply (d, from W_star)."""
    defaults = {parameter.name: parameter.default for parameter in theorem.statement.parameters}
    return {
        name: params.get(name, value)
        for name, value in defaults.items()
        if name in params or name not in theorem.knobs.implied
    }


def _values(value: Any, *, is_number: bool) -> Sequence[Any]:
    """A grid axis: the elements of a tuple, list or range; one value otherwise (a matrix is one value)."""
    if isinstance(value, range | tuple):
        return value
    if isinstance(value, list) and (is_number or not any(isinstance(row, list | tuple) for row in value)):
        return value
    return [value]


def _listed(value: Any) -> Any:
    if isinstance(value, range | tuple):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value


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
