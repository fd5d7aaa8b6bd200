"""The text of each node as a formula, exact and approximate."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from itertools import chain, count

import sympy as sp

from bridge.expressions.attention import Attend, ConcatenatedParts, CutSoftmaxOf, HardMaxOf, Mean, SoftmaxOf
from bridge.expressions.draws import Draws, SampleMean
from bridge.expressions.embeddings import RowsOfTable
from bridge.expressions.experts import ExpertsOf
from bridge.expressions.expression import Expression, Sum
from bridge.expressions.formula_texts import formula_at, number_text, object_text, outside, within, within_product
from bridge.expressions.functions import Applied
from bridge.expressions.grids import Quantised
from bridge.expressions.inputs import Input, TokenOfLayer, Value
from bridge.expressions.linear_attention import LinearWeightsBySoftmax
from bridge.expressions.losses import CrossEntropyOf, LogSoftmaxOf
from bridge.expressions.matrices import Matrix, MatrixImage
from bridge.expressions.matrix_formulas import signs_of
from bridge.expressions.products import Entrywise, InnerProduct, Pairs
from bridge.expressions.recency import RecentWeights
from bridge.expressions.repetition import LayerArgument, RepeatedLayers
from bridge.expressions.sinks import AttendBesideSink
from bridge.expressions.tokens import Appended, Centred, TokenAtPlace

LETTERS = ("p", "q", "z", "y", "r", "a", "c", "v", "w")  # of values that a formula names
INDICES = ("l", "k", "j", "i")  # of layers, and of layers within layers


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
    numbers: Sequence[str]  # of layers, the outermost repetition first
    lines: list[DefinedLetter] = field(default_factory=list)
    letters: dict[int, str] = field(default_factory=dict)
    matrices: dict[str, Matrix] = field(default_factory=dict)
    indices: dict[int, str] = field(default_factory=dict)  # of the repetitions around a node, by their arguments
    notes: list[str] = field(default_factory=list)  # on the approximate side
    words: list[str] = field(default_factory=list)  # on both sides

    def both(self, node: Expression) -> tuple[str, str]:
        """The text of a node, exact and approximate."""
        if id(node) in self.letters:
            return (self.letters[id(node)],) * 2
        exact, near = written(node, self)
        if id(node) in self.letters:  # of a repetition
            return (self.letters[id(node)],) * 2
        if self.uses[id(node)] < 2 or isinstance(node, Input | Draws | LayerArgument | TokenOfLayer | Value):
            return exact, near
        letter = self.letters[id(node)] = self.fresh()
        self.lines.append(DefinedLetter(letter, exact, near))
        return letter, letter

    def fresh(self) -> str:
        used = {re.split(r"_", each)[0] for each in self.letters.values()}
        free = (each for each in LETTERS if each not in self.taken)
        return next(each for each in chain(free, (f"x{k}" for k in count(1))) if each not in used)

    def argument(self, *letters: str) -> str:
        """The letter of an argument in a definition: the first one that is no other object's."""
        return next((each for each in letters if each not in self.taken), letters[0])

    def each(self, form: Callable[..., str], *nodes: Expression) -> tuple[str, str]:
        """The same form of the exact and of the approximate parts."""
        parts = [self.both(node) for node in nodes]
        return form(*(part[0] for part in parts)), form(*(part[1] for part in parts))


@singledispatch
def written(node: Expression, writing: Writing) -> tuple[str, str]:
    """The text of a node by those of its parts."""
    return writing.each(lambda *parts: f"{type(node).__name__.lower()}({', '.join(parts)})", *node.parts)


# Nodes whose text is one of those of their parts, the same exactly and in the network.
FORMS: Mapping[type[Expression], Callable[..., str]] = {
    Appended: lambda x, y: f"({x}; {y})",
    Centred: lambda x: f"{within_product(x)} - mean({x})",
    ConcatenatedParts: lambda *parts: f"({', '.join(parts)})",
    Entrywise: lambda x, y: f"{within(x)} * {within(y)}",
    LogSoftmaxOf: lambda scores: f"log(softmax({scores}))",
    Mean: lambda x: f"mean({x})",
    Pairs: lambda query, keys: f"{'(x)' if keys == 'x' else within(keys)} {within(query)}",
    SoftmaxOf: lambda scores: f"softmax({scores})",
}


def _of_form(node: Expression, writing: Writing) -> tuple[str, str]:
    return writing.each(FORMS[type(node)], *node.parts)


