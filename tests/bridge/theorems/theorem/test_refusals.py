"""What a theorem cannot mean: each refusal is a usage error that names the theorem, the culprit and the remedy."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sympy as sp
import torch
from torch import Tensor

import boundsmith as bs
from numeric.balls.limits import ExactCost, TooLargeForExact
from tests.bridge.theorems.theorem.theorems import compared, d, eps, n, product, rho, row_of, scaled

ERRATUM = bs.statements.Erratum(
    bs.statements.Weight.NOTATION,
    bs.statements.Citation(None, "Lemma 1"),
    "a sentence",
    "read so",
    "repaired",
    "yes: so",
)


def check(**changes: Any) -> bs.Check:
    quantity = bs.statements.Quantity(
        "area", "A", "an area", "", "", bs.statements.Kind.UPPER, bs.statements.Quantifier.FOR_ALL, scopes=()
    )
    return bs.Check(**{"quantity": quantity, "sides": lambda: bs.Sides(found=1, derived=2), **changes})


@dataclass
class Sized:
    eps: float
    d: int = 7


KNOWN: dict[str, Any] = {"printed": {"out": eps * rho}, "worst": {rho: 1}}

# What is refused when the theorem is stated: the arguments, and what the message says.
STATED: dict[str, tuple[dict[str, Any], str]] = {
    "a network of an unknown name": (
        {"network": lambda x, zeta: x},
        "scaled: the network takes zeta, which is not a parameter, weight or input; it may take d, eps, x",
    ),
    "any arguments": ({"network": lambda *x: x}, "takes *args or **kwargs; name the parameters"),
    "any keywords": ({"reference": lambda **x: x}, "takes *args or **kwargs; name the parameters"),
    "a builtin function": ({"network": torch.relu}, "relu does not say what it takes; write lambda x: relu(x)"),
    "a default that hides a parameter": (
        {"built": {"sized": Sized}},
        "scaled: what builds sized has a default for d, with which it would always be called; remove the default, or",
    ),
    "what is built before itself": (
        {"built": {"first": lambda second: second, "second": lambda eps: eps}},
        "what builds first takes second, which is not a parameter, weight or what is built before; it may take d, eps",
    ),
    "a default that hides what a check knows": (
        {"checks": [check(inputs=lambda: [{"z": 1.0}], sides=lambda z, d=7: bs.Sides(found=z, derived=d))]},
        "the check 'area' has a default for d, with which it would always be called",
    ),
    "a letter of a domain": (
        {"inputs": {"x": bs.domains.Box(n)}},
        "scaled: the domain Box(n, size=1) of x has n, which is not a parameter; parameters: d, eps",
    ),
    "a letter of rows": (
        {"inputs": {"x": bs.domains.Rows(3, bs.domains.Ball(d, radius=n))}},
        "has n, which is not a parameter",
    ),
    "a letter of a weight's domain": (
        {"weights": {"W": bs.domains.Sphere(d, radius=n)}},
        "of W has n, which is not a param",
    ),
    "a letter of a bound": (
        {"printed": {"out": n}},
        "nothing gives n in the bound of 'out' a value; make it a parameter, or give its worst case in `worst`",
    ),
    "a printed formula of nothing": (
        {"printed": {"y": eps}},
        "`printed` names y, which is not a quantity; it has: out",
    ),
    "a network of nothing": (
        {"network": {"y": lambda x: x}},
        "scaled: a network is given for y, which is not a quantity; it has: out",
    ),
    "a reading of nothing": (
        {"network": bs.Transformer(lambda d: d, lambda x: x, {"y": lambda output: output})},
        "something read off a transformer is given for y, which is not a quantity",
    ),
    "a weight that takes an input": (
        {"weights": {"W": lambda x: x}},
        "the weight W takes x, which is not a parameter, earlier weight or seed; it may take d, eps, seed",
    ),
    "an input named as a parameter": (
        {"inputs": {"eps": bs.domains.Box(d)}, "network": lambda eps: eps, "reference": lambda eps: eps},
        "scaled: eps names more than one thing; give each parameter, weight and input a name of its own",
    ),
    "a weight named as an input": ({"weights": {"x": bs.domains.Box(d)}}, "x names more than one thing"),
    "a weight named as a parameter": ({"weights": {"d": bs.domains.Box(d)}}, "d names more than one thing"),
    "two parameters of one name": ({"parameters": {eps: 1, sp.Symbol("eps"): 2, d: 3}}, "eps names more than one"),
    "a parameter that compare has": (
        {"parameters": {eps: 1, d: 3, sp.Symbol("seed"): 2}},
        "seed cannot name a parameter: it is an argument of compare, solve or certify; take another letter",
    ),
    "a false hypothesis": ({"hypotheses": [d < 1]}, "is False whatever the parameters are"),
    "a comparison by ==": ({"hypotheses": [eps == d]}, "written with ==, where sp.Eq is meant"),
    "no relation": ({"hypotheses": [eps + d]}, "the hypothesis d + eps is not a relation between parameters"),
    "a relation of other letters": ({"hypotheses": [n >= 2]}, "the hypothesis n >= 2 is not a relation between para"),
    "a check of an unknown name": (
        {"checks": [check(sides=lambda zeta: zeta)]},
        "the check 'area' takes zeta, which is not a parameter, weight, input of the check or setting; it may take "
        "attack, d, device, dtype, eps, inputs, restarts, samples, seed",
    ),
    "a check of an input of the theorem": (
        {"checks": [check(sides=lambda x, s: x, inputs={"s": 1.0})]},
        "the check 'area' takes x, which is not a parameter, weight, input of the check or setting; it may take "
        "attack, d, device, dtype, eps, inputs, restarts, s, samples, seed",
    ),
    "inputs of a check of an unknown name": (
        {"checks": [check(inputs=lambda x: {})]},
        "the inputs of the check 'area' takes x, which is not a parameter, weight or setting; it may take attack, d, ",
    ),
    "two functions at a prompt": (
        {**KNOWN, "knows": {rho: (lambda x: x.abs().amax(), lambda x: x.norm())}},
        "scaled: `knows` has several functions for rho of the scope prompt; give at most one that takes inputs and one "
        "that takes none",
    ),
    "two functions of the network": (
        {**KNOWN, "knows": {rho: (lambda eps: eps, lambda d: torch.ones((), dtype=torch.float64))}},
        "scaled: `knows` has several functions for rho of the scope network; give at most one",
    ),
    "no function of a letter": (
        {**KNOWN, "knows": {rho: ()}},
        "`knows` has no function for rho; give one, or omit the",
    ),
    "a letter of no bound": (
        {"knows": {rho: lambda x: x.abs().amax()}},
        "scaled: `knows` gives rho, which no bound has; omit it, or take the symbol of the bound (symbols with other",
    ),
    "two checks of one name": ({"checks": [check(), check()]}, "scaled: area has several checks; tell them apart by"),
}


@pytest.mark.parametrize(("changes", "message"), STATED.values(), ids=list(STATED))
def test_what_no_theorem_can_state_is_refused_when_it_is_stated(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(bs.UsageError) as refusal:
        scaled(**changes)
    assert message in str(refusal.value)


def test_a_letter_of_a_condition_may_be_known() -> None:
    x = bs.rules.given("x", dim=1, size=rho)
    out = bs.rules.apply_function(x, "out", eps=eps, lipschitz=1, size=1, radius=2 * eps)
    arguments = {
        "parameters": {eps: 1.0},
        "inputs": {"x": bs.domains.Box(1)},
        "network": lambda x: x,
        "reference": lambda x: x,
    }
    found = bs.theorem("condition", out, knows={rho: lambda x: x.abs().amax()}, worst={rho: 1}, **arguments)
    assert rho not in found.statement.quantity("out").letters


def test_a_theorem_states_something() -> None:
    with pytest.raises(
        bs.UsageError, match="nothing is stated; give the conclusion of a derivation, a check, or inequalities"
    ):
        bs.theorem("empty", parameters={eps: 1})


OF_A_WRONG_SORT = """
import sympy as sp
import boundsmith as bs

