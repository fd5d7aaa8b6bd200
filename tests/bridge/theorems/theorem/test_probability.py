"""Bounds that hold with probability, and in expectation: judged by draws, replayed by seeds, solved for, refused."""

import json
import math
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import torch
from scipy.stats import binom

import boundsmith as bs
from bridge.judging.binomial import LEVEL
from bridge.questions.replaying import replay_witness
from bridge.theorems.parts import ExactRuns
from bridge.theorems.record import Row, Verdict
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError
from tests.bridge.cli.conftest import Command, refused

B, delta = sp.symbols("B delta", positive=True)
n, m, d = sp.symbols("n m d", integer=True, positive=True)
EXAMPLE = Path(__file__).parents[4] / "examples" / "sample_mean.py"


def signs(n: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randint(2, (n,), generator=generator).double() - 1.0


def conclusion(over: str = "signs", share: Any = delta) -> bs.Approximated:
    one = bs.rules.given("sign", dim=1, size=B)
    return bs.rules.sample_mean(one, "mean", count=n, event=bs.Event("mean", over, share))


def means(*bounds: Any, **changes: Any) -> bs.Theorem:
    """The mean of n signs, drawn by the seed."""
    arguments: dict[str, Any] = {
        "parameters": {B: 1.0, n: 2, delta: 0.74},
        "hypotheses": [delta < 1],
        "weights": {"signs": signs},
        "network": lambda signs, B: B * signs.mean()[None],
        "reference": lambda: torch.zeros(1, dtype=torch.float64),
    }
    return bs.theorem("means", *(bounds or (conclusion(),)), **{**arguments, **changes})


def row(theorem: bs.Theorem, **options: Any) -> Row:
    (only,) = bs.compare(theorem, **{"samples": 200, **options})
    return only


# --- judging ---------------------------------------------------------------------------------------------------------


def test_failures_over_seeds_are_judged_by_the_binomial_test() -> None:
    found = row(means())
    failures = sum(abs(float(signs(2, seed).mean())) > found.derived for seed in range(200))
    assert (found.seeds, found.failures, found.verdict) == (200, failures, {"derived": Verdict.KEPT})
    assert found.p_value == pytest.approx(binom.sf(failures - 1, 200, 0.74), rel=1e-9)
    assert found.derived == pytest.approx(math.sqrt(2 * math.log(2 / 0.74) / 2))
    assert (found.measured, found.attacked, found.attack_steps, found.median) == (1.0, None, 0, 1.0 * (failures > 100))
    assert found.quantifier == "with probability at least 1 - delta over signs"


def stated(**given: Any) -> Quantity:
    """An upper bound on the mean that holds with probability, as a quantity of its own."""
    known = {
        "kind": bs.statements.Kind.UPPER,
        "quantifier": bs.statements.Quantifier.PROBABILITY,
        "randomness": "signs",
    }
    words = {"name": "mean", "latex_symbol": r"\mu", "meaning": "error of mean", "norm": "sup norm", "domain": ""}
    return Quantity(**{**words, **known, **given})


@pytest.mark.long
def test_a_stated_probability_that_is_halved_is_found_out() -> None:
    """The bound of share 2 delta is exceeded half of the time, and delta is 0.37."""
    bound = conclusion(share=2 * delta).error
    lying, honest = (means(stated(failure=each), printed={"mean": bound}) for each in (delta, 2 * delta))
    found = [row(each, samples=600, delta=0.37) for each in (lying, honest)]
    assert [each.verdict["printed"] for each in found] == [Verdict.VIOLATED, Verdict.KEPT]
    assert found[0].failures == found[1].failures
    assert found[0].p_value < LEVEL < 0.5 < found[1].p_value


def test_a_stated_probability_below_that_of_the_derivation_is_refused() -> None:
    with pytest.raises(UsageError, match=r"states a probability of failure of delta.* add up to 2\*delta"):
        means(stated(derivation=conclusion(share=2 * delta).derivation, failure=delta))


def test_a_printed_bound_is_judged_at_the_same_probability() -> None:
    theorem = means(printed={"mean": B / 2})
    found = row(theorem)
    assert found.verdict == {"printed": Verdict.KEPT, "derived": Verdict.KEPT}  # 1/2 of 0.74
    found = row(theorem, delta=0.2)
    assert found.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT}
    assert (found.failures, found.remark.startswith("printed: ")) == (0, True)
    claimed = row(means(), delta=0.2, claim="mean <= B/2")
    assert claimed.verdict == {"claimed": Verdict.VIOLATED, "derived": Verdict.KEPT}


