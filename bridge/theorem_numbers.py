"""What the bound of a reading rests on at a prompt, beside the obligations of its derivation.

The numbers that rules were given have to be those of the operands, and arguments of functions have to stay where these
are known: beyond, the rule's own bound is left, which nothing here certifies.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from bridge.readings import Operands, read
from bridge.readings.numbers import wrong_numbers
from bridge.readings.reading import read_errors
from bridge.study import Inputs
from bridge.theorem_readings import at_prompt, at_prompt_on_balls, step_of, steps_of
from bridge.verdicts import Checked
from numeric.balls import BallsError
from numeric.exact_cost import TooLargeForExact
from symbolic.derivation import Derivation
from symbolic.statements import Quantity

if TYPE_CHECKING:
    import bridge.theorem_case

BEYOND = "the argument of step '{step}' stays where its function is known"
Premises = tuple[Checked, ...]


def premises_at(case: "bridge.theorem_case.TheoremCase", quantity: Quantity, inputs: Inputs, bits: int) -> Premises:
    """Those that do not hold at this prompt, and open ones; on balls, or in floats where these take too much."""
    try:
        found: Premises = at_prompt_on_balls(case, quantity, _premises(quantity), inputs, bits)
    except (TooLargeForExact, BallsError):
        found = at_prompt(case, quantity, _premises(quantity), inputs)
    return found


def _premises(quantity: Quantity) -> Callable[[Operands], Premises]:
    def use(operands: Operands) -> Premises:
        derivation, step = Derivation(steps_of(quantity)), step_of(quantity)
        wrong = wrong_numbers(derivation, operands, read(derivation, operands, [step]))
        beyond = read_errors(derivation, operands, [step]).beyond
        return (
            *(Checked(words, False) for words in wrong),
            *(Checked(BEYOND.format(step=name), None, "the bound of its rule is used") for name in beyond),
        )

    return use
