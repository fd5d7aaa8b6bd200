"""The rows of induction.losses: which agree with the definitions, which do not, and that the checks can fail."""

from dataclasses import replace

import pytest
import sympy as sp

from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from bridge.topics.induction.losses import LOSSES, SoftmaxLoss, softmax_order
from numeric.topics.induction.losses import Estimate
from symbolic.statements.result import Quantity
from symbolic.topics.induction import losses as theory
from symbolic.topics.induction import losses_derivation as derived
from symbolic.topics.induction.training import LOSS_HEAD
from tests.bridge.defaults import default_run
from tests.bridge.topics.induction.rows import default_rows, part, rows_at

P, V, C, U = Verdict.PROVED, Verdict.VIOLATED, Verdict.CONSISTENT, Verdict.UNDECIDED
SUMS = ("gram", "head", "squares")
EARLY = ("gram.as_printed", "head.as_printed", "head.optimum")
POINTS = [
    {},
    {"L": 5, "alpha": 0.1, "w_star": 0.7, "p": 0.01, "g": 0.02, "w": 0.01, "h": 0.9},
    {"L": 6, "alpha": 40.0, "w_star": 0.05, "p": 12.0, "g": 3.0, "w": 0.7, "h": 0.03},
    {"L": 30_000, "p": 1e-6, "w": 0.49, "h": 0.5},
]


def test_the_verdicts_at_the_defaults() -> None:
    assert {name: row.verdict for name, row in default_rows("losses").items()} == {
        "gram": {"printed": P, "derived": P},
        "gram.as_printed": {"printed": V, "derived": P},
        "head": {"printed": P, "derived": P},
        "head.as_printed": {"printed": V, "derived": P},
        "head.optimum": {"printed": V, "derived": P},
        "head.as_printed.order": {"derived": P},
        "head.softmax": {"derived": C},
        "head.softmax.order": {"derived": C},
        "head.softmax.order[(22)]": {"derived": C},
        "gaussian": {"printed": P, "derived": P},
        "gaussian.beyond": {"printed": Verdict.OUTSIDE},
        "squares": {"printed": P, "derived": P},
    }
    assert len({row.meaning for row in default_rows("losses").values()}) == len(default_rows("losses"))


def test_lemma_d3_is_read_for_absolute_values_below_1() -> None:
    assert "hypothesis |a| < 1 is not met: a = -1.25" in default_rows("losses")["gaussian.beyond"].remark
    found = [row.construction for row in default_run("induction.losses") if row.quantity == "gaussian"]
    assert found == ["a = -0.9", "a = 0.9"]


@pytest.mark.parametrize("params", POINTS, ids=["default", "short", "steep", "long"])
def test_closed_forms_are_the_definitions_at_every_point(params: dict) -> None:
    found = rows_at(part(LOSSES, *SUMS, *EARLY[:2]), **params)
    for name in SUMS:
        assert found[name].verdict == {"printed": P, "derived": P}, name
        assert found[name].derived == pytest.approx(found[name].measured, rel=1e-6, abs=1e-10)
    for name in EARLY[:2]:
        assert found[name].verdict == {"printed": V, "derived": P}, name


def test_a_closed_form_that_is_slightly_off_is_noticed() -> None:
    def off(quantity: Quantity) -> Quantity:
        return replace(quantity, derive=lambda: quantity.closed_form * (1 + sp.Rational(1, 2**30)))

    right = part(LOSSES, *SUMS, *EARLY)
    wrong = replace(right, statement=replace(right.statement, quantities=tuple(map(off, right.statement.quantities))))
    for name, row in rows_at(wrong, L=50).items():
        assert row.verdict["derived"] is U, name
        assert "derived: the run contradicts the proof" in row.remark


