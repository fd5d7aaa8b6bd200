"""Statements as data: results with their quantities, hypotheses and parameters.

Nothing here computes a bound; a bound is an expression (printed, typed once from the paper) or the conclusion of a
`Derivation` (derived). Every printed number keeps its kind, quantifier, norm and domain.
"""

import difflib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Derivation
from symbolic.derivations.events import Events, total_failure
from symbolic.derivations.obligations import without_absolute_values
from symbolic.derivations.provenance import Derived, Provenance, weakest
from symbolic.derivations.worst_cases import closed
from symbolic.statements.deferred import Deferred
from symbolic.statements.errata import Erratum
from symbolic.statements.parameters import Hypothesis as Hypothesis
from symbolic.statements.parameters import Parameter as Parameter
from symbolic.statements.parameters import relation_words
from symbolic.statements.printed import Kind as Kind
from symbolic.statements.printed import Order as Order
from symbolic.statements.printed import Printed as Printed
from symbolic.statements.settled import settled
from symbolic.words.citations import Citation
from symbolic.words.errors import UsageError
from symbolic.words.prose import make_prose, marked, prose
from symbolic.words.shown import SHOWN, brief


class Quantifier(StrEnum):
    """Over what the statement holds. Randomness is named in `Quantity.randomness`."""

    FOR_ALL = "for all inputs"
    EXISTS = "there exists"
    PROBABILITY = "with probability"
    EXPECTATION = "in expectation"


IN_WORDS = {Kind.EXACT: "value", Kind.UPPER: "upper bound", Kind.LOWER: "lower bound", Kind.RATE: "rate"}
SUFFICIENT = "sufficient size"
OVER = {Quantifier.EXISTS: "for at least one network"}  # the others are words already
CONSTRUCTION = "the construction"  # as a domain
INEQUALITY = "an inequality"  # as a norm: `latex_symbol` is the statement itself, and bounds are on what it is about
BY_PROOF = "for the network that the proof constructs"


@dataclass(frozen=True)
class Formula:
    """A further result of the calculus: a vector field, an eigenvalue, a conserved quantity.

    `left` is LaTeX; `kind` is its relation to the expression (a rate: asymptotically equal). `derive` builds the
    expression on first use, since derivations can take seconds. `defines`: the letter of the statement whose value it
    is; the statement as a paper prints it has it too.
    """

    left: str
    derive: Callable[[], Any]
    meaning: str
    kind: Kind = Kind.EXACT
    citation: Citation | None = None
    defines: sp.Symbol | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        make_prose(self, "meaning")

    @cached_property
    def expression(self) -> Any:
        return self.derive()


@cache
def _derived_by(derive: Callable[[], Any]) -> Any:
    """What it derives, once for all copies of a quantity (at another place, under other hypotheses)."""
    return derive()


