"""Premises of rules: refused where they are false, left out where they are clear, and obligations otherwise.

A rule is proved under premises: a size is not negative, a depth is a whole number, an argument stays in a range. Each
is asked here. A false one raises `DerivationError`; one that SymPy cannot decide becomes an `Obligation`, which travels
with the derivation and makes its bound conditional until something discharges it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational


class DerivationError(ValueError):
    """A rule was applied to values it does not fit: says which rule, what came and what it wants."""


def as_expr(value: Any) -> sp.Expr:
    """`value` as a SymPy expression. A string is refused: SymPy would run it as code."""
    if isinstance(value, str):
        raise DerivationError(
            f"expected a SymPy expression or a number, got the string {value!r}; build it from symbols"
        )
    expression = sp.sympify(value, strict=True)
    if not isinstance(expression, sp.Expr):
        raise DerivationError(f"expected a SymPy expression or a number, got {value!r}; build it from symbols")
    for total in expression.atoms(sp.Sum, sp.Product):
        _require_forward(total)
    return expression


# SymPy takes the sign of a sum from its terms, as their index is declared. So an index may be declared no more than its
# limits say of it, and a sum may not run backwards, where it has the opposite sign (Karr's convention).
def _require_forward(total: sp.Expr) -> None:
    for index, low, high in total.limits:
        declared = index.is_positive or index.is_nonnegative
        within = not declared or is_nonnegative(low - (1 if index.is_positive else 0))
        if not within or not is_nonnegative(high - low + 1):
            raise DerivationError(
                f"{sp.sstr(total)}: cannot show that it runs forwards, from {low} to {high}, over numbers that {index} "
                f"was declared to be; declare {index} an integer and no more, and check the limits"
            )


@dataclass(frozen=True)
class Obligation:
    """A premise that only a certificate can give, or a range that must be covered.

    `condition` is a SymPy relation; `discharged_by` says what proves it ("" while it is open). `granted`: it follows
    from a hypothesis of the statement, which is checked before any bound is evaluated.
    """

    statement: str
    condition: Any
    discharged_by: str = ""
    granted: bool = False

    @property
    def open(self) -> bool:
        return not self.discharged_by and self.condition != sp.true

    def subs(self, values: Mapping[Any, Any]) -> "Obligation":
        """The same premise with expressions in place of symbols, all at once."""
        return replace(self, condition=sp.sympify(self.condition).subs(values, simultaneous=True))


@dataclass(frozen=True)
class RangeObligation(Obligation):
    """An argument of at most `largest` in absolute value stays in [-radius, radius]: `RangeObligation.of` makes one."""

    largest: sp.Expr = field(kw_only=True)
    radius: sp.Expr = field(kw_only=True)

    @classmethod
    def of(cls, name: str, largest: sp.Expr, radius: sp.Expr) -> "RangeObligation":
        statement = f"the argument of '{name}' stays in [-R, R], R = {sp.sstr(radius)}"
        return cls(statement, sp.Le(largest, radius), largest=largest, radius=radius)

    def subs(self, values: Mapping[Any, Any]) -> "RangeObligation":
        largest, radius = (e.subs(values, simultaneous=True) for e in (self.largest, self.radius))
        return replace(self, condition=sp.Le(largest, radius), largest=largest, radius=radius)


# --- signs -----------------------------------------------------------------------------------------------------------


# SymPy takes a sum to have the sign of its terms, wherever its index runs. What its assumptions do not see: a sum over
# terms, a case distinction and a maximum have the sign of their parts; and (1 - q^n)/(1 - q) is 1 + q + ... + q^(n-1),
# which is not negative for q >= 0, n >= 0 (at q = 1 it is n).
def is_nonnegative(expression: sp.Expr) -> bool | None:
    """Whether an expression is >= 0 wherever its symbols meet their assumptions; None where that is not clear."""
    if not expression.has(sp.Sum, sp.Product) and (expression.is_nonnegative or expression.is_negative):
        return bool(expression.is_nonnegative)
    return True if _nonnegative_by_parts(expression) else None


def _nonnegative_by_parts(expression: sp.Expr) -> bool:
    if not expression.has(sp.Sum, sp.Product) and expression.is_nonnegative:
        return True
    if isinstance(expression, sp.Add):
        return all(map(_nonnegative_by_parts, expression.args)) or _nonnegative_from_one(expression)
    if isinstance(expression, sp.Min):
        return all(map(_nonnegative_by_parts, expression.args))
    if isinstance(expression, sp.Max):
        return any(map(_nonnegative_by_parts, expression.args))
    if isinstance(expression, sp.Pow):
        return _nonnegative_power(expression)
    if isinstance(expression, sp.Sum | sp.Product):
        return _nonnegative_by_terms(expression)
    if isinstance(expression, sp.Piecewise):
        return all(map(_nonnegative_by_parts, branches(expression)))
    return isinstance(expression, sp.Mul) and _nonnegative_product(expression)


def _nonnegative_power(power: sp.Expr) -> bool:
    """0 has no negative powers; those of other numbers >= 0 are positive."""
    if power.exp.is_negative and not power.base.is_nonzero:
        return False
    return power.exp.is_real is True and _nonnegative_by_parts(power.base)


# A sum from a to b < a - 1 has a sign of its own (Karr's convention), and its index runs where its limits say, whatever
# it was declared to be.
def _nonnegative_by_terms(total: sp.Expr) -> bool:
    term = total.function
    for index, low, high in total.limits:
        if not _nonnegative_by_parts(high - low + 1):
            return False
        beyond = sp.Dummy(index.name, integer=True, nonnegative=True)
        term = term.xreplace({index: low + beyond})
    return _nonnegative_by_parts(term)


def _nonnegative_from_one(total: sp.Expr) -> bool:
    """A sum in which each whole number n >= 1 is written 1 + m, m >= 0."""
    whole_numbers = [s for s in total.free_symbols if s.is_integer and s.is_positive]
    shifts = {s: 1 + sp.Dummy(s.name, integer=True, nonnegative=True) for s in whole_numbers}
    shifted = total.subs(shifts, simultaneous=True)
    return bool(whole_numbers) and isinstance(shifted, sp.Expr) and _nonnegative_by_parts(shifted)


def _nonnegative_product(product: sp.Mul) -> bool:
    """Every factor is >= 0, but for pairs that together are the sum of a geometric progression."""
    unclear = [factor for factor in product.args if not _nonnegative_by_parts(factor)]
    numerators = [factor for factor in unclear if not _is_reciprocal(factor)]
    for reciprocal in (factor for factor in unclear if _is_reciprocal(factor)):
        paired = [n for n in numerators if _is_geometric(n, 1 / reciprocal)]
        if not paired:
            return False
        numerators.remove(paired[0])
    return not numerators


def _is_reciprocal(factor: sp.Expr) -> bool:
    return isinstance(factor, sp.Pow) and factor.exp == -1


def _is_geometric(numerator: sp.Expr, denominator: sp.Expr) -> bool:
    """Whether the two are 1 - q^n and 1 - q with q >= 0 and n >= 0 (q may be an exponential)."""
    power, ratio = 1 - numerator, 1 - denominator
    if not _nonnegative_by_parts(ratio):
        return False
    if isinstance(ratio, sp.exp) and isinstance(power, sp.exp):
        return bool(sp.cancel(power.args[0] / ratio.args[0]).is_nonnegative)
    base, exponent = power.as_base_exp()
    return power == ratio or (base == ratio and bool(exponent.is_nonnegative))


# --- premises of a rule ----------------------------------------------------------------------------------------------


def nonnegative(rule: str, name: str, **numbers: sp.Expr) -> tuple[Obligation, ...]:
    """The numbers bound norms, errors or distances, so each is finite and >= 0.

    Raises DerivationError for one that is not; one whose sign is not clear becomes an obligation.
    """
    found: list[Obligation] = []
    for what, number in numbers.items():
        _finite(rule, name, what, number)
        held = is_nonnegative(number)
        if held is False:
            raise DerivationError(
                f"{rule}: the {what} of '{name}' is {sp.sstr(number)}, but it bounds a norm: give it >= 0"
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


# Where a whole number s >= 1 is not 1, it is m + 2 with m >= 0; the same with 0 for 1.
def branches(cases: sp.Expr) -> list[sp.Expr]:
    """The branches of a Piecewise, in each what the cases before it say of a whole number written into it."""
    found: list[sp.Expr] = []
    shifts: dict[sp.Symbol, sp.Expr] = {}
    for branch, condition in cases.args:
        found.append(branch.xreplace(shifts))
        if isinstance(condition, sp.Eq) and condition.lhs.is_Symbol and condition.lhs.is_integer:
            symbol, least = condition.args
            if least == (1 if symbol.is_positive else 0) and symbol.is_nonnegative:
                shifts[symbol] = sp.Dummy(symbol.name, integer=True, nonnegative=True) + least + 1
    return found


def at_most(what: str, left: sp.Expr, right: sp.Expr) -> Obligation:
    """left <= right, already decided where the sign of the difference is clear."""
    return Obligation(f"{what}: {sp.sstr(left)} <= {sp.sstr(right)}", shown_at_most(left, right))


def shown_at_most(left: sp.Expr, right: sp.Expr) -> Any:
    """The relation left <= right; true where the sign of the difference is clear, powers written out if need be."""
    difference = right - left
    if is_nonnegative(difference) is None:
        difference = sp.powsimp(sp.expand_power_base(difference), combine="exp")
    return sp.true if is_nonnegative(difference) else sp.Le(left, right)


def unless(excepted: Any, obligation: Obligation) -> Obligation:
    """The obligation where `excepted`, a relation, does not hold; nothing is owed where it does."""
    if not obligation.open or not isinstance(obligation.condition, Relational):
        return obligation
    condition = sp.Or(excepted, obligation.condition.canonical)
    return Obligation(f"{obligation.statement}, unless {sp.sstr(excepted)}", condition, obligation.discharged_by)


# A gap that is at least another one, which is >= 0 (or > 0) by hypothesis, is so too.
def follows_from(condition: Any, hypothesis: Any) -> bool:
    """Whether a relation clearly follows from another one; False where that is not clear."""
    if condition == hypothesis:
        return True
    if not all(isinstance(each, sp.Le | sp.Lt | sp.Ge | sp.Gt) for each in (condition, hypothesis)):
        return False
    spare = sp.expand(condition.gts - condition.lts - (hypothesis.gts - hypothesis.lts))
    if isinstance(condition, sp.Lt | sp.Gt) and isinstance(hypothesis, sp.Le | sp.Ge):
        return bool(spare.is_positive)
    return bool(is_nonnegative(spare))


def reopened(obligation: Obligation, *letters: sp.Symbol) -> Obligation:
    """What a hypothesis grants of one value of a letter has to hold for all of them."""
    if obligation.granted and any(x in getattr(obligation.condition, "free_symbols", ()) for x in letters):
        return replace(obligation, discharged_by="", granted=False)
    return obligation


def is_plain(letter: sp.Symbol, **assumptions: bool) -> bool:
    """Whether nothing is known of a letter but these assumptions."""
    return bool(letter.assumptions0 == sp.Symbol("plain", **assumptions).assumptions0)


# --- premises for every error up to a largest one, or for every layer ------------------------------------------------


# A relation "gap >= 0" (or > 0) whose gap is continuous and monotone in x holds for all x in [low, high] if it holds at
# the end where the gap is least. Where that is not clear, nothing is known of x, and no number discharges the premise.
# Of a range the largest argument and the least radius are kept, which is what `confine` compares an invariant with.
def for_all(obligation: Obligation, x: sp.Symbol, low: sp.Expr, high: sp.Expr, where: str) -> Obligation:
    """The obligation for every x from `low` to `high` (numbers between, or whole numbers), at its worst end.

    `where` says so in its statement.
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
    return statement if statement.endswith(where) else f"{statement}, {where}"


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


