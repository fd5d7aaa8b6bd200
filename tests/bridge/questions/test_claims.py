"""Bounds that the user claims: judged, witnessed and replayed as printed ones are; and claims that are refused."""

import csv
import io
from pathlib import Path

import pytest
import sympy as sp

import boundsmith as bs
from bridge.export.comparison import Comparison, load
from bridge.export.html import comparison_html
from bridge.export.latex_tables import comparison_latex
from bridge.export.tables import comparison_csv
from bridge.questions.compare import compare
from bridge.questions.replaying import replay, replay_witness
from bridge.theorems.record import Row, Verdict
from symbolic.words.errors import UsageError

OWN = str(Path(__file__).parents[3] / "examples" / "own_theorem.py")
SMALL = {"samples": 16, "attack": 10, "restarts": 2, "N": 2}


def claimed(*claims: str) -> Comparison:
    return compare(OWN, **SMALL, claim=claims)


def network_row(comparison: Comparison) -> Row:
    return next(row for row in comparison if row.scope == "network")


def test_a_claim_that_holds_is_kept_with_how_much_sharper_it_could_be() -> None:
    row = network_row(compare(OWN, **SMALL, claim="output <= 2*eps"))
    assert row.verdict["claimed"] is Verdict.KEPT
    assert row.claimed == 0.02
    assert row.exact is not None
    assert row.claimed_ratio == pytest.approx(0.02 / row.exact, rel=1e-12)
    plain = network_row(compare(OWN, **SMALL))
    assert (row.ratio, row.measured, row.attacked) == (plain.ratio, plain.measured, plain.attacked)


def test_a_claim_that_fails_has_a_witness_that_replays(tmp_path: Path) -> None:
    row = network_row(claimed("output <= eps"))
    assert row.verdict == {"printed": "kept", "claimed": "violated", "derived": "kept", "instance": "kept"}
    assert row.claimed_ratio is not None
    assert row.claimed_ratio < 1
    assert row.witness is not None
    assert row.witness.error_lower > row.witness.bounds["claimed"]
    path = tmp_path / "witness.json"
    path.write_text(row.witness.model_dump_json())
    again = replay(str(path), OWN)
    assert (again.verdict["claimed"], again.claimed) == (Verdict.VIOLATED, 0.01)


# A bound that equals the error: linear is computed exactly.
@pytest.mark.parametrize(("relation", "verdict"), [("<=", Verdict.KEPT), ("<", Verdict.VIOLATED)])
def test_a_strict_claim_fails_where_the_error_equals_it(relation: str, verdict: Verdict) -> None:
    x = bs.rules.given("x", dim=1, size=1)
    eps = sp.Symbol("eps", positive=True)
    halved = bs.theorem(
        "shifted",
        bs.rules.apply_function(x, "output", eps=eps, lipschitz=1, size=1),
        parameters={eps: 0.5},
        inputs={"x": bs.domains.Box(1)},
        network=lambda x, eps: 0 * x + eps,
        reference=lambda x: 0 * x,
    )
    row = network_row(compare(halved, samples=2, attack=0, restarts=1, claim=f"output {relation} eps"))
    assert row.verdict["claimed"] is verdict


def test_a_lower_bound_is_claimed_by_the_other_relation() -> None:
    gap = bs.Check(
        bs.statements.Quantity(
            "gap", r"\gamma", "the gap", "", "", bs.statements.Kind.LOWER, bs.statements.Quantifier.FOR_ALL
        ),
        sides=lambda size: bs.Sides(found=3.0, derived=size),
    )
    size = sp.Symbol("size", positive=True)
    theorem = bs.theorem("gap", parameters={size: 2.0}, checks=[gap])
    verdicts = [compare(theorem, claim=f"gap >= {factor}*size").rows[0].verdict for factor in (1, 2)]
    assert [each["claimed"] for each in verdicts] == [Verdict.KEPT, Verdict.VIOLATED]
    with pytest.raises(UsageError, match="'gap' is bounded from below; write gap >= FORMULA, not <="):
        compare(theorem, claim="gap <= size")


size = sp.Symbol("size", positive=True)


def valued(**sides: object) -> bs.Theorem:
    """A value that is found to be 5."""
    value = bs.statements.Quantity(
        "value", "v", "a value", "", "", bs.statements.Kind.EXACT, bs.statements.Quantifier.FOR_ALL, scopes=()
    )
    check = bs.Check(value, sides=lambda: bs.Sides(found=5, **{"derived": 5, **sides}))
    return bs.theorem("valued", parameters={size: 3.0}, checks=[check])


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("value <= 2*size", Verdict.KEPT),
        ("value < 2*size", Verdict.KEPT),
        ("value <= size + 2", Verdict.KEPT),
        ("value < size + 2", Verdict.VIOLATED),
        ("value <= size", Verdict.VIOLATED),
    ],
)
def test_a_claim_on_a_value_is_an_upper_bound(claim: str, verdict: Verdict) -> None:
    (row,) = compare(valued(), claim=claim).rows
    assert row.verdict == {"claimed": verdict, "derived": Verdict.KEPT}
    assert (row.witness is not None) is (verdict is Verdict.VIOLATED)
    if row.witness is not None:
        assert replay_witness(row.witness, theorem=valued()).verdict == row.verdict


