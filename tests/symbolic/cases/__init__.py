"""One table of all rules of the error calculus: how each is applied, an instance that attains it, and random ones.

Each case computes explicit vectors with numpy, independently of the rule, and puts them beside the rule's conclusion.
`sharp` is the case of equality, of the error, the size and the radius at once unless the case says otherwise; `random`
is any admissible one. Rules that conclude a number have cases of their own (`numbers`, `linear_runs`, `runs`), and so
has what a rule presupposes (`premises`). The seeded part of the generator (`tests.symbolic.fuzzing.seeded`) runs all
of them.
"""

from tests.symbolic.cases import (
    chances,
    descents,
    linear_runs,
    numbers,
    one_premise,
    premises_at_edges,
    premises_of_chances,
    premises_of_invariants,
    premises_of_layers,
    premises_of_numbers,
    premises_of_stacks,
    premises_of_steps,
    premises_of_values,
    runs,
    several_premises,
    steps,
    weights,
)
from tests.symbolic.cases.case import RuleCase
from tests.symbolic.cases.numbers import NumberCase
from tests.symbolic.cases.premises import Premise

CASES: list[RuleCase] = [
    each for table in (chances, one_premise, several_premises, weights, steps, descents) for each in table.CASES
]
NUMBER_CASES: list[NumberCase] = [*numbers.NUMBER_CASES, *linear_runs.RUNS, *runs.RUNS]
PREMISES: list[Premise] = [
    *(each for table in (premises_of_numbers, premises_of_values, premises_at_edges) for each in table.PREMISES),
    *(each for table in (premises_of_layers, premises_of_stacks, premises_of_steps) for each in table.PREMISES),
    *(each for table in (premises_of_invariants, premises_of_chances) for each in table.PREMISES),
]
