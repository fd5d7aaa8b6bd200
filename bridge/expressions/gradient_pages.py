"""A gradient as text: on a terminal, in LaTeX, in a notebook. Each letter is declared or defined."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill

import sympy as sp

from bridge.expressions.cotangents import KEPT, value_of
from bridge.expressions.functions import t
from bridge.expressions.gradient_lines import FormulaLine, GradientLines
from bridge.expressions.inputs import TokenOfLayer
from bridge.expressions.matrices import Matrix
from symbolic.gradients.letters import Letter, TermWriter
from symbolic.gradients.row_terms import Coordinates, EachRow, RootMeanSquare, RowFunction
from symbolic.gradients.terms import ClassVector, EntryProduct, FunctionOf, Lettered, OnesVector, Term, UnitVector
from symbolic.latex.displays import environment, wrapped
from symbolic.latex.page import PAGE
from symbolic.latex.widths import width
from symbolic.words.prose import prose_latex

ROW_WORDS = {
    "hardmax": "the unit vector of the largest entry",
    "logsoftmax": "the logarithm of softmax",
    "centred": "what is left without the mean of the entries",
}
LONGEST = 120  # characters of a line of words
CONDITION = 30.0  # points between a formula and the layers that it is of


@dataclass(frozen=True)
class GradientPages:
    """The texts of one gradient."""

    lines: GradientLines

    @property
    def loss(self) -> Letter:
        from_loss = self.lines.naming.letters
        return next(letter for of, letter in from_loss.items() if of.of is self.lines.flows.loss and of.kind == "value")

    def writer(self, *, plain: bool) -> TermWriter:
        return TermWriter(self.lines.naming.letters, self.lines.naming.loops, plain)

    # On a terminal.

    def plain(self) -> str:
        write = self.writer(plain=True)
        forward = [self._plain_line(line, write) for line in self.lines.forward]
        backward = [self._plain_line(line, write, backward=True) for line in self.lines.backward]
        found = [self._derivative(line, write) for line in self.lines.gradients]
        functions = [(left, right, "") for left, right in self._functions(write)]
        loss = write.letter(self.loss)
        blocks = [
            (f"the gradient of {loss}, where {self._declared(plain=True)}, and forward", forward),
            (f"backward, where a bar marks the derivative of {loss} by a value", backward),
            ("the gradient", found),
            ("where", functions),
        ]
        shown = [f"{fill(title, LONGEST)}\n{_columns(rows)}" for title, rows in blocks if rows]
        notes = (fill(note, LONGEST, initial_indent="  ", subsequent_indent="  ") for note in self._notes(plain=True))
        return "\n".join([*shown, *notes])

    def _plain_line(self, line: FormulaLine, write: TermWriter, *, backward: bool = False) -> tuple[str, str, str]:
        return write(line.left), write(line.right), self._layers(line, write, backward=backward)

    def _layers(self, line: FormulaLine, write: TermWriter, *, backward: bool) -> str:
        found = []
        dots = "..." if write.plain else r"\dots"
        for loop in line.loops:
            ends = ["1", write.number(loop.depth)]
            first, last = reversed(ends) if backward else ends
            found.append(f"{write.number(loop.index)} = {first}, {dots}, {last}")
        return "; ".join(found)

    def _derivative(self, line: FormulaLine, write: TermWriter) -> tuple[str, str, str]:
        above, below = write.letter(self.loss), write(line.left)
        left = f"d{above}/d{below}" if write.plain else rf"\frac{{\partial {above}}}{{\partial {below}}}"
        return left, write(line.right), self._layers(line, write, backward=False)

    # In LaTeX.

    def latex(self) -> str:
        """A paragraph."""
        return self._paragraph(lambda rows: rf"\[ {environment('aligned', rows)} \]")

    def markdown(self) -> str:
        """The same for a notebook."""
        return self._paragraph(lambda rows: f"$$\n{environment('aligned', rows)}\n$$")

    def _paragraph(self, display: Callable[[Sequence[str]], str]) -> str:
        write = self.writer(plain=False)
        loss = write.letter(self.loss)
        forward = [self._row(line, write, backward=False) for line in self.lines.forward]
        backward = [self._row(line, write, backward=True) for line in self.lines.backward]
        found = [_row(*self._derivative(line, write)) for line in self.lines.gradients]
        functions = [_row(left, right, "") for left, right in self._functions(write)]
        parts = [f"Let {self._declared(plain=False)}, and", display(forward)]
        if backward:
            parts += [f"A bar marks the derivative of ${loss}$ by a value, an array of its shape:", display(backward)]
        parts += ["The gradient is", display(found)]
        if functions:
            parts += ["where", display(functions)]
        return "\n".join([*parts, *self._notes(plain=False)])

    def _row(self, line: FormulaLine, write: TermWriter, *, backward: bool) -> str:
        return _row(write(line.left), write(line.right), self._layers(line, write, backward=backward))

    # Both.

    def _declared(self, *, plain: bool) -> str:
        """Sizes, parameters, inputs and matrices."""
        naming, write = self.lines.naming, self.writer(plain=plain)
        whole = sorted((each for each in self.lines.flows.letters if each.is_integer), key=str)
        others = sorted((each for each in self.lines.flows.letters if not each.is_integer), key=str)
        found = [self._of_kind(whole, "positive integers" if len(whole) > 1 else "a positive integer", write)]
        found += [self._of_kind(others, "numbers" if len(others) > 1 else "a number", write)]
        members: list[tuple[str, Sequence[sp.Expr]]] = []
        for name, each in {**naming.objects.inputs_of_graph, **naming.objects.values}.items():
            members.append((write.letter(Letter(name)), [each.dim] if each.count is None else [each.count, each.dim]))
        for name, matrix in naming.objects.matrices.items():
            members.append((self._matrix(name, matrix, write), [matrix.rows, matrix.columns]))
        cross = " x " if plain else r" \times "
        for text, sizes in members:
            sides = cross.join(f"({write.number(size)})" if size.is_Add else write.number(size) for size in sizes)
            if plain:
                found.append(f"{text} in R^{sides if sides.isalnum() else f'({sides})'}")
            else:
                found.append(rf"${text} \in \mathbb{{R}}^{{{sides}}}$")
        return ", ".join(each for each in found if each)

    def _of_kind(self, letters: Sequence[sp.Symbol], kind: str, write: TermWriter) -> str:
        names = [write.number(each) if write.plain else f"${write.number(each)}$" for each in letters]
        verb = "are" if len(names) > 1 else "is"
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
        return "" if not names else f"{listed} {verb if write.plain else 'be'} {kind}"

    def _matrix(self, name: str, matrix: Matrix, write: TermWriter) -> str:
        if matrix.layers is None:
            return write.letter(Letter(name))
        ends = [write.letter(Letter(name, indices=(each,))) for each in (sp.S.One, matrix.layers)]
        dots = "..." if write.plain else r"\dots"
        return f"{ends[0]}, {dots}, {ends[1]}"

    def _functions(self, write: TermWriter) -> Iterator[tuple[str, str]]:
        """Those that were written, and their formulas; tanh is what it is called."""
        argument = self.lines.naming.argument
        for each in write.functions.values():
            expr = each.expr.xreplace({t: argument})
            if sp.sstr(expr) != f"{each.name}({argument})":
                shown = expr if write.plain else expr.rewrite(sp.Heaviside, sp.Piecewise)
                yield f"{write.function(each.name, slope=each.slope)}({write.number(argument)})", write.number(shown)

    def _notes(self, *, plain: bool) -> list[str]:
        """What signs mean, of those that occur."""
        terms = [each for line in self._all_lines for each in _all_terms(line.right)]
        kinds = set(map(type, terms))
        tokens = any(node.count is not None for node in self.lines.flows.nodes)
        one, product = ("1", "*") if plain else (r"$\mathbf{1}$", r"$\odot$")
        notes = []
        if EntryProduct in kinds:
            notes.append(f"{product} is the product entry by entry")
        if kinds & {FunctionOf, RootMeanSquare}:
            notes.append("functions act entry by entry")
        notes += self._notes_on_rows([each for each in terms if isinstance(each, RowFunction)], plain)
        if kinds & {OnesVector, EachRow}:
            notes.append(f"{one} is a vector of ones")
        write = self.writer(plain=plain)
        for each in dict.fromkeys(term.index for term in terms if isinstance(term, ClassVector)):
            unit = write.letter(Letter("e", indices=(sp.Integer(each + 1),)))
            notes.append(f"{_math(unit, plain)} is the unit vector of the class {each}, from 0 on")
        for index in {self.lines.naming.loops[each.loop].index for each in terms if isinstance(each, UnitVector)}:
            unit, place = write.letter(Letter("e", indices=(index,))), write.number(index)
            notes.append(f"{_math(unit, plain)} is the unit vector with a 1 at place {_math(place, plain)}")
        for of in {term.of: None for term in terms if isinstance(term, Lettered) and isinstance(term.of, TokenOfLayer)}:
            row, name = write(value_of(of)), write.letter(Letter(of.of.name))
            number = write.number(self.lines.naming.loops[of.number.argument].index)
            notes.append(f"{_math(row, plain)} is row {_math(number, plain)} of {_math(name, plain)}")
        if Coordinates in kinds:
            notes.append(
                "i:j are the coordinates from i to j" if plain else "$i:j$ are the coordinates from $i$ to $j$"
            )
        if tokens:
            notes.append("tokens are the rows of a matrix")
        notes += self._notes_on_objects(plain)
        sentence = "; ".join(notes)
        return [] if not notes else [sentence if plain else f"{sentence[0].upper()}{sentence[1:]}."]

    def _notes_on_rows(self, functions: Sequence[RowFunction], plain: bool) -> list[str]:
        write = self.writer(plain=plain)
        names = dict.fromkeys(each.name for each in functions if each.axes == 2)
        notes = [f"{name} acts on each row" for name in names]
        written = {each.name for each in functions}
        notes += [f"{name} is {words}" for name, words in ROW_WORDS.items() if name in written]
        for keys in dict.fromkeys(each.keys for each in functions if each.keys is not None):
            name = f"softmax_{write.number(keys)}" if plain else rf"$\operatorname{{softmax}}_{{{write.number(keys)}}}$"
            which = "those of the mask" if keys == KEPT else f"the {_math(write.number(keys), plain)} largest entries"
            notes.append(f"{name} is softmax over {which}")
        return notes

    def _notes_on_objects(self, plain: bool) -> list[str]:
        """How approximate matrices are made, and which values are no formulas."""
        objects = self.lines.naming.objects
        changed = [(each.name, each.change) for each in objects.matrices.values() if each.change is not None]
        made = [change.words(name, f"{name}_hat") for name, change in changed]
        found = [each.replace("`", "") if plain else prose_latex(each) for each in made if self.lines.flows.approximate]
        write = self.writer(plain=plain)
        return [*found, *(f"{_math(write.letter(Letter(name)), plain)} is given" for name in objects.values)]

    @property
    def _all_lines(self) -> list[FormulaLine]:
        return [*self.lines.forward, *self.lines.backward, *self.lines.gradients]


def _math(text: str, plain: bool) -> str:
    return text if plain else f"${text}$"


def _all_terms(term: Term) -> Iterator[Term]:
    yield term
    for part in term.parts:
        yield from _all_terms(part)


def _columns(rows: Sequence[tuple[str, str, str]]) -> str:
    first, second = (max(len(row[place]) for row in rows) for place in (0, 1))
    return "\n".join(f"  {a:>{first}} = {b:<{second}}   {c}".rstrip() for a, b, c in rows)


def _row(left: str, right: str, layers: str) -> str:
    """One line of an aligned display that fits the page."""
    behind = f" && ({layers})" if layers else ""
    room = PAGE - width(f"{left} =") - (width(layers) + CONDITION if layers else 0.0)
    shown = wrapped(right, room).replace(r"\begin{aligned}", r"\begin{aligned}[t]")
    return f"{left} &= {shown}{behind}"