def test_a_claim_on_a_proved_value_is_proved_where_it_follows() -> None:
    (row,) = compare(valued(proved=("derived",)), claim="value <= 2*size").rows
    assert row.verdict == {"claimed": Verdict.PROVED, "derived": Verdict.PROVED}
    (row,) = compare(valued(proved=("derived",)), claim="value <= size").rows
    assert row.verdict == {"claimed": Verdict.VIOLATED, "derived": Verdict.PROVED}


def test_letters_of_a_worst_case_take_their_worst_value() -> None:
    assert network_row(claimed("output <= rho_tanh*eps")).claimed == 0.01


@pytest.mark.long
def test_a_claim_on_a_result_of_ours() -> None:
    comparison = compare(
        "induction.vanilla", p=3, L=8, samples=4, attack=2, restarts=2, claim="output <= W_norm*exp(-p)"
    )
    row = next(row for row in comparison if row.quantity == "output" and row.scope == "network")
    assert row.claimed == pytest.approx(0.04978706836786394)
    claimed = [(other.quantity, other.scope) for other in comparison if other.claimed is not None]
    assert claimed == [("output", "network"), ("output", "prompt")]  # this network knows W_norm


def test_the_claim_is_in_every_format(tmp_path: Path) -> None:
    comparison = claimed("output <= eps")
    row = network_row(comparison)
    assert comparison.environment["claims"] == "output <= eps"
    text, latex, html = str(comparison), comparison_latex(comparison), comparison_html(comparison)
    assert all("claimed ratio" in page and "claimed: violated" in page for page in (text, html))
    assert "claimed ratio" in latex
    assert "claimed: violated" in latex.replace("~", " ") or "C violated" in latex.replace("~", " ")
    line = next(csv.DictReader(io.StringIO(comparison_csv(comparison))))
    assert (line["claimed"], line["claimed_ratio"]) == (repr(row.claimed), repr(row.claimed_ratio))
    comparison.save(str(tmp_path / "table.json"))
    assert network_row(load(tmp_path / "table.json")) == row


def test_a_record_without_a_claim_has_no_trace_of_one() -> None:
    comparison = compare(OWN, **SMALL)
    for page in (comparison.to_json(), comparison_csv(comparison), comparison_latex(comparison), str(comparison)):
        assert "claim" not in page


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        (["zz <= eps"], "analog-tanh has no quantity 'zz'. It has: output."),
        (["output <= zz*eps"], "claim: analog-tanh has no letter zz; it has: K, N, d, eps, rho"),
        (["output >= eps"], "claim: 'output' is bounded from above; write output <= FORMULA, not >="),
        (["output = eps"], "claim: 'output = eps' is not of the form QUANTITY <= FORMULA"),
        (["output == eps"], "is not of the form QUANTITY <= FORMULA"),
        (["output"], "is not of the form QUANTITY <= FORMULA"),
        (["output <= eps <= 1"], "is not of the form QUANTITY <= FORMULA"),
        (["output <= (eps"], "is not an expression here"),
        (["output <= open('x')"], "is not a known function"),
        (["output <= eps", "output <= 2*eps"], "claim: 'output' has several claims; a run takes one for each"),
        (["output <= lambda*eps"], "position 1, at 'lambda*eps': is a keyword of Python; write lamda"),
    ],
)
def test_what_is_no_claim_is_refused(claims: list[str], message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        claimed(*claims)
    assert message in str(refusal.value)


def test_a_letter_of_the_result_comes_before_a_function_or_a_constant() -> None:
    gamma, zeta, E = sp.symbols("gamma zeta E", positive=True)
    theorem = bs.theorem(
        "greek",
        bs.rules.given("out", dim=1, size=1, error=gamma),
        parameters={gamma: 0.25, zeta: 3.0, E: 2.0},
        inputs={"x": bs.domains.Box(1)},
        network=lambda x, gamma: x + gamma,
        reference=lambda x: x,
    )
    (row,) = compare(theorem, claim="out <= gamma*zeta*E*gamma(3)", samples=4, attack=2, restarts=2).rows
    assert row.claimed == 0.25 * 3 * 2 * 2
    assert row.verdict["claimed"] is Verdict.KEPT


@pytest.mark.long
def test_a_long_claim_is_no_deep_one() -> None:
    row = network_row(claimed("output <= " + "+".join(["eps"] * 2000)))
    assert row.claimed == pytest.approx(2000 * network_row(claimed("output <= eps")).claimed)
