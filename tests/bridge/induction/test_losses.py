"""The rows of induction.losses: which agree with the definitions, which do not, and that the checks can fail."""

from dataclasses import replace

import pytest
import sympy as sp

from bridge import compare
from bridge.comparison import replay_witness
from bridge.induction.losses import LOSSES
from bridge.record import Row, Verdict, Witness
from bridge.theorem import Theorem
from symbolic.induction import losses as theory
from symbolic.induction import losses_derivation as derived
from symbolic.induction.training import LOSS_HEAD
from symbolic.statements import Quantity, UsageError
from tests.bridge.defaults import default_run

P, V, C, U = Verdict.PROVED, Verdict.VIOLATED, Verdict.CONSISTENT, Verdict.UNDECIDED
SUMS = ("gram", "head", "squares")
EARLY = ("gram.as_printed", "head.as_printed", "head.optimum")
POINTS = [
    {},
    {"L": 5, "alpha": 0.1, "w_star": 0.7, "p": 0.01, "g": 0.02, "w": 0.01, "h": 0.9},
    {"L": 6, "alpha": 40.0, "w_star": 0.05, "p": 12.0, "g": 3.0, "w": 0.7, "h": 0.03},
    {"L": 30_000, "p": 1e-6, "w": 0.49, "h": 0.5},
]


def rows() -> dict[str, Row]:
    return {row.quantity: row for row in default_run("induction.losses")}


def changed(quantity: Quantity, factor: sp.Expr | None) -> Quantity:
    return quantity if factor is None else replace(quantity, derive=lambda: quantity.closed_form * factor)


def part(*names: str, factor: sp.Expr | None = None) -> Theorem:
    """The theorem of these rows alone, with another derived form."""
    quantities = tuple(changed(theory.LOSSES.quantity(name), factor) for name in names)
    statement = replace(theory.LOSSES, id="own.losses", quantities=quantities)
    checks = tuple(check for check in LOSSES.checks if check.name in names)
    return replace(LOSSES, statement=statement, main=names[0], checks=checks)


def rows_of(theorem: Theorem, **settings: object) -> dict[str, Row]:
    return {row.quantity: row for row in compare(theorem, **settings)}


