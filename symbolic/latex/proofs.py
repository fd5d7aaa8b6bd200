"""Derivations as proofs: numbered steps of one or two sentences each, with their displays."""

import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from symbolic.calculus.repetition import steps_of_one_layer
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.derivations.events import Event
from symbolic.latex.displays import display, equations, in_text, with_end, wrapped
from symbolic.latex.naming import with_families
from symbolic.latex.owed import Owed, owed
from symbolic.latex.page import PAGE, Page
from symbolic.latex.recurrences import families_in, layer_letter, recurrence, same_argument
from symbolic.latex.sentences import NORMS, RECURRENCES, is_exact, is_identity, numbered, reason_of, sentence
from symbolic.latex.sizes import SizeLines, layer_lines, sizes_in_layer, sizes_used
from symbolic.latex.typesetting import Notation
from symbolic.latex.widths import width
from symbolic.statements.result import Quantity, Result
from symbolic.words.indices import fresh, names_of_letters
from symbolic.words.names import INDEXED, error_latex, letters_by_name, size_symbol
from symbolic.words.prose import begun, listed, marked, prose_latex

Slack = Mapping[str, float]

NOTATION = (
    r"For a quantity ${v}$ of the proof, $e_{{{v}}}$ bounds its error, the norm of the difference between its "
    r"approximate value and its exact one"
)
SIZES = r" The norm of its exact value is $\|{v}\|$, for tokens the largest of their norms."
LISTED = 30.0  # points by which an item of a list is indented
FULL_STOP = 4.0
ONE_LAYER = "One layer, from an argument with the error"


def step_latex(step: Step) -> str:
    """What a step bounds: an error, unless the step says otherwise."""
    return step.latex or error_latex(step.name)


def names_of(steps: Iterable[Step], notation: Notation | None) -> Notation:
    """The notation, and the symbols of the errors of these steps."""
    return {**(notation or {}), **{step.error: step_latex(step) for step in steps}}


@dataclass
class _Told:
    """What all steps before have said: arguments, reasons and conditions, by the number of their step."""

    owed: Owed
    slack: Slack
    norm: Norm  # of the errors of which nothing else is said
    letters: Mapping[str, sp.Symbol] = field(default_factory=dict)
    arguments: list[tuple[Step, str]] = field(default_factory=list)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass
class _Proof:
    """One derivation: the numbers of its steps by name, and those without an error."""

    page: Page
    told: _Told
    sizes: SizeLines
    claims: Mapping[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    exact: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)

    def bound(self, step: Step) -> sp.Expr:
        return step.shown.xreplace(self.exact)

    def alike(self, step: Step) -> str:
        """The number of the first step with the same formula as its reason, if this is another one."""
        if "`" not in marked(step.reason):
            return ""
        first = self.told.reasons.setdefault((step.rule, step.reason), self.numbers[step.name])
        return "" if first == self.numbers[step.name] else first


def proofs(result: Result, page: Page, slack: Slack | None = None) -> list[str]:
    """The derivations; each step has one number, under which later ones refer to it, and is printed once."""
    lines: list[str] = []
    known: dict[tuple[Any, ...], str] = {}
    shown = _derivations(result)
    letters = letters_by_name(step.local for derivation, _ in shown for step in derivation.steps)
    erring = [step for derivation, _ in shown for step in derivation.steps if not (step.latex or is_identity(step))]
    norms = Counter(step.norm for step in erring if not is_exact(step))
    usual = max(norms, key=lambda norm: norms[norm], default=Norm.TWO)
    told = _Told(Owed(page), slack or {}, usual, letters)
    used = frozenset().union(*(sizes_used(derivation.steps) for derivation, _ in shown))
    for derivation, quantities in shown:
        steps = with_families(derivation.steps)
        room = _for_items(page, steps, LISTED + FULL_STOP)
        proof = _Proof(room, told, SizeLines(room, used), _claims(quantities))
        items, new = list[str](), set[str]()
        for step in steps:
            same = (step.name, step.local, *(each.condition for each in owed(step)))
            if same not in known:
                new.add(step.name)
                known[same] = str(len(known) + 1)
            proof.numbers[step.name] = known[same]
            proof.sizes.name(step)
            items += [_item(step, proof)] if step.name in new else []
            proof.exact |= {step.error: sp.S.Zero} if proof.bound(step) == 0 else {}
        lines += [_heading(quantities, new), *_list(items)] if items else []
    named = fresh(names_of_letters(result.notation) | {q.latex_symbol for q in result.quantities}, "vuzabq")
    norm = f"{NORMS[usual]}{' where no other norm is named' if len(norms) > 1 else ''}"
    sizes = SIZES.format(v=named) if any(_says_sizes(each, used) for d, _ in shown for each in d.steps) else ""
    which = f"{NOTATION.format(v=named)}: {norm}.{sizes}"
    return [which, *lines] if lines and erring else lines