@dataclass(frozen=True)
class Quantity:
    """One number that the result bounds or determines.

    `derivation` ends in a step of this quantity's name; its bound is in general symbols, `worst_case` binds them to the
    paper's hypotheses (derived tier). `scopes` lists the instance bounds that exist; printed and derived ones stand
    beside that of `network`. A rate is about the quantity that its name extends (`output.rate` is about `output`), as
    the parameter `rate_in` grows. `derive` builds the closed form, where it is not derived by the error calculus;
    `obtained` says how it was obtained, also that of a derived number without a formula here, unless `derive` gives a
    `Derived`: by hand if nothing says so. `indices` are the relations under which it is stated: of an index in its name
    (1 <= j < N), of parameters (N >= 2); where one of parameters fails there is no such quantity. `where` are the
    conditions on parameters that the words of `domain` state: elsewhere nothing is claimed. `erratum` describes what
    fails where the printed bound is violated. `meaning` says what its numbers are; `finding` words a violation, with
    {found} and {printed} for both numbers, where the one found is not a value of the quantity. `domain_latex` is the
    domain in LaTeX (text mode), where it has formulas. A bound is vacuous from the `trivial` one on. `failure` is the
    probability that a bound which holds with probability fails, where the events of the derivation do not say it;
    `randomness` names what that is over. `suffices`: every value from the bound on does what the meaning says, so that
    the bound is one on the least such value. `outside`: a comparison where the statement claims nothing. `certificate`
    says what certificate proves the closed form.
    """

    name: str
    latex_symbol: str
    meaning: str
    norm: str
    domain: str
    kind: Kind
    quantifier: Quantifier
    derivation: Derivation | None = None
    step: str = ""
    worst_case: Mapping[sp.Symbol, sp.Expr] | None = None
    printed: Printed | None = None
    construction: str = ""
    scopes: tuple[str, ...] = ("network", "prompt")
    trivial: sp.Expr | None = None
    randomness: str = ""
    remark: str = ""
    rate_in: str = ""
    derive: Callable[[], Any] | sp.Basic | None = None
    indices: tuple[Any, ...] = ()
    where: tuple[Any, ...] = ()
    erratum: Erratum | None = None
    finding: str = ""
    domain_latex: str = ""
    obtained: Provenance | None = None
    failure: sp.Expr | None = None
    suffices: bool = False
    outside: bool = False
    certificate: str = ""

    def __post_init__(self) -> None:
        make_prose(self, "meaning", "norm", "domain", "construction", "randomness", "remark", "finding", "certificate")

    def __repr__(self) -> str:
        return f"<Quantity {self.name}: {self.meaning}; {self.sense}>"

    def __str__(self) -> str:
        return SHOWN.text(self)

    @property
    def concluded_by(self) -> str:
        """The name of the step that bounds it."""
        return self.step or self.name

    @property
    def worst_values(self) -> dict[sp.Symbol, sp.Expr]:
        """The letters that the worst case replaces, by the values that it gives them."""
        return {letter: value for letter, value in self.at_worst.items() if value != letter}

    def general_bound(self) -> sp.Expr:
        """The bound in the derivation's own symbols, which an instance binds."""
        if self.derivation is None:
            raise UsageError(f"quantity '{self.name}' has no derivation")
        return self.derivation.bound(self.concluded_by)

    def derived(self) -> sp.Expr | None:
        """The bound under the paper's hypotheses, in the paper's parameters; None where there is no derivation."""
        return self._derived

    @cached_property
    def _derived(self) -> sp.Expr | None:
        if self.derivation is None:
            return None
        return self.general_bound().xreplace(self.at_worst)

    @cached_property
    def at_worst(self) -> dict[sp.Symbol, sp.Expr]:
        """The worst case of each letter, in parameters alone (symbolic/derivations/worst_cases.py)."""
        return closed(self.worst_case or {})

    @cached_property
    def events(self) -> Events:
        """Those on which the derived bound holds, at the worst case."""
        found = () if self.derivation is None else self.derivation.events(self.concluded_by)
        return tuple(event.xreplace(self.at_worst) for event in found)

    @property
    def may_fail(self) -> sp.Expr | None:
        """The probability with which its bounds may fail; None if that is not stated."""
        return self.failure if self.failure is not None or not self.events else total_failure(self.events)

    @property
    def bound_at(self) -> Mapping[sp.Symbol, sp.Expr]:
        """Those of the worst values whose letters are in the general bound."""
        letters = set() if self.derivation is None else self.general_bound().free_symbols
        return {letter: value for letter, value in self.worst_values.items() if letter in letters}

    @property
    def letters(self) -> frozenset[sp.Symbol]:
        """Those of its formulas: of the derivation, before and after the worst case, and of the printed one."""
        general = None if self.derivation is None else self.general_bound()
        formulas = (general, self.derived(), self.printed.bound if self.printed else None, self.may_fail)
        return frozenset(letter for each in formulas if each is not None for letter in each.free_symbols)

    @property
    def sense(self) -> str:
        """What its bounds are, in words."""
        return SUFFICIENT if self.suffices else IN_WORDS[self.kind]

    @property
    def stated_kind(self) -> Kind:
        """The kind whose relation states it: what suffices is a value from the bound on."""
        return Kind.LOWER if self.suffices else self.kind

    @property
    def about(self) -> str:
        """Kind, quantifier, norm and domain in words."""
        named = f" ({marked(self.randomness)})" if self.randomness and self.derivation is None else ""
        constructed = self.quantifier is Quantifier.EXISTS and self.domain == CONSTRUCTION
        over = [BY_PROOF] if constructed else [f"{self._over}{named}" if named else self.chance, self.domain]
        where = [f"for `{relation_words(each)}`" for each in self.indices]
        parts = filter(None, [f"{self.sense} {marked(over[0])}", self.norm, *over[1:], *where])
        return prose("; ".join(map(marked, parts)), checked=False)

    @property
    def over(self) -> tuple[str, ...]:
        """The randomness over which it holds with probability, or in expectation."""
        means = () if self.derivation is None else self.derivation.mean_over(self.concluded_by)
        named = [*(event.over for event in self.events), *means] or [self.randomness]
        return tuple(dict.fromkeys(filter(None, named)))

    @property
    def chance(self) -> str:
        """With which probability it holds, or that it is an expectation, and over what."""
        return prose(" over ".join(map(marked, filter(None, (self._over, self.randomness)))), checked=False)

    @property
    def _over(self) -> str:
        if self.quantifier is Quantifier.PROBABILITY and self.may_fail is not None:
            return f"with probability at least `{sp.sstr(1 - self.may_fail)}`"
        return OVER.get(self.quantifier, self.quantifier)

    @cached_property
    def closed_form(self) -> Any:
        """The closed form of the quantity, to be read with the relation of its kind; None if there is none."""
        return self._closed.expression

    @cached_property
    def _closed(self) -> Derived:
        found = self.derive if isinstance(self.derive, sp.Basic | None) else _derived_by(self.derive)
        return found if isinstance(found, Derived) else Derived(found, self.obtained or Provenance.HAND)

    @property
    def provenance(self) -> Provenance | None:
        """How the derived bound was obtained; None if there is none."""
        if self.derivation is None:
            return self.obtained if self.closed_form is None else self._closed.provenance
        steps = self.derivation.resting_on(self.concluded_by)
        return weakest((steps.provenance, self.obtained))

    @property
    def origin(self) -> str:
        """The same in words, with the steps that are by hand; "" if there is no derived bound."""
        by_hand = () if self.derivation is None else self.derivation.resting_on(self.concluded_by).by_hand
        named = f" ({'; '.join(by_hand)})" if by_hand else ""
        return f"{self.provenance or ''}{named}"