def test_the_verdicts_at_the_defaults() -> None:
    assert {name: row.verdict for name, row in rows().items()} == {
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


def test_the_early_sums_are_one_erratum_of_an_index() -> None:
    early = [rows()[name].erratum for name in EARLY]
    assert early[0].weight == "index or definition"
    assert early == [early[0]] * 3
    assert len({row.meaning for row in rows().values()}) == len(rows())


def test_lemma_d3_is_read_for_absolute_values_below_1() -> None:
    assert rows()["gaussian.beyond"].witness is None
    assert "hypothesis |a| < 1 is not met: a = -1.25" in rows()["gaussian.beyond"].remark
    found = [row.construction for row in default_run("induction.losses") if row.quantity == "gaussian"]
    assert found == ["a = -0.9", "a = 0.9"]


@pytest.mark.parametrize("params", POINTS, ids=["default", "short", "steep", "long"])
def test_closed_forms_are_the_definitions_at_every_point(params: dict) -> None:
    found = rows_of(part(*SUMS, *EARLY[:2]), **params)
    for name in SUMS:
        assert found[name].verdict == {"printed": P, "derived": P}, name
        assert found[name].derived == pytest.approx(found[name].measured, rel=1e-6, abs=1e-10)
    for name in EARLY[:2]:
        assert found[name].verdict == {"printed": V, "derived": P}, name


def test_a_closed_form_that_is_slightly_off_is_noticed() -> None:
    wrong = part(*SUMS, *EARLY, factor=1 + sp.Rational(1, 2**30))
    for name, row in rows_of(wrong, L=50).items():
        assert row.verdict["derived"] is U, name
        assert "derived: the run contradicts the proof" in row.remark


@pytest.mark.parametrize("length", [20, 50])
def test_the_wrong_first_order_of_the_softmax_is_noticed(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """(22) in its place exceeds the allowance, which comes from sampled values, and leaves a gap of first order."""
    names = ("head.softmax", "head.softmax.order")
    right = rows_of(part(*names), L=length)
    assert {row.verdict["derived"] for row in right.values()} == {C}
    softmax, head = (theory.LOSSES.quantity(name) for name in ("head.softmax", "head"))
    others = tuple(replace(each, derive=head.derive) if each is softmax else each for each in theory.LOSSES.quantities)
    monkeypatch.setattr(theory, "LOSSES", replace(theory.LOSSES, quantities=others))
    wrong = rows_of(part(*names), L=length)
    assert {row.verdict["derived"] for row in wrong.values()} == {U}


def test_too_few_tokens_to_tell_the_forms_apart_are_named() -> None:
    row = rows_of(part("head.softmax"), L=5)["head.softmax"]
    assert row.verdict == {"derived": U}
    assert "too few tokens" in row.remark


@pytest.mark.long
def test_a_trained_head_that_is_the_target_has_no_loss_to_divide_by() -> None:
    orders = ("head.as_printed.order", "head.softmax.order")
    found = rows_of(part("head.softmax", *orders), L=20, w=0.49, h=0.5)
    assert found["head.softmax"].verdict == {"derived": C}
    assert found["head.softmax"].measured == 0
    for name in orders:
        assert found[name].verdict == {"derived": U}
        assert "no order" in found[name].remark


def test_the_loss_left_at_the_optimum_falls_like_the_square_of_n() -> None:
    left = {n: rows_of(part("head.optimum"), L=n + 2)["head.optimum"].derived for n in (10, 100)}
    assert left[10] == pytest.approx(100 * left[100], rel=1e-9)


def test_the_gram_loss_of_the_printed_sum_never_falls_below_that_of_no_network() -> None:
    row = rows_of(part("gram.as_printed"), p=30.0, g=0.5, alpha=1.0)["gram.as_printed"]
    assert row.measured > 0.25 / 2 > 1e-3 > row.printed


@pytest.mark.parametrize("name", EARLY)
def test_witnesses_replay(name: str) -> None:
    witness = rows()[name].witness
    assert witness.error_lower == pytest.approx(rows()[name].derived, rel=1e-10)
    again = replay_witness(witness)
    assert again.verdict == rows()[name].verdict
    assert again.witness.error_lower == witness.error_lower


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("head.as_printed", {"w": [0.1]}, "takes inputs of shapes"),
        ("head.as_printed", {"w": [float("nan")], "h": [0.1]}, "not finite"),
        ("head.as_printed", {"w": [0.8], "h": [0.1]}, "w = 0.8 does not meet"),
        ("nothing", {}, "no quantity or check 'nothing'"),
    ],
    ids=["missing", "nan", "outside", "unknown"],
)
def test_witnesses_that_are_none_are_refused(name: str, inputs: dict, message: str) -> None:
    params = default_run("induction.losses").params
    witness = Witness(
        result="induction.losses", quantity=name, params=params, inputs=inputs, error_lower=1.0, bounds={}
    )
    with pytest.raises(UsageError, match=message):
        replay_witness(witness)


@pytest.mark.parametrize(
    ("params", "messages"),
    [
        ({"w_star": 0.71}, ["w_star = 0.71", "4\\*w_star"]),
        ({"sigma_init": 0.0}, ["sigma_init = 0.0"]),
        ({"L": 4, "alpha": -1.0, "w": 0.8}, ["L = 4", "alpha = -1.0", "w = 0.8"]),
        ({"w": "big"}, ["'big' is not a number"]),
    ],
    ids=["w_star", "sigma-0", "all-at-once", "word"],
)
def test_bad_parameters_get_one_clear_sentence(params: dict, messages: list[str]) -> None:
    for message in messages:
        with pytest.raises(UsageError, match=message):
            compare("induction.losses", **params)


def test_the_same_seed_gives_the_same_rows() -> None:
    softmax = [rows_of(part("head.softmax"), L=12, seed=seed)["head.softmax"].measured for seed in (0, 0, 1)]
    assert softmax[0] == softmax[1] != softmax[2]


def test_numbers_of_the_network_follow_the_dtype() -> None:
    row, fine = (rows_of(part("gram"), L=12, dtype=dtype)["gram"] for dtype in ("float32", "float64"))
    assert row.verdict == fine.verdict
    assert row.measured != fine.measured
    assert row.measured == pytest.approx(fine.measured, rel=1e-4)


def test_a_gap_of_the_early_sum_that_is_not_of_first_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    first_order = derived.early_gap_is_first_order.__wrapped__
    assert first_order()
    monkeypatch.setattr(derived, "derive_head", lambda upper: LOSS_HEAD / (upper if upper is derived.AS_PRINTED else 1))
    assert not first_order()
