"""What `show` and `latex` say of a derivation: one layer of a repetition, obligations that the worst case settles."""

import json
import re
from pathlib import Path

import pytest
import sympy as sp

import boundsmith as bs
from symbolic.words.names import error_latex
from tests.bridge.cli.conftest import Command
from tests.bridge.theorems.theorem.theorems import eps, own_file, rho

OWN = str(Path(__file__).parents[4] / "examples" / "own_theorem.py")
R = sp.Symbol("R", positive=True)


def test_one_layer_is_shown_under_the_recursion_in_plain_text(run: Command) -> None:
    derivation = run("show", OWN).out.partition("derivation:")[2]
    assert "\\" not in derivation
    lines = derivation.splitlines()
    at = lines.index("    one layer, from an argument with the error e_l:")
    assert lines[at - 1] == "    e_(l+1) <= K*e_l + eps*rho_tanh, e_0 = e_x"
    assert lines[at + 1 : at + 3] == ["      W p (inf-norm): linear map from its argument", "        e_W p <= K*e_l"]
    assert "        e_tanh(W p) <= e_W p + eps*rho_tanh" in lines
    record = json.loads(run("show", OWN, "--json").out)["derivation"][-1]
    assert [step["name"] for step in record["layer"]] == ["W p", "tanh(W p)"]
    assert record["reason"] == "e_(l+1) <= K*e_l + eps*rho_tanh, e_0 = e_x"


def test_latex_shows_one_layer_in_the_notation_of_the_theorem(run: Command) -> None:
    latex = run("latex", OWN).out
    assert r"$e_{l+1} \le K e_{l} + \varepsilon \rho_{\mathrm{tanh}}$ with $e_0 = 0$." in latex
    layer = latex.partition("One layer, from an argument with the error $e_l$:\n\\begin{itemize}\n")[2]
    assert re.findall(r"\\item\[\((.*?)\)\]", layer.partition("\\end{itemize}")[0]) == ["2a", "2b"]


def on_a_range(**changes: object) -> bs.Theorem:
    """An approximation on [-R, R] of arguments of at most rho."""
    x = bs.rules.given("x", dim=1, size=rho)
    output = bs.rules.apply_function(x, "output", eps=eps, lipschitz=1, size=1, radius=R)
    parameters = {eps: 0.5, R: 2.0}
    return bs.theorem(
        "ranged", output, **{"parameters": parameters, "worst": {rho: 1}, "hypotheses": [R >= 1], **changes}
    )


def obligation(theorem: bs.Theorem) -> str:
    (owed,) = (o for o in shown(theorem).obligations if o.condition != sp.true)
    return owed.discharged_by


def shown(theorem: bs.Theorem) -> bs.Derivation:
    found = theorem.statement.shown_derivation(theorem.statement.quantity("output"))
    assert found is not None
    return found


def test_an_obligation_that_the_worst_case_settles_says_so() -> None:
    assert obligation(on_a_range()) == "settled by the worst case rho = 1"
    assert not shown(on_a_range()).conditional
    latex = on_a_range().latex()
    assert "stays in $[-R, R]$, settled by the worst case $\\rho = 1$: $\\rho \\leq R$." in latex
    assert "provided that" not in latex


def test_it_stays_open_where_an_instance_may_bind_another_value() -> None:
    derivation = on_a_range().statement.quantity("output").derivation
    assert derivation is not None
    assert derivation.conditional


@pytest.mark.parametrize(
    "changes", [{"hypotheses": []}, {"worst": {rho: 3}}, {"worst": {}, "parameters": {eps: 0.5, R: 2.0, rho: 1.0}}]
)
def test_what_the_worst_case_does_not_settle_is_open(changes: dict[str, object]) -> None:
    assert obligation(on_a_range(**changes)) == ""
    assert "provided that" in on_a_range(**changes).latex()


RANGED = """
import sympy as sp
import boundsmith as bs

eps, rho = sp.symbols("eps rho", positive=True)
output = bs.rules.apply_function(bs.rules.given("x", dim=1, size=rho), "output", eps=eps, lipschitz=1, size=1, radius=2)
own = bs.theorem("ranged", output, parameters={eps: 0.5}, worst={rho: 1})
"""


def test_the_terminal_shows_by_which_values(tmp_path: Path, run: Command) -> None:
    own = own_file(tmp_path, RANGED)
    assert "rho <= 2 (settled by the worst case rho = 1)" in run("show", own).out
    record = json.loads(run("show", own, "--json").out)
    (owed,) = record["derivation"][-1]["obligations"]
    assert (owed["open"], owed["discharged_by"]) == (False, "settled by the worst case rho = 1")
    assert record["quantities"][0]["conditional"] is False


lam, g = sp.symbols("lam g", positive=True)


def truncated(name: str) -> bs.Theorem:
    """A matrix whose singular values decay like g^k, cut behind the first."""
    product = bs.rules.perturbed_map(bs.rules.given("q", dim=2, size=1), name, operator_norm=1, perturbation=rho, dim=2)
    return bs.theorem(
        "truncated",
        product,
        parameters={lam: 2.0, g: 0.5},
        inputs={"q": bs.domains.Box(2)},
        network={name: lambda q: q},
        reference=lambda q: q,
        worst={rho: lam * g},
        knows={rho: lambda lam, g: lam * g},
    )


def test_the_values_of_the_worst_case_are_shown(tmp_path: Path, run: Command) -> None:
    assert truncated("out").statement.quantities[0].bound_at == {rho: lam * g}
    assert r"Derived by rules, at the worst case $\rho = g \lambda$:" in truncated("out").latex()
    shown = run("show", OWN).out
    assert "    at the worst case rho_tanh = 1\n" in shown
    plain = bs.theorem(
        "plain",
        bs.rules.given("x", dim=1, size=1),
        parameters={},
        inputs={"x": bs.domains.Box(1)},
        network=lambda x: x,
        reference=lambda x: x,
    )
    assert "worst case" not in plain.latex()


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("A^T q", r"e_{A^{\top}\,q}"),
        ("q", r"e_{q}"),
        ("p[N-1]", "e_{p(N-1)}"),
        ("rows z[N]", r"e_{\text{rows }z(N)}"),
        ("s[j].max", r"e_{s(j),\,\text{max}}"),
        ("x_j", r"e_{x_{j}}"),
        ("^", r"e_{\text{\^{}}}"),
        ("W^2", r"e_{W^{2}}"),
    ],
)
def test_an_exponent_in_the_name_of_a_step_is_one(name: str, symbol: str) -> None:
    assert error_latex(name) == symbol
