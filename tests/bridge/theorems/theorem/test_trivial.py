"""The trivial bound of a theorem of the user's own: from it on a bound is vacuous; and meanings in words."""

import json

import pytest
import sympy as sp

import boundsmith as bs
from bridge.theorems.record import Flag
from tests.bridge.cli.conftest import Command
from tests.bridge.theorems.theorem.theorems import OWN, compared, d, eps, own_file, product, rho, row_of, scaled


def flags(theorem: bs.Theorem, **parameters: float) -> dict[str, list[str]]:
    return row_of(compared(theorem, **parameters), "out").flags


def is_vacuous(theorem: bs.Theorem, tier: str = "derived", **parameters: float) -> bool:
    return Flag.VACUOUS in flags(theorem, **parameters).get(tier, [])


def test_a_bound_is_vacuous_from_the_size_of_the_conclusion_on() -> None:
    """The network that gives 0 errs by at most 1 on the unit box."""
    assert not is_vacuous(scaled(), eps=0.99)
    assert is_vacuous(scaled(), eps=1.0)
    assert is_vacuous(scaled(printed={"out": 3 * eps}), "printed", eps=0.5)
    assert not is_vacuous(scaled(printed={"out": 3 * eps}), eps=0.5)


def test_a_trivial_bound_is_given_by_quantity() -> None:
    stated = scaled(trivial={"out": 2 * eps})
    assert stated.statement.quantity("out").trivial == 2 * eps
    assert not is_vacuous(stated, eps=1.5)
    assert is_vacuous(scaled(trivial={"out": sp.Rational(1, 2)}), eps=0.5)
    with pytest.raises(bs.UsageError, match="scaled: `trivial` names in, which is not a quantity; it has: out"):
        scaled(trivial={"in": 1})
    with pytest.raises(bs.UsageError, match="nothing gives rho in the bound of 'out' a value"):
        scaled(trivial={"out": rho})


def test_letters_of_a_size_take_their_worst_value() -> None:
    conclusion = bs.rules.given("out", dim=d, size=rho, error=eps * rho)
    at_worst = bs.theorem("sized", conclusion, parameters={eps: 0.5, d: 2}, worst={rho: 3})
    assert at_worst.statement.quantity("out").trivial == 3


def test_a_size_without_a_number_is_no_trivial_bound() -> None:
    S = sp.Symbol("S", positive=True)
    conclusion = bs.rules.given("out", dim=d, size=S, error=eps)
    assert bs.theorem("sized", conclusion, parameters={eps: 0.5, d: 2}).statement.quantity("out").trivial is None


def test_an_identity_has_no_trivial_bound() -> None:
    conclusion = bs.rules.given("out", dim=d, size=1)
    assert bs.theorem("same", conclusion, parameters={d: 2}).statement.quantity("out").trivial is None


def test_show_says_which_trivial_bound_and_what_letters_mean(tmp_path, run: Command) -> None:
    stated = OWN.replace("    printed=", '    meanings={d: "number of coordinates"},\n    printed=')
    own = own_file(tmp_path, stated)
    shown = run("show", own).out
    assert "    trivial bound, from which on a bound is vacuous\n      1\n" in shown
    assert "  d = 2  number of coordinates\n" in shown
    assert "  eps = 0.25  the parameter eps\n" in shown
    record = json.loads(run("show", own, "--json").out)
    assert record["quantities"][0]["trivial"] == "1"


def test_meanings_of_other_letters_are_those_of_symbols() -> None:
    stated = product(meanings={rho: "largest activation", eps: "relative error"}).statement
    assert stated.symbols == {rho: "largest activation"}
    assert stated.parameter("eps").meaning == "relative error"
    with pytest.raises(bs.UsageError, match="`meanings` names zeta, which is not a letter of it; it has: d, eps, rho"):
        product(meanings={sp.Symbol("zeta"): "what"})


def test_a_letter_of_a_bound_that_nothing_introduces_is_refused() -> None:
    """One that an instance knows has a value, but a reader of the statement does not learn what it is."""
    share = sp.Symbol("share", positive=True)
    conclusion = bs.rules.given("out", dim=d, size=1, error=share)
    stated = {"parameters": {d: 2}, "weights": {"W": bs.domains.Box(d)}, "knows": {share: lambda W: W.abs().amax()}}
    message = (
        "sized: the bound of 'out' has share, and nothing says what it is; say so in `meanings`, or make it a parameter"
    )
    with pytest.raises(bs.UsageError, match=message):
        bs.theorem("sized", conclusion, **stated)
    said = bs.theorem("sized", conclusion, **stated, meanings={share: "largest entry of `W`"})
    assert "largest entry of $W$" in said.latex(part="theorem")


def test_a_quantity_says_what_it_is_exactly_and_by_the_network() -> None:
    conclusion = bs.rules.given("out", dim=d, size=1, error=eps)
    parameters = {eps: 0.5, d: 2}

    def notation(**more: object) -> str:
        text = bs.theorem("sized", conclusion, parameters=parameters, **more).latex(part="theorem")
        return next(line for line in text.splitlines() if line.startswith("Notation: "))

    exact, computed = r"$\mathrm{out}$: ", r"$\widehat{\mathrm{out}}$: "
    by_default = f"{exact}the exact value, by the reference; {computed}what the network computes."
    assert notation() == f"Notation: {by_default}"
    assert notation(meanings={"out": "`x/2`"}) == f"Notation: {exact}$x/2$; {computed}what the network computes."
    both = notation(meanings={"out": ("`x/2`", "`x/2` but for an error"), d: "width"})
    assert both == f"Notation: {exact}$x/2$; {computed}$x/2$ but for an error."
    with pytest.raises(bs.UsageError, match="`meanings` names none, which is not a quantity of a bound; these: out"):
        notation(meanings={"none": "what"})
    with pytest.raises(bs.UsageError, match=r"`meanings` of out is \('a', 'b', 'c'\); give a text, or a pair of them"):
        notation(meanings={"out": ("a", "b", "c")})


def test_a_conclusion_without_a_domain_begins_with_its_subject() -> None:
    conclusion = bs.rules.given("out", dim=d, size=1, error=eps)
    text = bs.theorem("sized", conclusion, parameters={eps: 0.5, d: 2}).latex(part="theorem")
    assert "\n\nThe error of out (sup norm) satisfies the upper bound\n" in text
