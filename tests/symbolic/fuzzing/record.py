"""What is noted of a random program: its lines, operands, checked steps, and where it breaks a promise."""

from dataclasses import dataclass

import numpy as np

from tests.symbolic.fuzzing.realised import Measured, Realised


@dataclass(frozen=True)
class Line:
    """One line of the program: what it defines, how it reads, and the names that it uses."""

    target: str
    text: str
    uses: frozenset[str]


@dataclass(frozen=True)
class Pair:
    """The exact and the approximate value of what a handle stands for, (P, ...) each."""

    exact: np.ndarray
    near: np.ndarray


@dataclass(frozen=True)
class Checked:
    """A step of the program with all that was measured of it. `limit`: how close its premise came to its limit."""

    move: str
    result: Realised
    measured: tuple[Measured, ...]
    limit: np.ndarray | None = None

    @property
    def sharp(self) -> bool:
        return self.result.value.derivation.steps[-1].sharp


@dataclass(eq=False)
class Violation(Exception):  # noqa: N818 - what the field calls it
    """A promise that a step did not keep, at one point. `str` gives the program, cut down to what the step needs."""

    move: str
    step: str
    measured: Measured
    point: int
    lines: tuple[Line, ...]
    alone: str
    where: str = ""  # the program's number and seed, once they are known

    def __str__(self) -> str:
        sides = (self.measured.bound, self.measured.truth)
        bound, truth = (side if np.ndim(side) else np.full(self.point + 1, side) for side in sides)
        program = "\n".join(f"    {line.text}" for line in self.lines)
        return (
            f"{self.move}: the {self.measured.quantity} of '{self.step}' is {float(truth[self.point])!r}, "
            f"the bound is {float(bound[self.point])!r} ({self.where}point {self.point})\n"
            f"  program:\n{program}\n  the failing step alone:\n{self.alone}"
        )
