"""What the engine does with obligations, and with sizes at which no exact run is made."""

import math
from dataclasses import replace

import pytest
import sympy as sp

from bridge.instances.instance import Instance
from bridge.instances.runs import Runs
from bridge.judging.judge import Evidence, flags_of, judge
from bridge.questions.compare import compare
from bridge.theorems.record import Flag, Row, Verdict
from bridge.topics.induction.vanilla import VANILLA as HEAD
from bridge.topics.induction.vanilla import L
from numeric.balls.limits import ExactCost, TooLargeForExact
from symbolic.derivations.derivation import Derivation, Obligation
from symbolic.statements.result import Quantity


def with_obligation(condition: object) -> Quantity:
    quantity = HEAD.statement.quantity("y")
    first = replace(quantity.derivation.steps[0], obligations=(Obligation("L is large", condition),))
    return replace(quantity, derivation=Derivation((first, *quantity.derivation.steps[1:])))


@pytest.fixture
def instance() -> Instance:
    return Instance.of(HEAD, {"p": 1, "L": 8, "d": 1, "W_star": 1.0})


def test_obligations_are_looked_up_at_the_parameters(instance: Instance) -> None:
    small, derived = [Evidence(1e-3, None, 1e-16)], instance.bounds.derived
    met, failing = derived(with_obligation(sp.Ge(L, 5))), derived(with_obligation(sp.Ge(L, 9)))
    unknown = derived(with_obligation(sp.Ge(sp.Symbol("unknown"), 9)))
    assert judge(met, small) is Verdict.KEPT
    assert flags_of(met, None, small) == []
    assert judge(failing, small) is Verdict.OUTSIDE
    assert "L is large" in failing.outside
    assert flags_of(unknown, None, small) == [Flag.CONDITIONAL]
    assert instance.bounds.instance(with_obligation(sp.Ge(L, 9)), "network").outside


@pytest.mark.long
def test_without_an_exact_run_nothing_below_the_rounding_counts_as_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise TooLargeForExact("induction.vanilla", 8, ExactCost(10, 10), 1)

    monkeypatch.setattr(Runs, "exact", refuse)
    rows = compare("induction.vanilla", p=(2, 800), L=8, samples=4, attack=5, restarts=2).rows
    for row in rows:
        if row.quantity == "output" and row.scope == "network":
            expected = Verdict.KEPT if row.params["p"] == 2 else Verdict.NOT_REPRESENTABLE
            assert row.verdict["derived"] is expected
            assert "only estimated" in row.remark
            assert row.exact is None
            assert "exact arithmetic used" not in row.remark


def test_what_is_no_number_is_absent_from_the_record() -> None:
    row = Row(quantity="y", kind="upper", quantifier="for all inputs", params={}, printed=math.inf, measured=math.nan)
    assert (row.printed, row.measured) == (None, None)


@pytest.mark.parametrize("p", [1e6, 1e12])
def test_a_bound_of_countless_bits_is_not_representable_and_ends_soon(p: float) -> None:
    rows = compare("induction.vanilla", p=p, L=8, samples=2, attack=1, restarts=1).rows
    (output,) = (row for row in rows if row.quantity == "output" and row.scope == "network")
    assert output.verdict["derived"] is Verdict.NOT_REPRESENTABLE
    assert "bits" in output.remark
    (near,) = (row for row in rows if row.quantity == "output" and row.scope == "prompt")
    assert near.verdict["instance"] is Verdict.NOT_REPRESENTABLE
    assert "to read the derivation at so small a bound would take more than 32768 bits" in near.remark