def _under(quantity: Quantity, hypotheses: Sequence[Any]) -> Quantity:
    """The quantity, with every obligation discharged that follows from the hypotheses or the range of its indices."""
    if quantity.derivation is None:
        return quantity
    granted = quantity
    if quantity.derivation.conditional:
        granted = replace(quantity, derivation=quantity.derivation.under([*hypotheses, *quantity.indices]))
    bound = set(quantity.worst_case or {})  # an instance binds other values, of which the hypotheses say nothing
    return _signed(granted, [each for each in hypotheses if not bound & set(getattr(each, "free_symbols", ()))])


def _signed(quantity: Quantity, hypotheses: Sequence[Any]) -> Quantity:
    """The quantity, without the absolute values whose sign clearly follows from the hypotheses."""
    derivation, trivial = quantity.derivation, quantity.trivial
    if derivation is None or not hypotheses or not any(step.local.has(sp.Abs) for step in derivation.steps):
        return quantity
    signed = derivation.with_bounds(lambda local: without_absolute_values(local, hypotheses))
    size = None if trivial is None else without_absolute_values(trivial, hypotheses)
    return replace(quantity, derivation=signed, trivial=size)


@dataclass(frozen=True)
class Result:
    """One labelled statement of a paper: its claims and its hypotheses.

    `quantities` may be `Deferred`, where to derive them takes long. `claim` is a LaTeX formula. `notation` gives
    the paper's notation for a symbol, "" where that is its name; `symbols` gives the meaning of the symbols in the
    derivations and in the `formulas`, `objects` that of other letters of the quantities' LaTeX. `assumptions` are
    hypotheses in words, which no relation of parameters states: every bound needs them.
    """

    id: str
    title: str
    citation: Citation
    claim: str
    parameters: tuple[Parameter, ...]
    hypotheses: tuple[Hypothesis, ...]
    quantities: Sequence[Quantity]
    notation: Mapping[sp.Symbol, str] = field(default_factory=dict)
    symbols: Mapping[sp.Symbol, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    formulas: tuple[Formula, ...] = ()
    objects: Mapping[str, str] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Discharges every obligation that follows from a hypothesis; hypotheses are checked before any evaluation."""
        make_prose(self, "title", "symbols", "remarks", "objects", "assumptions")
        granted, given = [hypothesis.condition for hypothesis in self.hypotheses], self.quantities
        discharged = Deferred(lambda: [_under(quantity, granted) for quantity in given])
        own = (*self.symbols, *(each.symbol for each in self.parameters if each.symbol is not None))
        object.__setattr__(self, "notation", {**dict.fromkeys(own, ""), **self.notation})
        kept = discharged if isinstance(given, Deferred) else tuple(discharged)
        object.__setattr__(self, "quantities", kept)

    def shown_derivation(self, quantity: Quantity) -> Derivation | None:
        """The derivation of a quantity, to be shown: an obligation that its worst case settles says by which values.

        It stays open in `Quantity.derivation`, since an instance binds other values.
        """
        if quantity.derivation is None or not quantity.derivation.conditional:
            return quantity.derivation
        return settled(quantity.derivation, quantity.worst_values, [each.condition for each in self.hypotheses])

    def parameter(self, name: str) -> Parameter:
        names = {parameter.name: parameter for parameter in self.parameters}
        if name in names:
            return names[name]
        near = difflib.get_close_matches(name, names, n=2, cutoff=0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"{self.id} has no parameter '{name}'.{hint} It has: {', '.join(names)}.")

    def check_names(self, given: Mapping[str, Any]) -> list[str]:
        """The parameters that `given` leaves out. Raises UsageError for a name that is not a parameter."""
        known = [self.parameter(name).name for name in given]
        return [parameter.name for parameter in self.parameters if parameter.name not in known]

    def check_texts(self, given: Mapping[str, Any]) -> None:
        """Raises UsageError that names every parameter that takes text and was given something else."""
        wrong = [p.name for p in self.parameters if p.takes and not isinstance(given.get(p.name, ""), str)]
        if wrong:
            complaints = (f'{name} = {given[name]!r} is not text; write {name}="..."' for name in wrong)
            raise UsageError(f"{self.id}: {'; '.join(complaints)}.")

    def quantity(self, name: str) -> Quantity:
        names = {quantity.name: quantity for quantity in self.quantities}
        if name in names:
            return names[name]
        raise UsageError(f"{self.id} has no quantity '{name}'. It has: {', '.join(names)}.")

    def hypotheses_at(self, values: Mapping[str, Any], automatic: Collection[str]) -> list[Hypothesis]:
        """Those that are asked of these values: the 0 of an `automatic` parameter stands for another number."""
        return [each for each in self.hypotheses if each.parameter not in automatic or values.get(each.parameter) != 0]

    def check(self, values: Mapping[str, Any], automatic: Collection[str] = ()) -> None:
        """Raises UsageError that names every hypothesis the values do not meet, all of them at once."""
        asked = self.hypotheses_at(values, automatic)
        complaints = [complaint for h in asked if (complaint := h.complaint(values))]
        if complaints:
            raise UsageError(f"{self.id}: " + "; ".join(complaints) + ".")

    def numbers(self, given: Mapping[str, Any]) -> dict[str, float | int]:
        """The parameters with a symbol: as given, or by default. Raises UsageError for what is not a number."""
        named = [p for p in self.parameters if p.symbol is not None]
        return {p.name: self.number(p.name, given.get(p.name, p.default)) for p in named}

    def number(self, name: str, value: Any) -> float | int:
        """`value` as the finite number that parameter `name` takes. Raises UsageError otherwise."""
        parameter = self.parameter(name)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            several = f"; --grid {name}={value} runs several" if isinstance(value, str) and "," in value else ""
            raise UsageError(f"{self.id}: {name} = {value!r} is not a number ({parameter.meaning}){several}.") from None
        if not math.isfinite(number):
            raise UsageError(f"{self.id}: {name} = {value} is not finite ({parameter.meaning}).")
        if not parameter.integer:
            return number
        if number != int(number):
            raise UsageError(f"{self.id}: {name} = {value} is not a whole number ({parameter.meaning}).")
        return int(number)

    def latex(self, *, expanded: bool = False, slack: Mapping[str, float] | None = None) -> str:
        """A fragment for amsmath; `expanded`: every derived bound in closed form, however long.

        `slack` says what each step, by name, loses at some input: a factor that is shown beside it.
        """
        return SHOWN.result(self, expanded, slack)

    def __repr__(self) -> str:
        return f"<Result {self.id}: {', '.join(each.name for each in self.quantities[:8])}>"

    def __str__(self) -> str:
        return SHOWN.text(self)

    def _repr_latex_(self) -> str:
        return SHOWN.display(self)
