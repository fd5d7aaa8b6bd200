r"""What a statement says before its conclusions: the letters that they show, what these mean, and the hypotheses.

A letter is shown if a formula has it, or if the words of a conclusion or the meaning of a shown letter name it. A
hypothesis with a shown letter is always kept, and shows its other letters. One without is left out only where the data
say so: `Hypothesis.only`, `Parameter.setting`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy as sp
from sympy.core.function import AppliedUndef

from symbolic.latex.displays import SIGN_OF, stated
from symbolic.latex.page import Page
from symbolic.latex.typesetting import latex
from symbolic.statements.parameters import Hypothesis, Parameter
from symbolic.statements.result import Quantity, Result
from symbolic.words.names import ErrorSymbol
from symbolic.words.prose import PARTS, listed, marked, prose_latex

NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)*")
ACCENT = r"\\(?:tilde|hat|bar|dot|mathcal|mathbf|mathrm|mathbb|mathsf|text|overline|operatorname)(?![A-Za-z])"
EXPONENTIAL = re.compile(r"(?<![A-Za-z\\])e(?=\^)")  # whose e is no letter of a statement
LETTER = re.compile(rf"({ACCENT})\s*(?:\{{([^{{}}]*)\}}|(\\?[A-Za-z]+))|\\[A-Za-z]+|[A-Za-z]")
FLIPPED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
ACCENTED = re.compile(r"\\[a-z]+\{(.*)\}")
MARKS = {r"\hat", r"\tilde", r"\bar", r"\dot", r"\overline"}
STEM = re.compile(r"[^(^]*\^|[^(^]*_\{\\[a-z]+")
Letters = frozenset[sp.Symbol]
Limit = tuple[sp.Symbol, str, sp.Expr]  # letter, relation and number of a condition


def letters_of(formula: str) -> list[str]:
    r"""The letters of LaTeX, with their accents: `\bar{p}`, `p`, `\theta`, `\mathcal{L}`; in the order of the text."""
    found = []
    for each in LETTER.finditer(formula):
        if each[1] is None:
            found.append(each[0])
        else:
            inside = (each[2] if each[2] is not None else each[3]).strip()
            found.append(f"{each[1]}{{{inside}}}")
    return found


def names_in(words: str) -> set[str]:
    """The names in the mathematics of words."""
    return {name for part in PARTS.finditer(marked(words)) for name in NAME.findall(part["formula"] or "")}


def functions_of(formulas: Iterable[sp.Basic]) -> list[str]:
    """The LaTeX of the functions in formulas that SymPy does not know: they are letters of the statement."""
    named = {each.func.__name__ for formula in formulas for each in formula.atoms(sp.Function) if _is_own(each)}
    return [sp.latex(sp.Function(name)) for name in sorted(named)]


def _is_own(applied: sp.Basic) -> bool:
    return isinstance(applied, AppliedUndef) or not type(applied).__module__.startswith("sympy.")


@dataclass(frozen=True)
class Introduction:
    """The letters to introduce, the hypotheses that are kept, and the objects that the left sides show."""

    result: Result
    letters: Letters
    hypotheses: tuple[Hypothesis, ...]
    objects: Mapping[str, str]
    defined: Letters = frozenset()

    @cached_property
    def page(self) -> Page:
        return page_of(self.result)

    def lines(self) -> list[str]:
        """Sentences in LaTeX."""
        numbers = [each for each in self.result.parameters if each.symbol in self.letters]
        limits = [(each.condition, compared(each.condition)) for each in self.hypotheses]
        joint = [self._stated(condition) for condition, limit in limits if limit is None]
        alone = [limit for _, limit in limits if limit is not None]
        whole = [self._number(each, alone) for each in numbers if each.integer]
        real = [self._number(each, alone) for each in numbers if not each.integer]
        kinds = [
            f"the {kind}{'s' if len(each) > 1 else ''} {listed(each)}"
            for kind, each in (("integer", whole), ("number", real))
            if each
        ]
        lines = [f"Let {' and '.join(kinds)} be given."] if kinds else []
        meanings = [f"{name}: {prose_latex(meaning, self.page.names)}" for name, meaning in self.notation().items()]
        lines += ["", "Notation: " + "; ".join(meanings) + "."] if meanings else []
        lines += ["", f"Assume that {listed(joint)}."] if joint else []
        return [*lines, *(f"\nAssume that {prose_latex(each, self.page.names)}." for each in self.result.assumptions)]

    def notation(self) -> dict[str, str]:
        """The other letters, in mathematics, with their meanings."""
        parameters = {each.symbol for each in self.result.parameters}
        symbols = {
            f"${self.page.latex(letter)}$": meaning
            for letter, meaning in self.result.symbols.items()
            if letter in self.letters - self.defined and letter not in parameters
        }
        return {**symbols, **{f"${name}$": meaning for name, meaning in self.objects.items()}}

    def _number(self, parameter: Parameter, limits: Sequence[Limit]) -> str:
        """The letter within its limits, and what it means."""
        own = [(sign, number) for letter, sign, number in limits if letter == parameter.symbol]
        lower = [each for each in own if each[0] in (">", ">=")]
        upper = [each for each in own if each not in lower]
        latex = self.page.latex
        below = [f"{latex(number)} {SIGN_OF[FLIPPED[sign]]} " for sign, number in lower[-1:] if upper]
        above = [f" {SIGN_OF[sign]} {latex(number)}" for sign, number in (upper or lower)[-1:]]
        words = prose_latex(parameter.stated, self.page.names)
        if parameter.integer and set(own) == {(">=", 0), ("<=", 1)}:
            below, above = [], [r" \in \{0, 1\}"]
        return f"${''.join([*below, latex(parameter.symbol), *above])}$" + (f" ({words})" if words else "")

    def _stated(self, condition: sp.Basic) -> str:
        whole = whole_number(condition)
        if whole is None:
            return stated(condition, Page(self.result.notation))
        return rf"${self.page.latex(whole)}$ is a whole number"


def introduction(
    result: Result,
    quantities: Sequence[Quantity],
    formulas: Iterable[sp.Basic],
    defined: Letters = frozenset(),
) -> Introduction:
    """For conclusions about these quantities that show these formulas; letters that are `defined` have values there."""
    named: dict[str, set[sp.Symbol]] = {}
    chosen_by = [each.symbol for each in result.parameters if each.symbol is not None and not each.setting]
    for letter in (*result.symbols, *chosen_by):
        named.setdefault(letter.name, set()).add(letter)
    meanings = dict(result.symbols)
    texts = [words for q in quantities for words in (q.meaning, q.norm, q.domain, *q.over)]
    texts += result.assumptions
    formulas = list(formulas)
    shown: set[sp.Symbol] = {letter for formula in formulas for letter in formula.free_symbols}
    chosen = {each.name for each in quantities}
    introduced = {*result.symbols, *(each.symbol for each in result.parameters)}
    unsaid = (each for each in shown - introduced if not isinstance(each, ErrorSymbol))  # the proof introduces those
    others = [latex(letter, result.notation) for letter in unsaid]
    left = [*(each.latex_symbol for each in quantities), *others, *functions_of(formulas)]
    while True:
        words = [*texts, *(meanings[letter] for letter in shown if letter in meanings)]
        objects = _objects(result, [*left, *map(_mathematics, words)])
        words += objects.values()
        names = {name for each in words for name in names_in(each)}
        found = shown | {letter for name in names & set(named) for letter in named[name]}
        kept = tuple(each for each in result.hypotheses if is_needed(result, each, found, chosen))
        found |= {letter for each in kept for letter in each.condition.free_symbols}
        if found == shown:
            return Introduction(result, frozenset(shown), kept, objects, defined)
        shown = found


def latex_names(result: Result) -> dict[str, str]:
    """The notation of the parameters that have one, by their names; none for a star, which words have themselves."""
    known = ((each.symbol.name, result.notation.get(each.symbol, "")) for each in result.parameters if each.symbol)
    return {name: written for name, written in known if written and "^" not in written}


def page_of(result: Result) -> Page:
    """A page for displays of the result; no part is named as an object is, whose letter stands without its accent."""
    heads = (_head(name) for name in result.objects)
    return Page(result.notation, latex_names(result), [ACCENTED.sub(r"\1", each).lstrip("\\") for each in heads])


def is_needed(result: Result, hypothesis: Hypothesis, shown: set[sp.Symbol], chosen: set[str]) -> bool:
    """Whether conclusions about the chosen quantities may need it. In doubt they do, but for one on a setting."""
    letters = hypothesis.condition.free_symbols
    settings = {each.symbol: each.name for each in result.parameters if each.setting and each.symbol not in shown}
    if letters & shown and hypothesis.parameter not in settings.values():
        return True
    if hypothesis.only:
        return bool(chosen & set(hypothesis.only))
    return not letters <= shown | set(settings)


def compared(condition: sp.Basic) -> Limit | None:
    """What a condition that limits one letter compares it with; None for another one."""
    if not isinstance(condition, sp.core.relational.Relational) or condition.rel_op not in FLIPPED:
        return None
    if condition.lhs.is_Symbol and condition.rhs.is_number:
        return condition.lhs, condition.rel_op, condition.rhs
    if condition.rhs.is_Symbol and condition.lhs.is_number:
        return condition.rhs, FLIPPED[condition.rel_op], condition.lhs
    return None


def whole_number(condition: sp.Basic) -> sp.Expr | None:
    """What the condition x = floor(x), or x mod m = r, makes a whole number."""
    if not isinstance(condition, sp.Equality):
        return None
    left, right = condition.args
    if right == sp.floor(left):
        return left
    if isinstance(left, sp.Mod) and right.is_number:
        return (left.args[0] - right) / left.args[1]
    return None


def _objects(result: Result, formulas: Iterable[str]) -> dict[str, str]:
    """Those that the formulas show, and those that the meanings of these do."""
    shown = list(formulas)
    found: dict[str, str] = {}
    while True:
        letters = {letter for each in shown for letter in letters_of(EXPONENTIAL.sub("", each))}
        rest = {name: words for name, words in result.objects.items() if name not in found}
        new = {name: words for name, words in rest.items() if _is_shown(name, letters, shown)}
        if not new:
            return {name: words for name, words in result.objects.items() if name in found}
        found |= new
        shown += map(_mathematics, new.values())


def _is_shown(name: str, letters: set[str], formulas: Sequence[str]) -> bool:
    """Whether a formula has its first letter, up to its exponent or an index that is itself a letter of many."""
    stem = STEM.match(name)
    return _head(name) in letters and (stem is None or any(stem[0] in each for each in formulas))


def _mathematics(words: str) -> str:
    """The formulas among the words, in LaTeX."""
    return " ".join(re.findall(r"\$([^$]*)\$", prose_latex(words)))


def _head(name: str) -> str:
    """The letter that an object is shown by: the first one that is not a sign of an operation."""
    return next((each for each in letters_of(name) if each not in OPERATIONS), name)


OPERATIONS = frozenset(
    (r"\nabla", r"\sup", r"\inf", r"\liminf", r"\max", r"\min", r"\sum", r"\int", r"\log", r"\frac", r"\tfrac",
     r"\left", r"\right")
)  # fmt: skip
