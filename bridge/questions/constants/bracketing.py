"""The search for a best constant: a point that refutes one value, then a proof of a value as close to it as may be.

Values are searched for as t = c for a largest constant and t = -c for a least one: smaller t are easier to prove.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, log10

import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from bridge.questions.certify.deadline import Deadline
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.proving import Outcome, Point, Status, prove
from bridge.questions.certify.search import search
from bridge.questions.constants.free import FreeConstant
from numeric.balls import float_above, rational, working_precision
from symbolic.derivations.inequalities import Inequality

BITS, SAMPLES = 192, 1 << 16
OFF = tuple(Fraction(1, 10**k) for k in (6, 5, 4, 3))  # shares by which a refuted value exceeds the limit at a point
INWARDS = (Fraction(0), Fraction(1, 2**20), Fraction(1, 2**10), Fraction(1, 16))  # shares of the way to the middle
LARGEST_GAP, HALVINGS, WIDER = 12, 24, 4
DENOMINATORS = (1, 10, 100, 1000, 10**4, 10**6)  # of the coordinates of a witness, the simplest first
MOST_BOXES = 4000  # for one proof. A count, so that every machine finds the same values
SIMPLE, FEW_BOXES = 100, 500  # the denominators of a best constant that is tried first, and the boxes for it


@dataclass
class Bracketing:
    """The values found so far, as t; None where there is none yet."""

    of: FreeConstant
    deadline: Deadline
    within: Fraction
    proved: Fraction | None = None
    refuted: Fraction | None = None
    proofs: tuple[Outcome, ...] = ()
    refutation: Outcome | None = None
    given_up: list[Outcome] = field(default_factory=list)  # on the way

    def run(self) -> None:
        self._refute_at_points()
        if self._holds_throughout():
            return
        self._try_simple()
        if self.proved is None:
            self._approach()
        if self.proved is not None:
            self._narrow()

    @property
    def near(self) -> Fraction | None:
        """The end of the range at which the statement is weakest."""
        end = self.of.ends[0 if self.of.largest else 1]
        return None if end is None else self.of.sign * end

    @property
    def far(self) -> Fraction | None:
        end = self.of.ends[1 if self.of.largest else 0]
        return None if end is None else self.of.sign * end

    # Refuting.

    def _refute_at_points(self) -> None:
        """A value just beyond the limit at the best of the points that sampling and local search find."""
        for limit, region in self.of.limits:
            found = search(self.of.sign * limit, region, samples=SAMPLES, seed=0, check=self.deadline.check)
            points = [
                each for each in self._inwards(region, [point for _, point in found]) if self._counts(region, each)
            ]
            balls = [self.of.sign * evaluate_ball(limit, point, BITS) for point in points]
            order = sorted((float(ball), at) for at, ball in enumerate(balls) if ball.is_finite())
            any(self._refutes_beyond(Fraction(value), points[at]) for value, at in order)

    def _inwards(self, region: Inequality, points: Sequence[Sequence[Fraction]]) -> Iterator[Point]:
        """The points, and points closer to the middle, where conditions may hold strictly."""
        middle = [(Fraction(low) + Fraction(high)) / 2 for low, high in region.box.values()]
        for share in INWARDS if self.of.strictly or region.where else INWARDS[:1]:
            for point in points:
                yield {s: x + share * (m - x) for s, x, m in zip(region.box, point, middle, strict=True)}

    def _counts(self, region: Inequality, point: Point) -> bool:
        """Whether the conditions hold at the point, strictly where they have to."""
        return not self.of.strictly or all(bool(evaluate_ball(each, point) > 0) for each in region.where)

    def _refutes_beyond(self, limit: Fraction, point: Point) -> bool:
        """Whether a value next to the limit at the point is refuted, or a stronger one has been."""
        self.deadline.check()
        for off in OFF:
            gap = off * scale_of(limit)
            t = rounded(limit + gap, gap, up=True)
            if self.refuted is not None and t >= self.refuted:
                return True
            if self.far is not None and t > self.far:
                return False
            if self._refutes(t, point):
                return True
        return False

    def _refutes(self, t: Fraction, point: Point) -> bool:
        """Whether the point refutes the statement at t, which is kept if so."""
        for inequality in self.of.says(self._value(t)):
            if (outcome := refuted_at(inequality, point, strictly=self.of.strictly)) is not None:
                if self.refuted is None or t < self.refuted:
                    self.refuted, self.refutation = t, outcome
                return True
        return False

    def simplify(self) -> None:
        """The witness by the shortest numbers that refute the same value."""
        if self.refutation is None:
            return
        for largest in DENOMINATORS:
            point = {s: Fraction(x).limit_denominator(largest) for s, x in self.refutation.point.items()}
            shorter = refuted_at(self.refutation.inequality, point, strictly=self.of.strictly)
            if shorter is not None:
                self.refutation = shorter
                return

    # Proving.

    def _value(self, t: Fraction) -> sp.Rational:
        return sp.Rational(self.of.sign * t)

    def _proves(self, t: Fraction, most_boxes: int = MOST_BOXES) -> bool:
        """Whether the statement is proved at t; what is found of it is kept, a point that refutes it too."""
        outcomes = []
        for inequality in self.of.by(self._value(t)):
            self.deadline.check()
            outcome = prove(inequality, deadline=self.deadline, most_boxes=most_boxes)
            if outcome.status is not Status.PROVED:
                if not (outcome.status is Status.REFUTED and self._refutes(t, outcome.point)):
                    self.given_up.append(outcome)
                return False
            outcomes.append(outcome)
        self.proved, self.proofs = t, tuple(outcomes)
        return True

    def _holds_throughout(self) -> bool:
        """Whether the statement is proved at the far end of the letter's range already."""
        return self.refuted is None and self.far is not None and self._proves(self.far)

    def _try_simple(self) -> None:
        """The fraction of a small denominator next to the refuted value: best constants are often such."""
        if self.refuted is None:
            return
        simple = self.refuted.limit_denominator(SIMPLE)
        scale = scale_of(self.refuted)
        if simple < self.refuted <= simple + scale * self.within / 10 and (self.near is None or simple >= self.near):
            self._proves(simple, FEW_BOXES)

    def _approach(self) -> None:
        """From the refuted value down, in steps that grow, to the first one that is proved."""
        top = self.far if self.refuted is None else self.refuted
        if top is None:
            top = Fraction(0)
        if self.near is not None and top <= self.near:
            return
        gap = self.within * scale_of(top)
        for _ in range(LARGEST_GAP):
            if self.deadline.over:
                return
            t = rounded(top - gap, gap, up=False)
            t = t if self.near is None else max(t, self.near)
            if self._proves(t) or t == self.near:
                return
            top, gap = (top if self.refuted is None else min(top, self.refuted)), gap * WIDER

    def _narrow(self) -> None:
        """Halves what is between until the two are close or no time is left; what is undecided counts as beyond."""
        assert self.proved is not None
        top = self.refuted
        for _ in range(HALVINGS):
            if top is None or self.deadline.over or top - self.proved <= self.within * scale_of(top):
                return
            t = rounded((self.proved + top) / 2, (top - self.proved) / 8, up=False)
            if not self.proved < t < top:
                return
            if not self._proves(t):
                top = t


