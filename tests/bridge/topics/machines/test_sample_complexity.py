"""Sample complexity: bounds beside exact classes, the ranges of printed orders, and refusals."""

import math
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from bridge.export.comparison import Comparison
from bridge.export.layout import layout
from bridge.questions.compare import compare
from bridge.theorems.check import Check
from bridge.theorems.numbers import plain
from bridge.theorems.record import Flag, Row, Verdict
from bridge.theorems.theorem import Theorem
from bridge.topics.machines import sample_complexity as complexity
from bridge.topics.machines.sample_complexity import SAMPLE_COMPLEXITY
from symbolic.words.errors import UsageError
from tests.bridge.defaults import default_run
from tests.bridge.topics.machines.changed import changed


@cache
def compared(**params: float) -> Comparison:
    return compare(SAMPLE_COMPLEXITY, **params) if params else default_run(SAMPLE_COMPLEXITY.id)


def row(name: str, **params: float) -> Row:
    """The row of that quantity at these parameters."""
    return at_point(compared(**params), name)


def at_point(rows: Comparison, name: str) -> Row:
    return next(each for each in rows if each.quantity == name and each.params)


POINTS = [
    {},
    {"n": 2, "eps": 0.9, "delta": 0.5},
    {"alpha": 0.1, "gamma": 2.0, "p": 1},
    {"alpha": 200.0, "gamma": 0.3, "p": 50, "n": 10**12, "eps": 0.01},
    {"n": 5000, "eps": 0.05, "alpha": 1.0, "gamma": 1.0, "p": 3},
]


@pytest.mark.parametrize("point", POINTS, ids=range(len(POINTS)))
def test_no_bound_is_exceeded(point: dict) -> None:
    assert not compared(**point).violated()
    for each in compared(**point):
        if each.derived is None or each.measured is None:
            assert each.verdict["derived"] is Verdict.UNDECIDED
        else:
            assert each.measured <= each.derived, each.quantity
            assert each.verdict["derived"] is Verdict.KEPT


def scaled(check: Check, factor: float) -> Check:
    """The same check of derived and printed bounds that are smaller by this factor."""
    stated = check.quantity
    derived = None if stated.closed_form is None else lambda: stated.closed_form * factor
    printed = None if stated.printed is None else replace(stated.printed, bound=stated.printed.bound * factor)
    return replace(check, quantity=replace(stated, derive=derived, printed=printed))


def of_smaller_bounds(factor: float) -> Theorem:
    return changed(replace(SAMPLE_COMPLEXITY, checks=tuple(scaled(each, factor) for each in SAMPLE_COMPLEXITY.checks)))


def test_a_class_above_a_bound_by_less_than_rounding_decides_nothing() -> None:
    near = row("rademacher").measured / row("rademacher").derived
    for factor, verdict in ((near * (1 - 1e-12), Verdict.UNDECIDED), (near * (1 - 1e-6), Verdict.VIOLATED)):
        assert at_point(compare(of_smaller_bounds(factor)), "rademacher").verdict["derived"] is verdict


def test_bounds_that_are_far_too_small_are_refuted_unless_they_stand_inside_an_order() -> None:
    found = compare(of_smaller_bounds(1e-9), n=5000)
    judged = [each for each in found if each.measured]
    names = {"proposition", "vertices", "cover", "rademacher", "minimiser", "margins"}
    assert {each.quantity for each in judged} >= names
    for each in judged:
        assert each.verdict["derived"] is Verdict.VIOLATED
        assert each.witness is not None
        expected = Verdict.UNDECIDED if each.order else Verdict.VIOLATED
        assert each.verdict.get("printed", expected) is expected


@pytest.mark.parametrize("delta", [0.5, 1e-9, 1e-300])
def test_a_small_probability_of_failure_is_not_rounded_to_none(delta: float) -> None:
    found = row("proposition", delta=delta)
    assert found.verdict == {"derived": Verdict.KEPT, "printed": Verdict.KEPT}
    assert 0.099 < found.measured < 0.102


@pytest.mark.parametrize("n", [2**40 + 1, 10**22, 10**300], ids=["beyond", "e22", "e300"])
def test_samples_beyond_counting_leave_the_classes_out(n: int) -> None:
    for name in ("proposition", "rademacher"):
        found = row(name, n=n)
        assert (found.measured, found.verdict["derived"]) == (None, Verdict.UNDECIDED)
        assert complexity.NOT_COUNTED in found.remark
    assert row("margins", n=n).verdict["derived"] is Verdict.KEPT


def test_orders_are_not_judged_and_open_polynomials_have_no_number() -> None:
    for name in ("samples", "cover", "rademacher", "margins", "minimiser"):
        assert row(name).verdict["printed"] is Verdict.UNDECIDED
        assert "the number inside O, whose constant is unspecified" in row(name).remark
    for name in ("circuits", "turing"):
        assert row(name).verdict == {"derived": Verdict.KEPT}
    assert "is not a number of samples" in row("samples").remark
    assert row("circuits").printed is None
    assert row("circuits").derived > row("samples").derived


def test_bounds_that_say_nothing_are_flagged() -> None:
    assert row("minimiser", n=1000).flags["derived"] == [Flag.VACUOUS.value]
    assert row("rademacher", n=1000).flags["derived"] == [Flag.VACUOUS.value]
    assert row("minimiser").flags == {}


# The ranges of what is printed.


