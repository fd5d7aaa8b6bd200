"""Draws whose errors overflow a format: exact runs judge them, and what none decides is unknown."""

import math

import flint
import pytest

from bridge.draws import Draw, OverDraws
from bridge.limits.run import Format, Run
from bridge.registry import registered_study


@pytest.mark.parametrize("error", [math.inf, math.nan])
def test_a_draw_without_a_finite_error_is_a_failure_only_if_an_exact_run_says_so(
    error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = registered_study("universal.features").case({"n": 256}, Run(format=Format.named("float16")))
    over = OverDraws(case, case.result.quantity("features"))
    draw = Draw(0, error, None, {})
    bound = case.derived(over.quantity)
    for exact, exceeds, unknown in ((0.0, False, False), (1e9, True, False), (None, False, True)):
        ball = None if exact is None else flint.arb(exact)
        monkeypatch.setattr(OverDraws, "_exact", lambda self, draw, bound, ball=ball: ball)
        assert (over.exceeds(draw, bound), over.within_rounding(draw, bound)) == (exceeds, unknown)
