"""What a command is asked for, checked without torch: a call that is refused answers at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.cli.assignments import parameters
from bridge.cli.outputs import Outputs
from bridge.cli.sources import Source, find_source
from bridge.export.choice import Choice
from bridge.limits.accepted import check_device, check_dtype
from bridge.limits.files import require_file
from bridge.questions.solving.tiers import check_tier
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class Request:
    """A theorem and the parameters that the user gave."""

    source: Source
    parameters: dict[str, Any]


def request(typed: str, settings: Sequence[str], grids: Sequence[str] = ()) -> Request:
    """The theorem, and the parameters that it has (`seed`, say, would clash with an argument of `compare`)."""
    source = find_source(typed)
    given = parameters(settings, grids, {each.name for each in source.result.parameters if each.takes})
    source.result.check_names(given)
    return Request(source, given)


def check_compare(options: Mapping[str, Any], outputs: Outputs) -> None:
    """Raises UsageError for what is wrong with the options of `compare`, whatever the theorem."""
    if "target" in options and "csv" not in options:
        beside = next((f", not with --{name}" for name in ("data", "text") if name in options), "")
        raise UsageError(f"--target goes with --csv FILE{beside}.")
    if "lags" in options and not {"data", "csv"} & set(options):
        raise UsageError("--lags goes with a series: --data NAME or --csv FILE. Without one, set the parameter itself.")
    if "dtype" in options:
        check_dtype(options["dtype"])
    if "device" in options:
        check_device(options["device"])
    sources = [name for name in ("text", "data", "csv") if name in options]
    if len(sources) == 1 and sources != ["data"]:  # the engine refuses several
        require_file(options[sources[0]], f"--{sources[0]}")
    outputs.check()


def check_choice(request: Request, choice: Choice) -> None:
    """Raises UsageError for a column, a scope or a key to sort by that the theorem's table cannot have."""
    result = request.source.result
    choice.check([*(each.name for each in result.parameters), *(symbol.name for symbol in result.symbols)])


def check_replay(path: Path, others: Sequence[str], outputs: Outputs) -> None:
    """Raises UsageError for a witness that cannot be read, and for options that cannot be combined with it."""
    if others or outputs.files or outputs.witnesses or outputs.choice != Choice():
        raise UsageError("--witness checks one saved input again and takes only --json; omit the other options.")
    require_file(str(path), "witness")


def check_steps(*, steps: bool) -> None:
    """Raises UsageError for options that say at which prompt, where no steps are asked for."""
    if not steps:
        raise UsageError("--exact, --seed and --set go with --steps: they choose the prompt at which steps are shown.")


def check_solve(request: Request, knob: str, options: Mapping[str, Any]) -> None:
    """Raises UsageError for a question that names no parameter, quantity or tier. `knob` may be `error` itself."""
    if knob != "error":
        request.source.result.parameter(knob)
    if "quantity" in options:
        request.source.result.quantity(options["quantity"])
    if "tier" in options:
        check_tier(options["tier"])