@pytest.mark.parametrize("name", ["cover", "rademacher", "samples", "margins"])
def test_an_order_in_log_p_is_outside_its_range_at_one_parameter(name: str) -> None:
    found = row(name, p=1)
    assert found.verdict["printed"] is Verdict.OUTSIDE
    assert complexity.NO_LOGARITHM in found.remark
    assert row(name, p=2).verdict["printed"] is Verdict.UNDECIDED


def test_a_cover_of_floor_0_is_outside_its_range() -> None:
    found = row("cover", alpha=1.1, gamma=1.0, eps=0.999, p=2)
    assert (found.printed, found.verdict["printed"]) == (0.0, Verdict.OUTSIDE)
    assert complexity.NO_FLOOR in found.remark
    assert row("cover", alpha=1.3, gamma=1.0, eps=0.999, p=2).printed == 1.0


def test_the_eps_of_lemma_2_4_is_read_inside_O() -> None:
    found = row("minimiser")
    assert (found.printed, found.order, found.verdict["printed"]) == (0.1, "O", Verdict.UNDECIDED)
    assert (found.witness, found.erratum) == (None, None)
    assert "eps is read inside O" in found.remark


@pytest.mark.parametrize("n", [2, 3, 10, 5000, 2_000_000_000])
@pytest.mark.parametrize("eps", [0.1, 0.3, 0.7])
def test_two_targets_err_with_probability_delta(n: int, eps: float) -> None:
    found = complexity.two_targets(20.0, eps, n, 0.01)
    eta = min(-math.expm1(math.log(0.02) / n), 1 - eps)
    assert found.measured == pytest.approx(eps + eta, abs=1e-15)
    assert np.exp(n * np.log1p(-eta)) / 2 >= 0.01 * (1 - 1e-6)
    assert f"an input of mass eta = {plain(eta)}, the error of any rule is eps + eta" in found.remark


def test_only_rows_at_the_point_of_the_study_have_its_parameters() -> None:
    elsewhere = [each for each in compared() if not each.params]
    assert all(len(each.params) == len(SAMPLE_COMPLEXITY.statement.parameters) for each in compared() if each.params)
    assert layout(compared().rows).varying == ()
    assert [each.quantity for each in elsewhere] == ["vertices"] * 3 + ["cover"] * 2
    assert len({(each.quantity, each.construction) for each in compared()}) == len(compared().rows)
    assert all(each.construction.startswith("alpha = 1, p = ") for each in elsewhere)


def test_what_is_measured_for_samples_is_named_and_is_too_few() -> None:
    found = row("samples")
    assert "measured: with at most this many samples" in found.remark
    assert (1 - 0.1) ** found.measured / 2 >= 0.01 > (1 - 0.1) ** (found.measured + 1) / 2


@pytest.mark.parametrize(("point", "why"), [({"delta": 0.5}, "delta >= 1/2"), ({"alpha": 0.4}, "alpha < gamma")])
def test_where_there_are_no_two_targets_nothing_is_measured(point: dict, why: str) -> None:
    found = row("minimiser", **point)
    assert (found.measured, found.verdict["printed"]) == (None, Verdict.UNDECIDED)
    assert why in found.remark


# No surrogate serves both targets: all samples of a small space. The two targets differ at x0; every theta is wrong at
# "lost" and right at "sure".

MASSES = {"x0": 0.2, "lost": 0.3, "sure": 0.5}
THETAS = np.linspace(-1, 1, 9)  # the prediction at x0
MARGINS = np.stack([np.stack([-THETAS, THETAS], axis=-1), np.zeros((9, 2)), np.full((9, 2), np.inf)], axis=1)
RAMP = np.clip(1 - MARGINS, 0, 1)  # (2.2) with gamma = 1, by theta, input and label
OTHERS = np.random.default_rng(0).random((4, *RAMP.shape))


def failure(surrogate: np.ndarray, target: int, n: int) -> float:
    """The probability, over all samples, that the minimiser is wrong at x0 too."""
    failed = 0.0
    for sample in product(range(3), repeat=n):
        labels = [target if x == 0 else 1 for x in sample]
        chosen = THETAS[surrogate[:, sample, labels].sum(axis=1).argmin()]
        failed += ((target - 0.5) * chosen <= 0) * np.prod([list(MASSES.values())[x] for x in sample])
    return failed


@pytest.mark.parametrize("surrogate", [RAMP, *OTHERS], ids=["ramp", *"abcd"])
def test_no_surrogate_serves_both_targets(surrogate: np.ndarray) -> None:
    for n in (1, 3):
        delta = (1 - MASSES["x0"]) ** n / 2
        error = complexity.two_targets(1.0, MASSES["lost"], n, delta).measured
        assert error == pytest.approx(MASSES["lost"] + MASSES["x0"])
        assert max(failure(surrogate, target, n) for target in (0, 1)) >= delta > 0.01


# What is refused.


def test_bad_parameters_are_refused_together() -> None:
    with pytest.raises(UsageError, match=r"alpha = 0.0 .*eps = 1.5 .*n = 1 .*delta = 0.0"):
        compare(SAMPLE_COMPLEXITY, alpha=0.0, eps=1.5, n=1, delta=0.0)
    with pytest.raises(UsageError, match="alpha / gamma = 1e\\+308 / 1e-308 is beyond float64"):
        compare(SAMPLE_COMPLEXITY, alpha=1e308, gamma=1e-308)
    with pytest.raises(UsageError, match=r"p = 1.5 is not a whole number"):
        compare(SAMPLE_COMPLEXITY, p=1.5)
