"""What an outcome says of itself: where it ends, how close to 0, what is in the way of a proof, and what to write.

Nothing here proves anything, but for an exact value of 0 at a point of rational numbers.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from bridge.questions.certify.definedness import evaluated
from bridge.questions.certify.networks import neurons_in
from bridge.questions.certify.search import search
from bridge.questions.certify.words import box_text, region, short, shortly, statement
from symbolic.derivations.inequalities import Inequality

SAMPLES = 1 << 12
CLOSE = 1e-5  # of a value to 0, as a share of the terms' sizes
DENOMINATORS = (1, 2, 3, 4, 6, 10, 100, 1000)  # of points at which the value may be exactly 0
MOST_OPERATIONS = 300  # of an expression that is factored
MOST_NEURONS = 16  # that are decided in about a second
KINKS = (sp.Abs, sp.Max, sp.Min)
Point = Mapping[sp.Symbol, Fraction]
Outcome = Any  # of `proving` beside it, which shows itself by this


def outcome_text(outcome: Outcome) -> str:
    """What `print` shows: verdict, inequality, region, and the point that refutes it or what an undecided run met."""
    inequality = outcome.inequality
    first = f"{outcome.words} ({outcome.seconds:.2f} s)" if outcome.seconds else outcome.words
    lines = [first, statement(inequality), f"for {region(inequality)}" if inequality.box else ""]
    return "\n".join(filter(None, [*lines, *explanation(outcome)]))


def explanation(outcome: Outcome) -> list[str]:
    """The point that refutes it; of an undecided run what is left, what is in the way, and what to write instead."""
    if outcome.status == "refuted":
        return [f"{outcome.inequality.name} is refuted: {_refuted(outcome)}"]
    if outcome.status == "undecided":
        return [f"{outcome.inequality.name} is undecided: {_left(outcome)}", *obstacles(outcome)]
    return []


def _refuted(outcome: Outcome) -> str:
    assert outcome.value is not None  # a refutation has a value
    relation = "> 0" if outcome.inequality.strict else ">= 0"
    most = f"at most {outcome.value:.6g}" if outcome.value else "below 0" if relation == ">= 0" else "at most 0"
    return f"the difference of its sides must be {relation}, but it is {most} at {point_text(outcome.point)}"


def _left(outcome: Outcome) -> str:
    why = f"{outcome.reason}; " if outcome.reason else ""
    count = max(1, outcome.open_count, len(outcome.open_boxes))
    left = [box_text(outcome.inequality, box) for box in outcome.open_boxes[:1]]
    return f"{why}{count} box{' is' if count == 1 else 'es are'} open{f'; the largest: {left[0]}' if left else ''}"


def point_text(point: Point) -> str:
    """Each coordinate exactly, with six digits in brackets unless they are the number."""
    return ", ".join(f"{symbol} = {number_text(value)}" for symbol, value in point.items())


def number_text(value: Fraction, longest: int = 60) -> str:
    text = str(value)
    exact = text if len(text) <= longest else f"{text[:longest]}..."
    return exact if exact == short(value) else f"{exact} ({short(value)})"


def obstacles(outcome: Outcome) -> list[str]:
    """What is in the way of a proof, where the expression is found to be least."""
    inequality = outcome.inequality
    if outcome.reason.startswith("it is undefined") or not inequality.box:
        return []
    found = search(inequality.expression, inequality, samples=SAMPLES, seed=0)
    if not found:
        return []
    value, at = found[0]
    point = dict(zip(inequality.box, at, strict=True))
    zero = _exact_zero(inequality, point)
    words = _value_words(inequality, value, zero or point, is_zero=zero is not None)
    return [*words, *(_neurons(inequality) or _parts(inequality, zero or point))]


def _value_words(inequality: Inequality, value: float, point: Point, *, is_zero: bool) -> Iterator[str]:
    at = point_text(point)
    if is_zero:
        yield f"it is exactly 0 at {at}"
        if inequality.strict:
            yield "so that it is not > 0 there: write >= in the place of >"
    elif value > 0 and not _close(inequality, value, point):
        yield f"the least value found is {value:.3g}, at {at}: more time or smaller ranges may decide it"
    else:
        yield f"the least value found is {value:.3g}, at {at}: it is 0 there, or close to 0"


def _close(inequality: Inequality, value: float, point: Point) -> bool:
    """Whether the value is small beside the terms of the expression."""
    terms = sp.Add.make_args(inequality.expression)
    sizes = [abs(_number(each, point)) for each in terms]
    return abs(value) <= CLOSE * max([size for size in sizes if size == size], default=1.0)


def _number(expression: sp.Expr, point: Point) -> float:
    try:
        return float(sp.N(evaluated(expression, {s: sp.Rational(x) for s, x in point.items()})))
    except (TypeError, ValueError):
        return float("nan")


def _exact_zero(inequality: Inequality, point: Point) -> Point | None:
    """A point of simple rational numbers next to this one, in the region, at which the expression is exactly 0."""
    for largest in DENOMINATORS:
        near = {s: x.limit_denominator(largest) for s, x in point.items()}
        if all(low <= x <= high for x, (low, high) in zip(near.values(), inequality.box.values(), strict=True)):
            exact = {s: sp.Rational(x) for s, x in near.items()}
            if any(not evaluated(condition, exact).is_nonnegative for condition in inequality.where):
                continue
            if evaluated(inequality.expression, exact) == 0:
                return near
    return None


def _parts(inequality: Inequality, point: Point) -> Iterator[str]:
    """The kinks and the factors that are 0 at the point, and what to prove in their place."""
    for g in _kinks(inequality.expression):
        if abs(_number(g, point)) <= CLOSE:
            g_text = shortly(sp.sstr(g))
            yield f"a kink is there, {g_text} = 0: prove it where {g_text} >= 0 and where {g_text} <= 0, each by itself"
            return
    for factor, power, rest in _factors(inequality):
        if abs(_number(factor, point)) <= CLOSE:
            written, left = (shortly(sp.sstr(each)) for each in (factor if power == 1 else factor**power, rest))
            if power % 2 == 0 and rest.is_positive:
                yield f"{written} is a square: it is nowhere below 0, and nothing else is left to prove"
            elif power % 2 == 0:
                yield f"the factor {written} is 0 there and nowhere below 0: prove {left} >= 0 instead"
            else:
                yield f"the factor {written} is 0 there: prove its sign and that of {left} by themselves"
            return
    if _close(inequality, _number(inequality.expression, point), point):
        yield "boxes do not prove an inequality next to a point where it is attained: prove it with a margin, or"
        yield "move that point to 0 and name its coordinates (`vanishing=` of an Inequality)"


def _neurons(inequality: Inequality) -> list[str]:
    """Of a network that has more than fit a short time."""
    count = neurons_in(inequality.expression, tuple(inequality.box))
    if count <= MOST_NEURONS:
        return []
    return [
        f"it is a network of {count} neurons; {MOST_NEURONS} take about a second, and one that may be on or off can",
        "double the time: give it more seconds, a margin, or smaller ranges, on which fewer change",
    ]


def _kinks(expression: sp.Expr) -> list[sp.Expr]:
    """What is 0 where a kink is."""
    found: list[sp.Expr] = []
    for node in sorted(expression.atoms(*KINKS), key=str):
        first, *others = node.args
        found += [first] if isinstance(node, sp.Abs) else [first - other for other in others]
    return found


def _factors(inequality: Inequality) -> list[tuple[sp.Expr, int, sp.Expr]]:
    """Each factor of a polynomial with its power, and the rest."""
    f, letters = inequality.expression, list(inequality.box)
    if not f.is_polynomial(*letters) or f.count_ops() > MOST_OPERATIONS:
        return []
    content, factors = sp.factor_list(f)
    if sum(power for _, power in factors) < 2:
        return []
    whole = [(base**power, base, int(power)) for base, power in factors]
    return [(b, p, sp.Mul(content, *(w for w, other, _ in whole if other != b))) for _, b, p in whole]
