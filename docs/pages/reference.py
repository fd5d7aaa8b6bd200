"""The reference: each namespace with signatures and docstrings, the command with its options, errors, an index."""

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from typer.main import get_command

import boundsmith as bs
from bridge.cli import entry
from bridge.cli.commands import app
from docs.pages.markdown import code, docstring, escape, plain_text, table

ROOT = Path(__file__).parents[2]
FLOORS = ("symbolic", "numeric", "bridge")
APART = ("training",)  # namespaces that are imported by themselves
WIDTH = 88
PREFIX = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])")
QUOTED = re.compile(r'(?<=: )"([^"]+)"')  # an annotation
ANY = re.compile(r": Any\b(?! \|)( =\s)?")
EXITS = re.compile(r"(\d+): (.*?)(?= \d+: |$)")
HIDDEN = re.compile(  # what is no source: objects in defaults, validators in annotations
    r"<(?:built-in )?function (?:[^ ]*\.)?(?:(?P<name>\w+)|<lambda>)(?: at 0x\w+)?>|<(?P<enum>[A-Z]\w+\.\w+): [^>]*>"
    r"|<(?:object|factory)[^>]*>|(?:\w+\.)*Annotated\[(?P<type>\w+), [^\[\]]*\]"
)


def write(folder: Path) -> None:
    """One page for each namespace, the command, the errors and the index."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"bs": _page("bs", bs, list(dir(bs)))}
    pages |= {name: _page(f"bs.{name}", space, space.__all__) for name, space in namespaces().items()}
    pages |= {"command": _command_page(), "errors": _error_page(), "names": _names_page()}
    pages["index"] = _index(list(pages))
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text)


def namespaces() -> dict[str, ModuleType]:
    """Those of `bs`, then those that are imported by themselves."""
    own = {name: getattr(bs, name) for name in dir(bs) if inspect.ismodule(getattr(bs, name))}
    return own | {name: import_module(f"boundsmith.{name}") for name in APART}


def _index(names: Sequence[str]) -> str:
    spaces = [[f"[`bs.{name}`]({name}.md)", _first(space)] for name, space in namespaces().items()]
    rows = [
        ["[`bs`](bs.md)", _first(bs)],
        *spaces,
        ["[`boundsmith`](command.md)", "The command line: every command and its options."],
        ["[Errors](errors.md)", "The classes of errors, and the exit codes of the command."],
        ["[Names](names.md)", "All public names in alphabetical order."],
    ]
    toctree = code("{toctree}", "\n".join([":hidden:", "", *names]))
    return "\n\n".join(["# Reference", table(["page", "what it has"], rows), toctree]) + "\n"


def _first(of: object) -> str:
    return plain_text((inspect.getdoc(of) or "").split("\n\n")[0].replace("\n", " "))


def _page(title: str, space: ModuleType, names: Sequence[str]) -> str:
    parts = [f"# `{title}`", _first(space)]
    for name in sorted(names, key=lambda name: (name.lower(), name)):
        parts += _entry(title, name, getattr(space, name))
    return "\n\n".join(filter(None, parts)) + "\n"


def anchor(title: str, name: str, of: Any) -> str:
    """The target of a name; `bs.theorem` and `bs.Theorem` differ by more than case."""
    return f"{'class-' if inspect.isclass(of) else ''}{title}.{name}".replace(".", "-").replace("_", "-").lower()


def _entry(title: str, name: str, of: Any) -> Iterator[str]:
    yield f"({anchor(title, name, of)})=\n## `{name}`"
    if inspect.ismodule(of):
        yield f"A namespace: [`{title}.{name}`]({name}.md). {_first(of)}"
    elif title == "bs.rules":
        yield f"{code('python', signature(f'{title}.{name}', of))}\n\n{_first(of)} See [its page](../rules/{name}.md)."
    elif callable(of):
        yield code("python", signature(f"{title}.{name}", of))
        yield docstring(of)
        yield _members(of)
    else:
        yield f"`{of!r}`, a `{type(of).__name__}`."


def signature(call: str, of: Any) -> str:
    """The call with its arguments, one in each line where it is long."""
    if inspect.isclass(of) and issubclass(of, Exception):
        return f"{call}(message)"
    words = HIDDEN.sub(
        lambda found: found["enum"] or found["name"] or found["type"] or "...", str(inspect.signature(of))
    )
    words = ANY.sub(lambda found: "=" if found[1] else "", PREFIX.sub("", words)).replace("'", '"')
    words = QUOTED.sub(r"\1", words).removesuffix(" -> None")
    arguments, _, returned = words.removeprefix("(").rpartition(")")
    line = f"{call}({arguments}){returned}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{call}(", *(f"    {each}," for each in _split(arguments)), f"){returned}"])


def _split(arguments: str) -> list[str]:
    """At the commas outside of all brackets."""
    depths = accumulate((sign in "([{") - (sign in ")]}") for sign in arguments)
    cuts = [
        place for place, (sign, depth) in enumerate(zip(arguments, depths, strict=True)) if sign == "," and not depth
    ]
    return [arguments[a : b - 1].strip() for a, b in pairwise([0, *(cut + 1 for cut in cuts), len(arguments) + 1])]


def _members(of: Any) -> str:
    """The public methods and properties that a class itself documents."""
    if not inspect.isclass(of):
        return ""
    own = {name: member for name, member in vars(of).items() if not name.startswith("_")}
    documented = {name: member for name, member in own.items() if inspect.getdoc(member) and _is_member(member)}
    rows = [[f"`{name}`", _first(member)] for name, member in documented.items()]
    return table(["member", "what it is"], rows) if rows else ""


def _is_member(of: Any) -> bool:
    return inspect.isroutine(of) or isinstance(of, property | classmethod | staticmethod) or hasattr(of, "func")


# The command.


def commands() -> dict[str, Any]:
    """The commands of `boundsmith`, by name."""
    return dict(get_command(app).commands)


def _command_page() -> str:
    parts = ["# `boundsmith`", escape(app.info.help or ""), "`boundsmith COMMAND --help` prints the same."]
    for name, command in commands().items():
        parts += [f"(command-{name})=\n## `{name}`", plain_text(inspect.cleandoc(command.help or ""))]
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        usage = " ".join(["boundsmith", name, *(each.metavar or each.name.upper() for each in arguments), "[OPTIONS]"])
        parts.append(code("sh", usage))
        rows = [[_option(each), plain_text(_help(each))] for each in command.params]
        parts.append(table(["argument or option", "what it does"], rows) if rows else "")
    return "\n\n".join(filter(None, parts)) + "\n"


def _option(option: Any) -> str:
    takes = (option.metavar or option.name.upper()).replace("|", r"\|")  # within a cell
    if option.param_type_name == "argument":
        return f"`{takes}`"
    names = (*option.opts, *option.secondary_opts)
    return ", ".join(f"`{each}`" if option.is_flag else f"`{each} {takes}`" for each in names)


def _help(option: Any) -> str:
    default = option.default
    shown = default not in (None, False, "", (), []) and not callable(default) and option.param_type_name == "option"
    return f"{' '.join((option.help or '').split())}{f' Default: {default}.' if shown else ''}"


# Errors and names.


def error_classes() -> Iterator[list[str]]:
    """Name, base, docstring and module of every public class of errors on the three floors."""
    for path in sorted(each for floor in FLOORS for each in (ROOT / floor).rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "Error(" in text and "programs" not in path.parts else ():
            if isinstance(node, ast.ClassDef) and re.fullmatch(r"[A-Z]\w*Error", node.name) and node.bases:
                words = plain_text((ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " "))
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                yield [node.name, f"`{ast.unparse(node.bases[0])}`", words, f"`{module}`"]


def _error_page() -> str:
    rows = list(error_classes())
    refused = ", ".join(f"`{name}`" for name in entry.REFUSALS.values())
    exits = [
        [number, plain_text(meaning)] for number, meaning in EXITS.findall(" ".join((entry.__doc__ or "").split()))
    ]
    parts = [
        "# Errors",
        "A message says what was called, what came and what to do.",
        table(
            ["error", "is a", "what it means"], [[f"`bs.{row[0]}`", *row[1:3]] for row in rows if hasattr(bs, row[0])]
        ),
        "## Exit codes",
        f"The command turns {refused} and the usage errors of the command line into one sentence.",
        table(["code", "what it means"], exits),
        "## Errors of single rooms",
        "Most are caught on the way and become one of those above; each names its cause.",
        table(
            ["error", "is a", "what it means", "where"],
            [[f"`{name}`", *row] for name, *row in rows if not hasattr(bs, name)],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _names_page() -> str:
    """Every public name with its page."""
    places = {"bs": list(dir(bs)), **{f"bs.{name}": space.__all__ for name, space in namespaces().items()}}
    spaces = {"bs": bs, **{f"bs.{name}": space for name, space in namespaces().items()}}
    found = [(name, title, getattr(spaces[title], name)) for title, names in places.items() for name in names]
    rows = [
        [f"[`{title}.{name}`]({title.removeprefix('bs.')}.md#{anchor(title, name, of)})", _first(of)]
        for name, title, of in sorted(found, key=lambda each: (each[0].lower(), each[:2]))
    ]
    return f"# Names\n\n{table(['name', 'what it is'], rows)}\n"
