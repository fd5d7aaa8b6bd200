"""The rows of induction.losses: which agree with the definitions, which do not, and that the checks can fail."""

from collections.abc import Callable

import flint
import pytest
import torch

from bridge.budget import Budget
from bridge.induction import losses as module
from bridge.induction.losses import Compared, LossesCase, LossesStudy, closed_forms, order_verdict
from bridge.record import Row, Verdict
from numeric.induction.losses import Estimate
from symbolic.induction import training as letters
from symbolic.statements import UsageError

BUDGET = Budget(samples=1, attack=0, restarts=0, seed=0)
P, V, C, U = Verdict.PROVED, Verdict.VIOLATED, Verdict.CONSISTENT, Verdict.UNDECIDED
POINTS = [
    {},
    {"L": 5, "alpha": 0.1, "w_star": 0.7, "p": 0.01, "g": 0.02, "w": 0.01, "h": 0.9},
    {"L": 6, "alpha": 40.0, "w_star": 0.05, "p": 12.0, "g": 3.0, "w": 0.7, "h": 0.03},
    {"L": 30_000, "p": 1e-6, "w": 0.49, "h": 0.5},
]


def case(**params: float | int) -> LossesCase:
    return LossesStudy().case(params, seed=0, dtype="float64", device="cpu")


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return {row.quantity: row for row in case().rows(BUDGET)}


