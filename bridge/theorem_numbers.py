"""What the bound of a reading rests on at a prompt, beside the obligations of its derivation.

The numbers that rules were given have to be those of the operands, and arguments of functions have to stay where these
are known: beyond, the rule's own bound is left, which nothing here certifies. Both are compared in float64: a number
is called wrong where it is so by more than rounding.
"""

from typing import TYPE_CHECKING

from bridge.readings import Operands, read
from bridge.readings.numbers import wrong_numbers
from bridge.readings.reading import read_errors
from bridge.study import Inputs
from bridge.theorem_readings import at_prompt, step_of, steps_of
from bridge.verdicts import Checked
from symbolic.derivation import Derivation
from symbolic.statements import Quantity

if TYPE_CHECKING:
    import bridge.theorem_bounds

BEYOND = "the argument of step '{step}' stays where its function is known"
Premises = tuple[Checked, ...]


def premises_at(case: "bridge.theorem_bounds.TheoremBounds", quantity: Quantity, inputs: Inputs) -> Premises:
    """Those that do not hold at this prompt, and those that are open."""
    derivation, step = Derivation(steps_of(quantity)), step_of(quantity)

    def use(operands: Operands) -> Premises:
        wrong = wrong_numbers(derivation, operands, read(derivation, operands, [step]))
        beyond = read_errors(derivation, operands, [step]).beyond
        return (
            *(Checked(words, False) for words in wrong),
            *(Checked(BEYOND.format(step=name), None, "the bound of its rule is used") for name in beyond),
        )

    found: Premises = at_prompt(case, quantity, use, inputs)
    return found
