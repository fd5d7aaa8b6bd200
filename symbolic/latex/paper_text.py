r"""A statement as a paper prints it: letters, hypotheses, one event, conclusions.

For environments of the reader's own: \begin{theorem}\input{...}\end{theorem}.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp

from symbolic.latex.conditions import Conditions, conditions_of
from symbolic.latex.displays import display, equations, stated
from symbolic.latex.introductions import Letters, introduction, page_of
from symbolic.latex.page import Page
from symbolic.latex.printing import RELATIONS, formula_latex, printed_equations
from symbolic.latex.shown_bounds import derived_equations
from symbolic.statements.result import BY_PROOF, CONSTRUCTION, INEQUALITY, Formula, Kind, Quantifier, Quantity, Result
from symbolic.words.citations import Citation
from symbolic.words.prose import begun, joined, listed, prose_latex

VERBS = {  # of one thing, of several
    Kind.UPPER: ("satisfies the upper bound", "satisfy the upper bound"),
    Kind.LOWER: ("satisfies the lower bound", "satisfy the lower bound"),
    Kind.EXACT: ("has the value", "have the value"),
    Kind.RATE: ("is asymptotically", "are asymptotically"),
}
PLURAL = re.compile(
    r"(\S*? )??\w*[a-rt-z]s( (of|in|at|for|with|against|by|to|on|from|that|which|copied|before|after)\b|,|$)"
)
WITHOUT_FOR = re.compile(r"(along|while|in|on|at|under|when|where|during|by) ")
# Words that begin a meaning and take no article.
NO_ARTICLE = re.compile(r"(an?|the|one|every|all|each|its|no|what|whether|how|that|as) |[`$\\(]|[A-Z]\w* ?$")
REFUTED = "The following bounds are printed, but do not hold as printed; see the errata."
QUOTED = "The paper states the following bounds under hypotheses to which it gives no size; none is proved here."


@dataclass(frozen=True)
class Conclusion:
    """What is said of a quantity: its bound with the definitions behind it, as `shown` and as formulas.

    `source` is to be cited for a printed bound, `owed` are the conditions that it needs, `run_at` is in words where
    alone it is stated.
    """

    quantity: Quantity
    shown: tuple[str, ...]
    formulas: tuple[Any, ...]
    source: Citation | None = None
    owed: tuple[str, ...] = ()
    run_at: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def domain(self) -> str:
        domain = self.quantity.domain_latex or prose_latex(self.quantity.domain, self.names)
        return ", ".join(filter(None, [domain, self.run_at]))

    @property
    def refuted(self) -> bool:
        """Whether it is a printed bound that an erratum refutes."""
        return self.source is not None and self.quantity.erratum is not None

    @property
    def under(self) -> str:
        """The hypothesis without a size under which the paper states a printed bound."""
        printed = self.quantity.printed
        return "" if self.source is None or printed is None else printed.under

    @property
    def quoted(self) -> bool:
        """Whether it is a printed bound that no theorem of ours states, and none that is refuted."""
        return bool(self.under) and not self.refuted

    @property
    def asserted(self) -> bool:
        """Whether a theorem states it as what holds under its hypotheses."""
        return not (self.refuted or self.quoted)

    @property
    def chance(self) -> str:
        """With which probability, or in which mean, it holds by itself; "" if it always does."""
        certain = self.quantity.quantifier in (Quantifier.FOR_ALL, Quantifier.EXISTS)
        return "" if certain else prose_latex(self.quantity.chance, self.names)

    def sentence(self) -> str:
        """What the quantity is, and the display."""
        quantity = self.quantity
        if quantity.norm == INEQUALITY:
            return f"the following inequality holds:\n{display(self.shown, '.')}"
        said = prose_latex(quantity.meaning, self.names)
        plain = quantity.norm in PLAIN_NORMS or quantity.norm in quantity.meaning
        norm = "" if plain else f" ({prose_latex(quantity.norm, self.names)})"
        subject = said if NO_ARTICLE.match(said) else f"the {said}"
        said_in = [f"as stated in {self.source.latex()}"] if self.source and str(self.source) else []
        printed = quantity.printed.relation if self.source and quantity.printed else None
        verb = VERBS[printed or quantity.kind][bool(PLURAL.match(said))]
        verb = "can be any number with" if quantity.suffices else verb
        ends = [f"for {listed([stated(each, Page()) for each in quantity.indices])}"] if quantity.indices else []
        owed = [*self.owed, *([prose_latex(self.under, self.names)] if self.under else [])]
        where = [*said_in, *([f"under {listed(owed)}"] if owed else [])]
        aside = f", {', '.join(where)}," if where else ""
        opening = f"{subject}{norm}{aside} {verb}"
        if not ends:
            return f"{opening}\n{display(self.shown, '.')}"
        return "\n".join([opening, display(self.shown, ","), f"{' '.join(ends)}."])


PLAIN_NORMS = frozenset(
    ("absolute value", "number", "a number", "value", "count", "a count", "a constant", "a loss", "a share", "a sum",
     "a probability", "exponent", "a logarithm", "leading term", "a ratio",
     "smallest value of the difference of the sides")
)  # fmt: skip


def theorem_latex(result: Result, expanded: bool = False, refuted: bool = False) -> str:
    """Letters, hypotheses, and each bound: the derived one, or the printed one where nothing is derived.

    A printed bound that an erratum refutes is not a conclusion, nor is one under a hypothesis without a size. They are
    shown, and called so, if they are all there is to show, or if what is `refuted` is asked for.
    """
    stating = _Stating(result, expanded)
    right, quoted, wrong = stating.shown(refuted)
    shown = [each.quantity for each in (*right, *quoted, *wrong)]
    every = (*right, *quoted, *wrong)
    formulas = [formula for each in every for formula in (*each.formulas, *each.quantity.indices)]
    owed = stating.owed
    values = _letter_values(result, shown, [*formulas, *owed.formulas], owed.defined)
    formulas += [*owed.formulas, *(each.expression for each in values)]
    lines = [*introduction(result, shown, formulas, owed.defined).lines(), *owed.lines]
    numbers = iter(map(_roman, range(1, len(shown) + 1)))
    lines += _stated(right, numbers, alone=len(shown) == 1)
    if quoted:
        lines += ["", QUOTED, *_groups(quoted, numbers, alone=False)]
    if wrong:
        lines += [REFUTED, *(line for each in wrong for line in _numbered(each, numbers))]
    for each in values:
        said = formula_latex(each, stating.page, end=".")
        lines += ["", begun(said) if NO_ARTICLE.match(said) else f"The {said}"]
    return "\n".join(lines)


def _letter_values(result: Result, shown: Sequence[Quantity], formulas: Sequence[Any], known: Letters) -> list[Formula]:
    """The formulas that define letters which these or the words of the quantities show, and so on for their letters."""
    found: list[Formula] = []
    while True:
        letters = introduction(result, shown, [*formulas, *(each.expression for each in found)], known).letters
        every = [each for each in result.formulas if each.defines in letters]
        if len(every) == len(found):
            return found
        found = every


def _roman(number: int) -> str:
    """i, ii, iii, iv and so on, below 40."""
    tens, ones = divmod(number, 10)
    return "x" * tens + ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")[ones]


def _numbered(conclusion: Conclusion, numbers: Iterator[str]) -> list[str]:
    """A paragraph of its own, with the next number."""
    return ["", rf"\textup{{({next(numbers)})}} {begun(conclusion.sentence())}"]


@dataclass
class _Stating:
    """A statement, its conditions, and the names that its displays share."""

    result: Result
    expanded: bool = False

    @cached_property
    def page(self) -> Page:
        return page_of(self.result)

    @cached_property
    def owed(self) -> Conditions:
        return conditions_of(self.result, [q for q in self.result.quantities if not q.outside], self.page)

    def conclusions(self) -> list[Conclusion]:
        found = (_conclusion(self, each) for each in self.result.quantities)
        return [each for each in found if each is not None]

    def shown(self, refuted: bool = False) -> tuple[list[Conclusion], list[Conclusion], list[Conclusion]]:
        """What the theorem states; what it quotes and what is refuted, if they are asked for or all there is."""
        found = self.conclusions()
        right = [each for each in found if each.asserted]
        others = found if refuted or not right else []
        return right, [each for each in others if each.quoted], [each for each in others if each.refuted]


def concluded(result: Result) -> list[Conclusion]:
    """What the statement says of its quantities; nothing that an erratum refutes or that it only quotes."""
    return _Stating(result).shown()[0]


def conclusions(result: Result, expanded: bool = False) -> list[Conclusion]:
    """One for each quantity that has a formula."""
    return _Stating(result, expanded).conclusions()


def _conclusion(stating: _Stating, quantity: Quantity) -> Conclusion | None:
    """None for a quantity without a formula, or where the statement claims nothing."""
    if quantity.outside:
        return None
    owed, page = tuple(stating.owed.needed.get(quantity.name, ())), stating.page
    relation, printed = RELATIONS[quantity.stated_kind], quantity.printed
    derived, closed = quantity.derived(), quantity.closed_form
    if derived is None and closed is None:
        if printed is None:
            return None
        shown, at = printed_equations(quantity, printed, page), _run_words(stating.result, printed.run_at, page)
        return Conclusion(quantity, tuple(shown), (printed.shown,), printed.citation, run_at=at, names=page.names)
    found = closed if derived is None else derived
    if quantity.norm == INEQUALITY:
        shown = [quantity.latex_symbol]
    elif derived is None or stating.expanded:
        shown = equations((quantity.latex_symbol, relation, found), page)
    else:
        shown = derived_equations(quantity, relation, page)
    fails = [] if derived is None or quantity.may_fail is None else [quantity.may_fail]
    return Conclusion(quantity, tuple(shown), (found, *fails), owed=owed, names=page.names)


def _run_words(result: Result, at: Sequence[tuple[str, Any]], page: Page) -> str:
    """The parameters at which a run is stated, in mathematics."""
    symbols = {each.name: each.symbol for each in result.parameters if each.symbol is not None}
    points = [f"${page.latex(symbols[name])} = {value}$" for name, value in at]
    return f"at {listed(points)} (a run in floating point)" if points else ""


def _stated(shown: Sequence[Conclusion], numbers: Iterator[str], *, alone: bool) -> list[str]:
    """Those that hold by themselves, domain after domain; then those that hold on one event."""
    on_events = [each for each in shown if each.quantity.events]
    sure = [each for each in shown if each not in on_events]
    lines = list(_groups(sure, numbers, alone=alone))
    if not on_events:
        return lines
    over = prose_latex(joined((words for each in on_events for words in each.quantity.over), " and "))
    least = Page().latex(1 - joint_failure([each.quantity for each in on_events]))
    event = f"With probability at least ${least}$ over {over}, all of the following hold:"
    return [*lines, "", event, *_groups(on_events, numbers, joint=True, alone=alone)]


# P(some event fails) <= sum of P(each fails). Two quantities share an event if one and the same step introduces it.
def joint_failure(quantities: Sequence[Quantity]) -> sp.Expr:
    """The probability that the bounds do not all hold, at most."""
    fails: dict[Any, sp.Expr] = {}
    for quantity in quantities:
        steps = () if quantity.derivation is None else quantity.derivation.steps
        origin = {event.name: step.local for step in steps for event in step.events}
        for event in quantity.events:
            fails[event, origin.get(event.name, quantity.name)] = event.fails
    return sp.Add(*fails.values())


def _groups(shown: Sequence[Conclusion], numbers: Iterator[str], *, alone: bool, joint: bool = False) -> Iterator[str]:
    """The lines of one domain after the other, each said once; `joint`: on an event that is named already."""
    keys = [("" if joint else each.chance, each.domain) for each in shown]
    for key in dict.fromkeys(keys):
        members = [each for each, own in zip(shown, keys, strict=True) if own == key]
        opening = _opening(members, *key)
        if alone:
            said = members[0].sentence()
            yield from ["", f"{opening.removesuffix(':')}, {said}" if opening else begun(said)]
        else:
            yield from ["", opening] if opening else []
            for each in members:
                yield from _numbered(each, numbers)


def _opening(members: Sequence[Conclusion], chance: str, domain: str) -> str:
    """Where they hold, and with which probability; "" for conclusions that hold everywhere and always."""
    by_proof = members[0].quantity.domain == CONSTRUCTION
    where = prose_latex(BY_PROOF) if by_proof else domain if WITHOUT_FOR.match(domain) else f"for {domain}"
    each = "each of the following holds " if len(members) > 1 and chance else ""
    whole = ", ".join(([where] if domain or by_proof else []) + ([f"{each}{chance}"] if chance else []))
    return f"{begun(whole)}:" if whole else ""
