"""How closely each rule is attained, in each pair of norms that it accepts, and where no case attains it."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import symbolic.calculus
from benchmarks.sharpness import WITHIN, lines, main
from symbolic.calculus import DerivationError, Norm
from tests.symbolic.fuzzing import planted
from tests.symbolic.fuzzing.fuzzer import MOVES, library
from tests.symbolic.sharpness import ATTAINING, attained
from tests.symbolic.sharpness.attaining import Attaining, along, shown_along
from tests.symbolic.sharpness.regions import REGIONS, Region
from tests.symbolic.sharpness.search import largest

ROWS = attained(ATTAINING)
ROOT = Path(__file__).parents[3]
SOURCES = Path(symbolic.calculus.__file__).parent
COMPOSED = "then change_norm"


def test_each_bound_is_attained_within_five_percent_and_not_exceeded() -> None:
    assert all(row.ratio <= 1 + 1e-9 for row in ROWS)
    assert [str(row) for row in ROWS if row.ratio < WITHIN] == []


def test_every_rule_that_concludes_a_value_is_listed() -> None:
    assert {each.rule for each in ATTAINING} == {move.rule for move in MOVES.values()}


@pytest.mark.parametrize("each", [each for each in ATTAINING if each.variant != COMPOSED], ids=lambda e: e.rule)
def test_a_rule_that_takes_the_norm_of_its_conclusion_is_listed_for_all_three(each: Attaining) -> None:
    taken = inspect.signature(library()[each.rule]).parameters.keys() & {"target", "norm"}
    assert each.target == bool(taken - ({"norm"} if each.rule == "given" else set()))
    targets = {row.target for row in each.rows()}
    assert not each.target or targets == set(Norm)


def test_the_table_is_what_it_was(snapshot) -> None:
    assert "\n".join(lines(short=True)) == snapshot


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: f"{region.rule}, {region.where}")
def test_the_ratio_that_a_proof_states_is_what_a_search_finds(region: Region) -> None:
    assert region.found() == pytest.approx(float(region.ratio), rel=0.01)
    comments = re.findall(r"(?:^#.*\n)+|\"\"\".*?\"\"\"", (SOURCES / f"{region.source}.py").read_text(), re.M | re.S)
    written = {"128": "2^(2^n - 1)"}.get(region.ratio, region.ratio)
    assert any(re.search(rf"(?<![\d.]){re.escape(written)}(?![\d])", each) for each in comments)


ANY = set(Norm)
CELLS = dict.fromkeys(("any", "any (`target`)", "any (`norm`)", "1, or any (`target`)"), ANY)
CELLS |= {"inf, 2": {Norm.INF, Norm.TWO}} | {str(norm): {norm} for norm in Norm}
ROW = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \| .* \| ([^|]+) \| ([^|]+) \|$", re.M)


def test_the_readme_says_which_norms_a_rule_takes_and_gives() -> None:
    """Where its table does so by a name of a norm; the others are of several premises, or keep the norm."""
    listed, compared = set(), 0
    for rules, taken, given in ROW.findall((ROOT / "docs" / "tutorial.md").read_text()):
        for rule in re.findall(r"\w+", rules):
            listed.add(rule)
            rows = [row for row in ROWS if row.rule.split(",")[0] == rule and COMPOSED not in row.rule]
            sources = {row.source[0] for row in rows if row.source}
            for cell, norms in ((taken, sources), (given, {row.target for row in rows})):
                if norms and cell in CELLS:
                    assert norms == CELLS[cell], (rule, cell)
                    compared += 1
    assert {each.rule for each in ATTAINING} <= listed
    assert compared > 40


# --- the tools -------------------------------------------------------------------------------------------------------


def mean_twice_too_large(which: Norm) -> object:
    def doubled(value: symbolic.calculus.Approximated) -> symbolic.calculus.Approximated:
        return planted.with_last(value, local=2 * value.derivation.steps[-1].local)

    return shown_along(doubled(symbolic.calculus.mean(along(which, 2, 0.5), "m")), 2, 2.5)


def test_a_constant_twice_too_large_is_marked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    wrong = Attaining("mean", "all alike", mean_twice_too_large)
    assert [row.ratio for row in wrong.rows()] == pytest.approx([0.5] * 3)
    monkeypatch.setattr("benchmarks.sharpness.ATTAINING", (wrong,))
    monkeypatch.setattr("benchmarks.sharpness.REGIONS", REGIONS[:1])
    assert main(["--short"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("NOT ATTAINED") == 3
    assert "3 pairs of norms; not attained within 5 %: 3" in shown


def test_weights_restated_with_the_factor_of_any_vector_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the 1-norm, softmax would cost twice as much in the sup norm."""
    of_any = dict.fromkeys(Norm, sp.Integer(2))
    monkeypatch.setattr(symbolic.calculus.sums, "OF_WEIGHTS", of_any)
    restated = next(each for each in ATTAINING if (each.rule, each.variant) == ("softmax", COMPOSED))
    ratios = {row.target: row.ratio for row in restated.rows() if row.source == (Norm.INF,)}
    assert ratios == pytest.approx({Norm.INF: 0.5, Norm.ONE: 1.0, Norm.TWO: np.sqrt(0.5)})


def test_only_refusals_of_norms_leave_a_pair_out() -> None:
    def refused(which: Norm) -> float:
        raise DerivationError("the size of 'x' is -1")

    with pytest.raises(DerivationError, match="the size of 'x' is -1"):
        list(Attaining("mean", "none", refused).rows())


def test_the_search_finds_what_is_known_and_is_the_same_for_a_seed() -> None:
    def hill(points: np.ndarray) -> np.ndarray:
        return 3 - ((points - 0.3) ** 2).sum(-1)

    found = [largest(hill, np.zeros(3), np.ones(3), seed) for seed in (0, 0, 1)]
    assert found == pytest.approx([3.0] * 3, abs=1e-6)
    assert found[0] == found[1] != found[2]
    assert largest(lambda p: p[:, 0], np.array([-1.0]), np.array([2.0])) == 2.0
