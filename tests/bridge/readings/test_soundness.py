"""Random programs through all readings: no bound is below what it bounds, and wrong rules, planted, are found."""

import re

import pytest

import benchmarks.soundness
from symbolic.calculus import Approximated
from tests.bridge.readings.soundness import OPERATIONS, PROGRAMS, READABLE, SEEDS, Soundness, sound
from tests.symbolic.fuzzing import planted
from tests.symbolic.fuzzing.fuzzer import library

# Rules whose bound no error attains within 1 % in these programs: exact ones, and what leaves the bound to its premise.
EXACT = {"hard max"}


@pytest.mark.parametrize("seed", SEEDS)
def test_no_reading_is_below_what_it_bounds(seed: int) -> None:
    found = sound(PROGRAMS, seed)
    assert not found.breaches, found.breaches[0]
    assert found.programs == PROGRAMS
    assert set(found.steps) >= set(OPERATIONS)
    assert {rule for rule in OPERATIONS if found.ratios[rule, "bound"] < 0.99} == EXACT
    assert all(found.stops[rule] < found.steps[rule] / 2 for rule in OPERATIONS)
    assert {"closed", "prompt, enclosed", "prompt, by rule", "local, enclosed"} <= set(found.least)


def planted_rule(rule: str, change: planted.Change, programs: int = 40) -> Soundness:
    """Programs that are rich in the rule, which promises too much."""
    moves = {name: move for name, move in READABLE.items() if move.rule in (rule, "given")}
    wrong = planted.changed(library()[rule], change)
    return sound(programs, 3, rules=library() | {rule: wrong}, moves=moves)


RULES = sorted({move.rule for move in READABLE.values()} - {"hard_max", "correct"})


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_with_a_bound_that_is_a_thousandth_too_small_is_found(rule: str) -> None:
    found = planted_rule(rule, planted.smaller_error)
    assert len(found.breaches) == 1
    assert re.search(rf"\(seed 3, program \d+, point \d+\)[\s\S]*{rule}\(", found.breaches[0])