def _clear_between(condition: Any, x: sp.Symbol, low: sp.Expr, high: sp.Expr) -> bool:
    """Whether a relation is clear for every x = low + m and x = high - m, m >= 0."""
    if not isinstance(condition, sp.Le | sp.Lt | sp.Ge | sp.Gt):
        return False
    beyond = sp.Dummy("m", nonnegative=True, integer=x.is_integer)
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


# --- continuity ------------------------------------------------------------------------------------------------------

CONTINUOUS = (sp.exp, sp.tanh, sp.sinh, sp.cosh, sp.asinh, sp.atan, sp.erf, sp.erfc, sp.sin, sp.cos)


def monotone(expression: sp.Expr, x: sp.Symbol) -> int | None:
    """1 for what clearly does not fall in x, -1 for what does not rise; None where neither is clear."""
    if not is_continuous(expression, x):
        return None
    slope = slope_in(expression, x)
    return 1 if is_nonnegative(slope) else -1 if is_nonnegative(-slope) else None


def slope_in(expression: sp.Expr, x: sp.Symbol) -> sp.Expr:
    """d expression / d x, with the slopes of undefined functions (which do not decrease) as non-negative symbols."""
    slope = sp.diff(expression, x)
    unknown = slope.atoms(sp.Derivative, sp.Subs)
    return slope.xreplace({u: sp.Dummy(f"slope{k}", nonnegative=True) for k, u in enumerate(unknown)})


