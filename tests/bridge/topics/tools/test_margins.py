"""An all-layer margin beside the nearest flip: against a margin that is known, and verdicts that a flip contradicts."""

import math

import flint
import pytest
import torch
from torch import Tensor

from boundsmith.checks import Run, beside_flip, coordinate_lines, flip_distance
from bridge.judging.judge import relation
from bridge.theorems.check import Sides
from bridge.theorems.record import Verdict
from numeric.tools.flips import FlipError
from symbolic.statements.result import Kind

BUDGET = Run(samples=1, attack=20, restarts=2, seed=0)
X = torch.tensor([3.0, -4.0], dtype=torch.float64)
LINE = {"w": torch.tensor([1.0, -1.0], dtype=torch.float64), "b": torch.tensor(2.0, dtype=torch.float64)}
MARGIN = 9 / math.sqrt(26)  # |w . x + b| / sqrt(|x|^2 + 1)


def output(parameters: dict[str, Tensor]) -> Tensor:
    return parameters["w"] @ X + parameters["b"]


def nearest(run: Run = BUDGET) -> float | None:
    return flip_distance(output, LINE, coordinate_lines(LINE), run, largest=9.0)


def test_the_flip_is_as_near_as_the_margin_and_no_nearer() -> None:
    assert MARGIN <= nearest() <= 1.001 * MARGIN


def test_without_an_attack_or_a_flip_there_is_no_distance() -> None:
    assert nearest(BUDGET.without_attack()) is None
    constant = {"b": torch.tensor(1.0, dtype=torch.float64)}
    assert flip_distance(lambda p: 1 + 0 * p["b"], constant, {}, BUDGET, largest=1.0) is None


def test_a_prediction_that_is_wrong_is_refused() -> None:
    with pytest.raises(FlipError, match="the output at theta is not positive"):
        flip_distance(lambda p: -output(p), LINE, {}, BUDGET, largest=1.0)


@pytest.mark.parametrize(("bound", "verdict"), [(0.4, Verdict.UNDECIDED), (0.51, Verdict.VIOLATED)])
def test_a_flip_refutes_a_lower_bound_above_it(bound: float, verdict: Verdict) -> None:
    sides = beside_flip(Sides(derived=bound, remark="known"), 0.5, "attack: 2 restarts")
    assert (sides.measured, sides.remark) == (0.5, "known; attack: 2 restarts")
    assert relation(Kind.LOWER, sides.found, flint.arb(bound)) is verdict


def test_a_smaller_distance_that_is_known_counts() -> None:
    known = beside_flip(Sides(0.3, remark="known"), 0.5, "attack")
    assert known.measured == 0.5
    assert known.found.upper() < 0.31
    silent = beside_flip(Sides(0.3, remark="known"), None, "attack")
    assert (silent.found, silent.measured, silent.remark) == (None, None, "known; not attacked")
