"""How formulas of a backward pass are written: on a terminal, and in LaTeX."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import singledispatchmethod

import sympy as sp

from symbolic.gradients.row_terms import AsColumn, Coordinates, EachRow, Joined, RootMeanSquare, RowFunction
from symbolic.gradients.terms import (
    ClassVector,
    Divided,
    DotProduct,
    EntryProduct,
    FunctionOf,
    LayerSum,
    Lettered,
    LinearCombination,
    MatrixTimes,
    NumberTimes,
    OnesVector,
    OuterProduct,
    RowsTimes,
    Term,
    Transposed,
    UnitVector,
    Unity,
)
from symbolic.latex.typesetting import latex
from symbolic.words.ascii_math import NAMED

ACCENTS = {"bar": (r"\bar", r"\overline"), "hat": (r"\hat", r"\widehat")}  # of one letter, of a word
WORD = r"\mathrm"
COMMANDS = ("tanh", "sin", "cos", "exp", "log", "sinh", "cosh", "arctan")  # of LaTeX
SUM, ENTRIES, MATRICES, ATOM = range(4)  # what stands outermost in a formula
Written = tuple[str, int]


@dataclass(frozen=True)
class Letter:
    """A name with an accent ("", "bar" or "hat") and the numbers of layers below it."""

    name: str
    accent: str = ""
    indices: tuple[sp.Expr, ...] = ()

    def plain(self) -> str:
        below = "".join(f"_{_grouped(sp.sstr(index))}" for index in self.indices)
        return f"{self.name}{self.accent and '_'}{self.accent}{below}"

    def latex(self) -> str:
        stem, _, own = self.name.partition("_")
        shown = latex(sp.Symbol(stem))
        if self.accent:
            shown = f"{ACCENTS[self.accent][shown.startswith(WORD)]}{{{shown}}}"
        below = [own.replace("_", ",")] if own else []
        below += [latex(index) for index in self.indices]
        return f"{shown}_{{{','.join(below)}}}" if below else shown


def _grouped(text: str) -> str:
    return text if text.isalnum() else f"({text.replace(' ', '')})"


@dataclass(frozen=True)
class LayerIndex:
    """The number of a layer, from 1 to `depth`."""

    index: sp.Symbol
    depth: sp.Expr


@dataclass(frozen=True)
class TermWriter:
    """Writes formulas in these letters; `plain` for a terminal, else LaTeX."""

    letters: Mapping[Lettered, Letter]
    loops: Mapping[Hashable, LayerIndex]
    plain: bool
    functions: dict[str, FunctionOf] = field(default_factory=dict)  # those that were written, by name

    def __call__(self, term: Term) -> str:
        return self.written(term)[0]

    def number(self, expr: sp.Expr) -> str:
        if self.plain:
            return sp.sstr(expr).replace("**", "^").replace("*", " ")
        return latex(expr, {letter: NAMED[str(letter)] for letter in expr.free_symbols if str(letter) in NAMED})

    def letter(self, of: Letter) -> str:
        return of.plain() if self.plain else of.latex()

    def within(self, term: Term, kind: int) -> str:
        """For use in a product of this kind: in brackets where another one, or a sum, is outermost."""
        text, own = self.written(term)
        return text if own in (kind, ATOM) else self.bracketed(text)

    def bracketed(self, text: str) -> str:
        return f"({text})" if self.plain else rf"\left({text}\right)"

    @singledispatchmethod
    def written(self, term: Term) -> Written:
        """The text, and what stands outermost in it."""
        raise NotImplementedError(f"no notation for {type(term).__name__}")

    @written.register
    def _(self, term: Lettered) -> Written:
        return self.letter(self.letters[term]), ATOM

    @written.register
    def _(self, term: Unity) -> Written:
        return "1", ATOM

    @written.register
    def _(self, term: OnesVector) -> Written:
        return ("1" if self.plain else r"\mathbf{1}"), ATOM

    @written.register
    def _(self, term: ClassVector) -> Written:
        return self.letter(Letter("e", indices=(sp.Integer(term.index + 1),))), ATOM

    @written.register
    def _(self, term: UnitVector) -> Written:
        return self.letter(Letter("e", indices=(self.loops[term.loop].index,))), ATOM

    @written.register
    def _(self, term: LinearCombination) -> Written:
        text = ""
        for factor, each in term.terms:
            negative = not factor.is_Add and factor.could_extract_minus_sign()
            part = self._multiple(-factor if negative else factor, each)
            text += f" {'-' if negative else '+'} {part}" if text else f"-{part}" if negative else part
        if len(term.terms) > 1 or text.startswith("-"):
            return text, SUM
        return text, ENTRIES if self.written(term.terms[0][1])[1] == ENTRIES else MATRICES

    def _multiple(self, factor: sp.Expr, term: Term) -> str:
        if term == Unity():
            return self.number(factor)
        text, kind = self.written(term)
        text = self.bracketed(text) if kind == SUM and not isinstance(term, LayerSum) else text
        if factor == 1:
            return text
        single = factor.is_Rational or factor.is_Symbol or (not factor.is_Add and not self.plain)
        return f"{self.number(factor) if single else self.bracketed(self.number(factor))} {text}"

    @written.register
    def _(self, term: Transposed) -> Written:
        return self.within(term.of, ATOM) + ("^T" if self.plain else r"^{\top}"), ATOM

    @written.register
    def _(self, term: MatrixTimes) -> Written:
        return f"{self.within(term.left, MATRICES)} {self.within(term.right, MATRICES)}", MATRICES

    @written.register
    def _(self, term: NumberTimes) -> Written:
        return f"{self.within(term.left, ATOM)} {self.within(term.right, MATRICES)}", MATRICES

    @written.register
    def _(self, term: OuterProduct) -> Written:
        return f"{self.within(term.left, MATRICES)} {self(Transposed(term.right))}", MATRICES

    @written.register
    def _(self, term: AsColumn) -> Written:
        return self.written(term.of)

    @written.register
    def _(self, term: EachRow) -> Written:
        return f"{self.one} {self(Transposed(term.of))}", MATRICES

    @written.register
    def _(self, term: DotProduct) -> Written:
        return f"{self(Transposed(term.left))} {self.within(term.right, MATRICES)}", MATRICES

    @written.register
    def _(self, term: EntryProduct) -> Written:
        sign = "*" if self.plain else r"\odot"
        return f"{self.within(term.left, ENTRIES)} {sign} {self.within(term.right, ENTRIES)}", ENTRIES

    @written.register
    def _(self, term: RowsTimes) -> Written:
        return f"{self._diagonal(term.left)} {self.within(term.right, MATRICES)}", MATRICES

    def _diagonal(self, term: Term) -> str:
        name = "diag" if self.plain else r"\operatorname{diag}"
        return f"{name}{self.bracketed(self(term))}"

    @written.register
    def _(self, term: Divided) -> Written:
        if term.axes == 2:
            inverse = "^(-1)" if self.plain else "^{-1}"
            return f"{self._diagonal(term.right)}{inverse} {self.within(term.left, MATRICES)}", MATRICES
        if self.plain:
            return f"{self.within(term.left, ATOM)}/{self.within(term.right, ATOM)}", MATRICES
        return rf"\frac{{{self(term.left)}}}{{{self(term.right)}}}", ATOM

    @written.register
    def _(self, term: FunctionOf) -> Written:
        self.functions[term.name + "'" * term.slope] = term
        return f"{self.function(term.name, slope=term.slope)}{self.bracketed(self(term.argument))}", ATOM

    def function(self, name: str, *, slope: bool) -> str:
        """The name of a function, or of its derivative."""
        stem, prime = name.removesuffix("_hat"), "'" * slope
        if self.plain:
            return f"{name}{prime}"
        if stem in COMMANDS:
            shown = f"\\{stem}"
        else:
            shown = latex(sp.Symbol(stem)) if len(stem) == 1 or "_" in stem else rf"\operatorname{{{stem}}}"
        return (rf"\widehat{{{shown}}}" if stem != name else shown) + prime

    @written.register
    def _(self, term: RowFunction) -> Written:
        name = term.name if self.plain else rf"\operatorname{{{term.name}}}"
        if term.keys is not None:
            keys = self.number(term.keys)
            name += f"_{_grouped(keys)}" if self.plain else f"_{{{keys}}}"
        return f"{name}{self.bracketed(self(term.argument))}", ATOM

    @written.register
    def _(self, term: RootMeanSquare) -> Written:
        shift = f" + {self.number(term.shift)}" if term.shift != 0 else ""
        x, dim = term.argument, self.number(term.dim)
        if x.axes == 2:
            square = f"{self.bracketed(self(EntryProduct(x, x)))} {self.one}"
        else:
            square = f"||{self(x)}||_2^2" if self.plain else rf"\|{self(x)}\|_2^2"
        if self.plain:
            return f"sqrt({square}/{_grouped(dim)}{shift})", ATOM
        return rf"\sqrt{{\frac{{1}}{{{dim}}} {square}{shift}}}", ATOM

    @property
    def one(self) -> str:
        return "1" if self.plain else r"\mathbf{1}"

    @written.register
    def _(self, term: Joined) -> Written:
        parts = [self(each) for each in term.of]
        if self.plain:
            return f"({', '.join(parts)})", ATOM
        between = r" \\ " if term.axes == 1 else " & "
        return rf"\begin{{pmatrix}} {between.join(parts)} \end{{pmatrix}}", ATOM

    @written.register
    def _(self, term: Coordinates) -> Written:
        before = sp.Add(*(dim for _, dim in term.before))
        ends = [_grouped(self.number(each)) for each in (before + 1, before + term.own[1])]
        places = (":, " if term.axes == 2 else "") + ":".join(ends)
        of = self.within(term.of, ATOM)
        return (f"{of}[{places}]" if self.plain else rf"{self.bracketed(of)}_{{{places}}}"), ATOM

    @written.register
    def _(self, term: LayerSum) -> Written:
        loop = self.loops[term.loop]
        index, depth = self.number(loop.index), self.number(loop.depth)
        inner = self(term.of) if isinstance(term.of, LayerSum) else self.within(term.of, MATRICES)
        if self.plain:
            return f"sum_({index}=1)^{_grouped(depth)} {inner}", SUM
        return rf"\sum_{{{index}=1}}^{{{depth}}} {inner}", SUM
