"""What the bound of a reading rests on at a prompt, beside the obligations of its derivation.

The numbers that rules were given have to be those of the operands, and arguments of functions have to stay where these
are known: beyond, the rule's own bound is left, which nothing here certifies. Both are compared in float64; a number
that seems wrong is decided on balls, the letters enclosed too, wherever these can run.
"""

from typing import TYPE_CHECKING

from bridge.readings import Operands, read
from bridge.readings.numbers import BITS, wrong_numbers
from bridge.readings.reading import read_errors
from bridge.study import Inputs
from bridge.theorem_readings import Use, at_prompt, at_prompt_on_balls, step_of, steps_of
from bridge.verdicts import Checked
from numeric.balls import BallsError
from numeric.exact_cost import TooLargeForExact
from symbolic.derivation import Derivation
from symbolic.statements import Quantity, UsageError

if TYPE_CHECKING:
    import bridge.theorem_bounds

BEYOND = "the argument of step '{step}' stays where its function is known"
Premises = tuple[Checked, ...]


def premises_at(case: "bridge.theorem_bounds.TheoremBounds", quantity: Quantity, inputs: Inputs) -> Premises:
    """Those that do not hold at this prompt, and those that are open."""
    derivation, step = Derivation(steps_of(quantity)), step_of(quantity)

    def wrong(operands: Operands, surely: bool = True) -> dict[str, str]:
        return wrong_numbers(derivation, operands, read(derivation, operands, [step]), surely=surely)

    def use(operands: Operands) -> tuple[dict[str, str], dict[str, str], list[str]]:
        seem = wrong(operands, surely=False)
        return seem, wrong(operands) if seem else {}, read_errors(derivation, operands, [step]).beyond

    seem, shown, beyond = at_prompt(case, quantity, use, inputs)
    exact = _on_balls(case, quantity, wrong, inputs) if seem else {}
    found = shown if exact is None else {what: words for what, words in exact.items() if what in seem}
    return (
        *(Checked(words, False) for words in found.values()),
        *(Checked(BEYOND.format(step=name), None, "the bound of its rule is used") for name in beyond),
    )


def _on_balls(
    case: "bridge.theorem_bounds.TheoremBounds", quantity: Quantity, wrong: Use, inputs: Inputs
) -> dict[str, str] | None:
    """What balls say of this prompt; None where they do not run."""
    try:
        found: dict[str, str] = at_prompt_on_balls(case, quantity, wrong, inputs, BITS)
    except (BallsError, TooLargeForExact, UsageError):
        return None
    return found
