"""The help of a command: plain words without types; and what the parameters of a result take, behind it."""

import re
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

ID = re.compile(r"\w+\.\w+")
WIDTH = 78  # columns of a help, as typer fills it
ARGUMENTS = "boundsmith.arguments"
TYPE = re.compile(r"(?<=[\w\].]) <[^<>]+>")  # behind the name of an argument
REQUIRED = re.compile(r"\{([^{}]+?)(\.\.\.)?\}")  # in the line of usage


class PlainCommand(TyperCommand):
    """A command whose help names its arguments as its text does, whatever types typer adds."""

    def get_help(self, ctx: Any) -> str:
        usage, rest = super().get_help(ctx).split("\n\n", 1)
        rest = TYPE.sub(lambda found: " " * len(found[0]), rest).replace("[x>=", "[N>=")
        return f"{REQUIRED.sub(lambda found: found[1], usage)}\n\n{rest}"

    def get_short_help_str(self, limit: int = 0) -> str:
        """The first sentence, whole; typer would cut it off."""
        words = " ".join((self.help or "").split("\n\n")[0].split())
        return re.split(r"(?<=\.) (?=[A-Z])", words)[0]


class CommandOfResult(PlainCommand):
    """A command whose help, behind the id of a result, says what `--set` takes there."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        id = _id_in(ctx.meta.get(ARGUMENTS, ()))
        return "\n".join([super().get_help(ctx), *([] if id is None else _parameters_of(id))])


def _parameters_of(id: str) -> list[str]:
    from bridge.cli.describe import parameter_words
    from symbolic.statements.catalogue import find_result

    lines = map(parameter_words, find_result(id).parameters)
    filled = (textwrap.fill(line, WIDTH, subsequent_indent=" " * 6) for line in lines)
    return ["", f"Parameters of {id}, for --set:", *filled]


def as_setting(option: str, arguments: Sequence[str]) -> str | None:
    """How a parameter of the result that is named is given, where it was typed as an option; None if it is none."""
    from symbolic.statements.catalogue import find_result

    id, name = _id_in(arguments), option.lstrip("-")
    parameters = () if id is None else find_result(id).parameters
    taken = next((each.takes or "VALUE" for each in parameters if each.name == name), None)
    if taken is None:
        return None
    typed = [word for before, word in pairwise(arguments) if before == option]
    typed += [word.removeprefix(f"{option}=") for word in arguments if word.startswith(f"{option}=")]
    return f"{name} is a parameter of {id}, and no option; give it by --set '{name}={[*typed, taken][0]}'."


def _id_in(arguments: Sequence[str]) -> str | None:
    """The first that is the id of a result of ours that runs."""
    typed = [word for word in arguments if ID.fullmatch(word)]
    if not typed:
        return None
    from symbolic.statements.catalogue import RUNNING

    return next((word for word in typed if word in RUNNING), None)
