"""A page for each rule of the calculus: statement, bound, proof, case of equality, norms, example, faces."""

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from inspect import isclass
from itertools import groupby
from pathlib import Path
from typing import Any

import sympy as sp

import boundsmith as bs
import bridge.readings  # noqa: F401 - which registers each rule
from bridge.readings.enclosed import enclosed
from bridge.readings.network import bounded
from bridge.readings.numbers import numbers
from bridge.readings.values import value
from docs.pages.examples import Example, examples
from docs.pages.markdown import code, display, docstring, escape, inline, plain_text, table
from docs.pages.reference import signature
from symbolic.derivations.operations import Operation
from tests.symbolic.sharpness import ATTAINING, Attained, attained

ROOT = Path(__file__).parents[2]
CASES = [
    "tests.symbolic.calculus.test_conclusions",
    *(
        f"tests.symbolic.cases.{name}"
        for name in ("numbers", "steps", "several_premises", "runs", "premises_of_stacks")
    ),
]
FACES = (  # function, its name, what it says
    (value, "value", "what the operation computes, exact and approximate"),
    (enclosed, "enclosure", "how far the approximate value is off at one prompt"),
    (bounded, "reading in norms", "the bound for all prompts of one network, from the norms of its weights"),
    (numbers, "numbers", "what the rule was given, compared with the operands of one prompt"),
)
EQUALITY = re.compile(r"(?<!\S)(?:Equality|Sharp|Not sharp)\b")
SENTENCE = re.compile(r"(?:Equality|Sharp|Not sharp)\b.*?[.](?=\s+[A-Z(]|\s*$)", re.DOTALL)
LETTERS = {"ex": "e_x", "ey": "e_y"}
IN_WORDS = {"inf": "sup norm", "1": "1-norm", "2": "2-norm"}


