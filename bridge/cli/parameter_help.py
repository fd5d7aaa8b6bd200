"""What the parameters of a result take: behind the help of a command, and where one was typed as an option."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

ID = re.compile(r"\w+\.\w+")
ARGUMENTS = "boundsmith.arguments"


class CommandOfResult(TyperCommand):
    """A command whose help, behind the id of a result, says what `--set` takes there."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        id = _id_in(ctx.meta.get(ARGUMENTS, ()))
        return "\n".join([super().get_help(ctx), *([] if id is None else _parameters_of(id))])


def _parameters_of(id: str) -> list[str]:
    from bridge.cli.describe import parameter_words
    from symbolic.catalogue import find_result

    return [f"parameters of {id}, for --set:", *map(parameter_words, find_result(id).parameters)]


def as_setting(option: str, arguments: Sequence[str]) -> str | None:
    """How a parameter of the result that is named is given, where it was typed as an option; None if it is none."""
    from symbolic.catalogue import find_result

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
    from symbolic.catalogue import RUNNING

    return next((word for word in typed if word in RUNNING), None)
