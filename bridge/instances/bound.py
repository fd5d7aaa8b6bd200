"""One bound at one point: its enclosure, and what it rests on there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import flint

from bridge.lowering.ball_values import SMALLEST_NORMAL
from numeric.balls import float_above
from symbolic.words.prose import make_prose


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


def lesser(one: flint.arb, other: flint.arb) -> flint.arb:
    """The lesser of two bounds, of which both hold; where balls overlap, the lesser upper end."""
    return one if one.upper() <= other.upper() else other