def scale_of(t: Fraction) -> Fraction:
    """What differences are a share of."""
    return max(abs(t), Fraction(1, 1000))


def rounded(t: Fraction, gap: Fraction, *, up: bool) -> Fraction:
    """A short decimal number next to t, off by a tenth of the gap at most."""
    places = 10 ** max(0, 1 - floor(log10(gap)))
    return -Fraction(floor(-t * places), places) if up else Fraction(floor(t * places), places)


def refuted_at(inequality: Inequality, point: Point, *, strictly: bool = False) -> Outcome | None:
    """The refutation of the inequality by the point; None where the point is not shown to refute it."""
    enclosures = Enclosures(inequality, BITS)
    if set(point) != set(inequality.box):
        return None
    at = [point[symbol] for symbol in inequality.box]
    value = enclosures.value_at(at)
    if not (value <= 0 if inequality.strict else value < 0):
        return None
    if not (enclosures.inside(at) and enclosures.defined_at(at)) or (strictly and not _inner(enclosures, at)):
        return None
    return Outcome(
        inequality, Status.REFUTED, point=dict(zip(inequality.box, at, strict=True)), value=float_above(value)
    )


def _inner(enclosures: Enclosures, at: list[Fraction]) -> bool:
    """Whether the conditions hold strictly at the point."""
    with working_precision(BITS):
        balls = [rational(x) for x in at]
        return all(bool(condition.value(*balls) > 0) for condition in enclosures.conditions)