def test_a_bound_that_an_error_equals_is_not_exceeded() -> None:
    """Exact arithmetic decides: the error 1 is at most 1, and above 1 - 2^-60."""
    assert row(means(printed={"mean": B}), delta=0.01).verdict["printed"] is Verdict.KEPT
    below = row(means(printed={"mean": B * (1 - sp.Rational(1, 2**60))}), delta=0.01)
    assert below.verdict["printed"] is Verdict.VIOLATED


def test_the_statement_is_outside_where_its_obligations_fail() -> None:
    found = row(means(hypotheses=[]), delta=1.5)
    assert found.verdict == {"derived": Verdict.OUTSIDE}
    assert "share of mean is at most 1" in found.remark


def test_a_bound_that_may_always_fail_is_vacuous() -> None:
    """Two events of share 0.6 each: their budget is above 1."""
    two = bs.rules.add(
        conclusion(share=delta),
        bs.rules.sample_mean(
            bs.rules.given("t", dim=1, size=B), "again", count=n, event=bs.Event("again", "signs", delta)
        ),
        name="both",
    )
    found = row(means(two), delta=0.6, n=100)
    assert (found.flags, found.p_value) == ({"derived": ["vacuous"]}, 1.0)
    assert found.quantifier == "with probability at least 1 - 2*delta over signs"
    assert row(means(two), delta=0.4, n=100).flags == {}


def third(signs: torch.Tensor, B: Any) -> torch.Tensor:
    """B times the mean of the signs, and in floats the rounding of two larger numbers that cancel."""
    return ((1e7 * signs / 3).sum() - 1e7 * signs.sum() / 3 + B * signs.mean())[None]


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rounding_is_no_failure(dtype: str) -> None:
    theorem = means(network=third, printed={"mean": B / 10**6})
    found = row(theorem, n=100, delta=0.5, B=1e-10, dtype=dtype)
    assert found.measured > 100 * found.derived
    assert found.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT}
    failures = sum(abs(float(signs(100, seed).mean())) > found.derived / 1e-10 for seed in range(200))
    assert (found.failures, replay_witness(found.witness, theorem=theorem).verdict) == (failures, found.verdict)


def test_rounding_does_not_refute_an_expectation() -> None:
    mean = bs.rules.expected_mean(bs.rules.given("sign", dim=1, size=B), "mean", count=n, over="signs")
    found = row(means(mean, network=third, hypotheses=[], parameters={B: 1e-10, n: 100}))
    assert found.measured > 100 * found.derived
    assert found.verdict == {"derived": Verdict.KEPT}


def test_too_large_for_an_exact_run_an_estimate_of_the_rounding_is_no_failure() -> None:
    theorem = replace(means(network=third), exact=ExactRuns(limit=10))
    assert row(theorem, n=1000, delta=0.5, B=1e-10).verdict == {"derived": Verdict.KEPT}
    larger = replace(means(printed={"mean": B / 4}), exact=ExactRuns(limit=10))
    assert row(larger, delta=0.2).verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT}


# --- other inputs ----------------------------------------------------------------------------------------------------


