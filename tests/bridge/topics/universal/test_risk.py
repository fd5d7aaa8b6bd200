"""Theorem 1 end to end: failures over draws, bounds at a prompt, one network for several classes, solve, refusals."""

import math
import re
from typing import Any

import numpy as np
import pytest

from bridge.export.comparison import Comparison
from bridge.questions.compare import compare
from bridge.questions.solve import solve
from bridge.theorems.record import Verdict
from bridge.theorems.registry import registered_theorem
from bridge.topics.universal import risk
from bridge.topics.universal.prompts import at_prompt, learner, points, prompt, rivals, roundings
from bridge.topics.universal.risk_tables import WIDTH, _holds, least
from numeric.topics.universal.features import draw_features
from numeric.topics.universal.risk import with_idle
from numeric.topics.universal.transformer import streams
from symbolic import UsageError
from symbolic.topics.universal import risk_weight as weight
from symbolic.topics.universal import transformer_derivation as transformer

SMALL = {"N": 96, "n": 24, "L": 11}
BITS = {"bits": 113, "lam": 0.05}  # float64 does not hold temperatures for a bound below the trivial one

PARAMS = {**{p.name: p.default for p in risk.STATEMENT.parameters}, **SMALL}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare("universal.risk", samples=24, **SMALL)


def rows_of(comparison: Comparison) -> dict[str, Any]:
    return {row.quantity: row for row in comparison}


@pytest.mark.long
def test_no_bound_fails_more_often_than_stated(comparison: Comparison) -> None:
    rows = rows_of(comparison)
    others = ["risk.outside", "gap", "weight", "weight.noise"]
    assert list(rows) == [*risk.QUANTITIES, *others]
    for name in risk.QUANTITIES:
        assert (rows[name].seeds, rows[name].failures) == (24, 0)
        assert rows[name].verdict == {"derived": Verdict.KEPT}
        assert 0 < rows[name].measured <= rows[name].derived
    assert rows["prompt"].measured > 0.02


@pytest.mark.long
def test_bounds_at_a_prompt_are_within_a_factor_of_the_median(comparison: Comparison) -> None:
    rows = rows_of(comparison)
    assert rows["prompt"].derived < 50 * rows["prompt"].median
    assert rows["emulation"].derived < 1e9 * rows["emulation"].median


def test_a_vacuous_bound_is_flagged_and_the_deep_network_is_outside(comparison: Comparison) -> None:
    rows = rows_of(comparison)
    assert rows["risk"].flags == {"derived": ["vacuous"]}
    assert rows["risk.outside"].verdict == {"derived": Verdict.OUTSIDE}
    assert "random deep network" in rows["risk.outside"].remark


def test_the_gap_is_that_of_every_draw(comparison: Comparison) -> None:
    row = rows_of(comparison)["gap"]
    assert row.verdict == {"derived": Verdict.PROVED}
    assert row.measured < row.derived == pytest.approx(24 * (1 + 3 * (math.pi / 2) ** 0.5) ** 2 / 5, rel=0.1)


# u = a C^2/accuracy is what both ratios depend on where sigma = eps_dis = 0; both constants are the least ones.
@pytest.mark.parametrize(("name", "constant", "worst"), [("weight", 2.0, 1.0), ("weight.noise", 0.324760, 3**-1.5)])
def test_the_printed_weight_costs_no_more_than_the_least_constants_say(
    comparison: Comparison, name: str, constant: float, worst: float
) -> None:
    a, C, sigma, dis, last = np.exp(np.random.default_rng(0).uniform(-8, 8, (5, 20_000)))
    ratio = printed_ratio(name, a, C, sigma, dis, last)
    assert constant / 1.5 < ratio.max() <= constant
    at_worst = printed_ratio(name, 0.25, 3.0, 0.0, 0.0, 0.25 * 9 * (1 / worst - 1))
    assert at_worst == pytest.approx(constant, rel=1e-5)
    row = rows_of(comparison)[name]
    assert row.verdict == {"printed": Verdict.CONSISTENT, "derived": Verdict.PROVED}
    assert row.derived / row.printed == pytest.approx(constant, rel=1e-5)
    assert f"the least constant is {weight.CONSTANTS[name].value}" in row.remark


