"""The seeded part of the generator: each rule at its own cases of equality and at its premises, then random programs.

The directed rows come from the one table of rules (`tests.symbolic.cases`). A row raises for a promise that is broken,
for a bound that is not attained where it should be, and for a false premise that is not refused.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tests.symbolic.cases import CASES, NUMBER_CASES, PREMISES
from tests.symbolic.cases.case import QUANTITIES
from tests.symbolic.fuzzing.fuzzer import MOVES, Tally, library, random_program

INSTANCES = 4  # random ones of each case
SEEDS, PROGRAMS = (0, 1), 60
POINTS = 64


@dataclass(frozen=True)
class Row:
    """One thing that the seeded part looks at."""

    name: str
    run: Callable[[], None]


def rows() -> Iterator[Row]:
    yield from directed()
    for seed in SEEDS:
        yield from (
            Row(f"program {number} of seed {seed}", partial(check_program, seed, number)) for number in range(PROGRAMS)
        )


def directed() -> Iterator[Row]:
    for case in CASES:
        yield from (Row(f"{case.name}: {quantity}", partial(case.check, quantity)) for quantity in QUANTITIES)
        if case.random:
            yield Row(f"{case.name}: at random", partial(case.check_at_random, INSTANCES))
    yield from (Row(case.name, case.check) for case in NUMBER_CASES)
    yield from (Row(f"premise of {premise.name}", premise.check) for premise in PREMISES)


def check_program(seed: int, number: int) -> None:
    """Raises Violation. Each program has a seed of its own, so that it can be drawn alone."""
    tally = Tally()
    random_program(
        np.random.default_rng([seed, number]), f"seed {seed}, program {number}, ",
        points=POINTS, rules=library(), moves=MOVES, tally=tally,
    )  # fmt: skip
    for violation in tally.violations:
        raise violation
