"""Examples of rules that stand alone, made from the cases of the tests.

The pages import `tests` (cases, records, attained bounds), so the site is built from a checkout alone; a changed case
changes its page.

A case calls a rule in terms of helpers and constants of its module. Its example is the same call under the names of
`import boundsmith as bs`: helpers and constants are put in, operands become lines of their own, letters are declared.
"""

import ast
import builtins
import contextlib
import inspect
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import sympy as sp

import boundsmith as bs
from symbolic import calculus

WIDTH = 88
KNOWN = {"sp", "bs", *dir(builtins)}
Bindings = Mapping[str, ast.expr | None]  # None for an argument without a value


class UnwritableError(Exception):
    """What no names of `bs` express."""


class Example:
    """The code of a call, line by line, and what it gives."""

    def __init__(self, module: ModuleType, call: ast.Call, bindings: Bindings) -> None:
        self.writer = _Writer(module, bindings)
        self.call = self.writer.generic_visit(deepcopy(call))
        self.name, self.operands, self.imports = _name_of(self.call), self.writer.lines, sorted(self.writer.imports)
        self.values: dict[str, Any] = {}
        self.kind = "symbols"
        try:
            exec(self._lines(), self.values)
        except bs.DerivationError:  # a rule that needs letters of its own
            self.kind = "Dummy"
            exec(self._lines(), self.values)

    def _lines(self) -> str:
        floors = [f"from symbolic.calculus import {', '.join(self.imports)}"] if self.imports else []
        letters = _declarations(self.writer.letters, self.kind)
        lines = ["import sympy as sp", "", "import boundsmith as bs", *floors, "", *letters, *self.operands]
        return "\n".join([*lines, _line(self.call)])

    @property
    def result(self) -> Any:
        return self.values[self.name]

    @property
    def code(self) -> str:
        """The example with its last line, which prints what it gives."""
        shown = f"{self.name}.error" if isinstance(self.result, bs.Approximated) else self.name
        return f"{self._lines()}\nprint({shown})"

    @property
    def output(self) -> str:
        """What the last line prints."""
        return str(self.result.error if isinstance(self.result, bs.Approximated) else self.result)

    @property
    def short(self) -> str:
        """The call alone."""
        return _source(self.call).removeprefix("bs.rules.")


def examples(rule: str, module: ModuleType) -> Iterator[Example]:
    """One of each call of the rule in a module of the tests that `bs` expresses, in the order of the source."""
    for call, bindings in _calls_in(module):
        if ast.unparse(call.func) == rule:
            with contextlib.suppress(UnwritableError):
                yield Example(module, call, bindings)


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


@cache
def _calls_in(module: ModuleType) -> list[tuple[ast.Call, Bindings]]:
    return list(_calls(_tree(module), {}))


def _calls(node: ast.AST, bindings: Bindings) -> Iterator[tuple[ast.Call, Bindings]]:
    """The calls of rules below a node, with what local names stand for; in a loop, at its first turn."""
    if isinstance(node, ast.FunctionDef):
        bindings = {**bindings, **_bound(node.args), **_assigned(node.body)}
    elif isinstance(node, ast.Lambda):
        bindings = {**bindings, **_bound(node.args)}
    elif isinstance(node, ast.DictComp | ast.ListComp | ast.GeneratorExp):
        for loop in node.generators:
            if isinstance(loop.iter, ast.Tuple):
                bindings = {**bindings, **_matched(loop.target, loop.iter.elts[0])}
    if isinstance(node, ast.Call) and ast.unparse(node.func) in bs.rules.__all__:
        yield node, bindings
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, bindings)


def _bound(arguments: ast.arguments) -> dict[str, ast.expr | None]:
    """Arguments with their defaults, but for those that a loop hands on under their own name: `norm=norm`."""
    named = [*arguments.posonlyargs, *arguments.args]
    defaults = [*([None] * (len(named) - len(arguments.defaults))), *arguments.defaults, *arguments.kw_defaults]
    pairs = zip([*named, *arguments.kwonlyargs], defaults, strict=True)
    return {each.arg: value for each, value in pairs if value is None or ast.unparse(value) != each.arg}


def _assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    lines = [(line.targets[0], line.value) for line in body if isinstance(line, ast.Assign)]
    return {name: value for target, given in lines for name, value in _matched(target, given).items()}