def printed_ratio(name: str, a: Any, C: Any, sigma: Any, dis: Any, last: Any) -> Any:
    """What (58a) costs over (58c), and the last term of (61): a = sqrt(log N/N), `last` = n C^2/L."""
    accuracy = a * C * (sigma + C) + dis**2 + last
    lam = a ** (1 / 3) * C ** (-1 / 3) * accuracy ** (2 / 3) + a * (C + sigma) + dis**2 / C
    return lam * C / accuracy if name == "weight" else a / lam**2 * accuracy


def test_fewer_draws_are_the_default() -> None:
    assert registered_theorem("universal.risk").settings == {"samples": risk.DRAWS}


def test_bounds_at_a_prompt_fall_and_are_below_the_trivial_one(comparison: Comparison) -> None:
    by_size, by_class, sizes = comparison.tables
    assert [row[0] for row in by_size.rows] == [256, 1024, 4096]
    here = [row[3] for row in by_size.rows]
    assert here == sorted(here, reverse=True)
    assert all(row[2] <= row[3] <= row[4] for row in by_size.rows)
    f = risk.known_family("bumps", 2, 1, 1.0, 4.0).members[0].value
    assert here[1] < float((f(points(2)) ** 2).mean())
    assert [row[0] for row in by_class.rows] == ["bumps", "ridges", "linear", "deep networks: outside"]
    known = [row for row in by_class.rows if "outside" not in row[0]]
    assert all(row[2] < row[3] for row in known)
    assert known[0][2] < 0.5 * known[0][3]
    for row in sizes.rows:
        assert row[2] == pytest.approx(sizes.rows[0][2], rel=0.6)  # the order of (25), up to logarithms
        assert row[4] == pytest.approx(sizes.rows[0][4], rel=0.6)
        assert row[6] == pytest.approx(sizes.rows[0][6], rel=0.01)


def test_sizes_meet_their_accuracy(comparison: Comparison) -> None:
    wanted, n, _, N, _, L, _ = comparison.tables[2].rows[0]
    norm = 1 + 3 * (3.141592653589793 / 2) ** 0.5
    at = {"n": n, "N": N, "L": L, "lam": wanted / 8 / norm, "bits": 200, "quantity": "risk.iterate", "width": 1.0}
    found = solve("universal.risk", for_="error", **at).bound
    assert 0.9 * wanted < found < 1.1 * wanted


def test_a_bound_at_a_prompt_holds_for_every_rival() -> None:
    params = {**PARAMS, "lam": 0.2, "tau_1": 64.0, "tau_2": 2.0**12}
    family = risk.known_family("bumps", 2, 1, 1.0, 4.0)
    features = draw_features(family, SMALL["n"] - 1, 0)
    found = prompt(learner(with_idle(features), params), family.members[0].value, 0.1, 7, points(2))
    own = rivals(found, family, features, 0)
    bounds = [at_prompt(found, [each], 0.05) for each in own]
    assert all(found.risk_of(found.y_hat) < bound for bound in bounds)
    assert at_prompt(found, own, 0.05) >= min(bounds)  # a union over three
    assert roundings(found, float("inf"))["prompt"] == float("inf")


@pytest.mark.long
@pytest.mark.parametrize(("name", "fixed"), [("N", {"n": 20000, "L": 40000001}), ("L", {"N": 10**8, "n": 20000})])
def test_solve_says_from_where_on_the_bound_is_not_vacuous(name: str, fixed: dict[str, int]) -> None:
    found = solve("universal.risk", for_=name, error=0.99, **fixed, **BITS)
    assert 0.9 < found.bound <= 0.99
    assert name != "L" or found.value % 2 == 1
    less = found.value - (2 if name == "L" else 1)
    assert solve("universal.risk", for_="error", **{name: less}, **fixed, **BITS).bound > 0.99


def test_a_refusal_names_no_number_that_nobody_gave() -> None:
    with pytest.raises(UsageError) as refused:
        compare("universal.risk", N=0)
    assert "lam" not in str(refused.value)


