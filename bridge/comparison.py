"""`compare`: printed | derived | instance | measured | attacked | rounding, for every quantity at every grid point.

The engine knows no topic: a Study resolves parameters to Cases, a Case samples, attacks, measures and bounds.
"""

import itertools
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import torch

from bridge.cost import Cost
from bridge.data import Table, load_table
from bridge.export.layout import value_words
from bridge.extremes import explained
from bridge.files import read_text
from bridge.limits.run import Format, Run
from bridge.material import Material, TextFile
from bridge.measure import measure
from bridge.memory import require_memory
from bridge.rates import rate_rows
from bridge.record import Comparison, Row, Witness
from bridge.refusals import briefly_refused
from bridge.registry import TheoremLike, find_study, registered_study
from bridge.rows import constant_rows, quantity_rows, refused_rows, replayed_row
from bridge.searches import Points, companies, memory_at_once, searched
from bridge.study import Case, Study
from numeric.threads import one_thread
from symbolic.catalogue import RUNNING
from symbolic.statements import Kind, Quantity, UsageError

Progress = Callable[[int, int, str], None]
MOST_POINTS = 10_000  # of a grid: each has rows of its own
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
    Of a table that is a series, a value is predicted from the `lags` values before it.

    `claim` is a bound of your own, such as "output <= 2*W_norm*exp(-p)", or several: judged like a printed one, in the
    tier `claimed`; in letters that a prompt knows, at each prompt too.

    Raises UsageError for anything the call gets wrong, before anything long is started.
    """
    study = find_study(result)
    result_id = study.result.id
    asked = {"samples": samples, "attack": attack, "restarts": restarts, "seed": seed}
    given: dict[str, Any] = {name: number for name, number in asked.items() if number is not None}
    settings = _whole_numbers(**{**DEFAULTS, **study.settings, **given})
    run = Run(**settings, format=Format.named("float64" if dtype is None else dtype, device))
    given |= {} if dtype is None else {"dtype": dtype}
    source = _source(text, data, csv, target)
    params |= source.lagged(study, lags, params)
    params = {**source.defaults(study, params), **params}
    grid = grid_of(study, params)
    _require_affordable(study, grid, source.least(run))
    with explained(f"compare {result_id}", grid):
        cases = [source.case(study, point, run) for point in grid]
    claims = [claim] if isinstance(claim, str) else list(claim)
    _set_claims(cases, claims)
    runs = [case.within(run if case.attackable else run.without_attack()) for case in cases]
    for case in cases:
        _refuse_unused(case, given)
    if attack and not all(case.attackable for case in cases):
        which = f"{result_id} has no input that an attack could move"
        which = which if source.random else f"{source.words} is measured as it is and not attacked"
        raise UsageError(f"compare: {which}; leave out attack = {attack}")
    for case, each in zip(cases, runs, strict=True):
        require_memory(f"compare {_label(case)}", case.memory(each), REMEDY)
    with explained(f"compare {result_id}", grid):
        for group in companies(cases) if runs[0].attack else []:
            needed = memory_at_once(group, _measured(group[0]), runs[0])
            require_memory(f"compare {_label(group[0])}", needed, REMEDY)
        rows = _run(cases, runs, progress or (lambda done, total, label: None))
        with one_thread():
            rows += study.checks() if source.random else []
            tables = [table for case in cases for table in case.tables()]
    comparison = Comparison(
        result=study.result.id,
        citation=str(study.result.citation),
        params={name: _listed(value) for name, value in _with_defaults(study, params).items()},
        environment=environment(runs[0], source.words) | ({"claims": "; ".join(claims)} if claims else {}),
        rows=rows,
        tables=tables,
        automatic=list(study.automatic),
    )
    return comparison.of(study)


def _require_affordable(study: Study, grid: Sequence[Mapping[str, Any]], run: Run | None) -> None:
    """Raises UsageError for a point, or a grid, that takes too much; warns of one that takes more than a minute."""
    whole = Cost()
    for point in grid:
        cost = study.cost(study.sizes(point), run)
        cost.require(f"compare {_words(point)}", REMEDY)
        whole += cost
    call = f"compare {study.result.id}{f' ({len(grid)} points)' if len(grid) > 1 else ''}"
    whole.require(call, REMEDY)
    whole.announce(call)


def _refuse_unused(case: Case, given: Mapping[str, Any]) -> None:
    """Raises UsageError for settings that were given and that no row of the case depends on."""
    idle = {"attack": 0, "dtype": "float64"}  # these change nothing
    unused = [f"{name} = {x}" for name, x in given.items() if name not in case.uses and idle.get(name) != x]
    if unused:
        why = f" ({case.unattacked})" if case.unattacked and "attack" in given else ""
        raise UsageError(f"compare: {', '.join(unused)} has no effect on any row of {case.result.id}{why}; omit it")


def _set_claims(cases: Sequence[Case], texts: Sequence[str]) -> None:
    if texts:
        from bridge.claims import set_claims  # with the proofs that it takes to read one

        set_claims(cases, texts)


def _run(cases: list[Case], runs: list[Run], progress: Progress) -> list[Row]:
    """The rows of all cases, then those of the rates along the grid."""
    found: list[tuple[Case, list[Row]]] = []
    points: dict[Case, Points] = {}
    groups = {group[0]: group for group in companies(cases)}
    with one_thread():
        for case, run in zip(cases, runs, strict=True):
            progress(len(found), len(cases), _label(case))
            if case in groups and run.attack:
                points |= _found_together(groups[case], run)
            found.append((case, _rows(case, run, points.pop(case, None))))
    progress(len(cases), len(cases), "done")
    return [*(row for _, rows in found for row in rows), *rate_rows(found, runs[0])]


def _found_together(group: Sequence[Case], run: Run) -> dict[Case, Points]:
    """What the attack finds for cases of one company; nothing if it fails.

    Each case then attacks by itself, after its random inputs: a refusal names an input of those if one fails.
    """
    try:
        return dict(zip(group, searched(group, _measured(group[0]), run), strict=True))
    except UsageError:
        return {}


@briefly_refused
def replay(path: str, theorem: "TheoremLike | None" = None) -> Row:
    """Re-check a witness file from scratch: the case rebuilt, the bound and the error evaluated in exact arithmetic.

    A witness of a theorem that is in no catalogue needs the theorem, or the file that holds it; no path that a witness
    names is ever imported. Raises UsageError for a file that has changed since.
    """
    try:
        witness = Witness.model_validate_json(read_text(path, "witness"))
    except UsageError:
        raise
    except (ValueError, TypeError, RuntimeError):
        raise UsageError(f"witness: '{path}' is not a complete witness file of boundsmith") from None
    return replay_witness(witness, path, theorem)


def replay_witness(witness: Witness, path: str = "", theorem: "TheoremLike | None" = None) -> Row:
    """The same for a witness at hand; `path` is the file that it comes from, for messages."""
    try:
        inputs = {name: torch.tensor(x, dtype=torch.float64, device="cpu") for name, x in witness.inputs.items()}
    except (ValueError, TypeError, RuntimeError):
        raise UsageError(f"witness: '{path}' is not a complete witness file of boundsmith") from None
    study = _study_of(witness, path, theorem)
    for name in study.missing(witness.params):
        raise UsageError(f"witness: '{path}' does not give {name}")
    study.require_affordable(witness.params, "witness:")
    case = study.case(witness.params)
    _set_claims([case], [witness.claim] if witness.claim else [])
    case.settings = witness.settings or {}
    stated = {quantity.name for quantity in case.result.quantities} - case.checked
    if witness.quantity not in stated:
        return case.replay_check(witness.quantity, inputs)
    quantity = case.quantity(witness.quantity)
    _check_replayable(case, quantity, witness.scope)
    if quantity.scopes:
        case.check_inputs(inputs)
    return replayed_row(case, quantity, inputs, witness.scope)


def _study_of(witness: Witness, path: str, theorem: "TheoremLike | None") -> Study:
    """Raises UsageError for a witness of another theorem, or of a file that has changed."""
    if theorem is None and witness.sha256 is not None:
        raise UsageError(
            f"witness: '{path}' is about {witness.result}, a theorem from a file; give that file: "
            f"boundsmith compare --witness {path} FILE.py"
        )
    if theorem is None and witness.result not in RUNNING:
        raise UsageError(
            f"witness: '{path}' is about {witness.result}, a theorem of your own; give it: bs.replay('{path}', theorem)"
        )
    study = registered_study(witness.result) if theorem is None else find_study(theorem)
    if study.result.id != witness.result:
        raise UsageError(f"the witness in '{path}' is for {witness.result}, not for {study.result.id}.")
    if study.sha256 != witness.sha256:
        raise UsageError(
            f"witness: '{path}' was found with another version of the file of {witness.result}, or of a module or data "
            f"file that it reads; compare again with the files as they are now"
        )
    return study


def _check_replayable(case: Case, quantity: Quantity, scope: str | None) -> None:
    if quantity.kind is Kind.RATE:
        raise UsageError(f"witness: '{quantity.name}' is a rate over a grid; no single input can refute it")
    scopes = dict.fromkeys([*quantity.scopes, *(["prompt"] if case.prompt_tiers(quantity) else [])])
    if scope is not None and scope not in scopes:
        known = ", ".join(scopes) or "none"
        raise UsageError(f"witness: '{quantity.name}' has no scope '{scope}'; its scopes: {known}")
    refusal = case.refusal(quantity)
    if refusal is not None:
        raise UsageError(f"witness: '{quantity.name}' cannot be run here: {refusal.reason}")


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

    def defaults(self, study: Study, params: Mapping[str, Any]) -> dict[str, Any]:
        return {} if self.material is None else study.source_defaults(params, self.material)

    def lagged(self, study: Study, lags: int | None, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameter that the lags of a series are. Raises UsageError where there is none, or it is given too."""
        if lags is None:
            return {}
        if not isinstance(self.material, Table):
            raise UsageError(
                f"compare: lags = {lags} goes with a series; give data = NAME or csv = FILE too, or omit it"
            )
        if not study.lags:
            raise UsageError(f"{study.result.id} takes no lags: it does not read a table as a series")
        if study.lags in params:
            raise UsageError(f"compare: lags = {lags} is the parameter {study.lags}, which is given too; keep one")
        return {study.lags: lags}

    def case(self, study: Study, point: Mapping[str, Any], run: Run) -> Case:
        if self.material is None:
            return study.case(point, run)
        return study.source_case(point, self.material, run)


