"""Linear programs in rational numbers: the simplex method with Bland's rule, which ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Numbers = Sequence[Fraction]
EXTRA = -1  # the variable by which all limits are first relaxed


class Infeasible(Exception):  # noqa: N818 - what the field calls it
    """No point meets the limits."""


class Unbounded(Exception):  # noqa: N818 - what the field calls it
    """There is no largest value."""


@dataclass
class _Line:
    """A variable, or the goal, as a constant and multiples of the variables that are 0 at present."""

    constant: Fraction
    shares: dict[int, Fraction]

    def put(self, variable: int, line: "_Line") -> None:
        """That line in the place of the variable."""
        share = self.shares.pop(variable, Fraction(0))
        self.constant += share * line.constant
        for each, other in line.shares.items():
            self.shares[each] = self.shares.get(each, Fraction(0)) + share * other


def maximise(gains: Numbers, rows: Sequence[Numbers], limits: Numbers) -> list[Fraction]:
    """An x >= 0 with the largest gains x among those with rows x <= limits. Raises Infeasible and Unbounded."""
    count = len(gains)
    lines = {
        count + place: _Line(limit, {at: -number for at, number in enumerate(row)})
        for place, (row, limit) in enumerate(zip(rows, limits, strict=True))
    }
    goal = _Line(Fraction(0), dict(enumerate(gains)))
    _make_feasible(lines)
    for variable, line in lines.items():
        goal.put(variable, line)
    _climb(lines, goal)
    return [lines[at].constant if at in lines else Fraction(0) for at in range(count)]


def _make_feasible(lines: dict[int, _Line]) -> None:
    """Exchanges variables until no constant is negative."""
    worst = min(lines, key=lambda variable: lines[variable].constant, default=None)
    if worst is None or lines[worst].constant >= 0:
        return
    for line in lines.values():
        line.shares[EXTRA] = Fraction(1)
    goal = _Line(Fraction(0), {EXTRA: Fraction(-1)})
    _exchange(lines, goal, EXTRA, worst)
    _climb(lines, goal)
    if goal.constant < 0:
        raise Infeasible
    if EXTRA in lines:
        entering = next((each for each, share in lines[EXTRA].shares.items() if share), None)
        if entering is None:
            del lines[EXTRA]
        else:
            _exchange(lines, goal, entering, EXTRA)
    for line in lines.values():
        line.shares.pop(EXTRA, None)


def _climb(lines: dict[int, _Line], goal: _Line) -> None:
    """Exchanges variables until the goal has its largest value."""
    while rising := [variable for variable, share in goal.shares.items() if share > 0]:
        entering = min(rising)
        falling = [
            (-line.constant / line.shares[entering], variable)
            for variable, line in lines.items()
            if line.shares.get(entering, 0) < 0
        ]
        if not falling:
            raise Unbounded
        _exchange(lines, goal, entering, min(falling)[1])


def _exchange(lines: dict[int, _Line], goal: _Line, entering: int, leaving: int) -> None:
    old = lines.pop(leaving)
    share = old.shares.pop(entering)
    new = _Line(-old.constant / share, {each: -other / share for each, other in old.shares.items()})
    new.shares[leaving] = 1 / share
    for line in (*lines.values(), goal):
        line.put(entering, new)
    lines[entering] = new