def _matched(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    """What the names of an assignment stand for."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if not isinstance(target, ast.Tuple):
        return {}
    places = range(len(target.elts))
    parts = value.elts if isinstance(value, ast.Tuple) else [ast.Subscript(value, ast.Constant(k)) for k in places]
    return {
        name: given for each, one in zip(target.elts, parts, strict=True) for name, given in _matched(each, one).items()
    }


def _written(source: str) -> ast.expr:
    """An expression that stays as it is."""
    found = ast.parse(source, mode="eval").body
    found.is_written = True  # type: ignore[attr-defined]
    return found


class _Writer(ast.NodeTransformer):
    """Puts into a call what its names stand for; what a rule gives to another one becomes a line before it."""

    def __init__(self, module: ModuleType, bindings: Bindings) -> None:
        self.module, self.scope, self.rest = module, bindings, list[ast.keyword]()
        self.constants = _assigned(_tree(module).body)
        self.letters, self.lines, self.imports = dict[str, sp.Symbol](), list[str](), set[str]()
        self.arguments = set[str]()  # of the lambda around

    def visit(self, node: ast.AST) -> Any:
        return node if getattr(node, "is_written", False) else super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name, value = node.id, vars(self.module).get(node.id)
        if name in self.scope:
            return self._put_in(name, self.scope[name])
        if name in KNOWN | self.arguments:
            return node
        if name in bs.rules.__all__:
            return _written(f"bs.rules.{name}")
        if isinstance(value, sp.Symbol):
            self.letters[value.name] = value
            return _written(value.name)
        if name in dir(bs) and getattr(bs, name) is value:
            return _written(f"bs.{name}")
        if vars(calculus).get(name, self) is value:  # what a rule takes, and the face lacks
            self.imports.add(name)
            return node
        return self._put_in(name, self.constants.get(name))

    def _put_in(self, name: str, meaning: ast.expr | None) -> ast.expr:
        if meaning is None:
            raise UnwritableError(name)
        if not hasattr(meaning, "is_written") and ast.unparse(meaning).startswith(
            ("sp.Symbol", "sp.symbols", "sp.Dummy")
        ):
            letter = eval(ast.unparse(meaning), vars(self.module))  # noqa: S307 - a line of our own tests
            self.letters[letter.name] = letter
            return _written(letter.name)
        return self.visit(deepcopy(meaning))

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        outer, self.arguments = self.arguments, self.arguments | set(_bound(node.args))
        node.body = self.visit(node.body)
        self.arguments = outer
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        helper = vars(self.module).get(node.func.id) if isinstance(node.func, ast.Name) else None
        node.keywords = [kept for each in node.keywords for kept in ([each] if each.arg else self.rest)]
        if isinstance(helper, FunctionType) and vars(calculus).get(helper.__name__, bs.rules.given) is not helper:
            node.func = _written(helper.__name__)
            return self._body_of(helper, self.generic_visit(node))
        found = self.generic_visit(node)
        found.keywords = [each for each in found.keywords if ast.unparse(each.value) != "bs.Norm.INF"]
        name = _name_of(found)
        if self.arguments or not name or not ast.unparse(found.func).startswith("bs.rules."):
            return found
        if _line(found) not in self.lines:
            self.lines.append(_line(found))
        return _written(name)

    def _body_of(self, helper: FunctionType, call: ast.Call) -> ast.expr:
        """What a helper that only returns gives at these arguments, which are written already."""
        *before, last = ast.parse(inspect.getsource(helper)).body[0].body  # type: ignore[attr-defined]
        if not isinstance(last, ast.Return) or any(not isinstance(each, ast.Expr) for each in before):
            raise UnwritableError(helper.__name__)
        bound = _bound(ast.parse(inspect.getsource(helper)).body[0].args)  # type: ignore[attr-defined]
        for each in (*call.args, *(keyword.value for keyword in call.keywords)):
            each.is_written = True  # type: ignore[attr-defined]
        given = dict(zip(bound, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg in bound}
        outer, self.scope = self.scope, {**bound, **given}
        rest, self.rest = self.rest, [each for each in call.keywords if each.arg not in bound]
        found = self.visit(deepcopy(last.value))
        self.scope, self.rest = outer, rest
        return found


def _source(node: ast.AST) -> str:
    """The source, with double quotes."""
    return ast.unparse(node).replace("'", '"')


def _name_of(call: ast.Call) -> str:
    """The variable for what a rule gives: the name of its conclusion."""
    names = [each.value for each in call.keywords if each.arg == "name"] or call.args
    words = [each.value for each in names if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return words[0] if words and words[0].isidentifier() and words[0] not in KNOWN else "found"


def _line(call: ast.Call) -> str:
    """The assignment, one argument in each line where it is long."""
    line = f"{_name_of(call)} = {_source(call)}"
    parts = "".join(f"    {_source(part)},\n" for part in (*call.args, *call.keywords))
    return line if len(line) <= WIDTH else f"{_name_of(call)} = {_source(call.func)}(\n{parts})"


def _declarations(letters: Mapping[str, sp.Symbol], kind: str) -> Iterator[str]:
    """`a, b = sp.symbols("a b", positive=True)` for the letters of each kind, and an empty line."""
    groups: dict[str, list[str]] = {}
    for name, letter in sorted(letters.items()):
        groups.setdefault("".join(f", {each}=True" for each in _assumed(letter)), []).append(name)
    for words, names in groups.items():
        made = "symbols" if len(names) > 1 else kind
        yield f'{", ".join(names)} = sp.{made}("{" ".join(names)}"{words})'
    yield from [""] if groups else []


def _assumed(letter: sp.Symbol) -> list[str]:
    sign = next((each for each in ("positive", "nonnegative") if getattr(letter, f"is_{each}")), "")
    kind = "integer" if letter.is_integer else "real" if letter.is_real and not sign else ""
    return [each for each in (kind, sign) if each]