def test_the_verdicts_at_the_defaults(rows: dict[str, Row]) -> None:
    assert {name: row.verdict for name, row in rows.items()} == {
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


def test_the_early_sums_are_one_erratum_of_an_index(rows: dict[str, Row]) -> None:
    early = [rows[name].erratum for name in ("gram.as_printed", "head.as_printed", "head.optimum")]
    assert early[0].weight == "index or definition"
    assert early == [early[0]] * 3
    assert len({row.meaning for row in rows.values()}) == len(rows)
    assert {row.quantity for row in rows.values()} >= {quantity.name for quantity in module.theory.LOSSES.quantities}


def test_lemma_d3_is_read_for_absolute_values_below_1(rows: dict[str, Row]) -> None:
    beyond = rows["gaussian.beyond"]
    assert beyond.witness is None
    assert beyond.remark.startswith("outside the range |a| < 1")


@pytest.mark.parametrize("params", POINTS, ids=["default", "short", "steep", "long"])
def test_closed_forms_are_the_definitions_at_every_point(params: dict) -> None:
    at = case(**params)
    for name in ("gram", "head", "squares"):
        row = at.row(name)
        assert row.verdict == {"printed": P, "derived": P}, name
        assert row.derived == pytest.approx(row.measured, rel=1e-6, abs=1e-10)
    for name in ("gram.as_printed", "head.as_printed"):
        assert at.early_row(name, {}).verdict == {"printed": V, "derived": P}, name


def test_a_closed_form_that_is_slightly_off_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gram", "head", "squares"):
        wrong = {**closed_forms(), name: closed_forms()[name] * (1 + 2**-30)}
        monkeypatch.setattr(module, "closed_forms", lambda wrong=wrong: wrong)
        row = case().row(name)
        assert row.verdict["derived"] is V, name
        assert "the definition differs" in row.remark
        monkeypatch.undo()


def test_the_paper_s_upper_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """(22) passed off as the loss with the sums to L-2 disagrees with the definition."""
    wrong = {**closed_forms(), "head.as_printed": closed_forms()["head"]}
    monkeypatch.setattr(module, "closed_forms", lambda: wrong)
    assert case().early_row("head.as_printed", {}).verdict["derived"] is V


def test_the_wrong_first_order_of_the_softmax_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """(22) in the place of the first order leaves a gap of first order."""
    wrong = {**closed_forms(), "head.softmax": closed_forms()["head"]}
    monkeypatch.setattr(module, "closed_forms", lambda: wrong)
    found = {row.quantity: row for row in case().softmax_order_rows()}
    assert found["head.softmax.order"].verdict == {"derived": V}


@pytest.mark.parametrize("length", [20, 50])
def test_the_wrong_first_order_is_noticed_at_a_short_length(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The allowance comes from the sampled values, so that (22) in the place of the first order exceeds it."""
    right = case(L=length).softmax_row()
    assert right.verdict == {"derived": C}
    wrong = {**closed_forms(), "head.softmax": closed_forms()["head"]}
    monkeypatch.setattr(module, "closed_forms", lambda: wrong)
    assert case(L=length).softmax_row().verdict == {"derived": V}


def test_too_few_tokens_to_tell_the_forms_apart_are_named() -> None:
    row = case(L=5).softmax_row()
    assert row.verdict == {"derived": U}
    assert "too few tokens" in row.remark


def test_a_trained_head_that_is_the_target_has_no_loss_to_divide_by() -> None:
    rows = {row.quantity: row for row in case(L=20, w=0.49, h=0.5).rows(BUDGET)}
    assert rows["head.softmax"].verdict == {"derived": C}
    assert rows["head.softmax"].measured == 0
    for name in ("head.as_printed.order", "head.softmax.order"):
        assert rows[name].verdict == {"derived": U}
        assert "no order" in rows[name].remark


def test_compared_has_four_outcomes() -> None:
    one, two, measured = flint.arb(1), flint.arb(2), Estimate(1.0, 1e-9)
    assert Compared(one, one, measured, identical=True).verdict() == {"printed": P, "derived": P}
    assert Compared(one, one, measured, identical=False).verdict() == {"printed": Verdict.KEPT, "derived": P}
    assert Compared(two, one, measured, identical=False).verdict() == {"printed": V, "derived": P}
    assert Compared(one, two, measured, identical=False).verdict() == {"printed": Verdict.KEPT, "derived": V}


@pytest.mark.parametrize(
    ("order", "measured", "met", "verdict"),
    [(2.0, 1.8, C, C), (2.0, 1.8, U, U), (2.0, 1.5, C, U), (2.0, 1.1, C, V), (1.0, 0.2, P, V), (1.0, 2.0, P, U)],
    ids=["near", "noisy", "between", "order-lower", "constant", "faster"],
)
def test_an_order_is_met_missed_or_left_open(order: float, measured: float, met: Verdict, verdict: Verdict) -> None:
    assert order_verdict(order, measured, met) is verdict


def test_the_loss_left_at_the_optimum_falls_like_the_square_of_n() -> None:
    left = {n: case(L=n + 2).early_row("head.optimum", {"w": 0.49, "h": 0.5}).derived for n in (10, 100)}
    assert left[10] == pytest.approx(100 * left[100], rel=1e-9)


def test_the_gram_loss_of_the_printed_sum_never_falls_below_that_of_no_network() -> None:
    at = case(p=30.0, g=0.5, alpha=1.0)
    row = at.early_row("gram.as_printed", {})
    assert row.measured is not None
    assert row.printed is not None
    assert row.measured > 0.25 / 2 > 1e-3 > row.printed


@pytest.mark.parametrize("name", ["gram.as_printed", "head.as_printed", "head.optimum"])
def test_witnesses_replay(name: str, rows: dict[str, Row]) -> None:
    witness = rows[name].witness
    assert witness is not None
    assert witness.error_lower == pytest.approx(rows[name].derived, rel=1e-14)
    inputs = {letter: torch.tensor(value, dtype=torch.float64) for letter, value in witness.inputs.items()}
    again = LossesStudy().case(witness.params, seed=7, dtype="float64", device="cpu").replay_check(name, inputs)
    assert again.verdict["printed"] is V
    assert again.witness is not None
    assert again.witness.error_lower == witness.error_lower


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("gram.as_printed", {"p": [1.0]}, "one finite number for each of p, g"),
        ("head.as_printed", {"w": [float("nan")], "h": [0.1]}, "one finite number"),
        ("head.as_printed", {"w": [0.8], "h": [0.1]}, "w = 0.8 does not meet"),
        ("nothing", {}, "no quantity or check 'nothing'"),
    ],
    ids=["missing", "nan", "outside", "unknown"],
)
def test_witnesses_that_are_none_are_refused(name: str, inputs: dict, message: str) -> None:
    tensors = {letter: torch.tensor(value, dtype=torch.float64) for letter, value in inputs.items()}
    with pytest.raises(UsageError, match=message):
        case().replay_check(name, tensors)


@pytest.mark.parametrize(
    ("params", "messages"),
    [
        ({"w_star": 0.71}, ["w_star = 0.71", "4\\*w_star"]),
        ({"sigma_init": 0.0}, ["sigma_init = 0.0"]),
        ({"sigma_init": 1.0}, ["sigma_init = 1.0"]),
        ({"L": 4, "alpha": -1.0, "w": 0.8}, ["L = 4", "alpha = -1.0", "w = 0.8"]),
        ({"L": 9.5}, ["L = 9.5 is not a whole number"]),
        ({"w": "big"}, ["'big' is not a number"]),
        ({"W": 0.1}, ["no parameter 'W'"]),
    ],
    ids=["w_star", "sigma-0", "sigma-1", "all-at-once", "fraction", "word", "unknown"],
)
def test_bad_parameters_get_one_clear_sentence(params: dict, messages: list[str]) -> None:
    for message in messages:
        with pytest.raises(UsageError, match=message):
            case(**params)


def test_the_same_seed_gives_the_same_rows() -> None:
    def softmax(seed: int) -> Row:
        return LossesStudy().case({"L": 12}, seed=seed, dtype="float64", device="cpu").softmax_row()

    assert softmax(0) == softmax(0) != softmax(1)


def test_numbers_of_the_network_follow_the_dtype() -> None:
    at = LossesStudy().case({"L": 12}, seed=0, dtype="float32", device="cpu")
    row, fine = at.row("gram"), case(L=12).row("gram")
    assert row.verdict == fine.verdict
    assert row.measured != fine.measured
    assert row.measured == pytest.approx(fine.measured, rel=1e-4)


def test_the_gap_of_the_early_sum_is_first_order_in_every_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    module.early_gap_is_first_order.cache_clear()
    assert module.early_gap_is_first_order()
    module.early_gap_is_first_order.cache_clear()
    wrong: Callable[..., object] = lambda upper: letters.LOSS_HEAD / (letters.L if upper is not letters.L else 1)  # noqa: E731
    monkeypatch.setattr(module.theory, "derive_head", wrong)
    monkeypatch.setattr(module.theory, "AS_NEEDED", letters.L)
    assert not module.early_gap_is_first_order()
    module.early_gap_is_first_order.cache_clear()