e, out = sp.Symbol("e"), bs.rules.given("out", dim=1, size=1)
for bound, changes in (
    (e, {}),
    (out, {"parameters": {"e": 1}}),
    (out, {"inputs": {"x": (3,)}}),
    (out, {"network": 3}),
    (out, {"sources": (3,)}),
):
    try:
        bs.theorem("wrong", bound, **{"parameters": {e: 1}, **changes})
    except bs.UsageError as error:
        print(error)
"""


@pytest.mark.long
def test_arguments_of_a_wrong_sort_are_refused_where_nothing_checks_types() -> None:
    done = subprocess.run([sys.executable, "-c", OF_A_WRONG_SORT], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "wrong: e is not a conclusion of a derivation; derive one by the rules, from bs.rules.given(...) on",
        "wrong: `parameters` = {'e': 1}; give a mapping from SymPy symbols, such as {x: 1}",
        "wrong: the input x is (3,); give a domain, such as bs.domains.Box(d)",
        "wrong: the network is 3; give a function",
        "wrong: the source is 3; give a Tabular, a Series or a Textual",
    ]


def test_a_hypothesis_that_the_symbols_imply_adds_nothing() -> None:
    assert scaled(hypotheses=[d > 0]).statement.hypotheses == scaled().statement.hypotheses


def in_place(x: Tensor) -> Tensor:
    found = torch.zeros(3, dtype=torch.float64)
    found[0] = x[0]
    return found


# What is refused when it runs.
RUN: dict[str, tuple[dict[str, Any], str]] = {
    "another quantity": (
        {"network": lambda x: {"y": x}},
        "scaled: the network returns y, but not out; return a dict with an array for each quantity",
    ),
    "another quantity of the reference": ({"reference": lambda x: {"y": x}}, "the reference returns y, but not out"),
    "another shape": (
        {"reference": lambda x: x.sum()},
        "'out' has the shape (3,) in the network and () in the reference; return arrays of one shape",
    ),
    "a word": ({"network": lambda x: "x"}, "scaled: the network returns str; return an array"),
    "nothing": ({"reference": lambda x: None}, "scaled: the reference returns NoneType; return an array"),
    "a list": ({"network": lambda x: [x, x]}, "the network returns list; return an array (torch.stack joins several)"),
    "no network": ({"network": None}, "scaled has no network for 'out', so its error cannot be measured"),
    "no reference": ({"reference": None}, "scaled has no reference, so no error can be measured; give reference="),
    "a branch": (
        {"network": lambda x: x if x.sum() > 0 else -x},
        "scaled: the network branches on a value of its inputs; write torch.where, torch.clamp or torch.maximum",
    ),
    "an item": ({"network": lambda x: x * x.sum().item()}, "takes a value out of a tensor, by item() or float()"),
    "a float": ({"network": lambda x: x * float(x.sum())}, "takes a value out of a tensor, by item() or float()"),
    "entries set in place": ({"network": in_place}, "changes a tensor in place; build the result with torch.stack"),
    "addition in place": ({"network": lambda x: x.clone().add_(1)}, "Balls never change in place: use torch.add"),
    "an operation without balls": (
        {"network": lambda x: torch.floor(x)},
        "the network does not run in exact arithmetic: torch.floor: not available on balls. The function jumps: use "
        "torch.where on a comparison (test_refusals.py, line ",
    ),
    "an operation of the reference": (
        {"reference": lambda x: torch.sort(x).values},
        "the reference does not run in exact arithmetic: torch.sort: not available on balls. Which entry is the "
        "largest may be undecided: use torch.amax, torch.amin or torch.where",
    ),
    "an index too large": (
        {"network": lambda x: x[7]},
        "scaled: the network raised IndexError: index 7 is out of bounds for dimension 0 with size 3 (test_refusals.py",
    ),
    "a wrong type": ({"reference": lambda x: x + "1"}, "the reference raised TypeError: unsupported operand"),
    "an undefined network": (
        {"network": lambda x: x * torch.sqrt(x)},
        "scaled: the network gives no finite number for 'out' at x = [",
    ),
    "an undefined reference": ({"reference": lambda x: x / (0 * x)}, "the reference gives no finite number for 'out'"),
    "a negative dimension": (
        {"inputs": {"x": bs.domains.Box(d - 5)}},
        "x: Box(d - 5, size=1): the dimension -2 is negative",
    ),
    "a negative size": ({"inputs": {"x": bs.domains.Signs(d, size=eps - 1)}}, "is negative"),
    "a parameter without a default": ({"parameters": {eps: None, d: 3}}, "scaled: eps = None is not a number"),
    "a default that is not a number": ({"parameters": {eps: "small", d: 3}}, "scaled: eps = 'small' is not a number"),
    "a fraction of a dimension": ({"parameters": {eps: 1, d: 2.5}}, "scaled: d = 2.5 is not a whole number"),
    "a hypothesis that is not met": (
        {"hypotheses": [eps > 1]},
        "scaled: eps = 0.01 does not meet eps > 1 (a hypothesis of the theorem)",
    ),
    "a check that fails": (
        {"checks": [check(sides=lambda: 1 / 0)]},
        "scaled: the check 'area' raised ZeroDivisionError: division by zero (test_",
    ),
}


@pytest.mark.parametrize("argument", ["assumptions", "remarks"])
@pytest.mark.parametrize("given", ["x is short", [eps < 1]], ids=["a text", "a relation"])
def test_sentences_are_a_list(given: Any, argument: str) -> None:
    with pytest.raises(bs.UsageError, match=rf"scaled: `{argument}` is .*; give a list of sentences, such as"):
        scaled(**{argument: given})


def test_the_erratum_of_no_quantity_is_refused() -> None:
    with pytest.raises(bs.UsageError, match="scaled: `errata` names inp, which is not a quantity; it has: out"):
        scaled(errata={"inp": ERRATUM})
    found = scaled(errata={"out": ERRATUM}, remarks=["as printed"]).statement
    assert found.quantity("out").erratum == ERRATUM
    assert found.remarks == ("as printed",)


@pytest.mark.parametrize(
    "words",
    [{"assumptions": ["`(x` holds"]}, {"title": "On `(x`"}, {"meanings": {eps: "of `(x`"}}],
    ids=["assumption", "title", "meaning"],
)
def test_mathematics_of_the_callers_that_cannot_be_read_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(bs.UsageError, match=r"scaled: .*a bracket is not closed; mend it, or write names"):
        scaled(**words)


@pytest.mark.parametrize(("changes", "message"), RUN.values(), ids=list(RUN))
def test_what_cannot_run_is_refused_with_its_cause(changes: dict[str, Any], message: str) -> None:
    theorem = scaled(**changes)
    with pytest.raises(bs.UsageError) as refusal:
        compared(theorem)
    assert message in str(refusal.value)


def test_a_drawn_or_known_number_that_fails_is_named() -> None:
    with pytest.raises(
        bs.UsageError, match=r"product: the letter rho gives an array of shape \(2, 2\); return one num"
    ):
        compared(product(knows={rho: lambda W: W}))
    with pytest.raises(bs.UsageError, match="product: the letter rho does not run in exact arithmetic"):
        compared(product(knows={rho: lambda W: W @ torch.ones(3, dtype=torch.float64)}))


def test_a_number_that_overflows_is_judged_in_exact_arithmetic() -> None:
    """log(exp(800 x) + 1) / 800 is at most log(2) / 800 above relu(x); float64 does not hold exp(800 x)."""
    network, bound = lambda x: torch.log(torch.exp(800 * x) + 1) / 800, sp.log(2) / 800
    theorem = bs.theorem(
        "soft", bs.rules.given("out", dim=d, size=1, error=bound), parameters={d: 3}, inputs={"x": bs.domains.Box(d)},
        network=network, reference=lambda x: torch.relu(x),
    )  # fmt: skip
    row = row_of(compared(theorem, samples=64), "out")
    assert row.verdict["derived"] is bs.Verdict.KEPT
    assert row.measured is None
    assert row.exact is not None


def test_without_an_exact_run_float64_decides_and_low_precision_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    from bridge.instances.networks import Networks

    def refuse(self: Networks, *arguments: object) -> None:
        raise TooLargeForExact("scaled", 3, ExactCost(10, 10), 1)

    monkeypatch.setattr(Networks, "exact_network", refuse)
    theorem = scaled(network=lambda x: 1e200 * (1e200 * x))
    with pytest.raises(bs.UsageError, match="the network gives no finite number for 'out' at x ="):
        compared(theorem)
    overflowing = scaled(network=lambda x: 1e5 * (1e5 * x))
    assert row_of(compared(overflowing, dtype="float16"), "out").measured is None


def raising(error: Exception) -> Callable[[Tensor], Tensor]:
    def network(x: Tensor) -> Tensor:
        raise error

    return network


def test_what_a_function_refuses_itself_is_passed_on() -> None:
    with pytest.raises(bs.UsageError, match=r"^too many heads$"):
        compared(scaled(network=raising(bs.UsageError("too many heads"))))


def test_a_lack_of_memory_is_no_error_of_the_function() -> None:
    with pytest.raises(bs.UsageError, match="compare scaled: more memory is needed than is available; lower the sizes"):
        compared(scaled(network=raising(RuntimeError("DefaultCPUAllocator: can't allocate memory"))))


def test_the_users_exception_is_the_cause() -> None:
    with pytest.raises(bs.UsageError) as refusal:
        compared(scaled(network=raising(KeyError("w"))))
    assert isinstance(refusal.value.__cause__, KeyError)
    assert "scaled: the network raised KeyError: 'w' (test_refusals.py, line" in str(refusal.value)


def test_a_main_quantity_that_is_not_stated_is_refused() -> None:
    with pytest.raises(bs.UsageError, match=r"scaled: the main quantity 'uot' is none of out"):
        replace(scaled(), main="uot")


def test_a_bound_without_anything_to_run_is_refused_by_what_it_lacks() -> None:
    """A theorem by rules alone: shown, exported and solved, but not compared."""
    e = sp.Symbol("e", positive=True)
    doubled = bs.rules.linear_map(bs.rules.given("x", dim=2, size=1, error=e), "y", operator_norm=2, dim=2)
    with pytest.raises(bs.UsageError, match="bare has no network for 'y', so its error cannot be measured"):
        bs.compare(bs.theorem("bare", doubled, parameters={e: 0.1}))

    def both(e: float) -> Tensor:
        return 0 * e * torch.ones(2, dtype=torch.float64)

    with pytest.raises(bs.UsageError, match="bare has no inputs at which an error is measured; give inputs="):
        bs.compare(bs.theorem("bare", doubled, parameters={e: 0.1}, network=both, reference=both))
