"""Premises of rules. A false premise raises an error; a premise that is clear is dropped; any other is an obligation.

A rule is proved under premises: a size is not negative, a depth is a whole number, an argument stays in a range. Each
is tested here. A false premise raises `DerivationError`. A premise that SymPy cannot decide becomes an `Obligation`. It
stays with the derivation, and the bound is conditional until the obligation is discharged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from numbers import Number
from typing import Any

import mpmath
import sympy as sp
from sympy.core.relational import Relational

from symbolic.derivations.definedness import branches
from symbolic.derivations.implied_signs import is_defined_under
from symbolic.derivations.signs import is_nonnegative, monotone
from symbolic.words.prose import make_prose, marked

LONG, POINT, CLEARLY = 60, 1024, 1e-6  # operations; a value of all letters; below 0 by more than any rounding
UNFACTORED = (sp.Sum, sp.Product, sp.Piecewise, sp.Max, sp.Min)  # where factors of a difference are slow to find


class DerivationError(ValueError):
    """A rule was applied to values it does not fit. The message gives the rule, the value and the requirement."""


# SymPy would run a string as code, one inside of a list or a dict even where it is `strict`.
def as_expr(value: Any) -> sp.Expr:
    """`value` as a SymPy expression. A string is refused, and whatever may hold one."""
    if isinstance(value, str):
        raise DerivationError(
            f"expected a SymPy expression or a number, got the string {value!r}; build it from symbols"
        )
    expression = sp.sympify(value, strict=True) if isinstance(value, sp.Basic | Number | mpmath.mpf) else None
    if not isinstance(expression, sp.Expr):
        raise DerivationError(f"expected a SymPy expression or a number, got {value!r}; build it from symbols")
    if expression.has(sp.Order, sp.AccumBounds):
        raise DerivationError(f"{sp.sstr(expression)} stands for many values; give an expression that has one")
    totals = expression.atoms(sp.Sum, sp.Product)
    for total in totals:
        around = [limits for each in totals if each.function.has(total) for limits in each.limits]
        _require_forward(total, [*around, *total.limits])
    return expression


# SymPy takes the sign of a sum from its terms, as their index is declared. So an index may be declared no more than its
# limits say of it, and a sum may not run backwards, where it has the opposite sign (Karr's convention).
def _nonnegative_between(gap: sp.Expr, around: Sequence[Any]) -> bool:
    """Whether it is >= 0, where indices in which it is affine are at either of their limits."""
    for place, (index, low, high) in enumerate(around):
        if gap.has(index) and not sp.diff(gap, index).has(index):
            others = [*around[:place], *around[place + 1 :]]
            return all(_nonnegative_between(gap.subs(index, end), others) for end in (low, high))
    return bool(is_nonnegative(gap))


def _require_forward(total: sp.Expr, around: Sequence[Any]) -> None:
    """`around`: the limits of the indices in its own ones."""
    for index, low, high in total.limits:
        declared = index.is_positive or index.is_nonnegative
        within = not declared or is_nonnegative(low - (1 if index.is_positive else 0))
        if not within or not _nonnegative_between(high - low + 1, around):
            raise DerivationError(
                f"{sp.sstr(total)}: cannot show that {index} runs forwards, from {low} to {high}, and that its "
                f"assumptions allow all these values; declare {index} an integer without further assumptions, and "
                f"check the limits"
            )


@dataclass(frozen=True)
class Obligation:
    """A premise that only a certificate can give, or a range that must be covered.

    `condition` is a SymPy relation; `discharged_by` names what proves it ("" while it is open). `granted`: it follows
    from a hypothesis of the statement, which is checked before any bound is evaluated; `at_worst`: from its worst case.
    """

    statement: str
    condition: Any
    discharged_by: str = ""
    granted: bool = False
    at_worst: bool = False

    def __post_init__(self) -> None:
        make_prose(self, "statement", "discharged_by", checked=False)

    @property
    def open(self) -> bool:
        return not self.discharged_by and self.condition != sp.true

    def subs(self, values: Mapping[Any, Any]) -> "Obligation":
        """The same premise with expressions in place of symbols, all at once."""
        return replace(self, condition=sp.sympify(self.condition, strict=True).subs(values, simultaneous=True))


@dataclass(frozen=True)
class RangeObligation(Obligation):
    """An argument of at most `largest` in absolute value stays in [-radius, radius]: `RangeObligation.of` makes one."""

    largest: sp.Expr = field(kw_only=True)
    radius: sp.Expr = field(kw_only=True)
    # The radius is the largest member of this recursion, from 0 to `depth`.
    recursion: Any = field(default=None, kw_only=True, compare=False)
    depth: Any = field(default=None, kw_only=True, compare=False)

    @classmethod
    def of(cls, name: str, largest: sp.Expr, radius: sp.Expr) -> "RangeObligation":
        value = "" if sp.sstr(radius) == "R" else f", `R = {sp.sstr(radius)}`"
        statement = f"the argument of '{name}' stays in `[-R, R]`{value}"
        return cls(statement, sp.Le(largest, radius), largest=largest, radius=radius)

    def subs(self, values: Mapping[Any, Any]) -> "RangeObligation":
        largest, radius = (e.subs(values, simultaneous=True) for e in (self.largest, self.radius))
        return replace(self, condition=sp.Le(largest, radius), largest=largest, radius=radius)


# --- premises of a rule ----------------------------------------------------------------------------------------------


def nonnegative(rule: str, name: str, **numbers: sp.Expr) -> tuple[Obligation, ...]:
    """The numbers bound norms, errors or distances, so each is finite and >= 0.

    Raises DerivationError for one that is not; one whose sign is not clear becomes an obligation.
    """
    found: list[Obligation] = []
    for what, number in numbers.items():
        if number.is_nonnegative:  # SymPy says so of finite numbers alone
            continue
        _finite(rule, name, what, number)
        held = is_nonnegative(number)
        if held is False:
            raise DerivationError(
                f"{rule}: the {what} of '{name}' is {sp.sstr(number)}, but it bounds a norm; give a value >= 0"
            )
        if held is None:
            found.append(Obligation(f"the {what} of '{name}' is not negative", sp.Ge(number, 0)))
    return tuple(found)


def positive(rule: str, name: str, **numbers: sp.Expr) -> tuple[Obligation, ...]:
    """The numbers are finite and > 0. Raises DerivationError for one that is not; unclear ones become obligations."""
    found: list[Obligation] = []
    for what, number in numbers.items():
        _finite(rule, name, what, number)
        if number.is_nonpositive:
            raise DerivationError(f"{rule}: the {what} of '{name}' is {sp.sstr(number)}; give it > 0")
        if not number.is_positive:
            found.append(Obligation(f"the {what} of '{name}' is positive", sp.Gt(number, 0)))
    return tuple(found)


def real(rule: str, name: str, **numbers: sp.Expr) -> None:
    """Raises DerivationError for a number that is infinite, undefined or not real."""
    for what, number in numbers.items():
        _finite(rule, name, what, number)


def _finite(rule: str, name: str, what: str, number: sp.Expr) -> None:
    if number is sp.nan or number.is_finite is False or number.is_extended_real is False:
        raise DerivationError(f"{rule}: the {what} of '{name}' is {sp.sstr(number)}; give a finite real number")


def whole(rule: str, name: str, *, least: int, **counts: sp.Expr) -> tuple[Obligation, ...]:
    """Depths, counts and dimensions are whole numbers from `least` on.

    Raises DerivationError for one that is not; what is not clear becomes an obligation.
    """
    found: list[Obligation] = []
    for what, count in counts.items():
        integral, enough = _is_whole(count), _reaches(count, least)
        if count is sp.nan or count.is_finite is False or integral is False or enough is False:
            raise DerivationError(
                f"{rule}: the {what} of '{name}' is {sp.sstr(count)}; give a whole number, at least {least}"
            )
        if integral is None:
            found.append(Obligation(f"the {what} of '{name}' is a whole number", sp.Eq(count, sp.floor(count))))
        if enough is None:
            constant, rest = (count - least).as_coeff_Add()
            found.append(Obligation(f"the {what} of '{name}' is at least {least}", sp.Ge(rest, -constant)))
    return tuple(found)


def _is_whole(count: sp.Expr) -> bool | None:
    if isinstance(count, sp.Float):
        return float(count).is_integer()
    if isinstance(count, sp.Piecewise | sp.Max | sp.Min):
        parts = [branch[0] if isinstance(count, sp.Piecewise) else branch for branch in count.args]
        return True if all(map(_is_whole, parts)) else None
    integral: bool | None = count.is_integer
    return integral


def _reaches(count: sp.Expr, least: int) -> bool | None:
    """Whether count >= least; a whole number above 0 is at least 1."""
    if isinstance(count, sp.Piecewise):
        reached = {_reaches(branch, least) for branch in branches(count)}
        return reached.pop() if len(reached) == 1 else None
    if least == 1 and count.is_integer and count.is_positive:
        return True
    return is_nonnegative(count - least)


def at_most(what: str, left: sp.Expr, right: sp.Expr) -> Obligation:
    """left <= right, already decided where the sign of the difference is clear."""
    return Obligation(f"{what}: `{sp.sstr(left)} <= {sp.sstr(right)}`", shown_at_most(left, right))


def shown_at_most(left: sp.Expr, right: sp.Expr) -> Any:
    """The relation left <= right; true where the sign of the difference is clear, in one of several forms."""
    difference = right - left
    if any(is_nonnegative(form) for form in _forms(difference)):
        return sp.true
    return sp.Le(left, right)


def _forms(difference: sp.Expr) -> Iterator[sp.Expr]:
    """The expression, with powers collected, and over one denominator (which is nowhere 0)."""
    yield difference
    powers = sp.powsimp(sp.expand_power_base(difference), combine="exp")
    yield powers
    if not difference.has(*UNFACTORED) and all(power.base.is_nonzero for power in difference.atoms(sp.Pow)):
        yield sp.factor(powers)


def unless(excepted: Any, obligation: Obligation) -> Obligation:
    """The obligation, required only where the relation `excepted` does not hold."""
    if not obligation.open or not isinstance(obligation.condition, Relational):
        return obligation
    condition = sp.Or(excepted, obligation.condition.canonical)
    return Obligation(
        f"{marked(obligation.statement)}, unless `{sp.sstr(excepted)}`", condition, obligation.discharged_by
    )


# A long expression takes seconds to expand, and one point often shows that its sign is not clear.
def _negative_somewhere(gap: sp.Expr) -> bool:
    """Whether a long gap is refuted."""
    return gap.count_ops() > LONG and is_refuted(gap)


def is_refuted(gap: sp.Expr) -> bool:
    """Whether a gap is negative where all letters, if they may be any whole numbers, are 1, or all are POINT."""
    letters = gap.free_symbols
    if gap.has(sp.Sum, sp.Product) or not all(map(_any_whole_number, letters)):
        return False
    values = (sp.N(gap.xreplace(dict.fromkeys(letters, sp.Integer(at)))) for at in (1, POINT))
    return any(each.is_Float and each < -CLEARLY for each in values)


def _any_whole_number(letter: sp.Symbol) -> bool:
    return bool(letter.is_nonnegative) and letter.is_even is None and letter.is_prime is None


# A gap that is at least another one, which is >= 0 (or > 0) by hypothesis, is so too.
@lru_cache(maxsize=1 << 12)  # a result that is replaced, and each copy of a step, asks the same again
def follows_from(condition: Any, hypothesis: Any, others: tuple[Any, ...] = ()) -> bool:
    """Whether a relation clearly follows from another one; False where that is not clear.

    `others` hold too: they tell where its sides are defined.
    """
    if condition == hypothesis:
        return True
    if not all(isinstance(each, sp.Le | sp.Lt | sp.Ge | sp.Gt) for each in (condition, hypothesis)):
        return False
    if hypothesis.gts.is_Symbol and hypothesis.lts.is_number and hypothesis.gts not in condition.free_symbols:
        return False  # that letter may be as large as one likes, and what is spare as far below 0
    given = hypothesis.gts - hypothesis.lts
    spare = any(_spare(each - given, strict=is_harder(condition, hypothesis)) for each in differences(condition))
    return spare and is_defined_under(condition, (hypothesis, *others))


# gap = first + factor * second with factor >= 0, both >= 0 by hypothesis. For a gap above 0 the first has to be so.
def is_harder(condition: Any, hypothesis: Any) -> bool:
    return isinstance(condition, sp.Lt | sp.Gt) and isinstance(hypothesis, sp.Le | sp.Ge)


def differences(condition: Any) -> Iterator[sp.Expr]:
    """Of the sides; then the same without its denominator, if that is positive and the difference is short."""
    difference = condition.gts - condition.lts
    yield difference
    if difference.is_rational_function() and difference.count_ops() <= LONG:
        numerator, denominator = sp.fraction(sp.together(difference))
        if denominator.is_positive and denominator != 1:
            yield numerator


def _spare(spare: sp.Expr, *, strict: bool) -> bool:
    """Whether it is clearly not negative; positive if `strict`."""
    if _negative_somewhere(spare):
        return False
    spare = sp.expand(spare)
    return bool(spare.is_positive) if strict else bool(is_nonnegative(spare))


def without_absolute_values(expression: sp.Expr, hypotheses: Iterable[Any]) -> sp.Expr:
    """The expression with u or -u in the place of each |u| whose sign clearly follows from one of these relations."""
    given = list(hypotheses)
    signed = ((each, sign * each.args[0]) for each in expression.atoms(sp.Abs) for sign in (1, -1))
    known = {each: value for each, value in signed if any(follows_from(sp.Ge(value, 0), one) for one in given)}
    return expression.xreplace(known)


def reopened(obligation: Obligation, *letters: sp.Symbol) -> Obligation:
    """The obligation, open again: a hypothesis about one value of a letter does not cover all its values."""
    if obligation.granted and any(x in getattr(obligation.condition, "free_symbols", ()) for x in letters):
        return replace(obligation, discharged_by="", granted=False)
    return obligation


def is_plain(letter: sp.Symbol, **assumptions: bool) -> bool:
    """Whether a letter has exactly these assumptions and no others."""
    return bool(letter.assumptions0 == sp.Symbol("plain", **assumptions).assumptions0)


# --- premises for every error up to a largest one, or for every layer ------------------------------------------------


# A relation "gap >= 0" (or > 0) whose gap is continuous and monotone in x holds for all x in [low, high] if it holds at
# the end where the gap is least. Where that is not clear, nothing is known of x, and no number discharges the premise.
# Of a range the largest argument and the least radius are kept, which is what `confine` compares an invariant with.
def for_all(obligation: Obligation, x: sp.Symbol, low: sp.Expr, high: sp.Expr, where: str) -> Obligation:
    """The obligation for every x from `low` to `high` (numbers between, or whole numbers), at its worst end.

    `where` is appended to its statement.
    """
    if not obligation.open or x not in getattr(obligation.condition, "free_symbols", ()):
        return obligation
    if isinstance(obligation, RangeObligation):
        largest = _extreme(obligation.largest, x, low, high, least=False)
        radius = _extreme(obligation.radius, x, low, high, least=True)
        ranges = replace(obligation, condition=sp.Le(largest, radius), largest=largest, radius=radius)
        return replace(ranges, statement=_stated_once(obligation.statement, where))
    if _clear_between(obligation.condition, x, low, high):
        return replace(obligation, condition=sp.true)
    end = _worst_end(obligation.condition, x, low, high)
    worst = obligation.subs({x: _anywhere(x, high) if end is None else end})
    return replace(worst, statement=_stated_once(worst.statement, where))


def _stated_once(statement: str, where: str) -> str:
    return statement if statement.endswith(where) else f"{marked(statement)}, {where}"


def _anywhere(x: sp.Symbol, high: sp.Expr) -> sp.Expr:
    """high - m, with a letter m >= 0 that no number is ever given to: what is clear for it holds up to `high`."""
    return high - sp.Dummy("m", nonnegative=True, integer=x.is_integer)


def _extreme(expression: sp.Expr, x: sp.Symbol, low: sp.Expr, high: sp.Expr, *, least: bool) -> sp.Expr:
    """The least or the largest value for x from `low` to `high`; in a letter of its own where that is not clear."""
    if x not in expression.free_symbols:
        return expression
    direction = monotone(expression, x)
    if direction is None:
        return expression.subs(x, _anywhere(x, high))
    return expression.subs(x, low if (direction > 0) is least else high)


@cache
def _beyond(integer: bool | None) -> sp.Dummy:
    """One letter for all questions, so that the answers of SymPy and `is_nonnegative` are found again."""
    return sp.Dummy("m", nonnegative=True, integer=integer)


def _clear_between(condition: Any, x: sp.Symbol, low: sp.Expr, high: sp.Expr) -> bool:
    """Whether a relation is clear for every x = low + m and x = high - m, m >= 0."""
    if not isinstance(condition, sp.Le | sp.Lt | sp.Ge | sp.Gt):
        return False
    beyond = _beyond(x.is_integer)
    gap = condition.gts - condition.lts
    for shifted in (gap.subs(x, low + beyond), gap.subs(x, high - beyond)):
        if shifted.is_positive or (isinstance(condition, sp.Le | sp.Ge) and is_nonnegative(shifted)):
            return True
    return False


def _worst_end(condition: Any, x: sp.Symbol, low: sp.Expr, high: sp.Expr) -> sp.Expr | None:
    if not isinstance(condition, sp.Le | sp.Lt | sp.Ge | sp.Gt):
        return None
    direction = monotone(condition.gts - condition.lts, x)
    return None if direction is None else low if direction > 0 else high