def on_a_ball(**changes: Any) -> bs.Theorem:
    """sup over x of <x, mean of n sign vectors>: the attack finds the norm of the mean."""
    one = bs.rules.given("coordinate", dim=d, size=1)
    mean = bs.rules.sample_mean(one, "mean", count=n, event=bs.Event("mean", "the draw of V"))
    in_two = bs.rules.change_norm(bs.rules.within_budget(mean, "coordinates", delta=delta), 2, "mean in R^d")
    inner = bs.rules.linear_map(in_two, "inner", operator_norm=1, dim=1)
    arguments: dict[str, Any] = {
        "parameters": {n: 16, d: 3, delta: 0.1},
        "hypotheses": [delta < 1],
        "weights": {"V": lambda n, d, seed: signs(n * d, seed).reshape(n, d)},
        "inputs": {"x": bs.domains.Ball(d)},
        "network": lambda V, x: (V.mean(0) @ x)[None],
        "reference": lambda x: torch.zeros(1, dtype=x.dtype),
        "random": {"the draw of V": "V"},
    }
    return bs.theorem("ball", inner, **{**arguments, **changes})


def test_other_inputs_are_attacked_for_each_draw() -> None:
    found = row(on_a_ball(), samples=20, attack=20, restarts=4)
    norms = [float(torch.linalg.vector_norm(signs(48, seed).reshape(16, 3).mean(0))) for seed in range(20)]
    assert found.attacked == pytest.approx(max(norms), rel=1e-6)
    assert found.measured < found.attacked <= found.derived
    assert found.median == pytest.approx(
        float(torch.tensor(norms, dtype=torch.float64).sort().values[9:11].mean()), rel=1e-6
    )
    assert (found.attack_steps, found.restarts) == (20, 4)


def test_a_random_input_is_drawn_and_the_others_are_attacked() -> None:
    theorem = on_a_ball(
        weights={},
        inputs={"V": bs.domains.Rows(n, bs.domains.Signs(d)), "x": bs.domains.Ball(d)},
        random={"the draw of V": ("V",)},
    )
    found = row(theorem, samples=10, attack=10, restarts=4)
    again = row(theorem, samples=10, attack=10, restarts=4)
    assert found == again
    assert found.quantifier.endswith(" over the draw of V, for all x at once")
    assert 0.1 < found.median < found.attacked <= found.derived
    assert row(theorem, samples=10, attack=10, restarts=4, seed=5).attacked != found.attacked


def test_what_is_built_from_the_randomness_is_built_for_each_draw() -> None:
    theorem = means(built={"sum_of": lambda signs: signs.sum()}, network=lambda sum_of, B, n: (B * sum_of / n)[None])
    assert row(theorem).failures == row(means()).failures


def test_functions_that_draw_by_the_same_seed_draw_apart() -> None:
    """The product of two such sign vectors, which would be all ones, has the mean of one of them."""
    theorem = means(
        conclusion(over="two draws"),
        weights={"one": signs, "two": signs},
        network=lambda one, two, B: B * (one * two).mean()[None],
        random={"two draws": ("one", "two")},
    )
    found = row(theorem, n=16, delta=0.3)
    assert found.median == pytest.approx(0.2, abs=0.1)
    assert found.verdict == {"derived": Verdict.KEPT}


# Of numbers that were drawn as finished floats no run in another format measures the rounding: the theorem gives it.
@pytest.mark.parametrize(
    ("rounding", "verdict", "failures"),
    [
        (0.0, Verdict.VIOLATED, 100),
        (1.4, Verdict.VIOLATED, 100),
        (1.6, Verdict.UNDECIDED, 0),
        (math.inf, Verdict.UNDECIDED, 0),
    ],
)
def test_an_excess_within_the_rounding_that_the_theorem_gives_is_undecided(
    rounding: float, verdict: Verdict, failures: int
) -> None:
    own = {"mean": lambda signs: rounding + 0 * signs.sum()}
    found = row(replace(means(network=lambda signs: 2.5 + 0 * signs[:1]), rounding=own), samples=100)
    assert found.derived == pytest.approx(0.997, abs=1e-3)
    assert (found.verdict, found.failures) == ({"derived": verdict}, failures)
    assert found.rounding == (None if rounding == math.inf else rounding)
    assert ("100 draws decide nothing" in found.remark) == (failures == 0)
    if failures:
        assert found.witness.error_lower == 2.5 - rounding