for kind in FORMS:
    written.register(kind)(_of_form)


@written.register
def _(node: Input | Draws, writing: Writing) -> tuple[str, str]:
    return (object_text(node.name),) * 2


@written.register
def _(node: Value, writing: Writing) -> tuple[str, str]:
    (exact, near), name, hat = node.meanings, object_text(node.name), object_text(node.name, hat=True)
    if exact:
        writing.words += [f"`{name}` is {exact}", *signs_of(node.program)]
    if node.error == 0:
        return name, name
    bound = f"is at most `{sp.sstr(node.error, full_prec=False)}` away from `{name}` in the {node.norm.words}"
    writing.notes += [f"`{hat}` {f'is {near}' if near else bound}", *signs_of(node.approximate)]
    return name, hat


@written.register
def _(node: LayerArgument, writing: Writing) -> tuple[str, str]:
    return (node.label,) * 2  # of a layer by itself; in a repetition it has a letter


@written.register
def _(node: TokenOfLayer, writing: Writing) -> tuple[str, str]:
    return (object_text(node.of.name, index=writing.indices.get(id(node.number.argument), INDICES[0])),) * 2


@written.register
def _(node: MatrixImage, writing: Writing) -> tuple[str, str]:
    matrix, layer = (
        node.matrix,
        "" if node.matrix.layers is None else next(reversed(writing.indices.values()), INDICES[0]),
    )
    writing.matrices[matrix.name] = matrix
    if matrix.meaning:
        writing.words += [f"`{object_text(matrix.name)}` is {matrix.meaning}", *signs_of(matrix.program)]
    x, beside = writing.both(node.parts[0]), within if isinstance(node.parts[0], Attend) else within_product
    near = object_text(matrix.name, hat=matrix.change is not None, index=layer)
    return f"{object_text(matrix.name, index=layer)} {beside(x[0])}", f"{near} {beside(x[1])}"


@written.register
def _(node: RowsOfTable, writing: Writing) -> tuple[str, str]:
    matrix = node.matrix
    writing.matrices[matrix.name] = matrix
    near = object_text(matrix.name, hat=matrix.change is not None)
    exact, approximate = map(within_product, writing.both(node.parts[0]))
    return f"{object_text(matrix.name)}^T {exact}", f"{near}^T {approximate}"


@written.register
def _(node: Applied, writing: Writing) -> tuple[str, str]:
    exact, near = writing.both(node.parts[0])
    return formula_at(node.function.exact, exact), formula_at(node.function.side(approximate=True), near)


@written.register
def _(node: Sum, writing: Writing) -> tuple[str, str]:
    parts = [writing.both(part) for _, part in node.terms]
    return _sum(node, [part[0] for part in parts]), _sum(node, [part[1] for part in parts])


def _sum(node: Sum, parts: Sequence[str]) -> str:
    text = ""
    for (factor, _), part in zip(node.terms, parts, strict=True):
        negative = factor.could_extract_minus_sign()
        size = -factor if negative else factor
        if factor == 0:
            text += " + 0" if text else "0"
            continue
        part = f"({part})" if re.search(r" [+-] ", outside(part)) or part.startswith("-") else part
        term = part if size == 1 else f"{within_product(number_text(size))} {within_product(part)}"
        text += (f" {'-' if negative else '+'} " if text else "-" if negative else "") + term
    return text


@written.register
def _(node: InnerProduct, writing: Writing) -> tuple[str, str]:
    x, y = node.parts
    if x is y:
        return writing.each(lambda x: f"||{x}||_2^2", x)
    return writing.each(lambda x, y: f"{within(x)}^T {within(y)}", x, y)


@written.register
def _(node: LinearWeightsBySoftmax, writing: Writing) -> tuple[str, str]:
    exact, near = writing.both(node.parts[0])
    count = within(number_text(node.dim))
    scores = writing.argument("s", "z", "t")
    writing.words.append(f"`avg({scores})` is the mean of the scores `{scores}` of a query")
    return f"(1 + {exact} - avg({exact}))/{count}", f"softmax({near})"