def _says_sizes(step: Step, used: Set[sp.Symbol]) -> bool:
    return size_symbol(step.name) in used or bool(sizes_in_layer(step, used))


def _for_items(page: Page, steps: Sequence[Step], indent: float) -> Page:
    """The page for the items of these steps, with the symbols of their errors."""
    return replace(page.narrower(indent), notation=names_of(steps, page.notation))


def _list(items: Sequence[str]) -> list[str]:
    return [r"\begin{itemize}", *items, r"\end{itemize}"]


def _heading(quantities: Sequence[Quantity], new: Set[str]) -> str:
    named = list(dict.fromkeys(f"${q.latex_symbol}$" for q in quantities if q.concluded_by in new))
    bounds = f" of the {'bound' if len(named) == 1 else 'bounds'} on {listed(named)}" if named else ""
    return rf"\paragraph{{Derivation{bounds}.}}"


def _claims(quantities: Sequence[Quantity]) -> dict[str, list[str]]:
    claims: dict[str, list[str]] = {}
    for each in quantities:
        claims.setdefault(each.concluded_by, []).append(f"${each.latex_symbol}$")
    return claims


def _derivations(result: Result) -> list[tuple[Derivation, list[Quantity]]]:
    """What the bound of each quantity rests on, once each, none that a longer one contains; with their quantities."""
    shown = [(result.shown_derivation(each), each) for each in result.quantities]
    needed = [(d.resting_on(q.concluded_by), q) for d, q in shown if d is not None]
    distinct = {derivation.steps: derivation for derivation, _ in needed}.values()
    sets = {derivation.steps: set(derivation.steps) for derivation in distinct}
    kept = [d for d in distinct if not any(sets[d.steps] < other for other in sets.values())]
    return [(kept_one, [q for d, q in needed if sets[d.steps] <= sets[kept_one.steps]]) for kept_one in kept]


def _item(step: Step, proof: _Proof) -> str:
    """Number, sentence and bound; recurrence, events and conditions; what it loses; the quantity that it bounds."""
    number = proof.numbers[step.name]
    label = rf"\item[({number})]"
    sizes = proof.sizes.of(step)
    if is_exact(step):
        return " ".join([label, sentence(step, proof.numbers), *sizes])
    if is_identity(step):
        return f"{label} {sentence(step, proof.numbers)} {display([wrapped(step.reason, proof.page.room)], '.')}"
    before = same_argument(step, proof.told.arguments, proof.told.letters)
    proof.told.arguments.append((step, number))
    parts = [
        _layer_items(step, proof) if before is None else "",
        _likewise(before, proof.page) if before else _recurrence(step, proof) or _sentence(step, proof),
        _bound(step, proof),
        _norm_words(step, proof),
        *sizes,
        *(_event_words(event, proof.page) for event in step.events),
        *proof.told.owed.sentences(step, number, proof.page.room),
        _slack_words(step, proof.told.slack),
        f"This bounds {listed(proof.claims[step.name])}." if step.name in proof.claims and not step.latex else "",
    ]
    return f"{label} {' '.join(filter(None, parts))}".replace("\n ", "\n")


def _norm_words(step: Step, proof: _Proof) -> str:
    if step.latex or step.norm == proof.told.norm or proof.bound(step) == 0:
        return ""
    return f"Here the norm is {NORMS[step.norm]}."


