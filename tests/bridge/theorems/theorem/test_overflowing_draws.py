"""Draws whose errors overflow a format: exact runs judge them, and what none decides is unknown."""

import math

import flint
import pytest

from bridge.instances.instance import Instance
from bridge.judging.draws import Draw, OverDraws
from bridge.limits.run import Format, Run
from bridge.theorems.registry import registered_theorem


@pytest.mark.parametrize("error", [math.inf, math.nan])
def test_a_draw_without_a_finite_error_is_a_failure_only_if_an_exact_run_says_so(
    error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(format=Format.named("float16"))
    instance = Instance.of(registered_theorem("universal.features"), {"n": 256}, run)
    over = OverDraws(instance, instance.point.stated.quantity("features"))
    draw = Draw(0, error, None, {})
    bound = instance.bounds.derived(over.quantity)
    for exact, exceeds, unknown in ((0.0, False, False), (1e9, True, False), (None, False, True)):
        ball = None if exact is None else flint.arb(exact)
        monkeypatch.setattr(OverDraws, "_exact", lambda self, draw, bound, ball=ball: ball)
        assert (over.exceeds(draw, bound), over.within_rounding(draw, bound)) == (exceeds, unknown)
