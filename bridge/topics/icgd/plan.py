"""From parameters to the sums of ReLUs of the network, or to the reason why there are none."""

from functools import lru_cache

import sympy as sp

from bridge.theorems.numbers import plain
from bridge.theorems.record import Verdict
from bridge.theorems.refusal import Refusal
from bridge.topics.icgd.emulation import Emulation, with_accuracies, with_relus
from bridge.topics.icgd.knobs import NotRepresentable, accuracies_for
from bridge.topics.icgd.setting import StepSetting
from symbolic.topics.icgd import chain
from symbolic.words.errors import UsageError

NEEDED_DERIVATIVES = 4  # Theorem 1; the bounds here use sup |r^(k)| for k up to 4
Plan = Emulation | NotRepresentable | Refusal


def plan_for(
    setting: StepSetting, eps: float, relus: int, relus_r1: int, R: float, *, id: str, short: bool = False
) -> Plan:
    """The sums of ReLUs: as many as are asked for (`relus`), or as the accuracy `eps` needs by the derived bound.

    Raises UsageError for an R that does not cover the arguments, unless `short` allows it.
    """
    if relus_r1 and not relus:
        raise UsageError(f"{id}: relus_r1 = {relus_r1} requires relus; give both or neither")
    if setting.activation.smoothness < NEEDED_DERIVATIVES:
        return Refusal(Verdict.OUTSIDE, _roughness(setting))
    plan: Plan
    try:
        if relus:
            plan = with_relus(setting, relus, relus_r1, R)
        else:
            chosen = accuracies_for(setting, eps, gradient_bound(setting.shape.N))
            plan = chosen if isinstance(chosen, NotRepresentable) else with_accuracies(setting, chosen, R)
    except UsageError as error:
        raise UsageError(f"{id}: {error}") from error
    if isinstance(plan, Emulation) and plan.short and not short:
        raise UsageError(
            f"{id}: R = {plan.r.radius!r} is too small: the arguments of r and r' reach "
            f"{plain(plan.ranges.largest, 'derived', 'upper')} (range obligation of Lemmas 2 and 3); give at least "
            f"that, or 0 for the smallest sufficient range. icgd.forward and icgd.derivative run on a smaller one"
        )
    return plan


def _roughness(setting: StepSetting) -> str:
    """Which smoothness hypothesis the activation misses."""
    found = setting.activation
    return (
        f"Theorem 1 asks for {NEEDED_DERIVATIVES} continuous derivatives of r, and Lemma 3 approximates r' by sums of "
        f"ReLUs; {found.name} has {found.smoothness}, and no continuous function is uniformly near its derivative"
    )


@lru_cache(maxsize=64)
def gradient_bound(layers: int) -> sp.Expr:
    """The derived bound in the paper's worst-case letters."""
    bound = chain.derive(sp.Integer(layers)).derivation.bound("gradient")
    return bound.xreplace(chain.worst_case())
