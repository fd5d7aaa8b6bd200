"""Examples of rules that stand alone, made from the cases of the tests.

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
Bindings = Mapping[str, ast.expr]


class UnwritableError(Exception):
    """What no names of `bs` express."""


class Example:
    """The code of a call, line by line, and what it gives."""

    def __init__(self, module: ModuleType, call: ast.Call, bindings: Bindings) -> None:
        writer = _Writer(module, bindings)
        self.call = writer.written(call)
        self.name = _name_of(self.call)
        self.operands, self.letters, self.imports = writer.lines, writer.letters, sorted(writer.imports)
        self.declared = [*_declarations(self.letters)]
        self.values: dict[str, Any] = {}
        try:
            exec("\n".join(self.lines), self.values)
        except bs.DerivationError:  # a rule that needs letters of its own
            self.declared = [
                line.replace("sp.symbols", "sp.Dummy") if _is_one(line) else line for line in self.declared
            ]
            exec("\n".join(self.lines), self.values)

    @property
    def lines(self) -> list[str]:
        lines = [*self.declared, *self.operands, _line(self.call)]
        floors = [f"from symbolic.calculus import {', '.join(self.imports)}"] if self.imports else []
        return ["import sympy as sp", "", "import boundsmith as bs", *floors, "", *lines]

    @property
    def result(self) -> Any:
        return self.values[self.name]

    @property
    def code(self) -> str:
        """The example with its last line, which prints what it gives."""
        shown = f"{self.name}.error" if isinstance(self.result, bs.Approximated) else self.name
        return "\n".join([*self.lines, f"print({shown})"])

    @property
    def output(self) -> str:
        """What the last line prints."""
        return str(self.result.error if isinstance(self.result, bs.Approximated) else self.result)

    @property
    def short(self) -> str:
        """The call alone."""
        return written(self.call).removeprefix("bs.rules.")


def examples(rule: str, module: ModuleType) -> Iterator[Example]:
    """One of each call of the rule in a module of the tests that `bs` expresses, in the order of the source."""
    for call, bindings in _calls_of(module).get(rule, ()):
        with contextlib.suppress(UnwritableError):
            yield Example(module, call, bindings)


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


@cache
def _calls_of(module: ModuleType) -> dict[str, list[tuple[ast.Call, Bindings]]]:
    """The calls of each rule."""
    found: dict[str, list[tuple[ast.Call, Bindings]]] = {}
    for call, bindings in _calls(_tree(module), {}):
        found.setdefault(ast.unparse(call.func), []).append((call, bindings))
    return found


def _calls(node: ast.AST, bindings: Bindings) -> Iterator[tuple[ast.Call, Bindings]]:
    """The calls of rules below a node, with what local names stand for; in a loop, at its first turn."""
    if isinstance(node, ast.FunctionDef):
        bindings = {**bindings, **dict.fromkeys(_arguments(node.args)), **_assigned(node.body)}
    elif isinstance(node, ast.Lambda):
        own = dict.fromkeys(set(_arguments(node.args)) - _repeated(node.args))
        bindings = {**bindings, **own, **_defaults(node.args)}
    elif isinstance(node, ast.DictComp | ast.ListComp | ast.GeneratorExp):
        for loop in node.generators:
            if isinstance(loop.iter, ast.Tuple):
                bindings = {**bindings, **_matched(loop.target, loop.iter.elts[0])}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in bs.rules.__all__:
        yield node, bindings
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, bindings)


def _arguments(arguments: ast.arguments) -> list[str]:
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _repeated(arguments: ast.arguments) -> set[str]:
    """Those that a loop hands on under their own name: `norm=norm`."""
    return {name for name, value in _given(arguments).items() if ast.unparse(value) == name}


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    return {name: value for name, value in _given(arguments).items() if ast.unparse(value) != name}


def _given(arguments: ast.arguments) -> dict[str, ast.expr]:
    """The arguments with defaults."""
    last = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    found = {each.arg: value for each, value in zip(last, arguments.defaults, strict=True)}
    return found | {e.arg: v for e, v in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if v is not None}


def _assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    lines = [(line.targets[0], line.value) for line in body if isinstance(line, ast.Assign)]
    return {name: value for target, given in lines for name, value in _matched(target, given).items()}


def _matched(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    """What the names of an assignment stand for."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=True)
        return {name: given for each, one in pairs for name, given in _matched(each, one).items()}
    if isinstance(target, ast.Tuple):  # of letters: sp.symbols("a b")
        return {
            each.id: ast.Subscript(value, ast.Constant(place))
            for place, each in enumerate(target.elts)
            if isinstance(each, ast.Name)
        }
    return {}


