"""The table of lowered expressions against mpmath: a seeded share of it, and that a wrong value is found."""

import random

import mpmath as mp
import pytest
import sympy as sp

from benchmarks.lowering_table import MATRICES, SIZED, WANTED, p, scalars, x
from benchmarks.lowering_values import BACKENDS, FAILURES, judged, main, outcome, outcomes, reference
from bridge.lowering import LoweringError, lower

SHARE = random.Random(36).sample([*scalars(), *MATRICES], 60)
REFUSED = 51  # by every backend, of 310 scalars and 48 matrices


@pytest.mark.parametrize("part", list(range(6)))
def test_a_share_of_the_table_is_right_or_refused_with_what_it_would_take(part: int) -> None:
    for expr in SHARE[part::6]:
        for each in outcomes(expr, seed=0):
            assert each.kind not in FAILURES, each
            assert each.kind == "right" or any(each.detail in names for names in WANTED.values()), each


@pytest.mark.parametrize("part", list(range(3)))
def test_formulas_over_arrays_of_any_size_are_right_on_every_backend(part: int) -> None:
    for expr in SIZED[part::3]:
        assert {each.kind for each in outcomes(expr, seed=0)} == {"right"}


def test_the_table_is_as_large_as_it_says_and_no_more_of_it_is_refused() -> None:
    assert len(scalars()) >= 250
    assert len(MATRICES) >= 45
    assert sum(refused(expr) for expr in [*scalars(), *MATRICES]) <= REFUSED


def refused(expr: sp.Basic) -> bool:
    try:
        lower(expr, "mpmath")
    except LoweringError:
        return True
    return False


def test_a_wrong_value_a_nan_and_a_crash_are_told_apart() -> None:
    known = [({"x": 1e-5}, reference(sp.sinh(x) - x, {"x": 1e-5}), mp.mpf(1))]
    plain = lower(sp.sinh(x) - x, watch=False)
    assert outcome("sinh", "numpy", plain, known).kind == "wrong"
    assert outcome("sinh", "numpy", lower(sp.sinh(x) - x), known).kind == "right"
    assert outcome("sinh", "numpy", lower(x * sp.nan), known).kind == "not finite"
    assert outcome("sinh", "torch", Broken(), known).kind == "crashed"
    assert judged(float("nan"), None, 1) == "right"
    assert judged(1.0, None, 1) == "wrong"


class Broken:
    args = ("x",)

    def __call__(self, x: float) -> float:
        raise IndexError("out of range")


def test_the_reference_decides_what_jumps() -> None:
    assert reference(sp.floor(sp.log(p, 2)), {"p": 8.0}) == 3
    assert reference(sp.ceiling(p ** sp.Rational(1, 3)), {"p": 27.0}) == 3
    assert reference(sp.log(x), {"x": -1.0}) is None


def test_the_command_counts_by_backend(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--share", "3", "--seed", "1"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{backend:7} right" in shown for backend in BACKENDS)
