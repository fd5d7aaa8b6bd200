"""How statements and derivations show themselves: what writes LaTeX and text knows both and sets it (latex/)."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

LINE, FIELD = 300, 60  # characters of what shows itself in one line, and of a field of it


class Shown:
    """`expression`, `derivation` and `result` are their LaTeX.

    `display` is what a notebook shows of a result and of a derivation, `text` what `print` shows.
    """

    expression: Callable[..., str]
    derivation: Callable[[Any], str]
    result: Callable[..., str]
    display: Callable[[Any], str]
    text: Callable[[Any], str]


SHOWN = Shown()


def displayed(body: str) -> str:
    """A display that notebooks show as it is."""
    return f"$$\n{body}\n$$"


def cut(text: str, most: int = 72) -> str:
    """The text, without its end where it is longer than that."""
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def brief(record: Any) -> str:
    """The repr of a dataclass in one line: the fields that have a value of their own, without the ends of long ones."""
    given = {each.name: getattr(record, each.name) for each in fields(record)}
    default = {each.name: each.default for each in fields(record)}
    shown = (
        f"{name}={cut(' '.join(repr(value).split()), FIELD)}"
        for name, value in given.items()
        if value is not default[name] and not (isinstance(value, str | tuple | dict) and not value)
    )
    return cut(f"{type(record).__name__}({', '.join(shown)})", LINE)


def screen(html: str) -> str:
    """The same for a notebook, at most a screen high: what is longer scrolls."""
    return f'<div style="max-height: 45em; overflow: auto">\n{html}\n</div>'
