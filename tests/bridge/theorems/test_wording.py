"""Statements in words of their authors: wording, hypotheses with reasons, quantities by hand beside expressions."""

import pytest
import sympy as sp

import boundsmith as bs

eps, K = sp.symbols("eps K", positive=True)
d, n = sp.symbols("d n", integer=True, positive=True)
RATE = bs.statements.Quantity(
    "output.rate", r"a", "exponent `a` of the error as `eps` falls", "sup norm", "all inputs", bs.statements.Kind.RATE,
    bs.statements.Quantifier.FOR_ALL, printed=bs.statements.Printed(sp.S.One, bs.statements.Citation(None, "a draft")),
    scopes=(), rate_in="d",
)  # fmt: skip


def stated(*more: object, **arguments: object) -> bs.Theorem:
    output = bs.matrix("W", d, d, row_sums=K) @ bs.quantised(bs.vector("x", d, size=1), eps)
    return bs.theorem("own", output, *more, parameters={eps: 0.1, K: 2.0, d: 3}, **arguments)


def test_words_and_letters_stand_in_the_place_of_those_that_are_read_off() -> None:
    wording = bs.statements.OwnWords(
        quantities={
            "output": {"latex_symbol": r"\|\hat u - u\|", "meaning": "error of the layer `u`", "remark": "short"}
        },
        parameters={"eps": {"in_words": "step of the grid"}},
        objects={"u": "the layer, `u = W x`", r"\hat u": "the same of `x` on the grid"},
        notation={K: r"\kappa"},
    )
    statement = stated(meanings={eps: "step of the grid (of the run)"}, wording=wording).statement
    quantity = statement.quantity("output")
    assert (quantity.latex_symbol, str(quantity.meaning), str(quantity.remark)) == (
        r"\|\hat u - u\|", "error of the layer u", "short",
    )  # fmt: skip
    assert quantity.derived() == stated().statement.quantity("output").derived()
    assert statement.objects == {"u": "the layer, u = W x", r"\hat u": "the same of x on the grid"}
    text = statement.latex()
    assert r"(step of the grid)" in text
    assert r"\|\hat u - u\| \le \frac{\kappa \varepsilon}{2}" in text
    assert r"\mathrm{output}" not in text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"quantities": {"outptu": {}}}, r"`wording.quantities` has no 'outptu'. Nearest: output"),
        ({"parameters": {"L": {}}}, r"`wording.parameters` has no 'L'. There are: eps, K, d"),
        ({"quantities": {"output": {"meanings": "u"}}}, r"of output has no 'meanings'. Nearest: meaning"),
        ({"quantities": {"output": {"derivation": None}}}, "of output has no 'derivation'"),
        ({"quantities": {"output": "u"}}, r"of output is 'u'; give a mapping of fields, such as"),
    ],
)
def test_words_of_what_the_statement_does_not_have_are_refused(fields: dict, words: str) -> None:
    with pytest.raises(bs.UsageError, match=words):
        stated(wording=bs.statements.OwnWords(**fields))


def test_a_hypothesis_with_a_reason_takes_the_place_of_the_sign_that_it_implies() -> None:
    def reasons(*hypotheses: object) -> dict[str, str]:
        return {str(each.condition): str(each.reason) for each in stated(hypotheses=hypotheses).statement.hypotheses}

    plain = {
        "eps > 0": "eps is declared positive",
        "K > 0": "K is declared positive",
        "d >= 1": "d is declared positive",
    }
    assert reasons() == plain
    own = bs.statements.Hypothesis("eps", sp.Gt(eps, 0, evaluate=False), "a grid has a step")
    assert reasons(own) == {**plain, "eps > 0": "a grid has a step"}
    least = bs.statements.Hypothesis("d", sp.Ge(d, 2, evaluate=False), "one is none")
    assert reasons(least) == {each: plain[each] for each in ("eps > 0", "K > 0")} | {"d >= 2": "one is none"}
    upper = bs.statements.Hypothesis("K", sp.Le(K, 3, evaluate=False), "short")
    assert reasons(upper) == {**plain, "K <= 3": "short"}
    weaker = bs.statements.Hypothesis("eps", sp.Ge(eps, 0, evaluate=False), "no sign")
    assert reasons(weaker) == {**plain, "eps >= 0": "no sign"}


def test_a_quantity_by_hand_stands_beside_expressions() -> None:
    theorem = stated(RATE, main="output")
    assert [each.name for each in theorem.statement.quantities] == ["output", "output.rate"]
    assert RATE in theorem.statement.quantities
    rows = bs.compare(theorem, d=(2, 3, 4), samples=4, attack=2).rows
    assert {row.quantity for row in rows} == {"output", "output.rate", "faithful"}
    assert all(set(row.verdict.values()) == {bs.Verdict.KEPT} for row in rows if row.quantity == "output")


def test_a_quantity_by_hand_keeps_its_scopes_where_bounds_are_of_prompts() -> None:
    scores = bs.vector("s", d, size=1)
    output = bs.hard_max(scores, margin=K)
    theorem = bs.theorem("own", output, RATE, parameters={K: 0.1, d: 3}, main="output")
    assert {each.name: each.scopes for each in theorem.statement.quantities} == {
        "output": ("prompt",),
        "output.rate": (),
    }
