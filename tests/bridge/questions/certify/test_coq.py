"""Theorems of certificates in Coq: what is written, what is refused, and that Coq compiles it where it is installed."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from bridge.questions.certify.certificate import CertifiedClaim, claim_record, inequality_record
from bridge.questions.certify.coq.file import coq_text
from bridge.questions.certify.coq.terms import CoqTerms, names_in_coq
from bridge.questions.certify.proving import Outcome, Status, prove
from bridge.questions.certify.reading import typed_inequality
from bridge.questions.certify.standalone import LIBRARY_OF_COQ, program
from symbolic import UsageError
from symbolic.derivations.inequalities import Inequality
from symbolic.topics.induction import lyapunov, lyapunov_gram, lyapunov_head
from tests.bridge.questions.certify.records import by_hand, shipped

needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None, reason="coqc is not installed: apt install libcoq-interval"
)


def proof(text: str, *ranges: str, where: Sequence[str] = ()) -> dict[str, Any]:
    return claim_record(CertifiedClaim(prove(typed_inequality(text, ranges, where), boxes_alone=True)))


def proof_by_a_zero() -> dict[str, Any]:
    """(1 + y) (sqrt(1 + x^2) - 1) >= x^2/9, which x = 0 makes an equation: next to it second derivatives prove it."""
    x, y = sp.symbols("x y", real=True)
    expression = sp.sqrt(1 + x**2) * (1 + y) - 1 - y - x**2 / 9
    ranges = {x: (sp.Integer(-1), sp.Integer(1)), y: (sp.Integer(0), sp.Integer(1))}
    inequality = Inequality("a zero", expression, ranges, vanishing=(x,))
    return claim_record(CertifiedClaim(prove(inequality, boxes_alone=True)))


def compiled(folder: Path, claims: Sequence[Any]) -> tuple[bool, str]:
    """Whether Coq compiles the theorems of these claims, and what it printed."""
    (folder / LIBRARY_OF_COQ).write_text(program(LIBRARY_OF_COQ))
    (folder / "claims.v").write_text(coq_text(claims, "claims.v"))
    subprocess.run(["coqc", LIBRARY_OF_COQ], cwd=folder, check=True, capture_output=True)
    done = subprocess.run(["coqc", "claims.v"], cwd=folder, check=False, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


# What is written.


def test_a_theorem_states_the_inequality_in_its_own_letters() -> None:
    text = coq_text([proof("x*y**2/(1 + x) - tanh(y) >= -3/2", "x=0,1/2", "y=1,2")], "c.v")
    assert "forall x y : R, 0 <= x <= (1/2) -> 1 <= y <= 2 ->" in text
    assert "(* 1. x*y**2/(1 + x) - tanh(y) >= -3/2 *)" in text
    assert "0 <= ((x * (y ^ 2) / (1 + x)) - (tanh y) - ((-1) * 3 / 2))." in text
    assert "Lemma claim_1_is_defined" in text
    assert "(1 + x) <> 0." in text
    assert text.endswith("Print Assumptions claim_1.\n")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("x**(3/2)", "((sqrt x) ^ 3)"),
        ("x**(-1/4)", "(1 / (sqrt (sqrt x)))"),
        ("x**(1/3)", "(Rpower x (1/3))"),
        ("x**y", "(Rpower x y)"),
        ("max(x, y, 1)", "(Rmax (Rmax x y) 1)"),
        ("abs(x) - log(y)*pi", "((Rabs x) - ((ln y) * PI))"),
        ("2/x/y**2", "(2 / x / (y ^ 2))"),
        ("E + x", "((exp 1) + x)"),
    ],
)
def test_an_expression_is_a_term(text: str, term: str) -> None:
    letters = [letter for letter in "xy" if letter in text.replace("exp", "").replace("max", "")]
    inequality = typed_inequality(text, [f"{letter}=1,2" for letter in letters])
    written = CoqTerms({"x": "x", "y": "y"}).term(inequality_record(inequality)["expression"])
    assert written.replace("Rmax 1 x) y", "Rmax x y) 1") == term


def test_what_a_term_needs_to_mean_what_it_says_is_listed() -> None:
    record = inequality_record(
        typed_inequality("1/x + sqrt(y) + log(x*y) + y**(-1/2) + x**y + tan(y)", ["x=1,2", "y=1,2"])
    )
    needs = {need.statement for need in CoqTerms({"x": "x", "y": "y"}).needs(record["expression"])}
    assert needs == {"x <> 0", "0 <= y", "0 < (x * y)", "0 < y", "0 < x", "(cos y) <> 0"}


def test_names_are_those_of_coq_and_never_one_for_two_letters() -> None:
    names = names_in_coq(["g*", "g_", "forall", "exp", "_x", "x'", "R"])
    assert list(names.values()) == ["g_", "g__", "forall_", "exp_", "x_x", "x'", "R_"]


def test_a_name_cannot_end_the_comment_that_it_stands_in() -> None:
    claim = proof("x", "x=0,1")
    claim["inequality"]["name"] = 'x *) Axiom trust : False. (* "'
    assert "(* 1. x * ) Axiom trust : False. ( * ' *)" in coq_text([claim], "c.v")


def test_a_leaf_by_second_derivatives_is_written_from_the_zero() -> None:
    claim = proof_by_a_zero()
    assert {"slope", "hessian"} <= {node[0] for node in claim["tree"]}
    text = coq_text([claim], "c.v")
    assert "assert (Zd : d1 0 y = 0)." in text
    assert "apply (second_step (fun t => f1 t y) (fun t => d1 t y) (fun t => e1 t y) 0 (1/2) 0);" in text


def test_letters_that_the_tree_does_not_cut_are_cut_last() -> None:
    (line,) = [line for line in coq_text([proof_by_a_zero()], "c.v").splitlines() if line.startswith("Ltac shown1")]
    options = ["", "i_bisect x, i_depth 24, ", "i_bisect x, i_bisect y, i_depth 24, "]
    options += [f"{each}i_autodiff {letter}, " for each in options for letter in "xy"]
    tried = " | ".join(f"interval with ({each}i_prec 60)" for each in options)
    assert line == f"Ltac shown1 x y := plain1; first [{tried} | kinks]."


def test_an_undecided_inequality_has_no_theorem() -> None:
    claim = claim_record(CertifiedClaim(Outcome(typed_inequality("x", ["x=0,1"]), Status.UNDECIDED)))
    text = coq_text([claim], "c.v")
    assert "(* It is undecided: there is no theorem. *)" in text
    assert "\nTheorem" not in text


def test_lemmas_have_at_most_forty_leaves() -> None:
    claim = shipped("induction.karamata", boxes_alone=True)["claims"][2]
    lemmas = coq_text([claim], "c.v").partition("\nTheorem")[0].split("Lemma boxes")[1:]
    leaves = [lemma.count("shown1 a b.\n") for lemma in lemmas]
    assert sum(leaves) == sum(node[1] for node in claim["tree"] if isinstance(node[0], str)) > 300
    assert max(leaves) <= 40


THREE = {"vector": [["Rational", "0", "1"]] * 3, "matrix": [[["Rational", "0", "1"]] * 3] * 3}


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (
            by_hand("1 + erf(x)", ["x=0,1"], [["range", 1]]),
            "the library Interval of Coq does not know the function erf",
        ),
        (by_hand("gamma(x)", ["x=1,2"], [["range", 1]]), "does not know the function gamma"),
        (by_hand("x", ["x=0,1"], [["form", 1]]), "a form of 3 rows is not written in Coq"),
        (by_hand("x", ["x=0,1"], [["hessian", 1]]), "a second derivative in several letters"),
        (by_hand("x", ["x=0,1"], [["trust", 1]]), "a box that the form 'trust' proves"),
    ],
)
def test_what_coq_or_its_patterns_lack_is_refused_by_name(claim: Any, message: str) -> None:
    record = claim["claims"][0]
    record["inequality"]["form"] = THREE
    with pytest.raises(UsageError, match=message):
        coq_text([record], "c.v")


# What Coq says of it.


@needs_coq
@pytest.mark.long
def test_coq_proves_each_kind_of_leaf_and_refutes(tmp_path: Path) -> None:
    claims = [
        proof("tanh(x) + max(x, y, -1) - min(x, cosh(y)) + 2 > 0", "x=-1,1", "y=-1,1"),
        proof("sqrt(x) + log(y) - x**(1/3)/9", "x=1/100,1", "y=1,2"),
        proof("1 - x**2 - y**2", "x=0,1", "y=0,1", where=["1/2 - x - y"]),
        proof("x**2 - x + 1/8", "x=0,1"),
        proof_by_a_zero(),
        *(
            each
            for each in shipped("induction.lyapunov_head", boxes_alone=True)["claims"]
            if each["inequality"]["name"] == "estimate.psi"
        ),
    ]
    forms = {node[0] for claim in claims for node in claim.get("tree", ())}
    assert {"range", "slope", "outside 0", "hessian"} <= forms
    assert [claim["verdict"] for claim in claims].count("refuted") == 1
    done, printed = compiled(tmp_path, claims)
    assert done, printed
    assert "Axioms:" in printed
    assert "Float" not in printed


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize("id", ["induction.lyapunov_head", "induction.trends", "induction.karamata"])
def test_coq_compiles_the_certificates_of_a_result(id: str, tmp_path: Path) -> None:
    done, printed = compiled(tmp_path, shipped(id, boxes_alone=True)["claims"])
    assert done, printed


@needs_coq
@pytest.mark.long
def test_coq_compiles_the_decay_of_the_4_gram_head(tmp_path: Path) -> None:
    outcome = prove(lyapunov_gram.decay_inequality(sp.Rational(99, 100)), boxes_alone=True)
    done, printed = compiled(tmp_path, [claim_record(CertifiedClaim(outcome))])
    assert done, printed


@needs_coq
@pytest.mark.long
def test_coq_refuses_a_constant_beyond_the_true_one(tmp_path: Path) -> None:
    name = f"decay.printed_flow (c = {lyapunov.CERTIFIED['decay.printed_flow']}): xy"
    claim = next(
        each
        for each in shipped("induction.lyapunov_head", boxes_alone=True)["claims"]
        if each["inequality"]["name"] == name
    )
    beyond = next(
        each for each in lyapunov_head.decay_inequalities("printed", sp.Integer(2)) if each.name.endswith("xy")
    )
    claim["inequality"]["expression"] = inequality_record(beyond)["expression"]
    done, printed = compiled(tmp_path, [claim])
    assert not done
    assert "No applicable tactic" in printed
