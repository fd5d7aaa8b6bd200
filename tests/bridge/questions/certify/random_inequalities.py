"""Random inequalities with poles, kinks and narrow domains, judged by points."""

import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

from bridge.questions.certify.certificate import inequality_record
from bridge.questions.certify.proving import Outcome, Status, prove
from bridge.questions.certify.reading import read_inequality
from symbolic.derivations.derivation import DerivationError
from symbolic.words.errors import UsageError
from tests.bridge.questions.certify import by_points

MOST = 40  # boxes

# An expression f that may be undefined somewhere, in what SymPy simplifies or a bound hides.
HIDING = (
    "({f}) - ({f}) + 1",
    "({f})/({f})",
    "0*({f}) + 2",
    "2**(({f}) - ({f}))",
    "1/(1+exp({f})) + 1/(1+exp(-({f}))) <= 1",
    "exp(log({f})) + 9",
    "sqrt({f})**2 + 9",
    "1/(1/({f})) + 9",
    "({f})**(1/3)*({f})**(2/3) + 9",
    "tanh({f}) + 1",
    "abs({f})",
    "max({f}, 0)",
    "min({f}, 1) <= 1",
    "cos({f}) <= 1",
    "atan({f}) <= 2",
    "exp(-({f})**2)",
    "({f})**2",
    *["{f} >= {c}", "{f} <= {c}", "{f} > {g}", "{f}"] * 3,
    "sqrt({f}) >= -1",
    "erf({f}) < 2",
    "sqrt(abs({f})) + 1",
    "max({f}, {g}) >= {f}",
    "abs({f}) + abs({g}) >= ({f}) + ({g}) - 1/100",
    "({f})*({g})/(({f})*({g})) > 0",
    "log(exp({f})) - ({f}) >= -1/9",
)
FORMS = (
    "1/({x})",
    "1/({x})**2",
    "log({x})",
    "sqrt({x})",
    "({x})**(-1/2)",
    "({x})**(3/2)",
    "asin({x})",
    "tan({x})",
    "gamma({x})",
    "abs({x})",
    "max({x}, 0)",
    "min({x}, {r})",
    "exp({x})",
    "({x})**2",
    "{x}",
    "sin({x})/({x})",
    "log(({x})**2)",
    "1/abs({x})",
    "loggamma({x})",
    "1/(({x})**2 - 2)",
    "sqrt(({x})*({r} - x))",
)


@dataclass
class Drawn:
    """An inequality as text, with the points at which something may happen."""

    text: str
    ranges: list[str]
    where: list[str]
    special: list[Fraction] = field(default_factory=list)


def draw(rng: random.Random) -> Drawn:
    special = [_rational(rng) for _ in range(3)]
    two = rng.random() < 0.2

    def inner() -> str:
        r = rng.choice(special)
        if two and rng.random() < 0.5:
            return rng.choice([f"y - {r}", f"x*y - {r}", f"x + y - ({r})"])
        return rng.choice(["x", f"x - ({r})", f"{r} - x", f"x**2 - ({r})**2", f"2*x - 2*({r})", f"x**2 + ({r})**2"])

    def form() -> str:
        made = rng.choice(FORMS).format(x=inner(), r=rng.choice(special))
        return rng.choice(FORMS).format(x=made, r=rng.choice(special)) if rng.random() < 0.25 else made

    f, g = (f"{form()} + {form()}" if rng.random() < 0.2 else form() for _ in range(2))
    text = rng.choice(HIDING).format(f=f, g=g, c=rng.randrange(-30, 31))
    text = text if not two or "y" in text else f"{text.replace('<=', '<= 0*y +').replace('>=', '>= 0*y +')}"
    names = [name for name in ("x", "y") if any(f == name for f in _words(text))]
    where = [f"{rng.choice(names)} >= {rng.choice(special)}"] if names and rng.random() < 0.2 else []
    return Drawn(text, [f"{name}={_range(rng, special)}" for name in names], where, special)


def _words(text: str) -> list[str]:
    return "".join(each if each.isalnum() else " " for each in text).split()


def _rational(rng: random.Random) -> Fraction:
    return Fraction(rng.randrange(-6, 7), rng.choice((1, 1, 2, 3, 7)))


def _range(rng: random.Random, special: list[Fraction]) -> str:
    """Around a special point, from one to another, or anywhere; often narrow."""
    centre = rng.choice(special)
    width = Fraction(1, rng.choice((1, 1, 2, 5, 100, 10**6)))
    low, high = {
        0: (centre - width, centre + width * rng.choice((1, 2))),
        1: (centre, centre + width),
        2: (centre + width, centre + 3 * width),
        3: (min(special), max(special)),
        4: (centre - 3 * width, centre - width),
    }[rng.randrange(5)]
    return f"{low},{high}"


def judged(drawn: Drawn) -> tuple[str, str]:
    """The verdict, and what is wrong with it: "" where the points agree."""
    try:
        claim = read_inequality(drawn.text, drawn.ranges, drawn.where)[-1]
        outcome = prove(claim, seconds=inf, most_boxes=MOST)
    except (UsageError, DerivationError):
        return "refused", ""
    return str(outcome.status), _wrong(outcome, drawn.special)


def _wrong(outcome: Outcome, special: list[Fraction]) -> str:
    record = inequality_record(outcome.inequality)
    if outcome.status is Status.PROVED:
        return by_points.fails(record, special)
    if outcome.status is Status.REFUTED:
        at = {symbol.name: x for symbol, x in outcome.point.items()}
        single = record | {"box": [[name, str(x), str(x)] for name, x in at.items()]}
        return "" if by_points.fails(single) else f"it holds at {at}"
    return ""


def survey(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many of each verdict, and every verdict that points contradict."""
    rng = random.Random(seed)
    verdicts: Counter[str] = Counter()
    wrong = []
    for _ in range(count):
        drawn = draw(rng)
        verdict, words = judged(drawn)
        verdicts[verdict] += 1
        if words:
            wrong.append(f"{drawn.text} on {drawn.ranges} where {drawn.where} is {verdict}, but {words}")
    return verdicts, wrong
