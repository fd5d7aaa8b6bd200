"""What a command is asked: a theorem and values of its parameters, found without torch, so that refusals come at once.

A command that only shows formulas needs no torch either.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from bridge.limits.notations import split_outside_brackets
from bridge.theorems.packages import find_packaged, require_unclaimed
from bridge.theorems.theorem_files import check_file, is_file
from symbolic.statements.catalogue import find_result, is_claimed
from symbolic.statements.result import Result
from symbolic.words.errors import UsageError

if TYPE_CHECKING:
    import bridge.theorems.theorem

Value = int | float | str


@dataclass(frozen=True)
class Request:
    """The id of a result, or a Python file with a theorem of the user's own, and the parameters that the user gave.

    As `typed`; `theorem` is what the engine takes: the id, or the theorem of a file, which is read once.
    """

    typed: str
    theorem: Union[str, "bridge.theorems.theorem.Theorem"]
    result: Result
    parameters: dict[str, Any]

    @property
    def is_own(self) -> bool:
        return is_file(self.typed)


def request(typed: str, settings: Sequence[str] | None = None, grids: Sequence[str] | None = None) -> Request:
    """What is typed, found and read.

    Raises UsageError for an unknown id, for a file without a theorem, and for parameters that it does not have (`seed`,
    say, would clash with an argument of `compare`).
    """
    theorem: Any = typed
    if is_file(typed):
        check_file(typed)
        from bridge.theorems.registry import find_theorem

        theorem = find_theorem(typed)
        result = theorem.statement
    elif is_claimed(typed):
        require_unclaimed(typed)
        result = find_result(typed)
    else:
        result = find_packaged(typed).statement
    given = parameters(settings or [], grids or [], {each.name for each in result.parameters if each.takes})
    result.check_names(given)
    return Request(typed, theorem, result, given)


def parameters(
    settings: Iterable[str], grids: Iterable[str] = (), texts: Collection[str] = frozenset()
) -> dict[str, Any]:
    """Of `--set name=value` and `--grid name=v1,v2,...`: names to values, those of a grid as tuples.

    `texts` are the parameters that stay text, whatever it holds. Raises UsageError that names every assignment it
    cannot read.
    """
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for option, assignment in [*(("--set", text) for text in settings), *(("--grid", text) for text in grids)]:
        try:
            name, text = _split(option, assignment, texts)
            if name in values:
                raise ValueError(f"'{name}' is given twice (--set and --grid); give it once")
            read = str if name in texts else parse_value
            values[name] = read(text) if option == "--set" else _grid(assignment, text, read)
        except ValueError as error:
            complaints.append(str(error))
    if complaints:
        raise UsageError(f"{'; '.join(complaints)}.")
    return values


def parse_value(text: str) -> Value:
    """A number where the text is one, else the text itself. Raises ValueError for digits other than 0 to 9."""
    for number in (int, float):
        try:
            found = number(text)
        except ValueError:
            continue
        if not text.isascii():
            raise ValueError(f"'{text}' is not a number in the digits 0 to 9")
        return found
    return text


def _split(option: str, assignment: str, texts: Collection[str]) -> tuple[str, str]:
    """Name and value. The text of `--set` is kept as it is, also where it is empty."""
    name, equals, text = assignment.partition("=")
    name = name.strip()
    if equals and name in texts and option == "--set":
        return name, text
    if not (name and equals and text.strip()):
        form = "name=value" if option == "--set" else "name=v1,v2,..."
        raise ValueError(f"{option} {assignment} is not of the form {form}")
    return name, text.strip()


def _grid(assignment: str, text: str, read: Callable[[str], Value]) -> tuple[Value, ...]:
    values = [value.strip() for value in split_outside_brackets(text)]
    if not all(values):
        raise ValueError(f"--grid {assignment} has an empty value; write name=v1,v2,...")
    return tuple(read(value) for value in values)