def test_an_own_rounding_does_not_refute_an_expectation() -> None:
    theorem = expected(sp.Rational(1, 3))
    assert (
        row(replace(theorem, rounding={"scaled": lambda B: 0.0 * B}), samples=300).verdict["derived"]
        is Verdict.VIOLATED
    )
    assert row(replace(theorem, rounding={"scaled": lambda B: B}), samples=300).verdict["derived"] is Verdict.KEPT


# --- in expectation --------------------------------------------------------------------------------------------------


def expected(factor: Any = 1, **changes: Any) -> bs.Theorem:
    mean = bs.rules.expected_mean(bs.rules.given("x_i", dim=d, norm=2, size=B), "mean", count=n, over="x")
    scaled = bs.rules.linear_map(mean, "scaled", operator_norm=factor, dim=d)
    arguments: dict[str, Any] = {
        "parameters": {B: 1.0, n: 16, d: 3},
        "inputs": {"x": bs.domains.Rows(n, bs.domains.Sphere(d, radius=B))},
        "network": lambda x: x.mean(0),
        "reference": lambda d: torch.zeros(d, dtype=torch.float64),
    }
    return bs.theorem("expected", scaled, **{**arguments, **changes})


def test_an_expectation_is_judged_by_a_confidence_limit() -> None:
    found = row(expected(), samples=300)
    assert found.verdict == {"derived": Verdict.KEPT}
    assert (found.quantifier, found.seeds, found.failures) == ("in expectation over x", 300, None)
    assert found.mean_at_least < found.measured < found.derived == 0.25
    assert found.ratio == pytest.approx(0.25 / found.measured)


def test_a_bound_below_the_expectation_is_found_out_and_replayed() -> None:
    theorem = expected(sp.Rational(1, 3))
    found = row(theorem, samples=300)
    assert found.verdict == {"derived": Verdict.VIOLATED}
    again = replay_witness(found.witness, theorem=theorem)
    assert (again.verdict, again.mean_at_least) == (found.verdict, found.mean_at_least)


# --- witnesses and tables --------------------------------------------------------------------------------------------


def test_the_seeds_that_failed_are_the_witness_and_are_replayed(tmp_path: Path) -> None:
    theorem = means(printed={"mean": B / 2})
    found = row(theorem, delta=0.2, seed=7)
    failed = [seed for seed in range(7, 207) if abs(float(signs(2, seed).mean())) > 0.5]
    assert found.witness.inputs == {"seeds": failed}
    assert found.witness.settings == {"samples": 200, "seed": 7, "attack": 0, "restarts": 0}
    assert "signs" not in found.witness.params
    path = tmp_path / "w.json"
    path.write_text(found.witness.model_dump_json())
    again = bs.replay(str(path), theorem)
    assert again.verdict == found.verdict
    assert again.remark == found.remark
    forged = found.witness.model_copy(update={"inputs": {"seeds": [1]}})
    with pytest.raises(UsageError, match="the seeds of the witness of 'mean' are not those of its run"):
        replay_witness(forged, theorem=theorem)
    forged = found.witness.model_copy(update={"settings": None})
    with pytest.raises(UsageError, match="has to give the seeds, and the settings of the run"):
        replay_witness(forged, theorem=theorem)


def test_fewer_seeds_than_failed_refute_less() -> None:
    theorem = means(printed={"mean": B / 2})
    found = row(theorem, delta=0.2)
    few = found.witness.model_copy(update={"inputs": {"seeds": found.witness.inputs["seeds"][:45]}})
    assert replay_witness(few, theorem=theorem).verdict["printed"] is Verdict.KEPT


def test_table_and_record_show_failures_seeds_and_p_value() -> None:
    comparison = bs.compare(means(printed={"mean": B / 2}), samples=200, delta=0.2)
    text = str(comparison)
    assert all(heading in text for heading in ("failures", "seeds", "p value", "median"))
    assert "with probability at least 1 - delta over signs" in text
    assert "draws exceed 0.5" in text
    record = json.loads(comparison.to_json())["rows"][0]
    assert {"seeds", "failures", "p_value", "median"} <= set(record)
    assert "mean_at_least" not in record
    assert "p value" in comparison._repr_html_()


