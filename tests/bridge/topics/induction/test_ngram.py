"""Theorem 4.3 end to end: bounds against the network, what is lost in a format, real text, refusals."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sympy.parsing.sympy_parser import convert_xor, implicit_multiplication, parse_expr, standard_transformations

from bridge.lowering.exponential_sums import ExponentialSums, best_rates
from bridge.questions.compare import Comparison, compare
from bridge.questions.solve import solve
from bridge.theorems.record import Row, Verdict
from bridge.theorems.registry import find_theorem
from bridge.topics.induction.ngram import factors, grams, output_lower_bound, precision
from symbolic import UsageError
from symbolic.topics.induction import objects

ID = "induction.ngram"
SHIPPED = str(Path(__file__).parents[4] / "examples" / "harbour.txt")
QUICK = {"samples": 32, "attack": 60, "restarts": 6}
FEW = {"samples": 4, "attack": 10, "restarts": 2}


def rows(comparison: Comparison, quantity: str, scope: str | None = "network") -> list[Row]:
    return [row for row in comparison if row.quantity == quantity and row.scope == scope]


@pytest.fixture(scope="module")
def default() -> Comparison:
    return compare(ID, **QUICK)


def assert_kept(comparison: Comparison) -> None:
    for row in comparison:
        if row.quantity == "output.lower_bound" and "multiple of the identity" in row.remark:
            continue
        ours = {tier: verdict for tier, verdict in row.verdict.items() if tier != "printed"}
        assert set(ours.values()) <= {Verdict.KEPT, Verdict.PROVED}, row
        assert row.quantity == "output.printed" or row.verdict.get("printed") is not Verdict.VIOLATED, row


def test_the_defaults_keep_the_bounds_and_refute_the_printed_network(default: Comparison) -> None:
    assert_kept(default)
    assert all(row.verdict["printed"] is Verdict.VIOLATED for row in rows(default, "output.printed"))
    assert all(row.witness.error_lower > 1 for row in rows(default, "output.printed"))
    assert {row.params["H"] for row in rows(default, "output")} == {2, 4}


def test_the_bound_is_attained_by_layer_1_and_near_for_the_output(default: Comparison) -> None:
    assert all(row.ratio == pytest.approx(1, rel=1e-6) for row in rows(default, "keys"))
    assert all(1 <= row.ratio <= 5 for row in rows(default, "output"))
    sums, norm = best_rates(2, 2, unit=2.0**-53), 6 * 0.25
    of_query, of_keys = (float(sums.distance(lag)) for lag in (1, 2))
    (scores,) = (row for row in rows(default, "scores") if row.params["H"] == 2)
    assert scores.derived == pytest.approx(norm * (of_keys + of_query + of_keys * of_query), rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(
    "at",
    [
        {"n": 2, "H": 1, "L": 4, "d": 1, "W_star": 1.0},
        {"n": 3, "H": 2, "L": 5, "rho": 0.5},
        {"n": 3, "H": 5, "L": 65, "W_star": "signs:3", "rho": 0.9},
        {"n": 4, "H": 3, "L": 8, "d": 2, "W_star": "random:2", "rho": 0.1},
        {"n": 6, "H": 9, "L": 40, "d": 2, "W_star": "random:2"},
        {"n": 5, "H": 6, "L": 24, "dtype": "float32"},
    ],
    ids=str,
)
def test_no_derived_or_instance_bound_is_exceeded(at: dict[str, Any]) -> None:
    assert_kept(compare(ID, **at, **FEW))


def test_the_lower_bound_is_the_least_singular_value() -> None:
    (row,) = rows(compare(ID, n=4, H=3, d=1, W_star=[[2, 0, 0], [0, 0.5, 0], [0, 0, 1]], **FEW), "lower_bound", None)
    assert row.derived == pytest.approx(0.5)
    assert row.measured >= row.derived
    assert row.verdict == {"derived": Verdict.PROVED}
    assert not rows(compare(ID, n=2, H=1, **FEW), "lower_bound", None)
    assert not rows(compare(ID, n=4, H=3, L=6, **FEW), "lower_bound", None)  # patch and query overlap


@pytest.mark.parametrize("w", [0.25, -1.0, 8.0])
@pytest.mark.parametrize("n", [3, 4])
def test_an_output_errs_with_n_minus_2_heads_as_much_as_the_bound_says(n: int, w: float) -> None:
    (row,) = rows(compare(ID, n=n, H=n - 1, d=2, W_star=w, rho=0.4, **FEW), "output.lower_bound", None)
    assert row.derived == pytest.approx(math.tanh(abs(w)) / ((n - 1) * 2 ** (n - 2) + 1))
    assert row.derived <= row.measured
    assert row.ratio > 0.7 or abs(w) >= 1  # more is lost there
    assert row.verdict == {"derived": Verdict.PROVED}


def test_an_output_bound_is_for_multiples_of_the_identity_and_prompts_that_fit() -> None:
    (other,) = rows(compare(ID, n=3, H=2, d=2, W_star="random:2", **FEW), "output.lower_bound", None)
    assert set(other.verdict.values()) == {Verdict.OUTSIDE}
    for n, w, rho in ((3, 1e-5, 1e-6), (3, 0.0, 0.3), (3, 1.0, 0.9999), (26, 1.0, 0.5)):
        weights = w * torch.eye(2 * (n - 1), dtype=torch.float64)
        long = output_lower_bound(ExponentialSums.spread(n - 1, rho), n, 2, weights)
        assert long.found is None
        assert long.remark == "prompts that show it have more than 131,072 tokens"
        assert long.proved == ("derived",)


def test_layer_1_writes_the_3_gram_target_up_to_the_distance_of_lag_1(default: Comparison) -> None:
    assert all(row.ratio == pytest.approx(1) for row in rows(default, "grams", None))
    for heads in (1, 2, 5):
        sums = ExponentialSums.spread(heads, 0.3)
        rates, lags = np.array([float(rate) for rate in sums.rates]), np.arange(1, 60)
        c = np.linalg.solve(np.vander(rates, increasing=True).T, np.eye(heads)[0])
        error = abs(c @ rates[:, None] ** (lags - 1) - (lags == 1)).sum()
        sides = grams(sums)
        assert (float(sides.found), float(sides.derived)) == pytest.approx((error, error), rel=1e-6)


def test_the_rates_at_hand_nearly_meet_the_law_of_least_errors(default: Comparison) -> None:
    for row in rows(default, "precision", None):
        assert row.verdict == {"derived": Verdict.PROVED}
        assert 0.99 < row.ratio <= 1
    assert rows(default, "precision", None)[0].derived == pytest.approx(2**-25)  # (2/3) 3 sqrt(2) 2^(-53/2)
    for n, heads, bits in ((3, 5, 53), (3, 3, 24), (5, 8, 53)):
        sums, unit = best_rates(heads, n - 1, unit=2.0**-bits), 2.0**-bits
        found = float(precision(sums, n, bits).found)
        k = n - 2
        law = heads / (heads + k) * math.comb(heads + k, 2 * k) * 2 ** (k / heads) * unit ** (1 - k / heads)
        assert law <= found == pytest.approx(float(sums.distance(n - 1)) + unit * float(sums.size(n - 1)), rel=1e-9)
        assert found < 1.2 * law


def test_the_rates_in_words_are_those_that_are_built() -> None:
    heads = 5
    formula = objects.NGRAM["r_h"].split("`")[1].replace("rho", "0.3").replace("H", str(heads))
    written = parse_expr(formula, transformations=(*standard_transformations, convert_xor, implicit_multiplication))
    built = ExponentialSums.spread(heads, 0.3).rates
    assert [float(written.subs("h", place)) for place in range(1, heads + 1)] == pytest.approx([*map(float, built)])


def test_the_printed_value_weights_have_the_sum_of_a2() -> None:
    sums = ExponentialSums.spread(3, 0.3)
    printed = [sum(rate ** (j - 1) for j in range(4)) * (1 - rate) for rate in map(float, sums.rates)]
    assert [*map(float, factors(sums))] == pytest.approx(printed)


def test_the_export_excludes_rates_that_are_all_0() -> None:
    """0 means automatic in a run, and is no value of the statement."""
    words = find_theorem(ID).statement.latex()
    assert r"$0 < \rho < 1$ (largest of the rates" in words


def test_a_format_has_a_floor() -> None:
    (row,) = rows(compare(ID, n=5, H=6, dtype="float32", **FEW), "format", None)
    assert 1e-3 < row.measured <= row.derived < 0.3
    assert row.verdict == {"derived": Verdict.KEPT}


@pytest.mark.long
def test_heads_rates_and_bits_are_solved_for() -> None:
    rate = solve(ID, for_="rho", error=1e-6, n=5, H=5)
    assert rate.bound == pytest.approx(1e-6)
    bits = solve(ID, for_="bits", error=1e-9, n=5, H=12)
    (fewer,) = rows(compare(ID, n=5, H=12, bits=bits.value - 1, **FEW), "output")
    assert bits.bound <= 1e-9 < fewer.derived
    assert solve(ID, for_="H", error=1e-9, n=4, rho=1e-3).value == 5


@pytest.mark.long
def test_the_text_is_predicted_beside_the_exact_heads() -> None:
    comparison = compare(ID, text=SHIPPED, n=(2, 4), samples=128)
    shares = {(row.quantity, row.params["n"]): row.measured for row in comparison if row.quantity.startswith("pred")}
    assert_kept(comparison)
    for n in (2, 4):
        assert shares["prediction.agreement", n] >= 0.99
        assert shares["prediction.exact", n] > shares["prediction.commonest", n]
    assert shares["prediction.vanilla", 2] == shares["prediction.exact", 2]
    assert shares["prediction.exact", 4] > shares["prediction.vanilla", 4]


REFUSED = [
    ({"n": 1}, "n = 1 does not meet n >= 2 (a key has a token)"),
    ({"n": 5, "L": 5, "H": 4}, "L = 5 does not meet L - n >= 1 at n = 5 (`IH_n` is an empty sum below)"),
    ({"n": 5, "H": 3}, "H = 3 does not meet H >= n - 1 at n = 5 (fewer heads than lags err by at least 1"),
    ({"H": 33}, "H = 33; give at most 32 heads"),
    ({"rho": 1}, "rho = 1.0 does not meet rho < 1"),
    ({"rho": -0.5}, "rho = -0.5 does not meet rho > 0 (rates are those of a softmax, and differ)"),
    ({"n": 3, "W_star": np.eye(3).tolist()}, "W_star is 3 x 3; for n = 3 it has to be (n-1) d x (n-1) d, n - 1 = 2"),
    ({"n": 3, "d": 2, "W_star": np.eye(3).tolist()}, "W_star is 3 x 3 but (n-1) d = 4"),
]


@pytest.mark.parametrize(("at", "words"), REFUSED, ids=str)
def test_refusals(at: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words.replace("`", ""))):
        compare(ID, **at)


@pytest.mark.parametrize(
    ("content", "at", "words"),
    [
        (b"abc", {"n": 3, "L": 4}, "has 3 bytes; a window of L = 4 and the next byte need 5"),
        (b"a" * 90, {"n": 3, "L": 8}, "has one character only; give a text with two different ones at least"),
        (b"abab" * 9, {"n": 3, "L": 8, "d": 3}, "has 2 different bytes, and d = 3; leave out d"),
    ],
)
def test_texts_that_do_not_fit_are_refused(content: bytes, at: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=re.escape(words)):
        compare(ID, text=str(path), **at)