@pytest.mark.long
def test_rounding_above_a_bound_violates_nothing() -> None:
    rows = rows_of(compare("universal.risk", N=16, n=4, L=9, bits=100, samples=8))
    row = rows["emulation"]
    assert row.derived < row.measured < row.rounding < 1e-3
    assert (row.verdict, row.failures) == ({"derived": Verdict.UNDECIDED}, 0)
    assert "8 draws decide nothing: their rounding exceeds" in row.remark
    assert rows["risk"].verdict == {"derived": Verdict.KEPT}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"bits": 200}, r"tau_1 = .* takes 7. bits, .* whose 53 bits decide"),
        ({"bits": 2}, "2 bits hold nothing of a block at any tau"),
        ({"bits": 60, "tau_1": 1e14, "tau_2": 1e14}, r"tau_1 = .* takes 5. bits .* whose 53 bits decide"),
    ],
)
def test_what_float64_does_not_hold_is_not_representable(params: dict[str, float], words: str) -> None:
    found = compare("universal.risk", N=16, n=4, L=9, samples=1, **params)
    without_network = {"gap", "weight", "weight.noise"}
    for name, row in rows_of(found).items():
        if name in without_network:
            assert row.verdict["derived"] is Verdict.PROVED
            continue
        assert row.verdict["derived"] is (Verdict.OUTSIDE if name == "risk.outside" else Verdict.NOT_REPRESENTABLE)
        assert row.measured is None
        assert name == "risk.outside" or re.search(words, row.remark)
    assert [table.title.split()[0] for table in found.tables] == ["Sizes"]


@pytest.mark.long
def test_a_bound_at_a_prompt_needs_scores_in_a_range() -> None:
    rows = rows_of(compare("universal.risk", N=16, n=4, L=9, tau_1=0.01, tau_2=0.01, samples=2))
    assert rows["emulation"].verdict == rows["prompt"].verdict == {"derived": Verdict.OUTSIDE}
    assert "the argument of 'y_hat' stays in [-R, R], R = S" in rows["prompt"].remark


@pytest.mark.long
def test_a_prompt_whose_iterates_are_0_has_a_bound() -> None:
    rows = rows_of(compare("universal.risk", N=16, n=4, L=9, lam=5.0, samples=2))
    assert 0 < rows["prompt"].measured <= 1


def test_a_run_in_floats_is_not_shown_as_exact(comparison: Comparison) -> None:
    row = rows_of(comparison)["risk.outside"]
    assert row.measured > 0
    assert (row.exact, row.rounding) == (None, None)


# The width of the stream of (50) is that of the network.
def test_sizes_are_compared_in_the_width_of_the_paper(comparison: Comparison) -> None:
    setting = learner(with_idle(draw_features(risk.known_family("bumps", 2, 1, 1.0, 4.0), 7, 0)), PARAMS).at
    stream = streams(setting)[1]
    assert stream.width - 2 == WIDTH.subs(transformer.n, 8)
    first, second = comparison.tables[2].rows[:2]
    widths = [2 * row[1] + 7 for row in (first, second)]
    assert second[2] / first[2] == pytest.approx(widths[1] * second[0] / (widths[0] * first[0]))
    assert second[6] / first[6] == pytest.approx(second[5] * second[0] * widths[0] / (first[5] * first[0] * widths[1]))


@pytest.mark.parametrize("target", [1, 7, 1000])
def test_the_least_number_is_found(target: int) -> None:
    assert least(lambda k: k >= target, 1) == target


@pytest.mark.parametrize(("N", "wanted", "holds"), [(10**12, 1e3, True), (10**12, 1.0, False), (1, 1e6, False)])
def test_an_accuracy_takes_noise_below_lam_and_a_bound_below_it(N: int, wanted: float, holds: bool) -> None:
    assert _holds({**PARAMS, "N": N}, risk.known_family("bumps", 2, 1, 1.0, 4.0), 1.0, wanted) is holds


def test_a_prompt_without_noise_at_which_the_bound_is_0_is_shown() -> None:
    corner = {"N": 1, "n": 2, "L": 7, "sigma": 0.0, "delta": 5e-14, "family": "union", "bumps": 1, "width": 1e-12}
    found = compare("universal.risk", samples=8, seed=981, eps=0.9999999999916226, slope=1.0153178587150937,
                    tau_1=1e-12, tau_2=0.5, lam=33.225510392174655, bits=37, **corner)  # fmt: skip
    (row,) = (row for row in found if row.quantity == "prompt")
    assert row.measured == 0.0
    assert row.verdict["derived"] is Verdict.OUTSIDE
