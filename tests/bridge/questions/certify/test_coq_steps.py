"""Steps of certificates in Coq: what is refused, and what Coq says of each kind where it is installed."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bridge.questions.certify.certificate import CertifiedClaim, claim_record
from bridge.questions.certify.coq.boxes import ClaimInCoq
from bridge.questions.certify.coq.file import HEADER, coq_text
from bridge.questions.certify.coq.scripts import SCRIPTS
from bridge.questions.certify.proving import prove
from bridge.questions.certify.reading import typed_inequality
from bridge.questions.certify.standalone import LIBRARY_OF_COQ, program
from bridge.questions.certify.step_records import STEPS
from symbolic import UsageError
from tests.bridge.questions.certify import inequalities
from tests.bridge.questions.certify.records import by_hand

needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None, reason="coqc is not installed: apt install libcoq-interval"
)
X, Y = ["Symbol", "x"], ["Symbol", "y"]
BOX, DONE = ["x=0,1"], [["range", 1]]


def claim(text: str, ranges: list[str], step: str, *trees: Any, **fields: Any) -> Any:
    return by_hand(text, ranges, [{"step": step, **fields, "children": list(trees)}])["claims"][0]


def two_sides(y: str) -> Any:
    """x - y >= 0 where x >= y and x >= 1/2: f grows in x, and is least at the larger one of two sides of x."""
    step = {"step": "monotone", "letter": "x", "sign": 1, "where": [0, 1], "children": [DONE, DONE, DONE, DONE]}
    return by_hand(f"x - y + {y}", [*BOX, "y=0,1"], [step], ["x >= y", "2*x + y >= 1"])["claims"][0]


def proved(name: str) -> Any:
    ((text, *ranges),) = ([text, *ranges] for known, text, *ranges in inequalities.TRUE if known == name)
    return claim_record(CertifiedClaim(prove(typed_inequality(text, ranges))))


def accepted(folder: Path, claims: list[Any]) -> set[int]:
    """Places of the claims whose theorems Coq proves; a proof that fails is given up, and the next one tried."""
    (folder / LIBRARY_OF_COQ).write_text(program(LIBRARY_OF_COQ))
    subprocess.run(["coqc", LIBRARY_OF_COQ], cwd=folder, check=True, capture_output=True)
    texts = (
        f'{ClaimInCoq(each, k).written}\nAbort All.\nCheck (ltac:(idtac "holds" "{k}"; exact claim_{k})).\n'
        for k, each in enumerate(claims)
    )
    done = subprocess.run(
        ["coqtop", "-q"],
        cwd=folder,
        input=HEADER.format(name="") + "\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    return {k for k in range(len(claims)) if f"holds {k}\n" in done.stdout and f"claim_{k}\n     : " in done.stdout}


FORGED = {
    "factors": claim("x**2 - x", BOX, "factors", constant="1", factors=[[X, 2, 0]]),
    "sum": claim("x - 1/2", BOX, "sum", DONE, terms=[X]),
    "cases": claim("x - 1/2", ["x=-1,1"], "cases", DONE, DONE, at=["Pow", X, ["Rational", "-1", "1"]]),
    "piece": claim("x - abs(x)", ["x=-1,1"], "piece", DONE, DONE, node=X, choice=0),
    "linear": claim("x - 1/2", BOX, "linear", multipliers=[]),
    "monotone": claim("x - 1/2", BOX, "monotone", DONE, DONE, letter="x", sign=2, where=[]),
    "squares": claim("x - 1/2", BOX, "squares", terms=[["1", X, []]]),
    "amgm": claim("x**2 + 1 - 3*x", BOX, "amgm", groups=[[[1], [[[2], "1/2", "1"], [[0], "1/2", "1"]]]]),
    "order": claim("x - 1/2", BOX, "order", base="0"),
    "logs": claim("x - 1/2", BOX, "logs", DONE),
    "neurons": claim("x - 1/2", BOX, "neurons", neurons=[], tree=[[]]),
    "lipschitz": claim(
        "-abs(x - y)", ["x=0,1", "y=0,1"], "lipschitz", DONE, DONE, letters=["x", "y"], function=X, constant="1"
    ),
}


def test_each_step_has_a_pattern_and_a_forged_one() -> None:
    assert set(SCRIPTS) == set(STEPS.values())
    assert set(FORGED) == set(STEPS)


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_step_is_not_written(name: str) -> None:
    with pytest.raises(UsageError, match=f"certify --coq: the step '{name}' does not hold: "):
        coq_text([FORGED[name]], "c.v")


def test_what_steps_cannot_be_written_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"a step differentiates a root of x \+ 1, which may be 0"):
        coq_text([proved("Bernoulli 5/2")], "c.v")
    kinks = "+".join(f"abs(x-{k})" for k in range(1, 14))
    with pytest.raises(UsageError, match=r"the step 'neurons' is written in Coq for at most 12 kinks, and this one"):
        coq_text(
            [claim(kinks, BOX, "neurons", neurons=[[[0, "1"], [-1, f"-{k}"]] for k in range(1, 14)], tree=[[]])], "c.v"
        )
    with pytest.raises(UsageError, match="the step 'sum' does not hold: it has 1 parts"):
        coq_text([claim("x", BOX, "sum", terms=[X])], "c.v")


def test_letters_keep_their_names_unless_the_file_has_them() -> None:
    text = coq_text([claim("f1 + point + w1", ["f1=0,1", "point=0,1", "w1=0,1"], "linear", multipliers=[])], "c.v")
    assert "forall f1_ point_ w1 : R, 0 <= f1_ <= 1 -> 0 <= point_ <= 1 -> 0 <= w1 <= 1 ->" in text


def test_an_equation_has_the_exponentials_of_what_its_functions_equal() -> None:
    """At the side x = 3, where f is 0, log(1 + exp(-1 * 3)) equals log(1 + exp(-3))."""
    falling = claim("(3 - x)*log(1 + exp(-x))", ["x=0,3"], "monotone", DONE, DONE, letter="x", sign=-1, where=[])
    before, equation, _ = coq_text([falling], "c.v").partition("(ln (1 + (exp ((-1) * 3)))) = (ln (1 + (exp (-3))))")
    assert equation
    assert "(exp (-3)) = (/ ((exp 1) ^ 3))" in before


# What Coq says of it.

KINDS = [  # together they have every kind of step
    *("means of three", "Motzkin", "Schur", "Nesbitt", "mean and root", "log below the line", "product of sides"),
    *("Pinsker", "sigmoid", "tanh", "triangle of three", "two neurons from above", "atan above its cubic", "descent"),
]


@needs_coq
@pytest.mark.long
def test_coq_proves_each_kind_of_step(tmp_path: Path) -> None:
    claims = [
        *map(proved, KINDS),
        claim("x + y**2", ["x=0,1", "y=-1,1"], "sum", DONE, DONE, terms=[X, ["Pow", Y, ["Rational", "2", "1"]]]),
        two_sides("0"),
    ]
    assert accepted(tmp_path, claims) == set(range(len(claims)))


@needs_coq
@pytest.mark.long
def test_coq_refuses_what_the_leaves_of_a_step_do_not_prove(tmp_path: Path) -> None:
    """Each step holds, and a goal that it leaves does not."""
    half = ["Rational", "1", "2"]
    claims = [
        claim("x - 1/2", BOX, "cases", DONE, DONE, at=["Add", X, ["Rational", "-1", "4"]]),
        claim("x - 1/2", BOX, "monotone", DONE, DONE, letter="x", sign=1, where=[]),
        claim("x - 1/2", BOX, "monotone", DONE, DONE, letter="x", sign=-1, where=[]),
        claim("x - 1/2", BOX, "sum", DONE, DONE, terms=[X, ["Mul", ["Rational", "-1", "1"], half]]),
        claim("-x**3", BOX, "factors", DONE, constant="1", factors=[[["Mul", ["Rational", "-1", "1"], X], 3, 1]]),
        claim("x - abs(x)", ["x=-1,1"], "piece", DONE, DONE, node=["Abs", X], choice=0),
        claim("log(x)", ["x=1/2,1"], "logs", DONE),
        claim(
            "-abs(x - y)/2", [*BOX, "y=0,1"], "lipschitz", DONE, DONE, letters=["x", "y"], function=X, constant="1/2"
        ),
    ]
    assert accepted(tmp_path, [*claims, proved("exp on [0, 1]")]) == {len(claims)}