@pytest.mark.parametrize("length", [20, 50])
def test_the_wrong_first_order_of_the_softmax_is_noticed(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """(22) in its place exceeds the allowance, which comes from sampled values, and leaves a gap of first order."""
    names = ("head.softmax", "head.softmax.order")
    right = rows_at(part(LOSSES, *names), L=length)
    assert {row.verdict["derived"] for row in right.values()} == {C}
    softmax, head = (theory.LOSSES.quantity(name) for name in ("head.softmax", "head"))
    others = tuple(replace(each, derive=head.derive) if each is softmax else each for each in theory.LOSSES.quantities)
    monkeypatch.setattr(theory, "LOSSES", replace(theory.LOSSES, quantities=others))
    wrong = rows_at(part(LOSSES, *names), L=length)
    assert {row.verdict["derived"] for row in wrong.values()} == {U}


@pytest.mark.parametrize(("side", "error", "seen"), [(1, 1e-6, True), (-1, 1e-6, True), (-1, 1e-3, False)])
def test_an_order_is_seen_where_gaps_exceed_their_error(side: int, error: float, seen: bool, monkeypatch) -> None:
    gap = lambda loss, length: Estimate(loss.form("derived", length) - side * (length - 2.0) ** -2, error)  # noqa: E731
    monkeypatch.setattr(SoftmaxLoss, "true", gap)
    assert bool(softmax_order("derived", 2)(1.0, 0.49, 0.3, 0.4, 0).computed) == seen


def test_too_few_tokens_to_tell_the_forms_apart_are_named() -> None:
    row = rows_at(part(LOSSES, "head.softmax"), L=5)["head.softmax"]
    assert row.verdict == {"derived": U}
    assert "too few tokens" in row.remark


@pytest.mark.long
def test_a_trained_head_that_is_the_target_has_no_loss_to_divide_by() -> None:
    orders = ("head.as_printed.order", "head.softmax.order")
    found = rows_at(part(LOSSES, "head.softmax", *orders), L=20, w=0.49, h=0.5)
    assert found["head.softmax"].verdict == {"derived": C}
    assert found["head.softmax"].measured == 0
    for name in orders:
        assert found[name].verdict == {"derived": U}
        assert "no order" in found[name].remark


def test_the_loss_left_at_the_optimum_falls_like_the_square_of_n() -> None:
    left = {n: rows_at(part(LOSSES, "head.optimum"), L=n + 2)["head.optimum"].derived for n in (10, 100)}
    assert left[10] == pytest.approx(100 * left[100], rel=1e-9)


def test_the_gram_loss_of_the_printed_sum_never_falls_below_that_of_no_network() -> None:
    row = rows_at(part(LOSSES, "gram.as_printed"), p=30.0, g=0.5, alpha=1.0)["gram.as_printed"]
    assert row.measured > 0.25 / 2 > 1e-3 > row.printed


def test_the_same_seed_gives_the_same_rows() -> None:
    softmax = [rows_at(part(LOSSES, "head.softmax"), L=12, seed=seed)["head.softmax"].measured for seed in (0, 0, 1)]
    assert softmax[0] == softmax[1] != softmax[2]


def test_numbers_of_the_network_follow_the_dtype() -> None:
    row, fine = (rows_at(part(LOSSES, "gram"), L=12, dtype=dtype)["gram"] for dtype in ("float32", "float64"))
    assert row.verdict == fine.verdict
    assert row.measured != fine.measured
    assert row.measured == pytest.approx(fine.measured, rel=1e-4)


def test_a_gap_of_the_early_sum_that_is_not_of_first_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    first_order = derived.early_gap_is_first_order.__wrapped__
    assert first_order()
    monkeypatch.setattr(derived, "derive_head", lambda upper: LOSS_HEAD / (upper if upper is derived.AS_PRINTED else 1))
    assert not first_order()


def test_near_the_end_of_the_range_of_w_the_definition_is_known_less_closely() -> None:
    """At 4 w^4 = 1 - 2e-8 the exponents of the integral cancel all but a few digits."""
    rows = {row.quantity: row for row in compare("induction.losses", L=1000, alpha=0.5, w=0.70710678, h=0.0146)}
    assert rows["head"].verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}
    assert rows["head.as_printed"].verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED}
