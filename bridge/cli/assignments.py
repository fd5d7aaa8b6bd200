"""`--set name=value` and `--grid name=v1,v2,...` as the keyword arguments of `compare` and `solve`."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

OPENING, CLOSING = "([{", ")]}"


def parameters(
    settings: Iterable[str], grids: Iterable[str] = (), texts: Collection[str] = frozenset()
) -> dict[str, Any]:
    """Names to values, those of a grid as tuples; `texts` are the parameters that stay text, whatever it holds.

    Raises UsageError that names every assignment it cannot read.
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
        from symbolic.words.errors import UsageError

        raise UsageError(f"{'; '.join(complaints)}.")
    return values


def parse_value(text: str) -> int | float | str:
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


def _grid(assignment: str, text: str, read: Callable[[str], int | float | str]) -> tuple[int | float | str, ...]:
    values = [value.strip() for value in split_outside_brackets(text)]
    if not all(values):
        raise ValueError(f"--grid {assignment} has an empty value; write name=v1,v2,...")
    return tuple(read(value) for value in values)


def split_outside_brackets(text: str) -> Iterator[str]:
    """The parts between commas; a comma inside brackets belongs to a matrix and splits nothing."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character in OPENING) - (character in CLOSING)
        if character == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]
