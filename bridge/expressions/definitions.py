"""What an output is, in words and formulas: the graph as definitions, and what differs in the approximate one."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from itertools import chain, count

import sympy as sp

from bridge.expressions.attention import Attend, ConcatenatedParts, CutSoftmaxOf, HardMaxOf, Mean, Quantised, SoftmaxOf
from bridge.expressions.embeddings import RowsOfTable
from bridge.expressions.experts import ExpertsOf
from bridge.expressions.expression import Entrywise, Expression, Pairs, Sum
from bridge.expressions.functions import Applied, t
from bridge.expressions.inputs import Input, TokenOfLayer, Value
from bridge.expressions.losses import CrossEntropyOf, LogSoftmaxOf
from bridge.expressions.matrices import Matrix, MatrixImage
from bridge.expressions.normalisation import Normalised, OfEachToken
from bridge.expressions.positions import RotaryPositions
from bridge.expressions.repetition import LayerArgument, RepeatedLayers
from bridge.expressions.running import nodes_of
from symbolic.words.ascii_math import AsciiMathError, ascii_math

LETTERS = ("p", "q", "z", "y", "r", "a", "c", "v", "w")  # of values that a formula names
PLACE = sp.Symbol("PLACE")  # stands for an argument in the text of a formula


@dataclass(frozen=True)
class DefinedLetter:
    """letter = exact, and in the network letter = approximate."""

    letter: str
    exact: str
    approximate: str


@dataclass
class Writing:
    """The definitions of one output, in order; what is used twice, named or repeated has a line."""

    uses: Mapping[int, int]
    taken: Sequence[str]
    lines: list[DefinedLetter] = field(default_factory=list)
    letters: dict[int, str] = field(default_factory=dict)
    matrices: dict[str, Matrix] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # on the approximate side
    words: list[str] = field(default_factory=list)  # on both sides

    def both(self, node: Expression) -> tuple[str, str]:
        """The text of a node, exact and approximate."""
        if id(node) in self.letters:
            return (self.letters[id(node)],) * 2
        exact, near = written(node, self)
        if (
            self.uses[id(node)] < 2
            or isinstance(node, Input | LayerArgument | TokenOfLayer | Value)
            or id(node) in self.letters
        ):
            return (self.letters[id(node)],) * 2 if id(node) in self.letters else (exact, near)
        letter = self.letters[id(node)] = self.fresh()
        self.lines.append(DefinedLetter(letter, exact, near))
        return letter, letter

    def fresh(self) -> str:
        used = {re.split(r"_", each)[0] for each in self.letters.values()}
        free = (each for each in LETTERS if each not in self.taken)
        return next(each for each in chain(free, (f"x{k}" for k in count(1))) if each not in used)

    def each(self, form: Callable[..., str], *nodes: Expression) -> tuple[str, str]:
        """The same form of the exact and of the approximate parts."""
        parts = [self.both(node) for node in nodes]
        return form(*(part[0] for part in parts)), form(*(part[1] for part in parts))


def _within(text: str) -> str:
    """In brackets, where it is a sum or a product."""
    return f"({text})" if re.search(r"[ +*/-]", text) else text


def _formula(expr: sp.Expr, argument: str) -> str:
    """The text of an expression in t at an argument."""
    text = (
        sp.sstr(expr.subs(t, PLACE))
        .replace("**", "^")
        .replace("*", " ")
        .replace("Max(", "max(")
        .replace("Abs(", "abs(")
    )
    text = re.sub(rf"((?<=\()|(?<=, )){PLACE}(?=[,)])", lambda _: argument, text)
    return text.replace(str(PLACE), _within(argument))


@singledispatch
def written(node: Expression, writing: Writing) -> tuple[str, str]:
    """The text of a node by those of its parts."""
    return writing.each(lambda *parts: f"{type(node).__name__.lower()}({', '.join(parts)})", *node.parts)


@written.register
def _(node: Input | Value, writing: Writing) -> tuple[str, str]:
    return node.name, node.name


@written.register
def _(node: TokenOfLayer, writing: Writing) -> tuple[str, str]:
    return (f"{node.of.name}_l",) * 2


@written.register
def _(node: MatrixImage, writing: Writing) -> tuple[str, str]:
    matrix, layer = node.matrix, "" if node.matrix.layers is None else "_l"
    writing.matrices[matrix.name] = matrix
    near = f"{matrix.name}_hat" if matrix.change is not None else matrix.name
    x, within = writing.both(node.parts[0]), _within if isinstance(node.parts[0], Attend) else _within_sum
    return f"{matrix.name}{layer} {within(x[0])}", f"{near}{layer} {within(x[1])}"


@written.register
def _(node: RowsOfTable, writing: Writing) -> tuple[str, str]:
    matrix = node.matrix
    writing.matrices[matrix.name] = matrix
    near = f"{matrix.name}_hat" if matrix.change is not None else matrix.name
    exact, approximate = map(_within_sum, writing.both(node.parts[0]))
    return f"{matrix.name}^T {exact}", f"{near}^T {approximate}"


def _within_sum(text: str) -> str:
    """In brackets, where a factor beside it would be taken into a sum or a product entry by entry."""
    return f"({text})" if re.search(r" [+*-] ", text) or text.startswith("-") else text


@written.register
def _(node: Applied, writing: Writing) -> tuple[str, str]:
    exact, near = writing.both(node.parts[0])
    return _formula(node.function.exact, exact), _formula(node.function.side(approximate=True), near)


@written.register
def _(node: Sum, writing: Writing) -> tuple[str, str]:
    parts = [writing.both(part) for _, part in node.terms]
    return _sum(node, [part[0] for part in parts]), _sum(node, [part[1] for part in parts])


def _sum(node: Sum, parts: Sequence[str]) -> str:
    text = ""
    for (factor, _), part in zip(node.terms, parts, strict=True):
        negative = factor.could_extract_minus_sign()
        size = -factor if negative else factor
        part = f"({part})" if re.search(r" [+-] ", part) or part.startswith("-") else part
        term = (
            part
            if size == 1
            else f"{_within_sum(sp.sstr(size).replace('**', '^').replace('*', ' '))} {_within_sum(part)}"
        )
        text += (f" {'-' if negative else '+'} " if text else "-" if negative else "") + term
    return text


@written.register
def _(node: Entrywise, writing: Writing) -> tuple[str, str]:
    return writing.each(lambda x, y: f"{_within(x)} * {_within(y)}", *node.parts)


@written.register
def _(node: Pairs, writing: Writing) -> tuple[str, str]:
    return writing.each(lambda query, keys: f"{_within(keys)} {_within(query)}", *node.parts)


@written.register
def _(node: SoftmaxOf, writing: Writing) -> tuple[str, str]:
    return writing.each(lambda scores: f"softmax({scores})", *node.parts)


@written.register
def _(node: CutSoftmaxOf, writing: Writing) -> tuple[str, str]:
    exact, near = writing.both(node.parts[0])
    keys = "S" if node.most is None else _within(sp.sstr(node.most))
    of_keys = "those of the mask" if node.most is None else f"the `{keys}` largest scores"
    writing.notes.append(f"`softmax_{keys}` is softmax over {of_keys}")
    return f"softmax({exact})", f"softmax_{keys}({near})"


@written.register
def _(node: LogSoftmaxOf, writing: Writing) -> tuple[str, str]:
    return writing.each(lambda scores: f"log(softmax({scores}))", *node.parts)


@written.register
def _(node: CrossEntropyOf, writing: Writing) -> tuple[str, str]:
    if node.index is not None:
        return writing.each(lambda scores: f"-log(softmax({scores})_{node.index})", node.parts[0])
    return writing.each(lambda scores, label: f"-{label}^T log(softmax({scores}))", *node.parts)


@written.register
def _(node: HardMaxOf, writing: Writing) -> tuple[str, str]:
    exact, near = writing.both(node.parts[0])
    by_softmax = f"softmax({_within(sp.sstr(node.beta))} {_within_sum(near)})"
    return f"hardmax({exact})", f"hardmax({near})" if node.beta is None else by_softmax


@written.register
def _(node: Attend, writing: Writing) -> tuple[str, str]:
    within = str if isinstance(node.parts[1], ExpertsOf) else _within
    return writing.each(lambda weights, values: f"{_within_sum(weights)} {within(values)}", *node.parts)


@written.register
def _(node: Normalised, writing: Writing) -> tuple[str, str]:
    dim, shift = (_within(sp.sstr(each).replace("**", "^").replace("*", " ")) for each in (node.dim, node.shift))
    shifted = "" if node.shift == 0 else f" + {shift}"

    def over_root(x: str) -> str:
        above = f"({x})" if " " in x and not node.centred else x
        return f"{above}/sqrt(||{x}||_2^2/{dim}{shifted})"

    if not node.centred:
        return writing.each(over_root, *node.parts)
    writing.words.append("`centred(x)` is `x` with the mean of its coordinates taken from each of them")
    return writing.each(lambda x: over_root(f"centred({x})"), *node.parts)


@written.register
def _(node: RotaryPositions, writing: Writing) -> tuple[str, str]:
    place, token, *_ = (each for each in ("k", "j", "i", "h", "s", "t") if each not in writing.taken)
    angle = f"`{place}`-th of its angles"
    if node.base is not None:
        base, dim = (_within(sp.sstr(each).replace("**", "^").replace("*", " ")) for each in (node.base, node.dim))
        angle = f"angle `{base}^(-2 {place}/{dim}) {token}`"
    writing.words.append(
        f"`rotary(x)` turns the coordinates `2 {place}` and `2 {place} + 1` of token `{token}` of `x` by the {angle}, "
        f"`{place}` and `{token}` from 0 on"
    )
    return writing.each(lambda x: f"rotary({x})", *node.parts)


@written.register
def _(node: OfEachToken, writing: Writing) -> tuple[str, str]:
    return writing.both(node.parts[0])


@written.register
def _(node: ExpertsOf, writing: Writing) -> tuple[str, str]:
    return writing.each(lambda *parts: f"rows({', '.join(parts)})", *node.parts)


@written.register
def _(node: Mean, writing: Writing) -> tuple[str, str]:
    return writing.each(lambda x: f"mean({x})", *node.parts)


@written.register
def _(node: ConcatenatedParts, writing: Writing) -> tuple[str, str]:
    return writing.each(lambda *parts: f"({', '.join(parts)})", *node.parts)


@written.register
def _(node: Quantised, writing: Writing) -> tuple[str, str]:
    (exact, near), step = writing.both(node.parts[0]), sp.sstr(node.step)
    nearest = "" if node.down else " + 1/2"
    return exact, f"{_within(step)} floor({_within(near)}/{_within(step)}{nearest})"


@written.register
def _(node: RepeatedLayers, writing: Writing) -> tuple[str, str]:
    letter = writing.fresh()
    writing.letters[id(node)] = f"{letter}_{_within(sp.sstr(node.depth))}"
    start = writing.both(node.parts[0])
    writing.lines.append(DefinedLetter(f"{letter}_0", *start))
    writing.letters[id(node.argument)] = f"{letter}_(l-1)"
    writing.lines.append(DefinedLetter(f"{letter}_l", *writing.both(node.body)))
    return (writing.letters[id(node)],) * 2


def definition(output: Expression, taken: Sequence[str]) -> tuple[str, str] | None:
    """What the exact output is, and what the network computes; None where it cannot be written as a formula.

    `taken` are names that no value may have.
    """
    nodes = nodes_of([output])
    loops = [node for node in nodes if isinstance(node, RepeatedLayers)]
    if any(isinstance(each, RepeatedLayers) for loop in loops for each in nodes_of(loop.inner)):
        return None  # the number of a layer has one letter
    uses = Counter(id(part) for node in nodes for part in (*node.parts, *node.inner))
    writing = Writing(uses, taken)
    exact, near = writing.both(output)
    lines = [(line.letter, line.exact) for line in writing.lines]
    changed = [(line.letter, line.approximate) for line in writing.lines if line.exact != line.approximate]
    own = near if near != exact or not lines else ""
    made = _made(list(writing.matrices.values()))
    words = [
        _where(exact, lines, list(dict.fromkeys(writing.words))),
        _network(changed, own, [*made, *dict.fromkeys(writing.notes)]),
    ]
    formulas = [formula for text in words for formula in re.findall(r"`([^`]*)`", text)]
    return (words[0], words[1]) if all(map(_parses, formulas)) else None


def _made(matrices: Sequence[Matrix]) -> list[str]:
    """How approximate matrices are made."""
    return [each.change.phrase.format(each.name) for each in matrices if each.change is not None]


def _parses(formula: str) -> bool:
    try:
        ascii_math(formula)
    except AsciiMathError:
        return False
    return True


def _where(value: str, lines: Sequence[tuple[str, str]], words: Sequence[str]) -> str:
    known = [*(f"`{letter} = {text}`" for letter, text in lines), *words]
    return f"`{value}`, where {_listed(known)}" if known else f"`{value}`"


def _network(changed: Sequence[tuple[str, str]], own: str, notes: Sequence[str]) -> str:
    """The output itself, if it differs, and the letters that differ."""
    formulas = _listed([f"`{letter} = {text}`" for letter, text in changed]) if changed else ""
    same = f"`{own}`, where {formulas}" if own and changed else f"`{own}`" if own else f"the same for {formulas}"
    if not own and not changed:
        same = "the same"
    return f"{same}, where {_listed(notes)}" if notes else same


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
