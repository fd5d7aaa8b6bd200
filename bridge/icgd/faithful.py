"""Row `faithful` of one step: the network's taps are the emulated values of the derivation, at one prompt.

On balls the two enclosures overlap, without any tolerance.
"""

import flint
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.check import Check, Sides, within
from bridge.faithful import IN_FLOATS, NAME, balls_apart, beyond_rounding, judged, judged_again
from bridge.icgd.case import StepCase
from bridge.record import Row
from numeric.balls import BallArray, working_precision
from numeric.exact_cost import TooLargeForExact
from numeric.icgd.exact import run_exact_icgd
from symbolic.statements import Kind, Quantifier, Quantity

BITS = 192
ROW = Quantity(
    name=NAME,
    latex_symbol=r"\text{faithful}",
    meaning="largest distance of a tap of the network from the emulated value in the derivation",
    norm="sup norm",
    domain="one random prompt, w at a corner of W",
    kind=Kind.EXACT,
    quantifier=Quantifier.FOR_ALL,
    scopes=(),
)


def faithful_rows(case: StepCase, budget: Budget) -> list[Row]:
    drawn = case.sample(2, budget.seed)  # w is at a corner of W at odd places, where the step is clipped
    return judged(case, _check(case, {name: value[1] for name, value in drawn.items()}))


def replayed_faithful(case: StepCase, inputs: dict[str, Tensor]) -> Row:
    return judged_again(case, _check(case, inputs), inputs)


def _check(case: StepCase, inputs: dict[str, Tensor]) -> Check:
    def sides(w: Tensor, x: Tensor, y: Tensor) -> Sides:
        try:
            apart = _exactly_apart(case, w, x, y)
        except TooLargeForExact:
            return Sides(found=beyond_rounding(_apart_in_floats(case, w, x, y)), derived=0, remark=IN_FLOATS)
        worst = max(apart, key=lambda tap: (bool(apart[tap] > 0), float(apart[tap].upper())))
        wrong = f"the tap {worst} is not the emulated value of its step" if apart[worst] > 0 else ""
        return Sides(found=apart[worst], derived=0, remark=wrong)

    return Check(ROW, sides, inputs)


def _exactly_apart(case: StepCase, w: Tensor, x: Tensor, y: Tensor) -> dict[str, flint.arb]:
    """For each tap its distance, 0 where the balls overlap."""
    weights, inputs, targets = (each.to(case.dtype).double().cpu().numpy() for each in (w, x, y))
    taps = run_exact_icgd(case.construction(len(x)), weights, inputs, targets, bits=BITS)
    at = [BallArray.exactly(each, BITS) for each in (weights, inputs, targets)]
    with working_precision(BITS):
        values = case.chain_on_balls(BITS).emulated(*at)
        return {tap: balls_apart(found, values[tap]) for tap, found in taps.items() if tap in values}


def _apart_in_floats(case: StepCase, *point: Tensor) -> flint.arb:
    w, x, y = (each.double().unsqueeze(0) for each in point)
    with torch.no_grad():
        taps = case.network(x.shape[1], torch.float64).run(w, x, y)
        values = case.chain.batched(case.chain.emulated, w, x, y)
        apart = max(float((taps[tap] - values[tap]).abs().max()) for tap in taps if tap in values)
    return within(apart, case.rounding_estimate())
