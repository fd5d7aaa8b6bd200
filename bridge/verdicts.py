"""The verdict on one bound from the measured errors: rigorous if exact arithmetic decides, else undecided."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import flint

from bridge.balls import SMALLEST_NORMAL
from bridge.judging.relation import EQUAL_BITS, equals, relation
from bridge.record import Flag, Verdict
from numeric.balls import float_above
from symbolic.prose import make_prose
from symbolic.statements import Kind

UNIT = 1  # outputs, of which an error is the difference, are of size 1


def float64_above(ball: flint.arb) -> float | None:
    """The ball's upper end as a normal float64, rounded up; None if there is none."""
    above = float_above(ball)
    return above if math.isfinite(above) and not 0.0 < above < SMALLEST_NORMAL else None


@dataclass(frozen=True)
class Checked:
    """A condition at one point; `holds` is None if it is undecided. `formula` is the condition in letters."""

    statement: str
    holds: bool | None
    formula: str = ""


@dataclass(frozen=True)
class Bound:
    """One tier of a bound at one point: its enclosure, and whether the statement is strict or conditional.

    `outside` names a premise that does not hold at this point, if there is one; `checked` lists every open obligation
    that was decided for it. `remark` says what else there is to know of it. `impossible` names the letters that have a
    value which no size has.
    """

    ball: flint.arb
    strict: bool = False
    conditional: bool = False
    outside: str = ""
    checked: tuple[Checked, ...] = ()
    remark: str = ""
    impossible: str = ""

    def __post_init__(self) -> None:
        make_prose(self, "outside", "remark", "impossible", checked=False)

    def resting_on(self, premises: Sequence[Checked]) -> "Bound":
        """The bound where these are decided too."""
        violated = (f"hypothesis violated: {each.statement}" for each in premises if each.holds is False)
        return replace(
            self,
            outside="; ".join(dict.fromkeys(filter(None, [self.outside, *violated]))),
            conditional=self.conditional or any(each.holds is not True for each in premises),
            checked=(*self.checked, *premises),
        )

    @property
    def premises(self) -> list[str]:
        """What is undecided of that on which it is conditional."""
        return [f"{each.statement}: {each.formula}" for each in self.checked if each.holds is None]

    def number(self) -> float | None:
        """The bound as a float64, rounded up; None if it is too small (or too large) for one."""
        return float64_above(self.ball)


@dataclass(frozen=True)
class Evidence:
    """The error at one input: in floats, and in exact arithmetic if that was run."""

    measured: float
    exact: flint.arb | None = None
    rounding: float | None = None

    @property
    def rounding_dominates(self) -> bool:
        """Whether more than half of the float error is rounding (rounding below 2^-60 does not count)."""
        return self.rounding is not None and 2 * self.rounding > max(self.measured, 2.0**-EQUAL_BITS)


def judge(bound: Bound, evidence: list[Evidence]) -> Verdict:
    """The verdict on an upper bound: the worst that the evidence supports.

    Violated needs an error that exact arithmetic puts above the bound, or a float error above it by more than the
    rounding that was measured. Kept needs every error at most the bound, in exact arithmetic wherever it was run; an
    error that equals a non-strict bound to 60 bits keeps it, and is flagged as attained. In between (a float error
    above the bound that may be rounding, a float error that rounding may have hidden, a ball that straddles the
    bound) it is undecided. Outside: a premise of the bound does not hold here.
    """
    if bound.outside:
        return Verdict.OUTSIDE
    found = [_judge_one(bound, piece) for piece in evidence]
    for verdict in (Verdict.VIOLATED, Verdict.UNDECIDED):
        if verdict in found:
            return verdict
    return Verdict.KEPT if found else Verdict.UNDECIDED


def attained(bound: Bound, piece: Evidence) -> bool:
    """Whether the exact error equals the bound as far as exact arithmetic can decide."""
    return piece.exact is not None and equals(piece.exact, bound.ball, UNIT)


def _judge_one(bound: Bound, piece: Evidence) -> Verdict:
    if piece.exact is not None:
        return relation(Kind.UPPER, piece.exact, bound.ball, strict=bound.strict, unit=UNIT)
    if piece.rounding is None:
        return Verdict.UNDECIDED
    estimate = flint.arb(piece.measured, piece.rounding)
    return relation(Kind.UPPER, estimate, bound.ball, strict=bound.strict, is_estimate=True)


def flags_of(bound: Bound, trivial: flint.arb | None, evidence: list[Evidence]) -> list[str]:
    """The flags of a bound, in addition to its verdict."""
    flags = [Flag.ATTAINED.value] if any(attained(bound, piece) for piece in evidence) else []
    if trivial is not None and trivial > 0 and bound.ball >= trivial:
        flags.append(Flag.VACUOUS.value)
    if bound.conditional:
        flags.append(Flag.CONDITIONAL.value)
    return flags