def _source(text: str | None, data: str | None, csv: str | None, target: str | None) -> _Source:
    given = [name for name, value in (("text", text), ("data", data), ("csv", csv)) if value is not None]
    if len(given) > 1:
        raise UsageError(f"compare: inputs come from one source, but {' and '.join(given)} are given; keep one of them")
    if target is not None and csv is None:
        raise UsageError(f"compare: target = '{target}' names a column of a csv; give csv = FILE too, or no target")
    if text is not None:
        return _Source("text", TextFile.at(text))
    if not given:
        return _Source("random")
    table = load_table(data, csv, target)
    return _Source(f"table {table.source}", table)


def _measured(case: Case) -> list[Quantity]:
    """The quantities whose errors are measured."""
    return [q for q in case.bounded() if q.scopes and case.refusal(q) is None]


def _rows(case: Case, run: Run, points: Points | None) -> list[Row]:
    """`points` are those that the attack has found; None: it is still to be made."""
    stated, measured = case.bounded(), _measured(case)
    refused = {q.name: why for q in stated if (why := case.refusal(q)) is not None}
    constants = [q for q in stated if not q.scopes and q.name not in refused]
    measurement = measure(case, measured, run, points)
    return [
        *(row for q in measured for row in quantity_rows(case, q, measurement, run)),
        *constant_rows(case, constants, run),
        *(row for q in stated if q.name in refused for row in refused_rows(case, q, refused[q.name], run)),
        *case.extra_rows(run),
        *case.checks(run),
    ]


