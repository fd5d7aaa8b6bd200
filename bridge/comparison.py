"""`compare`: printed | derived | instance | measured | attacked | rounding, for every quantity at every grid point.

The engine knows no topic: a Study resolves parameters to Cases, a Case samples, attacks, measures and bounds.
"""

import itertools
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import torch

from bridge.budget import Budget
from bridge.files import read_text
from bridge.measure import Measurement, measure
from bridge.memory import require_memory
from bridge.rates import rate_rows
from bridge.record import Comparison, Row, Witness
from bridge.registry import find_study
from bridge.rows import constant_rows, quantity_rows, replayed_row
from bridge.study import Case, Study, torch_device, torch_dtype
from symbolic.statements import Kind, UsageError

Progress = Callable[[int, int, str], None]
DEFAULT_SAMPLES, DEFAULT_ATTACK, DEFAULT_RESTARTS = 256, 100, 12


def compare(
    result_id: str,
    *,
    seed: int = 0,
    samples: int = DEFAULT_SAMPLES,
    attack: int = DEFAULT_ATTACK,
    restarts: int = DEFAULT_RESTARTS,
    dtype: str = "float64",
    device: str = "cpu",
    text: str | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Comparison:
    """Set the bounds of a result beside the errors of its network.

    `params` take the result's parameters; a list or tuple of values spans a grid. `samples` random inputs are drawn
    per point, `attack` gradient steps taken from each of `restarts` starts (0: no attack). With `text` the inputs
    are windows of that file and there is no attack. The same seed gives the same record.

    Raises UsageError for anything the call gets wrong, before anything long is started.
    """
    study = find_study(result_id)
    budget = Budget(*_whole_numbers(samples=samples, attack=attack, restarts=restarts, seed=seed))
    torch_dtype(dtype), torch_device(device)
    if text is not None:
        params = {**study.text_defaults(params), **params}
        budget = budget.without_attack()
    grid = _grid(study, params)
    cases = [_case(study, point, text, seed=seed, dtype=dtype, device=device) for point in grid]
    for case in cases:
        require_memory(f"compare {_label(case)}", case.memory(budget), "lower the sizes, --samples or --restarts")
    rows: list[Row] = []
    with one_thread():
        for number, case in enumerate(cases):
            if progress:
                progress(number, len(cases), _label(case))
            rows += _rows(case, budget)
    if progress:
        progress(len(cases), len(cases), "done")
    rows += rate_rows(study, rows, budget)
    return Comparison(
        result=study.result.id,
        citation=str(study.result.citation),
        params={name: _listed(value) for name, value in _with_defaults(study, params).items()},
        environment=environment(dtype, device, budget, text),
        rows=rows,
    )


def replay(path: str) -> Row:
    """Re-check a witness file from scratch: the case rebuilt, the bound and the error evaluated in exact arithmetic."""
    try:
        witness = Witness.model_validate_json(read_text(path, "witness"))
        inputs = {name: torch.tensor(values, dtype=torch.float64) for name, values in witness.inputs.items()}
    except UsageError:
        raise
    except (ValueError, TypeError, RuntimeError):
        raise UsageError(f"witness: '{path}' is not a complete witness file of boundsmith") from None
    study = find_study(witness.result)
    quantity = study.result.quantity(witness.quantity)
    if quantity.kind is Kind.RATE:
        raise UsageError(f"witness: '{quantity.name}' is a rate over a grid; no single input can refute it")
    for name in study.result.check_names(witness.params):
        raise UsageError(f"witness: '{path}' does not give {name}")
    case = study.case(witness.params, seed=0, dtype="float64", device="cpu")
    if quantity.scopes:
        case.check_inputs(inputs)
    return replayed_row(case, quantity, inputs)


def environment(dtype: str, device: str, budget: Budget, text: str | None) -> dict[str, Any]:
    """What the numbers depend on beside the parameters."""
    packages = ("boundsmith", "torch", "sympy", "numpy", "python-flint")
    return {
        **{name: version(name) for name in packages},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "dtype": dtype,
        "device": device if device == "cpu" else f"{device} ({torch.cuda.get_device_name(torch.device(device))})",
        "seed": budget.seed,
        "samples": budget.samples,
        "attack": budget.attack,
        "restarts": budget.restarts,
        "inputs": "text" if text else "random and attacked",
    }


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread: tensors here are small (threads made a run ten times slower), and sums keep their order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _rows(case: Case, budget: Budget) -> list[Row]:
    quantities = [q for q in case.result.quantities if q.scopes]
    measurement: Measurement = measure(case, quantities, budget)
    rows = [row for q in quantities for row in quantity_rows(case, q, measurement, budget)]
    constants = [q for q in case.result.quantities if not q.scopes and q.kind is not Kind.RATE]
    return rows + constant_rows(case, constants, budget) + case.extra_rows(budget)


def _case(study: Study, point: Mapping[str, Any], text: str | None, **settings: Any) -> Case:
    return study.case(point, **settings) if text is None else study.text_case(point, text, **settings)


def _grid(study: Study, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the given values; defaults where nothing is given."""
    for name in params:
        study.result.parameter(name)  # raises for a name that is not a parameter
    chosen = _with_defaults(study, params)
    axes = []
    for name, value in chosen.items():
        values = _values(value, is_number=study.result.parameter(name).symbol is not None)
        if not values:
            raise UsageError(f"{study.result.id}: {name} has no values; give at least one")
        if any(each in values[:place] for place, each in enumerate(values)):
            raise UsageError(f"{study.result.id}: {name} has the same value twice in {values}")
        axes.append([(name, each) for each in values])
    return [dict(point) for point in itertools.product(*axes)]


def _with_defaults(study: Study, params: Mapping[str, Any]) -> dict[str, Any]:
    """The given parameters, with defaults for the others but for those that a given one implies (d, from W_star)."""
    defaults = {parameter.name: parameter.default for parameter in study.result.parameters}
    return {name: params.get(name, value) for name, value in defaults.items() if name in params or name != "d"}


def _values(value: Any, *, is_number: bool) -> list[Any]:
    """A grid axis: the elements of a tuple, list or range; one value otherwise (a matrix is one value)."""
    if isinstance(value, range | tuple):
        return list(value)
    if isinstance(value, list) and (is_number or not any(isinstance(row, list | tuple) for row in value)):
        return value
    return [value]


def _listed(value: Any) -> Any:
    if isinstance(value, range | tuple):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _whole_numbers(**numbers: Any) -> list[int]:
    lowest = {"samples": 1, "attack": 0, "restarts": 1, "seed": 0}
    wrong = [
        f"{name} = {number!r} has to be a whole number of at least {lowest[name]} (and below 2^63)"
        for name, number in numbers.items()
        if not isinstance(number, int) or isinstance(number, bool) or not lowest[name] <= number < 2**63
    ]
    if wrong:
        raise UsageError("compare: " + "; ".join(wrong) + ".")
    return list(numbers.values())


def _label(case: Case) -> str:
    return ", ".join(f"{name} = {value}" for name, value in case.params.items() if isinstance(value, int | float))
