"""The study of sample complexity: bounds beside exact classes, the ranges of printed orders, and refusals."""

import math
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from bridge.budget import Budget
from bridge.export.layout import layout
from bridge.export.numbers import plain
from bridge.machines import sample_complexity as study
from bridge.machines.sample_complexity import SampleComplexityCase, SampleComplexityStudy
from bridge.record import Flag, Row, Verdict
from symbolic.statements import UsageError

BUDGET = Budget(samples=1, attack=0, restarts=1, seed=0)


def case(**params: float | int) -> SampleComplexityCase:
    return SampleComplexityStudy().case(params, seed=0, dtype="float64", device="cpu")


@cache
def rows() -> tuple[Row, ...]:
    return tuple(case().rows(BUDGET))


def row(name: str, rows: tuple[Row, ...] | list[Row]) -> Row:
    """The row of that quantity at the parameters of the case."""
    return next(each for each in rows if each.quantity == name and len(each.params) == 9)


def test_every_quantity_has_a_row() -> None:
    assert {each.quantity for each in rows()} == {q.name for q in SampleComplexityStudy.result.quantities}


POINTS = [
    {},
    {"n": 2, "eps": 0.9, "delta": 0.5},
    {"alpha": 0.1, "gamma": 2.0, "p": 1},
    {"alpha": 200.0, "gamma": 0.3, "p": 50, "n": 10**12, "eps": 0.01},
    {"n": 5000, "eps": 0.05, "alpha": 1.0, "gamma": 1.0, "p": 3},
]


@pytest.mark.parametrize("point", POINTS, ids=range(len(POINTS)))
def test_no_derived_bound_is_exceeded(point: dict) -> None:
    for each in case(**point).rows(BUDGET):
        if each.derived is None or each.measured is None:
            assert each.verdict["derived"] is Verdict.UNDECIDED
        else:
            assert each.measured <= each.derived, each.quantity
            assert each.verdict["derived"] is Verdict.KEPT


def test_a_bound_below_its_class_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study.exact, "cube_complexity", lambda *_: 0.9)
    found = row("rademacher", case().rows(BUDGET))
    assert found.verdict == {"derived": Verdict.VIOLATED, "printed": Verdict.UNDECIDED}  # printed inside O
    assert found.remark.endswith("measured is above the derived bound")
    monkeypatch.setattr(study.exact, "cube_complexity", lambda *_: found.derived * (1 + 1e-12))
    assert row("rademacher", case().rows(BUDGET)).verdict["derived"] is Verdict.UNDECIDED  # within rounding


def test_derived_bounds_that_are_far_too_small_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    true = SampleComplexityCase.derived_number

    def far_too_small(self: SampleComplexityCase, *where: Any) -> float | None:
        number = true(self, *where)
        return None if number is None else number / 1e6

    monkeypatch.setattr(SampleComplexityCase, "derived_number", far_too_small)
    found = case(n=5000).rows(BUDGET)
    refuted = {each.quantity for each in found if each.verdict["derived"] is Verdict.VIOLATED}
    judged = {each.quantity for each in found if each.measured is not None}
    assert refuted >= {"proposition", "vertices", "cover", "rademacher", "minimiser", "margins"} & judged
    assert {"proposition", "rademacher"} <= refuted
    assert all("above the derived bound" in each.remark for each in found if each.quantity == "margins")


def test_a_printed_bound_that_is_too_small_is_refuted_unless_it_stands_inside_an_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SampleComplexityCase, "printed_number", lambda *_: 1e-9)
    found = {each.quantity: each.verdict.get("printed") for each in case().rows(BUDGET) if len(each.params) == 9}
    assert found["proposition"] is Verdict.VIOLATED
    assert {found[name] for name in ("cover", "rademacher", "samples", "margins")} == {Verdict.UNDECIDED}


