"""The sign of an expression under hypotheses: of products by their factors, of linear expressions by multipliers.

Each answer is one-sided, as in `symbolic.derivations.signs`: where a sign is not clear there is none.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from symbolic.derivations.definedness import Relation, is_defined
from symbolic.derivations.linear_programs import Infeasible, Unbounded, maximise
from symbolic.derivations.signs import assumed, is_nonnegative

LONGEST = 60  # operations: what is longer takes seconds to factor
RELATIONS = sp.Le | sp.Lt | sp.Ge | sp.Gt


@dataclass(frozen=True)
class Sign:
    """`side` is 1 for >= 0, -1 for <= 0; `strict`: not 0. `used` are the hypotheses from which it follows."""

    side: int
    strict: bool
    used: frozenset[sp.Basic] = frozenset()

    def __neg__(self) -> "Sign":
        return Sign(-self.side, self.strict, self.used)

    # Numbers of known sign have a product of known sign; it is not 0 if none of them is.
    def __mul__(self, other: "Sign") -> "Sign":
        return Sign(self.side * other.side, self.strict and other.strict, self.used | other.used)


@dataclass(frozen=True)
class Granted:
    """A hypothesis: `gap` >= 0, or > 0 if `strict`."""

    gap: sp.Expr
    strict: bool
    source: sp.Basic | None = None  # None: an assumption on a letter


def hypotheses_that_imply(condition: sp.Basic, hypotheses: Iterable[sp.Basic]) -> tuple[sp.Basic, ...] | None:
    """Those from which a relation clearly follows, by the sign of the difference of its sides; None if it is not clear.

    The tuple is empty where the assumptions on the letters alone give it.
    """
    if not isinstance(condition, RELATIONS):
        return None
    given = tuple(hypotheses)
    found = sign_under(condition.gts - condition.lts, given)
    if found is None or found.side < 0 or (isinstance(condition, sp.Lt | sp.Gt) and not found.strict):
        return None
    if not is_defined_under(condition, given):
        return None
    return tuple(each for each in given if each in found.used)


@lru_cache(maxsize=1 << 10)
def sign_under(expression: sp.Expr, hypotheses: tuple[sp.Basic, ...]) -> Sign | None:
    """The sign of the expression wherever the hypotheses and the assumptions on its letters hold, if it is clear."""
    if expression.count_ops() > LONGEST or expression.has(sp.Sum, sp.Product, sp.Piecewise):
        return None
    given = [each for hypothesis in hypotheses for each in _given(hypothesis)]
    found = _sign(expression, given)
    if found is None and expression.is_rational_function():
        factored = sp.factor(sp.together(expression))
        found = _sign(factored, given) if factored != expression else None
    return found if found is not None and is_defined_under(expression, hypotheses) else None


def is_defined_under(condition: Any, hypotheses: Iterable[Any]) -> bool:
    """Whether each side of a relation, or an expression, is clearly a real number wherever the hypotheses hold."""
    given = tuple(each for hypothesis in hypotheses for each in _given(hypothesis))
    sides = condition.args if isinstance(condition, Relational) else (condition,)
    return all(is_defined(side, lambda part, relation, facts: _meets(part, relation, facts, given)) for side in sides)


def _meets(part: sp.Expr, relation: Relation, facts: Sequence[Any], given: Sequence[Granted]) -> bool:
    if assumed(part, relation):
        return True
    known = [*given, *(each for fact in facts for each in _given(fact))]
    sign = _sign(part, known) if part.count_ops() <= LONGEST else None
    if relation is Relation.NONZERO and isinstance(part, sp.Mul):
        return all(_meets(factor, relation, facts, given) for factor in part.args)
    if sign is None or (sign.side < 0 and relation is not Relation.NONZERO):
        return False
    return sign.strict or relation is Relation.NONNEGATIVE


def _given(hypothesis: sp.Basic) -> Iterator[Granted]:
    if isinstance(hypothesis, sp.And):
        for part in hypothesis.args:
            yield from (Granted(each.gap, each.strict, hypothesis) for each in _given(part))
    elif isinstance(hypothesis, sp.Eq) and isinstance(hypothesis.lhs, sp.Expr):
        gap = hypothesis.lhs - hypothesis.rhs
        yield from (Granted(each, False, hypothesis) for each in (gap, -gap))
    elif isinstance(hypothesis, RELATIONS):
        yield Granted(hypothesis.gts - hypothesis.lts, isinstance(hypothesis, sp.Lt | sp.Gt), hypothesis)


def _sign(expression: sp.Expr, given: Sequence[Granted]) -> Sign | None:
    known = _assumed(expression)
    if known is not None:
        return known
    if isinstance(expression, sp.Mul):
        return _of_product([_sign(factor, given) for factor in expression.args])
    if isinstance(expression, sp.Pow):
        return _of_power(expression, given)
    if isinstance(expression, sp.Add):
        return _of_sum([_sign(term, given) for term in expression.args]) or _by_multipliers(expression, given)
    return _by_multipliers(expression, given)


def _assumed(expression: sp.Expr) -> Sign | None:
    if expression.is_zero:
        return Sign(1, False)
    for side, number in ((1, expression), (-1, -expression)):
        if number.is_positive or is_nonnegative(number):
            return Sign(side, bool(number.is_positive))
    return None


def _of_product(factors: Sequence[Sign | None]) -> Sign | None:
    found = Sign(1, True)
    for factor in factors:
        if factor is None:
            return None
        found = found * factor
    return found


# b^e is positive for b > 0 and real e; for whole e it has the sign of b^(e mod 2), and e < 0 needs b != 0.
def _of_power(power: sp.Pow, given: Sequence[Granted]) -> Sign | None:
    base, exponent = _sign(power.base, given), power.exp
    if base is None or not exponent.is_real or (exponent.is_positive is not True and not base.strict):
        return None
    if base.side > 0:
        return base
    if not exponent.is_integer or exponent.is_even is None:
        return None
    return -base if exponent.is_even else base


# Numbers >= 0 have a sum >= 0, which is > 0 if one of them is; the same below 0.
def _of_sum(terms: Sequence[Sign | None]) -> Sign | None:
    known = [term for term in terms if term is not None]
    if len(known) < len(terms) or len({term.side for term in known}) != 1:
        return None
    used = frozenset[sp.Basic]().union(*(term.used for term in known))
    return Sign(known[0].side, any(term.strict for term in known), used)


# --- multipliers -----------------------------------------------------------------------------------------------------


# With hypotheses g_i >= 0 and multipliers l_i >= 0, f = sum_i l_i g_i + r. Each term of the rest r, a rational number
# times a product of letters, is >= 0 by the assumptions on these letters. Then f >= 0; and f > 0 if some term of r is
# positive, or l_i > 0 for a strict hypothesis g_i > 0 (Farkas: for linear relations nothing else implies f >= 0). The
# l_i are found by the simplex method in rational numbers. 1 - a = (1 - a - eta) + eta, with a + eta < 1 and eta > 0.
def _by_multipliers(expression: sp.Expr, given: Sequence[Granted]) -> Sign | None:
    for side in (1, -1):
        found = _nonnegative_combination(side * expression, given)
        if found is not None:
            return Sign(side, found.strict, found.used)
    return None


def _nonnegative_combination(expression: sp.Expr, given: Sequence[Granted]) -> Sign | None:
    known = [*_connected(expression, given)]
    known += [Granted(n - 1, False) for n in _letters(expression, known) if n.is_integer and n.is_positive]
    own, gaps = _terms(expression), [_terms(each.gap) for each in known]
    if own is None or any(gap is None for gap in gaps):
        return None
    terms = sorted({*own, *(term for gap in gaps for term in gap or ())}, key=sp.default_sort_key)
    rests = [_Rest(own.get(t, ZERO), tuple((gap or {}).get(t, ZERO) for gap in gaps), _assumed(t)) for t in terms]
    gain = _Rest(ZERO, tuple(Fraction(-each.strict) for each in known), Sign(1, True))
    for rest in rests:
        if rest.sign is not None and rest.sign.strict:
            gain = gain.plus(rest)
    return _solved(known, rests, gain)


ZERO = Fraction(0)


@dataclass(frozen=True)
class _Rest:
    """The coefficient of one term in the rest, own - sum_i l_i gaps_i: that of a term >= 0 is >= 0, and so on."""

    own: Fraction
    gaps: tuple[Fraction, ...]
    sign: Sign | None  # of the term; a term of unknown sign may not be left

    def at(self, multipliers: Sequence[Fraction]) -> Fraction:
        return self.own - sum(m * gap for m, gap in zip(multipliers, self.gaps, strict=True))

    def holds(self, multipliers: Sequence[Fraction]) -> bool:
        rest = self.at(multipliers)
        return rest == 0 if self.sign is None else self.sign.side * rest >= 0

    def plus(self, other: "_Rest") -> "_Rest":
        """The sum of the absolute values of both, where they hold."""
        assert other.sign is not None  # asked of terms of known sign
        side = other.sign.side
        gaps = tuple(one + side * more for one, more in zip(self.gaps, other.gaps, strict=True))
        return replace(self, own=self.own + side * other.own, gaps=gaps)

    @property
    def limits(self) -> list[tuple[list[Fraction], Fraction]]:
        """The same as rows of a linear program."""
        sides = [1, -1] if self.sign is None else [self.sign.side]
        return [([side * gap for gap in self.gaps], side * self.own) for side in sides]


# The gain is a sum of numbers >= 0, and f > 0 if it is positive.
def _solved(known: Sequence[Granted], rests: Sequence[_Rest], gain: _Rest) -> Sign | None:
    """A combination that meets the limits: a strict one if there is one, of few hypotheses."""
    try:
        most = _most(gain, rests)
        wanted = [] if most <= 0 else [replace(gain, own=gain.own - most / 2)]
        chosen = _chosen([Fraction(-1)] * len(known), [*rests, *wanted])
    except Infeasible:
        return None
    assert all(m >= 0 for m in chosen)
    assert all(rest.holds(chosen) for rest in rests)
    used = {each.source for m, each in zip(chosen, known, strict=True) if m > 0}
    return Sign(1, gain.at(chosen) > 0, frozenset(used - {None}))


def _most(gain: _Rest, rests: Sequence[_Rest]) -> Fraction:
    """The largest gain; 2 where there is none."""
    try:
        return gain.at(_chosen([-gap for gap in gain.gaps], rests))
    except Unbounded:
        return Fraction(2)


def _chosen(gains: list[Fraction], rests: Sequence[_Rest]) -> list[Fraction]:
    limits = [limit for rest in rests for limit in rest.limits]
    return maximise(gains, [row for row, _ in limits], [most for _, most in limits])


def _terms(expression: sp.Expr) -> dict[sp.Expr, Fraction] | None:
    """The coefficients of its terms, products of letters and 1; None if one is not rational."""
    exact = expression.xreplace({number: sp.Rational(number) for number in expression.atoms(sp.Float)})
    found = sp.expand(exact).as_coefficients_dict()
    if not all(number.is_Rational for number in found.values()):
        return None
    return {term: Fraction(int(number.p), int(number.q)) for term, number in found.items()}


def _connected(expression: sp.Expr, given: Sequence[Granted]) -> Iterator[Granted]:
    """The hypotheses that share letters with the expression, or with one that does."""
    letters, left = set(expression.free_symbols), list(given)
    while near := [each for each in left if each.gap.free_symbols & letters]:
        yield from near
        letters |= set().union(*(each.gap.free_symbols for each in near))
        left = [each for each in left if each not in near]


def _letters(expression: sp.Expr, known: Sequence[Granted]) -> list[sp.Symbol]:
    found = expression.free_symbols.union(*(each.gap.free_symbols for each in known))
    return sorted(found, key=str)
