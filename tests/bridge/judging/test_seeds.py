"""Claims over seeds: true ones, wrong ones, too few seeds; their rows, witnesses and refusals."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import boundsmith as bs
from bridge.instances.bound import Bound
from bridge.judging.judge import Judge
from bridge.theorems.check import as_ball
from bridge.theorems.record import Record, Row, Verdict

claim_over_seeds = bs.checks.claim_over_seeds
s = sp.Symbol("s", positive=True)


def loss(seed: int) -> float:
    return float(np.random.default_rng(seed).normal(1, 0.5))


def pair(seed: int) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal((np.log(4), 0), 0.1))


def falling(seed: int) -> np.ndarray:
    """Mean steps of -1, -1 and 0."""
    return np.array([2, 1, 0, 0]) + np.random.default_rng(seed).normal(0, 0.1, 4)


def theorem(*checks: bs.Check) -> bs.Theorem:
    return bs.theorem("experiment", parameters={s: 1.0}, checks=checks)


def row(*arguments: Any, seed: int = 0, **named: Any) -> Row:
    (found,) = bs.compare(theorem(claim_over_seeds(*arguments, **named)), seed=seed)
    return found


def verdicts(runs: int, seeds: int, **named: Any) -> Counter[Verdict]:
    check = claim_over_seeds("c", loss, seeds=seeds, level=0.2, **named)
    return Counter(_verdict(check, 1000 + seeds * run) for run in range(runs))


def _verdict(check: bs.Check, seed: int) -> Verdict:
    """Without the time that a comparison takes."""
    printed = check.quantity.printed
    assert callable(check.inputs)
    assert printed is not None
    sides = check.sides(seed=seed, **check.inputs(seed=seed))
    bound = {"printed": Bound(as_ball(printed.bound))}
    return Judge(check.quantity, bound, [], check.quantity.kind, 0, sides).verdicts()["printed"]


def test_a_true_claim_at_its_edge_is_refused_no_more_often_than_the_level_says() -> None:
    for kind in ("at_most", "at_least"):
        found = verdicts(600, 3, **{kind: 1})  # the mean is 1: the least favourable law of a true claim
        assert found[Verdict.VIOLATED] <= 60 + 4 * 60**0.5
        assert found[Verdict.CONSISTENT] <= 60 + 4 * 60**0.5
        assert found[Verdict.UNDECIDED] >= 400


def test_more_seeds_decide_what_few_leave_open() -> None:
    few, many = verdicts(60, 3, at_most=0.8), verdicts(10, 150, at_most=0.8)
    assert few[Verdict.UNDECIDED] > 30
    assert many[Verdict.VIOLATED] == 10
    assert verdicts(10, 150, at_most=1.2)[Verdict.CONSISTENT] == 10


@pytest.mark.parametrize(
    ("measure", "statistic", "bounds", "centre"),
    [
        (pair, "ratio", {"at_least": (3, 4.5)}, 4),
        (pair, "difference", {"at_most": (3.5, 2.5)}, 3),
        (falling, "largest step", {"at_most": (0.2, -0.2)}, 0),
        (falling, "smallest step", {"at_least": (-1.2, -0.8)}, -1),
    ],
)
@pytest.mark.parametrize("interval", ["t", "sign"])
def test_each_statistic_in_its_direction(
    measure: Any, statistic: str, bounds: dict[str, tuple[float, float]], centre: float, interval: str
) -> None:
    ((side, (true, false)),) = bounds.items()
    options = {"statistic": statistic, "seeds": 12, "interval": interval}
    held, failed = (row("c", measure, **{side: bound}, **options) for bound in (true, false))
    assert held.verdict == {"printed": Verdict.CONSISTENT}
    assert failed.verdict == {"printed": Verdict.VIOLATED}
    assert held.measured == pytest.approx(centre, abs=0.25)
    assert held.at_least < held.measured < held.at_most
    assert held.kind == {"at_most": "upper", "at_least": "lower"}[side]


def test_steps_take_all_columns_into_account() -> None:
    """A rise of one step of three is seen, however far the others fall."""
    rising = row("c", lambda seed: falling(seed) + np.array([0, 0, 0, 1]), statistic="largest step", at_most=0, seeds=6)
    assert rising.verdict == {"printed": Verdict.VIOLATED}
    assert row("c", falling, statistic="largest step", at_most=0, seeds=6).verdict == {"printed": Verdict.UNDECIDED}


def test_few_or_equal_values_are_undecided() -> None:
    found = row("c", lambda seed: 5.0, at_most=1)
    assert (found.verdict, found.at_least) == ({"printed": Verdict.UNDECIDED}, None)
    assert "These values give none: they are too few, or all the same. 0 of 3 seeds keep the bound 1" in found.remark
    assert row("c", loss, at_most=-9, seeds=5, interval="sign").verdict == {"printed": Verdict.UNDECIDED}
    assert row("c", loss, at_most=-9, seeds=6, interval="sign").verdict == {"printed": Verdict.VIOLATED}


def test_the_row_has_the_values_the_interval_and_its_assumption() -> None:
    found = row("small", lambda seed, s: loss(seed) * s, at_most=2 * s, seeds=4, seed=7)
    assert found.values == [loss(seed) for seed in (7, 8, 9, 10)]
    assert (found.seeds, found.level, found.seed, found.printed) == (4, 0.05, 7, 2)
    assert found.quantifier == "mean over 4 seeds"
    words = "mean over 4 seeds; the interval has a confidence of 1 - 0.05 if the law of a value is normal. 4 of 4 seeds"
    assert found.remark.startswith(words)
    ratio = row("c", pair, statistic="ratio", at_least=1).remark
    assert "geometric mean over 3 seeds" in ratio
    assert "if the law of the logarithm of a ratio is normal" in ratio
    assert "whatever the law is" in row("c", loss, at_most=2, seeds=6, interval="sign").remark


def test_tables_json_latex_and_legend(tmp_path: Path) -> None:
    checks = [claim_over_seeds(name, loss, at_most=bound) for name, bound in (("small", 5), ("tiny", -9))]
    found = bs.compare(theorem(*checks))
    text = found.table().text(100)
    assert all(f"\n{name}: " in text for name in ("at least", "at most", "level", "seeds", "small, tiny"))
    assert "consistent: the interval over seeds is within it" in text
    assert "tiny: printed violated. Found: the mean over 3 seeds is at least" in text
    again = Record.model_validate_json(found.to_json())
    assert again.rows == found.rows
    found.save(*(str(tmp_path / f"t.{kind}") for kind in ("tex", "md", "csv", "html")))
    assert all("at most" in (tmp_path / f"t.{kind}").read_text() for kind in ("tex", "md", "html"))
    assert "over seeds is within" in (tmp_path / "t.tex").read_text()
    statement = theorem(claim_over_seeds("c", loss, at_most=5, interval="sign")).latex()
    assert "Upper bound with probability at least $1/2$ (the seeds)" in statement


def test_a_violated_claim_is_replayed_from_its_seeds(tmp_path: Path) -> None:
    own = theorem(claim_over_seeds("small", loss, at_most=-9))
    (found,) = bs.compare(own, seed=5)
    assert found.witness is not None
    assert (found.witness.inputs, found.witness.error_lower) == ({"seeds": [5.0, 6.0, 7.0]}, found.at_least)
    path = tmp_path / "w.json"
    path.write_text(found.witness.model_dump_json())
    again = bs.replay(str(path), own)
    assert (again.verdict, again.values) == (found.verdict, found.values)
    path.write_text(found.witness.model_copy(update={"inputs": {"seeds": [5, 7, 9]}}).model_dump_json())
    with pytest.raises(bs.UsageError, match="the seeds of the witness are not those of its run"):
        bs.replay(str(path), own)


def test_a_quantity_of_a_paper_is_judged_by_its_printed_bound() -> None:
    printed = bs.statements.Printed(3 * s, bs.statements.Citation(None, "Fig. 1"))
    lower, upper = bs.statements.Kind.LOWER, bs.statements.Kind.EXACT
    about = ("triples", "r", "a ratio", "", "")
    expected = bs.statements.Quantifier.EXPECTATION
    stated = bs.statements.Quantity(*about, lower, expected, printed=printed, scopes=(), randomness="the seeds")
    found = row(stated, pair, statistic="ratio")
    assert (found.printed, found.verdict) == (3, {"printed": Verdict.CONSISTENT})
    for claim, more in ((stated, {"at_least": 3}), (bs.statements.Quantity(*about, upper, expected), {})):
        with pytest.raises(bs.UsageError, match="'triples': a Quantity has its own bound, an upper or a lower one"):
            claim_over_seeds(claim, pair, **more)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no bound": ({"at_most": None}, "'c': at_most = None, at_least = None; give one of the two"),
    "two bounds": ({"at_least": 1}, "'c': at_most = 1, at_least = 1; give one of the two"),
    "a bound of text": ({"at_most": "1"}, "'c': at_most = '1'; give a scalar SymPy expression or a number"),
    "no name": ({"claim": ""}, "claim = ''; give a name, or a Quantity"),
    "a function without seed": ({"measure": lambda s: s}, "give a function that takes `seed`"),
    "a statistic": ({"statistic": "mean"}, "statistic = 'mean'; give one of value, difference, ratio, largest step"),
    "an interval": ({"interval": "z"}, "interval = 'z'; give one of t, sign"),
    "one seed": ({"seeds": 1}, "seeds = 1; give a whole number, at least 2"),
    "many seeds": ({"seeds": 10**6}, "seeds = 1000000; give at most 10000"),
    "a level": ({"level": 1.0}, "level = 1.0; give a number between 0 and 1, such as 0.05"),
    "a pair": ({"measure": pair}, r"the measurement at seed 0 is array\(.*; a value takes a number"),
    "no pair": ({"statistic": "ratio"}, "the measurement at seed 0 is .*; a ratio takes a pair of numbers above 0"),
    "a ratio below 0": ({"measure": lambda seed: (1, -1), "statistic": "ratio"}, "a ratio takes a pair of numbers"),
    "a wide ratio": ({"measure": lambda seed: (1e300, 1e-9), "statistic": "ratio"}, "with a ratio between 1e-304 and"),
    "one step": ({"measure": lambda seed: [1], "statistic": "largest step"}, "takes two or more numbers along a path"),
    "text": ({"measure": lambda seed: "1 apple"}, "the measurement at seed 0 is '1 apple'; a value takes a number"),
    "nan": ({"measure": lambda seed: np.nan}, "is nan, which is not finite; of a run that diverges"),
    "paths": (
        {"measure": lambda seed: range(2 + seed), "statistic": "largest step"},
        r"paths of \[2, 3, 4\] numbers; give as many for each seed",
    ),
    "an error": ({"measure": lambda seed: [][seed]}, "'c': the measurement raised IndexError"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=list(WRONG))
def test_wrong_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"claim": "c", "measure": loss, "at_most": 1, **change}
    with pytest.raises(bs.UsageError, match=f"claim_over_seeds.*{message}"):
        bs.compare(theorem(claim_over_seeds(arguments.pop("claim"), arguments.pop("measure"), **arguments)))


def test_a_seed_that_a_witness_cannot_hold_is_refused() -> None:
    with pytest.raises(bs.UsageError, match=r"seed = 9007199254740992; give one below 2\^53 - 3"):
        row("c", loss, at_most=1, seed=2**53)