def _sentence(step: Step, proof: _Proof) -> str:
    return sentence(step, proof.numbers, proof.alike(step), nothing=proof.bound(step) == 0)


def _bound(step: Step, proof: _Proof) -> str:
    local = proof.bound(step)
    if local == 0 and not step.latex:
        return f"${step_latex(step)} = 0$."
    return in_text(equations((step_latex(step), r"\le", local), proof.page))


def _likewise(before: tuple[str, sp.Expr, sp.Expr], page: Page) -> str:
    """The sentence of a step that holds as an earlier one does, at another place."""
    number, old, new = before
    return f"As in ({number}), with ${page.latex(new)}$ in the place of ${page.latex(old)}$,"


def _recurrence(step: Step, proof: _Proof) -> str:
    """The relation that the step solves, with the steps that it starts from; "" without one."""
    if step.recursion is None:
        return ""
    of = numbered([*step.premises, *families_in(step)], proof.numbers)
    why, aside = reason_of(step)
    lead = f"from {of[0]} on{f' and by {listed(of[1:])}' if of[1:] else ''}" if of else ""
    words = ", ".join(filter(None, [why, f"{lead}{aside}", RECURRENCES.get(step.rule, "we have")]))
    return f"{begun(words)} {_relation(step, proof)} Hence"


def _relation(step: Step, proof: _Proof) -> str:
    """The recurrence, with its start."""
    found = recurrence(step, proof.page.notation, proof.exact)
    if found is None:
        return _in_line(step.recursion.latex(proof.page.notation), proof.page.room) if step.recursion else ""
    main, *parts = equations((found.left, r"\le", found.right), proof.page.narrower(width(found.end)))
    begins = f" with ${found.start}$" if found.start else ""
    if not parts and not found.end and width(main) <= PAGE / 2:
        return f"${main}${begins}."
    return display([with_end(main, found.end), *parts], "" if begins else ".") + (f"{begins}." if begins else "")


def _in_line(formula: str, room: float) -> str:
    """A typed formula of an item: in the line, or in a display where it is long."""
    return f"${formula}$." if width(formula) <= PAGE / 2 else display([wrapped(formula, room)], ".")


def _event_words(event: Event, page: Page) -> str:
    share, name = page.latex(event.fails), prose_latex(event.name)
    where = prose_latex(event.where)
    return f"It holds on the event ``{name}'' over {where}, which fails with probability at most ${share}$."


def _slack_words(step: Step, slack: Slack) -> str:
    """What the step loses, layer by layer where it stands for several."""
    family = INDEXED.fullmatch(step.name)
    pattern = step.name if family is None else rf"{family[1]}[]{family[4]}"
    lost = {name: factor for name, factor in slack.items() if name == step.name or _without_index(name) == pattern}
    factors = ", ".join(f"{factor:.3g}" for factor in lost.values())
    return f"(Bound over error at the worst input found: {factors}.)" if lost else ""


def _without_index(name: str) -> str:
    family = INDEXED.fullmatch(name)
    return name if family is None else f"{family[1]}[]{family[4]}"


def _layer_items(step: Step, proof: _Proof) -> str:
    """The steps of one layer of a repetition, in a list of their own."""
    letter = layer_letter(step.recursion, proof.page.notation)
    layer = steps_of_one_layer(step, letter)
    if not layer:
        return ""
    page = _for_items(proof.page, layer, LISTED)
    sizes, argument = layer_lines(step, letter, proof.sizes.used, page)
    inner = _Proof(page, replace(proof.told, arguments=[], reasons={}), sizes)
    marks = [*string.ascii_lowercase, *(str(place) for place in range(1, len(layer)))]
    items = []
    for each, mark in zip(layer, marks, strict=False):
        inner.numbers[each.name] = f"{proof.numbers[step.name]}{mark}"
        inner.sizes.name(each)
        items.append(_item(each, inner))
        inner.exact |= {each.error: sp.S.Zero} if inner.bound(each) == 0 else {}
    return "\n".join([f"{ONE_LAYER} $e_{letter}${argument}:", *_list(items), ""])
