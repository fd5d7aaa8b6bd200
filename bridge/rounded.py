"""Violations that Python's own rounding may explain: judged again with its floats enclosed, they are undecided."""

from bridge.measure import Found, evidence_at
from bridge.record import Verdict
from bridge.study import Case, Inputs
from bridge.verdicts import Bound, judge
from numeric.balls import BallsError
from numeric.stream import StreamError
from symbolic.statements import Quantity, UsageError

WITHIN_ROUNDING = (
    "error and bound differ by no more than what Python may have rounded in floats such as 1.0 / n, math.sqrt(2), 0.1; "
    "write 1 / n, torch.sqrt(torch.tensor(2)), torch.tensor(1) / 10, which are exact"
)


def within_rounding(tiers: list[str]) -> list[str]:
    """Why these tiers are undecided, and what to write instead; nothing for none."""
    return [f"{', '.join(tiers)}: {WITHIN_ROUNDING}"] if tiers else []


def may_be_rounding(
    case: Case, quantity: Quantity, scope: str | None, tier: str, bound: Bound, found: list[Found]
) -> bool:
    """Whether no violation is left once floats that Python computed stand for all numbers near them."""
    if case.floats_enclosed is None or scope is None:
        return False
    violating = [each for each in found if judge(bound, [each.evidence]) is Verdict.VIOLATED]
    return not any(_is_violated(case.floats_enclosed, quantity, tier, scope, each.inputs) for each in violating)


def _is_violated(case: Case, quantity: Quantity, tier: str, scope: str, inputs: Inputs) -> bool:
    """False too where the functions do not run on the wider balls: a branch or an inverse that they leave open."""
    try:
        bound = case.tier_at(quantity, tier, scope, inputs)
        evidence = evidence_at(case, quantity, inputs).evidence
    except (UsageError, BallsError, StreamError):
        return False
    return bound is not None and judge(bound, [evidence]) is Verdict.VIOLATED