@pytest.mark.parametrize("delta", [0.5, 1e-9, 1e-300])
def test_a_small_probability_of_failure_is_not_rounded_to_none(delta: float) -> None:
    found = row("proposition", case(delta=delta).rows(BUDGET))
    assert found.verdict == {"derived": Verdict.KEPT, "printed": Verdict.KEPT}
    assert 0.099 < found.measured < 0.102


@pytest.mark.parametrize("n", [2**40 + 1, 10**22, 10**300], ids=["beyond", "e22", "e300"])
def test_samples_beyond_counting_leave_the_classes_out(n: int) -> None:
    found = case(n=n).rows(BUDGET)
    for name in ("proposition", "rademacher"):
        assert row(name, found).measured is None
        assert row(name, found).verdict["derived"] is Verdict.UNDECIDED
        assert study.NOT_COUNTED in row(name, found).remark
    assert row("margins", found).verdict["derived"] is Verdict.KEPT


def test_orders_are_not_judged_and_open_polynomials_have_no_number() -> None:
    for name in ("samples", "cover", "rademacher", "margins", "minimiser"):
        assert row(name, rows()).verdict["printed"] is Verdict.UNDECIDED
    for name in ("circuits", "turing"):
        assert row(name, rows()).verdict == {"derived": Verdict.KEPT}
    assert "is not a number of samples" in row("samples", rows()).remark
    assert row("circuits", rows()).printed is None
    assert row("circuits", rows()).derived > row("samples", rows()).derived


def test_bounds_that_say_nothing_are_flagged() -> None:
    few = case(n=1000).rows(BUDGET)
    assert row("minimiser", few).flags["derived"] == [Flag.VACUOUS.value]
    assert row("rademacher", few).flags["derived"] == [Flag.VACUOUS.value]
    assert row("minimiser", rows()).flags == {}


# The ranges of what is printed.


@pytest.mark.parametrize("name", ["cover", "rademacher", "samples", "margins"])
def test_an_order_in_log_p_is_outside_its_range_at_one_parameter(name: str) -> None:
    found = row(name, case(p=1).rows(BUDGET))
    assert found.verdict["printed"] is Verdict.OUTSIDE
    assert study.NO_LOGARITHM in found.remark
    assert row(name, case(p=2).rows(BUDGET)).verdict["printed"] is Verdict.UNDECIDED


def test_a_cover_of_floor_0_is_outside_its_range() -> None:
    found = row("cover", case(alpha=1.1, gamma=1.0, eps=0.999, p=2).rows(BUDGET))
    assert (found.printed, found.verdict["printed"]) == (0.0, Verdict.OUTSIDE)
    assert study.NO_FLOOR in found.remark
    assert row("cover", case(alpha=1.3, gamma=1.0, eps=0.999, p=2).rows(BUDGET)).printed == 1.0


def test_nothing_of_the_appendix_is_called_violated() -> None:
    for point in POINTS:
        assert not [each for each in case(**point).rows(BUDGET) if Verdict.VIOLATED in each.verdict.values()]


def test_the_eps_of_lemma_2_4_is_read_inside_O() -> None:
    found = row("minimiser", rows())
    assert (found.printed, found.order, found.verdict["printed"]) == (0.1, "O", Verdict.UNDECIDED)
    assert (found.witness, found.erratum) == (None, None)
    assert "eps is read inside O" in found.remark


@pytest.mark.parametrize("n", [2, 3, 10, 5000, 2_000_000_000])
@pytest.mark.parametrize("eps", [0.1, 0.3, 0.7])
def test_two_targets_err_with_probability_delta(n: int, eps: float) -> None:
    found = row("minimiser", case(n=n, eps=eps).rows(BUDGET))
    eta = min(-math.expm1(math.log(0.02) / n), 1 - eps)
    assert found.measured == pytest.approx(eps + eta, abs=1e-15)
    assert np.exp(n * np.log1p(-eta)) / 2 >= 0.01 * (1 - 1e-6)
    assert f"an input of mass eta = {plain(eta)}, the error of any rule is eps + eta" in found.remark