def write(folder: Path) -> None:
    """One page for each rule, and their index by purpose."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in bs.rules.__all__:
        (folder / f"{name}.md").write_text(_page(name))
    (folder / "index.md").write_text(_index())


def _index() -> str:
    introduction, _, listing = (bs.rules.__doc__ or "").partition("\n- ")
    groups = [line.replace("\n", " ").partition(": ") for line in f"\n- {listing}".split("\n- ")[1:]]
    parts = ["# Rules", plain_text(introduction)]
    for purpose, _, names in groups:
        rows = [[f"[`{name}`]({name}.md)", _first_line(name)] for name in re.findall(r"\w+", names)]
        parts += [f"## {escape(purpose.capitalize())}", table(["rule", "what it gives"], rows)]
    return "\n\n".join([*parts, _toctree(bs.rules.__all__)]) + "\n"


def _toctree(names: list[str]) -> str:
    return code("{toctree}", "\n".join([":hidden:", "", *names]))


def _first_line(name: str) -> str:
    return plain_text((inspect.getdoc(getattr(bs.rules, name)) or "").partition("\n\n")[0].replace("\n", " "))


def _page(name: str) -> str:
    rule, known = getattr(bs.rules, name), cases_of(name)
    shown = next((each for each in known if not each.imports), known[0])
    proof, equality = _proof(inspect.unwrap(rule))
    sections = {
        "Bound": _bound(shown, known),
        "Proof": proof or "The rule makes no estimate of its own: its bound is that of what it is given.",
        "Case of equality": equality,
        "Norms": _norms(name),
        "Example": f"{code('python', shown.code)}\n\nprints\n\n{code('text', shown.output)}",
        "Arguments": code("python", signature(f"bs.rules.{name}", rule)),
        "Faces": _faces(rule),
    }
    parts = [f"# `{name}`", docstring(rule)]
    parts += [f"## {title}\n\n{body}" for title, body in sections.items() if body]
    return "\n\n".join(parts) + "\n"


@cache
def cases_of(name: str) -> tuple[Example, ...]:
    """The examples of the first module of the tests that has some."""
    found = (tuple(examples(name, import_module(module))) for module in CASES)
    return next(filter(None, found))


# The bound.


def _bound(shown: Example, known: tuple[Example, ...]) -> str:
    if not isinstance(shown.result, bs.Approximated):
        return ""
    operands = [f"`{line}`" for line in shown.operands if "\n" not in line]
    where = f"For {', '.join(operands)}:" if operands else ""
    rows = [[f"`{each.short}`", *_concluded(each)] for each in known if isinstance(each.result, bs.Approximated)]
    heads = ["call", "norm", "error at most", "size at most"]
    return f"{where}{display(_error(shown))}{table(heads, rows)}"


def _error(example: Example) -> str:
    error = _latex(example.result.error)
    return rf"e_{{\mathrm{{{example.result.name}}}}} \le {error}"


def _concluded(example: Example) -> list[str]:
    result = example.result
    return [_norm(result.norm), inline(_latex(result.error)), inline(_latex(result.size))]


def _latex(formula: Any) -> str:
    names = {letter: LETTERS[letter.name] for letter in sp.sympify(formula).free_symbols if letter.name in LETTERS}
    return bs.latex(sp.sympify(formula), inline=True, names=names)


# Proof, case of equality, norms.


def _proof(rule: Any) -> tuple[str, str]:
    """The proof, and where the bound is attained: its end, or its sentences that say so."""
    text = next(filter(None, map(_comment, _rests_on(rule))), "")
    if text.startswith("The above"):
        text = "\n\n".join([*_comments_before(rule), text])
    found = [each.start() for each in EQUALITY.finditer(text)]
    if not found:
        return plain_text(text), ""
    if len(found) == 1 and "\n\n" not in text[found[0] :]:
        return plain_text(text[: found[0]]), plain_text(text[found[0] :])
    sentences = filter(None, (SENTENCE.match(text, place) for place in found))
    return plain_text(text), "\n".join(f"- {plain_text(each[0])}" for each in sentences)


def _comment(of: Any) -> str:
    """What stands in comments directly above it."""
    return _uncommented((inspect.getcomments(of) or "").splitlines())


def _uncommented(lines: Iterable[str]) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)


def _rests_on(rule: Any) -> list[Any]:
    """The rule, and what of its module it uses, the nearest first: the proof may stand above a part of it."""
    found = [rule]
    for each in found:
        named = getattr(getattr(each, "__code__", None), "co_names", ())
        own = [rule.__globals__[name] for name in named if name in rule.__globals__]
        found += [one for one in own if getattr(one, "__module__", "") == rule.__module__ and one not in found]
    return found


def _comments_before(rule: Any) -> list[str]:
    """The comments at the margin of its module, up to the one before its own."""
    lines, first = inspect.getsource(inspect.getmodule(rule)).splitlines(), inspect.getsourcelines(rule)[1]
    blocks = groupby(lines[: first - 1], key=lambda line: line.startswith("#"))
    return [_uncommented(block) for is_comment, block in blocks if is_comment][:-1]


@cache
def _attained() -> tuple[Attained, ...]:
    return tuple(attained(ATTAINING))


def _norms(name: str) -> str:
    """Pairs of norms in which the same case gives the same ratio share a row."""
    groups: dict[tuple[str, str, str], list[Attained]] = {}
    for each in _attained():
        rule, _, variant = each.rule.partition(", ")
        if rule == name:
            groups.setdefault((variant, f"{each.ratio:.4f}", each.case), []).append(each)
    if not groups:
        return ""
    rows = [
        [plain_text(variant) or "-", *pair, ratio, plain_text(case)]
        for (variant, ratio, case), several in groups.items()
        for pair in _pairs(several)
    ]
    words = "The pairs of norms that the rule accepts, with the largest known ratio of an error to the bound."
    return f"{words}\n\n{table(['variant', 'norm in', 'norm out', 'error / bound', 'case'], rows)}"


def _pairs(rows: Sequence[Attained]) -> list[list[str]]:
    """One row for all pairs of the same sources and targets, or where the norm stays the same."""
    sources, targets = (
        list(dict.fromkeys(found)) for found in ([row.source for row in rows], [row.target for row in rows])
    )
    words = [" and ".join(map(_norm, source)) or "-" for source in sources]
    if len(rows) > 1 and all(row.source == (row.target,) for row in rows):
        return [[" or ".join(words), "the same"]]
    if len(rows) == len(sources) * len(targets):
        return [[" or ".join(words), " or ".join(map(_norm, targets))]]
    return [[" and ".join(map(_norm, row.source)) or "-", _norm(row.target)] for row in rows]


def _norm(norm: object) -> str:
    return IN_WORDS[str(norm)]


# Faces.


def operations_of(rule: Any) -> list[type[Operation]]:
    """The operations that the source of the rule names."""
    function = inspect.unwrap(rule)
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [each for each in named if isclass(each) and issubclass(each, Operation)]


def _faces(rule: Any) -> str:
    source = Path(inspect.getsourcefile(inspect.unwrap(rule)) or "").relative_to(ROOT)
    rows = [["bound", "the rule and its proof", f"`{source}`"]]
    for operation in operations_of(rule):
        rows += _faces_of(operation)
    if len(rows) == 1:
        rows.append(["at a prompt", "none: the rule names no operands, and a network computes nothing for it", ""])
    return table(["face", "what it says", "where"], rows)


def _faces_of(operation: type[Operation]) -> Iterator[list[str]]:
    for face, name, says in FACES:
        found = face.registry.get(operation)
        module = "none" if found is None else f"`{found.__module__.replace('.', '/')}.py`"
        yield [f"{name} of `{operation.__name__}`", says, module]
