"""Whatever is granted is defined and true at random points that meet the hypotheses, boundary points among them."""

import random
from collections.abc import Iterator
from typing import Any

import mpmath
import pytest
import sympy as sp
from sympy.core.relational import Relational

from symbolic.derivations.granting import implying

z, w = sp.symbols("z w", positive=True)
q = sp.Symbol("q", nonnegative=True)
r, s = sp.symbols("r s", real=True)
N = sp.Symbol("N", integer=True, positive=True)
i = sp.Symbol("i", integer=True)
LETTERS = (z, w, q, r, s, N, i)
SAFE = (sp.exp, sp.Abs, sp.tanh, sp.cosh, lambda a: a**2)
PARTIAL = (lambda a: 1 / a, sp.sqrt, sp.log, sp.tan, sp.gamma, lambda a: a ** sp.Rational(-1, 2), sp.acosh)
SLACK = mpmath.mpf(10) ** -15


def drawn(rng: random.Random, depth: int) -> sp.Expr:
    """A random expression, built from the outside in."""
    kind = rng.random()
    if depth == 0 or kind < 0.2:
        return rng.choice([*LETTERS, sp.Integer(rng.randint(-2, 3)), sp.Rational(1, 2)])
    part = drawn(rng, depth - 1)
    if kind < 0.4:
        return rng.choice(PARTIAL)(part)
    if kind < 0.5:
        return rng.choice(SAFE)(part)
    other = drawn(rng, depth - 1)
    if not (usable(part) and usable(other)):
        return sp.nan
    both = (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, lambda a, b: a**b, sp.Max, lambda a, b: a / b)
    return rng.choice(both)(part, other)


def usable(expression: sp.Basic) -> bool:
    return not expression.has(sp.zoo, sp.nan, sp.oo, -sp.oo, sp.I) and expression not in (sp.true, sp.false)


def relation(rng: random.Random, depth: int = 2) -> Any:
    while True:
        found = related(rng.choice([sp.Le, sp.Lt, sp.Ge, sp.Gt]), *(drawn(rng, rng.randint(0, depth)) for _ in "ab"))
        if found is not None:
            return found


def related(kind: Any, left: sp.Expr, right: sp.Expr) -> Any:
    """The relation, None where SymPy decides it or finds a side that is no real number."""
    try:
        found = kind(left, right) if usable(left) and usable(right) else sp.false
    except TypeError:
        return None
    return found if isinstance(found, Relational) else None


def claim(rng: random.Random, hypotheses: list[Any]) -> Any:
    """One that often follows but for where it is defined: a hypothesis with more on one side, or on both."""
    base = rng.choice(hypotheses) if hypotheses and rng.random() < 0.6 else relation(rng, 1)
    spare, hidden = drawn(rng, 1), drawn(rng, 2)
    greater, less = base.gts, base.lts
    if rng.random() < 0.5:
        greater = greater + rng.choice([spare**2, sp.Abs(spare), sp.exp(spare), z, q, z**r, q**r, spare])
    if rng.random() < 0.5:
        greater, less = greater + hidden, less + hidden
    if rng.random() < 0.2:
        greater, less = greater * hidden**2, less * hidden**2
    made = related(rng.choice([sp.Ge, sp.Gt]), greater, less)
    return base if made is None else made


def value(node: Any, at: dict[sp.Symbol, Any]) -> Any:
    """The tree in mpmath, node by node; ArithmeticError where a node is no finite real number."""
    if node.is_Symbol:
        return at[node]
    if not node.args:
        return mpmath.mpf(node.p) / node.q if node.is_Rational else mpmath.mpf(sp.N(node, 40))
    parts = [value(part, at) for part in node.args]
    found = computed(node, parts)
    if mpmath.im(found) != 0 or not mpmath.isfinite(found):
        raise ArithmeticError(node)
    return mpmath.re(found)


def computed(node: Any, parts: list[Any]) -> Any:
    if node.is_Add:
        return mpmath.fsum(parts)
    if node.is_Mul:
        return mpmath.fprod(parts)
    if isinstance(node, sp.Max):
        return max(parts)
    if node.is_Pow:
        base, exponent = parts
        if base == 0:
            if exponent < 0:
                raise ZeroDivisionError
            return mpmath.mpf(exponent == 0)
        if abs(exponent) > 10**4:
            raise OverflowError
        return mpmath.power(base, exponent)
    return getattr(mpmath, {sp.Abs: "fabs"}.get(node.func, node.func.__name__.lower()))(*parts)


ENDS = [mpmath.mpf(each) for each in (0, 1, -1, 2, -2, 0.5, -0.5, 3)]


def points(rng: random.Random, count: int) -> Iterator[dict[sp.Symbol, Any]]:
    for _ in range(count):
        at = {
            each: rng.choice(ENDS) if rng.random() < 0.6 else mpmath.mpf(rng.randint(-64, 64)) / 16 for each in LETTERS
        }
        yield {each: meeting(each, number) for each, number in at.items()}


def meeting(letter: sp.Symbol, number: Any) -> Any:
    number = mpmath.floor(number) if letter.is_integer else number
    number = abs(number) if letter.is_nonnegative else number
    return number or mpmath.mpf(1) if letter.is_positive else number


def holds(known: Any, at: dict[sp.Symbol, Any]) -> bool:
    """Clearly; a strict relation that rounding may have decided is none."""
    gap = value(known.gts, at) - value(known.lts, at)
    return bool(gap > SLACK if isinstance(known, sp.Lt | sp.Gt) else gap >= 0)


def met(known: Any, at: dict[sp.Symbol, Any]) -> bool:
    try:
        return holds(known, at)
    except (ArithmeticError, ValueError):
        return False


def fault(condition: Any, hypotheses: list[Any], rng: random.Random) -> str:
    """A point that meets the hypotheses, at which the condition is not defined or not true; "" where none is found."""
    for at in points(rng, 60):
        if not all(met(each, at) for each in hypotheses):
            continue
        try:
            gap = value(condition.gts, at) - value(condition.lts, at)
        except OverflowError:
            continue  # too large to compute
        except (ArithmeticError, ValueError) as error:
            return f"{condition} is not defined ({error!r}) at {at}"
        if gap < -SLACK * (1 + abs(value(condition.gts, at))):
            return f"{condition} is false at {at}"
    return ""


@pytest.mark.parametrize("seed", range(6))
def test_what_is_granted_is_defined_and_true(seed: int) -> None:
    rng, wrong, granted = random.Random(seed), [], 0
    with mpmath.workdps(30):
        for _ in range(80):
            hypotheses = [relation(rng, 1) for _ in range(rng.randint(0, 2))]
            condition = claim(rng, hypotheses)
            found = implying(condition, hypotheses)
            if found is not None:
                granted += 1
                fails = fault(condition, hypotheses, rng)
                wrong += [f"{hypotheses}: {fails}"] if fails else []
    assert granted >= 10
    assert not wrong, f"{len(wrong)} of {granted}: " + "\n".join(wrong)