class _Writer(ast.NodeTransformer):
    """Puts into a call what its names stand for; what a rule gives to another one becomes a line before it."""

    def __init__(self, module: ModuleType, bindings: Bindings) -> None:
        self.module, self.bindings, self.inner = module, dict(bindings), set[str]()
        self.constants = _assigned(_tree(module).body)
        self.letters, self.lines, self.in_lambda = dict[str, sp.Symbol](), list[str](), False
        self.imports = set[str]()  # of what rules take and the face lacks

    def written(self, call: ast.Call) -> ast.Call:
        """The call, its operands being names."""
        found = self.generic_visit(deepcopy(call))
        assert isinstance(found, ast.Call)
        return found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in self.inner or name == "sp" or hasattr(builtins, name):
            return node
        if name in bs.rules.__all__:
            return _of_bs("rules", name)
        value = vars(self.module).get(name)
        if name in self.bindings:
            return self._put_in(name, self.bindings[name])
        if isinstance(value, sp.Symbol):
            self.letters[value.name] = value
            return ast.Name(value.name)
        if name in dir(bs) and getattr(bs, name) is value:
            return _of_bs(name)
        if vars(calculus).get(name, self) is value:
            self.imports.add(name)
            return node
        return self._put_in(name, self.constants.get(name))

    def _put_in(self, name: str, meaning: ast.expr | None) -> ast.expr:
        if meaning is None:
            raise UnwritableError(name)
        letters = _symbol(meaning, vars(self.module))
        if letters is not None:
            self.letters[letters.name] = letters
            return ast.Name(letters.name)
        return self.visit(deepcopy(meaning))

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        outer, self.in_lambda = self.in_lambda, True
        self.inner |= set(_arguments(node.args))
        node.body = self.visit(node.body)
        self.in_lambda = outer
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        helper = vars(self.module).get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(helper, FunctionType) and vars(calculus).get(helper.__name__, bs.rules.given) is not helper:
            return self.visit(_body_of(helper, node))
        found = self.generic_visit(node)
        assert isinstance(found, ast.Call)
        found.keywords = [each for each in found.keywords if ast.unparse(each.value) != "bs.Norm.INF"]
        name = _name_of(found)
        if self.in_lambda or not name or not ast.unparse(found.func).startswith("bs.rules."):
            return found
        if _line(found) not in self.lines:
            self.lines.append(_line(found))
        return ast.Name(name)


def _of_bs(*names: str) -> ast.expr:
    return ast.parse(".".join(("bs", *names)), mode="eval").body


def _symbol(meaning: ast.expr, names: Mapping[str, Any]) -> sp.Symbol | None:
    """The letter that an expression makes (sp.Symbol("t"), sp.symbols("a b")[0]), if it makes one."""
    if "ymbol" not in ast.unparse(meaning):
        return None
    found = eval(ast.unparse(meaning), dict(names))  # noqa: S307 - a line of our own tests
    return found if isinstance(found, sp.Symbol) else None


def _body_of(helper: FunctionType, call: ast.Call) -> ast.expr:
    """What a helper of one line returns at these arguments."""
    try:
        made = ast.parse(inspect.getsource(helper)).body[0]
    except (OSError, SyntaxError):
        raise UnwritableError(helper.__name__) from None
    last = made.body[-1] if isinstance(made, ast.FunctionDef) else None
    if not isinstance(made, ast.FunctionDef) or not isinstance(last, ast.Return) or last.value is None:
        raise UnwritableError(helper.__name__)
    if any(not isinstance(each, ast.Expr) for each in made.body[:-1]):
        raise UnwritableError(helper.__name__)
    names = _arguments(made.args)
    given = {**_defaults(made.args), **dict(zip(names, call.args, strict=False))}
    given |= {each.arg: each.value for each in call.keywords if each.arg in names}
    rest = [each for each in call.keywords if each.arg not in names]
    return _Replaced(given, made.args.kwarg.arg if made.args.kwarg else "", rest).visit(deepcopy(last.value))


class _Replaced(ast.NodeTransformer):
    """An expression with arguments in the place of names, and further keywords in that of **more."""

    def __init__(self, given: Bindings, more: str, rest: list[ast.keyword]) -> None:
        self.given, self.more, self.rest = given, more, rest

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return deepcopy(self.given.get(node.id, node))

    def visit_Call(self, node: ast.Call) -> ast.Call:
        kept = [each for each in node.keywords if each.arg or ast.unparse(each.value) != self.more]
        more = self.rest if len(kept) < len(node.keywords) else []
        node.keywords = [*kept, *more]
        found = self.generic_visit(node)
        assert isinstance(found, ast.Call)
        return found


def _name_of(call: ast.Call) -> str:
    """The variable for what a rule gives: the name of its conclusion."""
    names = [each.value for each in call.keywords if each.arg == "name"] or call.args
    words = [each.value for each in names if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return words[0] if words and words[0].isidentifier() and not hasattr(builtins, words[0]) else "found"


def _line(call: ast.Call) -> str:
    """The assignment, one argument in each line where it is long."""
    line = f"{_name_of(call)} = {written(call)}"
    if len(line) <= WIDTH:
        return line
    parts = [written(each) for each in (*call.args, *call.keywords)]
    return "\n".join([f"{_name_of(call)} = {written(call.func)}(", *(f"    {part}," for part in parts), ")"])


def written(node: ast.AST) -> str:
    """The source, with double quotes."""
    return ast.unparse(node).replace("'", '"')


def _is_one(line: str) -> bool:
    return "sp.symbols" in line and "," not in line.partition(" = ")[0]


def _declarations(letters: Mapping[str, sp.Symbol]) -> Iterator[str]:
    """`a, b = sp.symbols("a b", positive=True)` for the letters of each kind, and an empty line."""
    groups: dict[str, list[str]] = {}
    for name, letter in sorted(letters.items()):
        groups.setdefault("".join(f", {each}=True" for each in _assumed(letter)), []).append(name)
    yield from (f'{", ".join(names)} = sp.symbols("{" ".join(names)}"{words})' for words, names in groups.items())
    yield from [""] if groups else []


def _assumed(letter: sp.Symbol) -> Iterator[str]:
    if letter.is_integer:
        yield "integer"
    sign = next((each for each in ("positive", "nonnegative") if getattr(letter, f"is_{each}")), "")
    yield from [sign] if sign else ["real"] if letter.is_real and not letter.is_integer else []