@written.register
def _(node: CutSoftmaxOf, writing: Writing) -> tuple[str, str]:
    exact, near = writing.both(node.parts[0])
    if node.most is None:
        keys = f"{writing.argument('S', 'J', 'C')}{node.suffix}"
        of_keys = f"the keys `{keys}`{f', {node.meaning}' if node.meaning else ''}"
        keys = f"({keys})" if node.suffix else keys
    else:
        keys = within(number_text(node.most))
        of_keys = f"the `{keys}` largest scores"
    writing.notes.append(f"`softmax_{keys}` is softmax over {of_keys}")
    return f"softmax({exact})", f"softmax_{keys}({near})"


@written.register
def _(node: CrossEntropyOf, writing: Writing) -> tuple[str, str]:
    if node.index is not None:
        return writing.each(lambda scores: f"-log(softmax({scores})_{node.index})", node.parts[0])
    return writing.each(lambda scores, label: f"-{label}^T log(softmax({scores}))", *node.parts)


@written.register
def _(node: HardMaxOf, writing: Writing) -> tuple[str, str]:
    exact, near = writing.both(node.parts[0])
    if node.beta is None:
        return f"hardmax({exact})", f"hardmax({near})"
    return f"hardmax({exact})", f"softmax({within(number_text(node.beta))} {within_product(near)})"


@written.register
def _(node: Attend, writing: Writing) -> tuple[str, str]:
    weights, values = node.parts
    if isinstance(weights, RecentWeights):
        slope = within(number_text(weights.slope))
        v, j, i = (writing.argument(*letters) for letters in (("v", "u", "z"), ("j", "l", "m"), ("i", "k", "h")))
        writing.notes.append(
            f"`recent({v})_{j}` is the sum of `{v}_{i}` over `{i} <= {j}` with the weights softmax of "
            f"`-{slope} ({j} - {i})`"
        )
        exact, near = writing.both(values)
        return exact, f"recent{near if near.startswith('(') else f'({near})'}"
    beside = str if isinstance(values, ExpertsOf) else within
    if weights.count is None and not isinstance(weights, SoftmaxOf | CutSoftmaxOf | HardMaxOf | LinearWeightsBySoftmax):
        return writing.each(lambda weights, values: f"{within(weights)}^T {beside(values)}", *node.parts)
    return writing.each(lambda weights, values: f"{within_product(weights)} {beside(values)}", *node.parts)


@written.register
def _(node: AttendBesideSink, writing: Writing) -> tuple[str, str]:
    average, value, scores = node.parts
    (exact, _), (_, own) = writing.both(average), writing.both(value)
    (_, keys), (_, others) = writing.both(scores), writing.both(average.parts[1])
    return exact, f"softmax({keys}, {formula_at(-node.lead, '')}) ({others}; {own})"


@written.register
def _(node: ExpertsOf, writing: Writing) -> tuple[str, str]:
    writing.words.append("`rows(a, b, ...)` are the tokens `a`, `b`, ...")
    return writing.each(lambda *parts: f"rows({', '.join(parts)})", *node.parts)


@written.register
def _(node: TokenAtPlace, writing: Writing) -> tuple[str, str]:
    def of(x: str) -> str:
        some = ", ..., ".join(f"{_alone(x)}_{within(place)}" for place in dict.fromkeys(node.places))
        return some if isinstance(node.place, int) else f"({some})"

    return writing.each(of, *node.parts)


def _alone(text: str) -> str:
    return text if text.isalnum() else f"({text})"


@written.register
def _(node: SampleMean, writing: Writing) -> tuple[str, str]:
    exact, near = writing.both(node.parts[0])
    return f"E(mean({exact}))", f"mean({near})"


@written.register
def _(node: Quantised, writing: Writing) -> tuple[str, str]:
    (exact, near), step = writing.both(node.parts[0]), sp.sstr(node.step)
    nearest = "" if node.down else " + 1/2"
    return exact, f"{within(step)} floor({within(near)}/{within(step)}{nearest})"


@written.register
def _(node: RepeatedLayers, writing: Writing) -> tuple[str, str]:
    letter, index = writing.fresh(), writing.numbers[len(writing.indices)]
    writing.letters[id(node)] = f"{letter}_{within(number_text(node.depth))}"
    start = writing.both(node.parts[0])
    writing.lines.append(DefinedLetter(f"{letter}_0", *start))
    writing.letters[id(node.argument)] = f"{letter}_({index}-1)"
    writing.indices[id(node.argument)] = index
    writing.lines.append(DefinedLetter(f"{letter}_{index}", *writing.both(node.body)))
    del writing.indices[id(node.argument)]
    return (writing.letters[id(node)],) * 2