def test_rows_of_other_theorems_have_none_of_these_fields() -> None:
    plain = bs.theorem(
        "plain",
        bs.rules.given("y", dim=1, size=1, error=B),
        parameters={B: 1.0},
        inputs={"x": bs.domains.Box(1)},
        network=lambda x: x,
        reference=lambda x: x,
    )
    record = json.loads(bs.compare(plain, samples=2, attack=0).to_json())["rows"][0]
    assert not {"seeds", "failures", "p_value", "median", "mean_at_least"} & set(record)


# --- the example -----------------------------------------------------------------------------------------------------


def test_the_example_is_short_and_runs_as_a_theorem_of_the_command(run: Command) -> None:
    lines = [line for line in EXAMPLE.read_text().splitlines() if line.strip() and not line.startswith(("#", '"""'))]
    assert len(lines) <= 31
    outcome = run("compare", EXAMPLE, "--samples", "50", "--set", "n=16")
    assert outcome.code == 0
    assert "with probability at least 1 - delta over signs" in outcome.out
    assert "attack = 5 has no effect" in refused(run("compare", EXAMPLE, "--attack", "5"))
    shown = run("show", EXAMPLE).out
    assert "with probability at least 1 - delta" in shown


def test_the_example_is_solved_for_n_and_for_delta() -> None:
    own = runpy.run_path(str(EXAMPLE))["own"]
    least = bs.solve(own, for_="n", error=0.1)
    assert least.value == math.ceil(2 * math.log(2 * 8 / 0.05) / 0.1**2)
    smallest = bs.solve(own, for_="delta", error=0.3, n=256)
    assert smallest.value == pytest.approx(16 * math.exp(-256 * 0.3**2 / 2), rel=1e-6)
    assert "guarantees that with probability at least 1 - delta over " in str(smallest)
    draws = bs.solve(expected(), for_="n", error=0.05)
    assert draws.value == 400


# --- bad input -------------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an attack over named randomness": (
        lambda: bs.compare(means(), attack=10),
        r"attack = 10 has no effect on any row of means \(the inputs are named randomness: they are drawn by seeds",
    ),
    "randomness that is not drawn": (
        lambda: means(conclusion(over="the draw of W")),
        "'mean' holds with probability over the draw of W, which is not a weight or input; name those that are drawn",
    ),
    "no named randomness": (
        lambda: means(stated(randomness="", failure=delta)),
        "'mean' holds with probability, but names no randomness",
    ),
    "no probability": (
        lambda: means(stated()),
        "'mean' holds with probability, but nothing says with which; give failure=",
    ),
    "a lower bound": (
        lambda: means(stated(kind=bs.statements.Kind.LOWER, quantifier=bs.statements.Quantifier.EXPECTATION)),
        "'mean' holds in expectation and is not an upper bound; give a check that judges it",
    ),
    "a weight that is not drawn": (
        lambda: means(weights={"signs": lambda n: torch.ones(n, dtype=torch.float64)}),
        "the weight signs is the randomness of 'mean', but its function takes no seed",
    ),
    "randomness of nothing": (
        lambda: means(random={"the draw of W": "signs"}),
        "`random` has the draw of W, over which no quantity holds",
    ),
    "a free share": (lambda: means(conclusion(share=None)), "nothing gives share_mean in the bound of 'mean'"),
    "a budget of 0": (lambda: bs.compare(means(), delta=0.0), "delta = 0.0 does not meet delta > 0"),
    "a budget above 1": (lambda: bs.compare(means(), delta=1.5), "delta = 1.5 does not meet delta < 1"),
    "no draws": (lambda: bs.compare(means(), n=0), "n = 0 does not meet n >= 1"),
    "no network": (lambda: bs.compare(means(network=None)), "has no network for 'mean'"),
}


@pytest.mark.parametrize("which", REFUSED)
def test_bad_input_is_refused(which: str) -> None:
    make, message = REFUSED[which]
    with pytest.raises(UsageError, match=message):
        make()
