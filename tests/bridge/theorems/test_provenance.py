"""Every derived bound of a registered result says how it was obtained, and so do those of anybody's own theorem."""

import json
import re

import pytest
import sympy as sp

import boundsmith as bs
from bridge.cli.description import result_record
from bridge.cli.entry import main
from bridge.instances.point import resolved
from bridge.questions.certify.stating import inequalities_of
from bridge.theorems.registry import find_theorem
from symbolic.derivations.derivation import Norm, Step
from symbolic.derivations.provenance import Provenance
from symbolic.statements.catalogue import RUNNING, find_result
from tests.yardstick.records import RECORDS, path_of, stored

RULES, ALGEBRA, CERTIFICATE, HAND = Provenance
n = sp.Symbol("n", integer=True, positive=True)
eps = sp.Symbol("eps", positive=True)


@pytest.mark.parametrize("id", RUNNING)
def test_every_derived_bound_has_its_word(id: str) -> None:
    """A formula that `show` prints, and a quantity whose row in `compare` has a derived number."""
    assert path_of(id, RECORDS).exists()
    numbers = {row.quantity for row in stored(id, RECORDS) if row.derived is not None}
    for each in find_result(id).quantities:
        derived = each.name in numbers or each.derivation is not None or each.closed_form is not None
        assert isinstance(each.provenance, Provenance) or not derived, each.name


@pytest.mark.parametrize("id", RUNNING)
def test_what_is_proved_by_certificate_has_inequalities_to_certify(id: str) -> None:
    result = find_result(id)
    if any(each.provenance is CERTIFICATE for each in result.quantities):
        theorem = find_theorem(id)
        assert theorem.inequalities
        assert inequalities_of(theorem, resolved(theorem, {}))


def own(conclusion: bs.Approximated) -> bs.statements.Quantity:
    theorem = bs.theorem("mine", conclusion, parameters={eps: 0.1, n: 3}, network=lambda: 0, reference=lambda: 0)
    return theorem.statement.quantity(conclusion.name)


def test_the_word_of_ones_own_theorem_is_that_of_its_conclusion() -> None:
    x = bs.rules.given("x", dim=n, size=1, error=eps)
    mapped = bs.rules.linear_map(x, "z", operator_norm=2, dim=n)
    assert own(mapped).provenance is RULES
    assert own(x).provenance is HAND  # the bound is the hypothesis
    typed = mapped.follows(Step("y", Norm.INF, "linear map", 3 * eps, ("z",)), dim=n, size=sp.Integer(1))
    assert own(typed).origin == f"{HAND} (y)"
    assert own(bs.rules.mean(typed, "m")).origin == f"{HAND} (y)"


def test_show_says_it_in_the_terminal_in_latex_and_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {"induction.vanilla": RULES, "induction.karamata": ALGEBRA, "induction.lyapunov_head": CERTIFICATE}
    for id, word in {**wanted, "induction.trends": HAND}.items():
        assert main(["show", id]) == 0
        words = word if word is RULES else f"derived ({word})"
        assert f"    {words}" in capsys.readouterr().out
        assert re.search(rf"\nD{re.escape(words[1:])}[:,]", find_result(id).latex())
        assert f"text{{{words}}}" in find_result(id)._repr_latex_()
        assert main(["show", id, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert word in {each["provenance"] for each in shown["quantities"]}


def test_the_steps_by_hand_are_named() -> None:
    assert find_result("icgd.relu_sum").quantity("error").origin == f"{HAND} (secant; error)"
    assert find_result("icgd.trajectory").quantity("gradient_mapping").origin == RULES
    record = result_record(find_result("icgd.relu_sum"))
    assert {step["provenance"] for step in record["derivation"] if step["name"] == "secant"} == {HAND}
    steps = result_record(find_result("icgd.trajectory"))["derivation"]
    words = {step["name"]: step["provenance"] for step in steps}
    assert words["gradient_mapping"] == RULES
    assert words["f(w^0) - inf f"] is None