# A derivative says nothing of jumps: those of a case distinction in x, of floor and sign, and at a pole. An undefined
# function is one that does not decrease; its jumps are upwards.
def is_continuous(expression: sp.Expr, x: sp.Symbol) -> bool:
    """Whether no jump and no pole in x is possible, but for upward jumps of undefined functions."""
    if not isinstance(expression, sp.Basic) or x not in expression.free_symbols or expression == x:
        return True
    if not _no_jump_at(expression, x):
        return False
    if isinstance(expression, sp.Piecewise):
        return all(is_continuous(branch, x) for branch, _ in expression.args)
    if isinstance(expression, sp.Sum | sp.Product):
        return is_continuous(expression.function, x)
    return all(is_continuous(part, x) for part in expression.args)


def _no_jump_at(node: sp.Basic, x: sp.Symbol) -> bool:
    if isinstance(node, sp.Piecewise):
        return not any(x in condition.free_symbols for _, condition in node.args)
    if isinstance(node, sp.Sum | sp.Product):
        return not any(x in part.free_symbols for limits in node.limits for part in limits)
    if isinstance(node, sp.Pow):
        base, exponent = node.base, node.exp
        whole_power = bool(exponent.is_integer and exponent.is_nonnegative) and x not in exponent.free_symbols
        return whole_power or bool(base.is_positive) or bool(is_nonnegative(base) and exponent.is_positive)
    if isinstance(node, sp.log):
        return bool(node.args[0].is_positive)
    kinds = (sp.Add, sp.Mul, sp.Max, sp.Min, sp.Abs, AppliedUndef, *CONTINUOUS)
    return isinstance(node, kinds)