def grid_of(study: Study, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the given values; defaults where nothing is given."""
    for name in params:
        study.result.parameter(name)  # raises for a name that is not a parameter
    chosen = _with_defaults(study, params)
    axes = []
    for name, value in chosen.items():
        values = _values(value, is_number=study.result.parameter(name).symbol is not None)
        if len(values[: MOST_POINTS + 1]) > MOST_POINTS:  # a range may have more than `len` can tell
            raise UsageError(f"{study.result.id}: {name} has more than {MOST_POINTS} values; give fewer")
        if not values:
            raise UsageError(f"{study.result.id}: {name} has no values; give at least one")
        if any(each in values[:place] for place, each in enumerate(values)):
            raise UsageError(f"{study.result.id}: {name} has the same value twice in {values}")
        axes.append([(name, each) for each in values])
    points = math.prod(len(axis) for axis in axes)
    if points > MOST_POINTS:
        raise UsageError(f"{study.result.id}: the grid has {points} points, at most {MOST_POINTS}; give fewer values")
    return [dict(point) for point in itertools.product(*axes)]


def _with_defaults(study: Study, params: Mapping[str, Any]) -> dict[str, Any]:
    """The given parameters, with defaults for the others but for those that these imply (d, from W_star)."""
    defaults = {parameter.name: parameter.default for parameter in study.result.parameters}
    return {
        name: params.get(name, value) for name, value in defaults.items() if name in params or name not in study.implied
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


def _label(case: Case) -> str:
    return _words(case.params)


def _words(params: Mapping[str, Any]) -> str:
    shown = {name: value for name, value in params.items() if isinstance(value, int | float | str)}
    return ", ".join(f"{name} = {value_words(value)}" for name, value in shown.items())
