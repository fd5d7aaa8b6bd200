"""Theorems that are inequalities or best constants: rows, statement, proof, certificate, and what is refused."""

import pytest
import sympy as sp

import boundsmith as bs
from bridge.questions.certify import Outcome, Status
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Verdict
from symbolic.words.errors import UsageError

x, y, c = sp.symbols("x y c", real=True)
UNIT = {x: (0, 1), y: (0, 1)}
Inequality = bs.statements.Inequality
MEAN = Inequality("mean", x**2 + y**2 - 2 * x * y + sp.Rational(1, 10), UNIT, strict=True)
FALSE = Inequality("false", x - sp.Rational(1, 10), {x: (0, 1)})
OPEN = Outcome(Inequality("open", (x - y) ** 2, UNIT), Status.UNDECIDED, open_count=7, share=0.5)
V = (x * y - 1) ** 2 / 2
RATE = bs.dynamics.decay(bs.dynamics.gradient_flow(V, (x, y)), V, {x: ("1/2", 2), y: ("1/2", 2)})


def test_an_inequality_alone_is_a_theorem() -> None:
    own = bs.theorem("own.mean", inequalities=[MEAN])
    (row,) = bs.compare(own)
    assert row.verdict == {"derived": Verdict.PROVED}
    assert (row.derived, row.measured) == (0, pytest.approx(0.1))
    assert [each.status for each in bs.certify(own)] == ["proved"]
    assert own.latex(part="theorem").strip() == (
        "For $x \\in [0,1]$, $y \\in [0,1]$, the following inequality holds:\n"
        "\\[ 0 < x^{2} - 2 x y + y^{2} + \\frac{1}{10}. \\]"
    )
    assert own.latex(part="proof").startswith("The proof is a certificate, a cover of the region by ")
    assert "Derived (proved by certificate):" in own.latex()
    assert "0 < x^{2}" in own._repr_latex_()


def test_a_false_inequality_is_violated_with_a_witness_and_an_open_one_is_not_stated() -> None:
    own = bs.theorem("own.several", inequalities=[MEAN, FALSE, OPEN])
    rows = {row.quantity: row for row in bs.compare(own)}
    assert rows["false"].verdict == {"printed": Verdict.VIOLATED}
    assert rows["open"].verdict == {"derived": Verdict.UNDECIDED}
    assert "open in 7 boxes; 50.0% settled" in rows["open"].remark
    assert replay_witness(rows["false"].witness, theorem=own).verdict == rows["false"].verdict
    theorem = own.latex(part="theorem")
    assert theorem.count("The following inequality holds") + theorem.count("the following inequality holds") == 1
    assert "it fails at" in own.latex()


def test_constants_of_one_letter_have_names_of_their_own() -> None:
    rows = bs.compare(bs.theorem("own.two", inequalities=[RATE, RATE]))
    assert sorted(row.quantity for row in rows) == ["c", "c_2"]


def test_a_decay_alone_is_a_theorem() -> None:
    own = bs.theorem("own.decay", inequalities=[RATE])
    (row,) = bs.compare(own)
    assert row.verdict == {"derived": Verdict.PROVED}
    assert (row.derived, row.measured) == (1.0, pytest.approx(1.0, abs=1e-5))
    assert "the value 1.000001 fails at" in row.remark
    stated = own.latex(part="theorem")
    assert r"\left(\frac{\left(x y - 1\right)^{2}}{2}\right) \le -\frac{\left(x y - 1\right)^{2}}{2}" in stated
    assert r"\dot{x} = - y \left(x y - 1\right)" in stated
    assert "the value 1.000001 fails at" in own.latex(part="proof")
    assert [each.inequality for each in bs.certify(own)] == [each.inequality for each in RATE.proofs]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "own: nothing is stated; give the conclusion of a derivation, a check, or inequalities in a list"),
        (lambda: [MEAN], "own: nothing is stated; give the conclusion of a derivation, a check, or inequalities"),
        ([MEAN, x], "own: `inequalities` has x; give a bs.statements.Inequality, or what bs.checks.prove, largest"),
        ([MEAN, MEAN], "own: `inequalities` has several of the name 'mean'; give each a name of its own"),
        (
            [bs.checks.supremum(1 / x, {x: (-1, 1)})],
            "own: supremum: no value proved, .* refuted, so that there is nothing to state; give it more seconds",
        ),
    ],
)
def test_what_states_nothing_is_refused(given: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        bs.theorem("own", inequalities=given)


def test_beside_a_bound_a_constant_is_what_certify_proves() -> None:
    image = (bs.matrix("W", 3, 3, row_sums=1).rounded(sp.Rational(1, 100)) @ bs.vector("v", 3, size=1)).named("image")
    own = bs.theorem("own.both", image, inequalities=[RATE, MEAN])
    assert [each.name for each in own.statement.quantities] == ["image"]
    assert own.inequalities == (*(proof.inequality for proof in RATE.proofs), MEAN)
    assert {each.status for each in bs.certify(own)} == {"proved"}
    with pytest.raises(UsageError, match=r"own.both: `inequalities` has x > 0; give a bs.statements.Inequality"):
        bs.theorem("own.both", image, inequalities=[x > 0])