def test_a_large_probability_of_failure_has_no_two_targets() -> None:
    found = row("minimiser", case(delta=0.5).rows(BUDGET))
    assert found.measured is None
    assert "delta >= 1/2" in found.remark


def test_only_rows_at_the_point_of_the_study_have_its_parameters() -> None:
    made = case()
    own, elsewhere = [each for each in rows() if each.params], [each for each in rows() if not each.params]
    assert all(each.params == made.params for each in own)
    assert layout(rows()).varying == ()
    assert [each.quantity for each in elsewhere] == ["vertices"] * 3 + ["cover"] * 2
    assert len({(each.quantity, each.construction) for each in rows()}) == len(rows())
    assert all(each.construction.startswith("alpha = 1, p = ") for each in elsewhere)


def test_what_is_measured_for_samples_is_named_and_is_too_few() -> None:
    found = row("samples", rows())
    assert "measured: with at most this many samples" in found.remark
    assert (1 - 0.1) ** found.measured / 2 >= 0.01 > (1 - 0.1) ** (found.measured + 1) / 2


THETAS = np.linspace(-1, 1, 9)
MASSES = {"x0": 0.2, "lost": 0.3, "sure": 0.5}


def prediction(theta: float, x: str) -> float:
    return {"x0": theta, "lost": -1.0, "sure": 1.0}[x]


def label(x: str, target: int) -> int:
    return target if x == "x0" else 1


def ramp(theta: float, x: str, y: int) -> float:
    """(2.2) with gamma = 1: only x0 has a margin that is neither 0 nor infinite."""
    margin = {"x0": max((2 * y - 1) * theta, 0.0), "lost": 0.0, "sure": np.inf}[x]
    return float(np.clip(1 - margin, 0, 1))


def random_table(seed: int):
    """Any other surrogate: a number for each theta, input and label."""
    table = np.random.default_rng(seed).random((len(THETAS), 3, 2))
    return lambda theta, x, y: table[list(THETAS).index(theta), list(MASSES).index(x), y]


def failure(surrogate: object, target: int, n: int) -> float:
    """The probability, over all samples, that the minimiser's error exceeds eps = 0.3."""
    failed = 0.0
    for sample in product(MASSES, repeat=n):
        risks = [sum(surrogate(theta, x, label(x, target)) for x in sample) for theta in THETAS]
        chosen = THETAS[int(np.argmin(risks))]
        wrong = [x for x in MASSES if (label(x, target) - 0.5) * prediction(chosen, x) <= 0]
        failed += np.prod([MASSES[x] for x in sample]) * (sum(MASSES[x] for x in wrong) > MASSES["lost"] + 1e-9)
    return failed


@pytest.mark.parametrize("surrogate", [ramp, *(random_table(seed) for seed in range(4))], ids=["ramp", *"abcd"])
def test_no_surrogate_serves_both_targets(surrogate: object) -> None:
    for n in (1, 3):
        chance = (1 - MASSES["x0"]) ** n / 2
        assert max(failure(surrogate, target, n) for target in (0, 1)) >= chance > 0.01


def test_a_ball_smaller_than_the_margin_has_no_two_targets() -> None:
    small = row("minimiser", case(alpha=0.4).rows(BUDGET))
    assert small.verdict["printed"] is Verdict.UNDECIDED
    assert small.measured is None
    assert "alpha < gamma" in small.remark


# What is refused.


def test_bad_parameters_are_refused_together() -> None:
    with pytest.raises(UsageError, match=r"alpha = 0.0 .*eps = 1.5 .*n = 1 .*delta = 0.0"):
        case(alpha=0.0, eps=1.5, n=1, delta=0.0)
    with pytest.raises(UsageError, match="alpha / gamma = 1e\\+308 / 1e-308 is beyond float64"):
        case(alpha=1e308, gamma=1e-308)
    with pytest.raises(UsageError, match=r"p = 1.5 is not a whole number"):
        case(p=1.5)
