"""`certify`: typed inequalities, results, certificates, and every refusal with its sentence."""

import json
import signal
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from bridge.cli import certifying, rechecking
from bridge.cli.certifying import belongs
from bridge.questions.certify import certificate as certificate_module
from bridge.questions.certify import checking
from bridge.questions.certify.certificate import digest
from bridge.questions.certify.deadline import Deadline, OutOfTime
from bridge.questions.certify.definedness import conditions_of
from bridge.questions.certify.proving import Leaf, Outcome, Split, Status
from bridge.questions.certify.reading import read_claim, read_inequality
from symbolic import UsageError
from symbolic.derivations.inequalities import Inequality
from tests.bridge.cli.conftest import Command, refused
from tests.bridge.questions.certify.clocks import expiring

x, y = sp.symbols("x y", real=True)
ID = "icgd.trajectory"
STATED = [
    Inequality("gradient_mapping: small", 1 - x, {x: (sp.Integer(0), sp.Integer(1))}),
    Inequality("path", x, {x: (sp.Integer(-1), sp.Integer(1))}),
]


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts two inequalities in the place of what the result states."""
    for module in (certifying, checking):
        monkeypatch.setattr(module, "stated_now", lambda result_id, params: list(STATED))
    monkeypatch.setattr(certifying, "stated_obligations", lambda result_id, params: ([], ["e_w has no range"]))


# Reading.


@pytest.mark.parametrize(
    ("text", "expression", "strict"),
    [
        ("x", x, False),
        ("0.1*x >= y", x / 10 - y, False),
        ("1/3 < x", x - sp.Rational(1, 3), True),
        ("x <= y", y - x, False),
        ("x > 1e-3", x - sp.Rational(1, 1000), True),
        ("-x**2 + 2**-3", sp.Rational(1, 8) - x**2, False),
        ("sqrt(x)*pi + E", sp.sqrt(x) * sp.pi + sp.E, False),
        ("max(x, y, 0) - abs(y)", sp.Max(x, y, 0) - sp.Abs(y), False),
        ("x**(1/2)/tanh(y)", sp.sqrt(x) / sp.tanh(y), False),
    ],
)
def test_what_is_typed_is_read_exactly(text: str, expression: sp.Expr, strict: bool) -> None:
    found, is_strict = read_claim(text)
    assert sp.simplify(found - expression) == 0
    assert is_strict is strict
    assert not found.has(sp.Float)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x + * y", "position 5"),
        ("x + y^2", "powers are written \\*\\*"),
        ("x and y", "position 1, at 'x and y': is not allowed"),
        ("2 + __import__('os')", "position 5, at .__import__"),
        ("x.real", "is not allowed"),
        ("(lambda: 1)()", "is not a known function"),
        ("f(x)", "position 1, at 'f\\(x\\)': is not a known function"),
        ("exp(x, y)", "exp takes one number"),
        ("max(x)", "max takes two or more"),
        ("exp + 1", "is the function exp"),
        ("0x10", "is not a decimal number"),
        ("1j", "is not a decimal number"),
        ("'a'", "is not a decimal number"),
        ("True", "is not a decimal number"),
        ("x if y else 1", "is not allowed"),
        ("0 < x < 1", "not a single comparison"),
        ("x == 1", "not a single comparison"),
        ("x/0", "is 0 and cannot divide"),
        ("2**(10**9)", "exponent that is too large"),
        ("9**9**9", "exponent that is too large"),
        ("x**pi", "an exponent that is too large or not rational"),
        ("1e99999", "too large or too small"),
        ("(" * 30_000 + "x" + ")" * 30_000, "60001 characters, more than 40000"),
        ("(" * 3000 + "x" + ")" * 3000, "nested too deeply"),
        ("(" * 900 + "x" + ")" * 900, "nested too deeply"),
        ("-" * 1900 + "x", "nested too deeply|position"),
        ("", "is not an expression"),
        ("x\x00", "cannot be read|position"),
        ("__x", "is not a name"),
    ],
    ids=range(29),
)
def test_what_cannot_be_read_is_refused_with_its_position(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_claim(text)


def test_a_strict_condition_is_refused() -> None:
    with pytest.raises(UsageError, match="'x < 1/2' is strict"):
        read_inequality("1/2 - x > 0", ["x=0,1"], ["x < 1/2"])


def test_an_expression_is_claimed_only_where_it_is_defined() -> None:
    conditions = {(x, False), (y, True), (1 - x**2, False)}
    found = conditions_of(sp.sqrt(x) + sp.log(y) + sp.asin(x) + sp.sqrt(x**2 + 1), {})
    assert {each.claim for each in found} == conditions
    names = [each.name for each in read_inequality("sqrt(x) + 1", ["x=0,1"])]
    assert names == ["defined: x", "sqrt(x) + 1"]


@pytest.mark.parametrize(
    ("text", "condition", "strict"),
    [
        ("sqrt(x)**2 + 2", x, False),
        ("x**(1/3)*x**(2/3) + 2", x, False),
        ("x/x", x**2, True),
        ("1/(1/x)", x**2, True),
        ("0*tan(x)", sp.cos(x) ** 2, True),
        ("0*log(x)", x, True),
    ],
)
def test_what_sympy_simplifies_away_is_still_asked_for(text: str, condition: sp.Expr, strict: bool) -> None:
    *defined, claim = read_inequality(text, ["x=-1,1"])
    assert [(each.expression, each.strict) for each in defined] == [(condition, strict)]
    assert "simplified to" in claim.meaning


def test_nothing_more_is_asked_for_where_nothing_is_simplified_away() -> None:
    assert [each.name for each in read_inequality("1/(2 + x) - (x - x**2)*2 >= x", ["x=-1,1"])] == [
        "1/(2 + x) - (x - x**2)*2 >= x"
    ]


def test_a_simplified_expression_that_is_undefined_somewhere_is_not_proved(run: Command) -> None:
    outcome = run("certify", "--expression", "sqrt(x)**2 + 2 >= 0", "--range", "x=-1,1")
    assert "defined: x is refuted" in outcome.out
    assert "simplified to x + 2" in outcome.out
    assert "+ 2 >= 0 is undecided: it is undefined at x = -1: it requires x >= 0; 1 box is" in " ".join(
        outcome.out.split()
    )


def test_a_refutation_at_a_point_where_it_is_defined_stands(run: Command) -> None:
    outcome = run("certify", "--expression", "sqrt(x)**2 >= 1/2", "--range", "x=-1,1")
    assert "defined: x is refuted" in outcome.out
    assert "sqrt(x)**2 >= 1/2 is refuted" in outcome.out


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([], "no range is given for x; add --range x=LOW,HIGH"),
        (["x=0,1", "z=0,1"], "the expression has no z"),
        (["x=0"], "not of the form NAME=LOW,HIGH"),
        (["x=0,1", "x=0,1"], "x is given twice"),
        (["x=1,0"], "is empty"),
        (["x=0,inf"], "not an exact number"),
        (["x=0,1/0"], "divides by 0"),
        (["x=0,1/2/3"], "not an exact number"),
        (["pi=0,1"], "not a free name"),
        (["x=,1"], "nothing is not an exact number"),
    ],
)
def test_ranges_that_are_none_are_refused(run: Command, ranges: list[str], message: str) -> None:
    options = [part for text in ranges for part in ("--range", text)]
    assert message in refused(run("certify", "--expression", "x", *options))


# Proving.


def test_a_typed_inequality_is_proved_written_and_confirmed(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    typed = ("--expression", "exp(x) >= 1 + x", "--range", "x=1/3,0.5", "-o", path)
    outcome = run("certify", *typed)
    assert outcome.code == 0
    assert "proved" in outcome.out
    assert f"written: {path}" in outcome.out
    checked = run("certify", "--check", path)
    assert checked.code == 0
    assert "confirmed" in checked.out
    assert "typed by the user; no result states it" in checked.out
    assert json.loads(run("certify", "--check", path, "--json").out)["holds"] is True


def test_a_check_prints_what_was_proved_and_not_what_the_file_calls_it(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    run("certify", "--expression", "x + 1 >= 0", "--range", "x=0,1", "--where", "x <= 1/2", "-o", path)
    assert "x + 1 >= 0: for x in [0, 1]; where" in run("certify", "--check", path).out
    for name, code in (("exp(x) >= 1 + x + x**2", 1), ("exp(x) \u2265 1 + x + x\u00b2", 0)):
        outcome = run("certify", "--check", edited(path, lambda c, name=name: c[0]["inequality"].update(name=name)))
        assert outcome.code == code
        assert f"the file calls it '{name}', a label that nothing proves" in " ".join(outcome.out.split())
        (claim,) = json.loads(run("certify", "--check", path, "--json").out)["claims"]
        assert claim["label"] == name
        assert claim["title"] == claim["inequality"] != name


def test_a_refuted_one_comes_with_its_point(run: Command, tmp_path: Path) -> None:
    outcome = run("certify", "--expression", "x*(1-x) < 1/5", "--range", "x=0,1", "-o", tmp_path / "c.json", "--json")
    assert outcome.code == 0
    (claim,) = json.loads(outcome.out)["claims"]
    value = sp.Rational(claim["point"]["x"])
    assert claim["verdict"] == "refuted"
    assert value * (1 - value) >= sp.Rational(1, 5)
    assert run("certify", "--check", tmp_path / "c.json").code == 0


def test_conditions_narrow_the_box(run: Command) -> None:
    typed = ("--expression", "x + y > 0", "--range", "x=-1,1", "--range", "y=-1,1", "--json")
    verdicts = [
        json.loads(run("certify", *typed, *where).out)["claims"][0]["verdict"]
        for where in ((), ("--where", "x >= 1/10", "--where", "y >= 0"))
    ]
    assert verdicts == ["refuted", "proved"]


@pytest.fixture
def expires(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """The deadlines of the commands that follow are over after so many questions, whatever --seconds says."""

    def after(questions: int) -> None:
        def deadline(seconds: float, alarmed: bool) -> Deadline:
            found = expiring(questions)
            found.seconds = float(questions)
            return found

        for module in (certifying, rechecking):
            monkeypatch.setattr(module, "Deadline", deadline)

    return after


def test_time_that_runs_out_leaves_an_honest_undecided(
    run: Command, tmp_path: Path, expires: Callable[[int], None]
) -> None:
    path = tmp_path / "c.json"
    expires(1500)
    outcome = run(
        *("certify", "--expression", "x**4 + 4*y**4 > 4*x**2*y**2", "--range", "x=1/2,1"),
        *("--range", "y=1/2,1", "-o", path, "--json"),
    )
    (claim,) = json.loads(outcome.out)["claims"]
    assert (outcome.code, claim["verdict"]) == (0, "undecided")
    assert 0 < claim["share"] < 1
    assert claim["open"] > 0
    assert "the time limit of 1500 s was reached while boxes were proved" in claim["reason"]
    expires(10**6)
    checked = run("certify", "--check", path)
    assert checked.code == 1
    assert "undecided: only" in checked.out
    assert "leaves inequalities undecided" in checked.out


def test_an_expression_that_is_not_simplified_in_time_is_undecided_as_it_was_typed(
    run: Command, tmp_path: Path, expires: Callable[[int], None]
) -> None:
    path = tmp_path / "c.json"
    expires(1)
    outcome = run("certify", "--expression", "sqrt(x)**2 >= 0", "--range", "x=0,1", "--where", "x**2 <= 1", "-o", path)
    assert outcome.code == 0
    assert "is undecided: the time limit of 1 s was reached while it was simplified; 1 box is open" in outcome.out
    (claim,) = json.loads(path.read_text())["claims"]
    assert claim["inequality"]["expression"][0] == "Add"  # sqrt(x)**2 - 0, as it was typed
    expires(10**6)
    checked = run("certify", "--check", path)
    assert checked.code == 1
    assert "undecided" in checked.out


def test_the_time_of_reading_counts_for_the_first_inequality(run: Command, expires: Callable[[int], None]) -> None:
    expires(4)
    record = json.loads(run("certify", "--expression", "sqrt(x) >= 0", "--range", "x=0,1", "--json").out)
    reasons = [claim["reason"] for claim in record["claims"]]
    assert [claim["verdict"] for claim in record["claims"]] == ["undecided", "undecided"]
    assert all("while a likely minimum was searched for" in reason for reason in reasons)


def test_stating_that_takes_too_long_is_refused(run: Command, stated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(result_id: str, params: dict[str, Any]) -> list[Inequality]:
        raise OutOfTime

    monkeypatch.setattr(certifying, "stated_now", slow)
    said = refused(run("certify", ID, "--seconds", "7"))
    remedy = "allow more time, or choose other parameters."
    assert said == f"{ID}: its inequalities could not be stated within --seconds 7; {remedy}"


def test_claims_that_a_recheck_does_not_reach_are_counted(
    run: Command, tmp_path: Path, expires: Callable[[int], None]
) -> None:
    path = tmp_path / "c.json"
    run("certify", "--expression", "sqrt(x) + exp(x) >= 1 + x", "--range", "x=1/3,0.5", "-o", path)
    edited(path, lambda claims: claims.append(claims[1]))
    expires(6)
    outcome = run("certify", "--check", path)
    assert outcome.code == 1
    assert "(2 copies)" in outcome.out
    assert "confirmed" in outcome.out
    assert "is not confirmed: 2 of 3 claims were not re-checked within the time limit of 6 s" in outcome.out
    record = json.loads(run("certify", "--check", path, "--json").out)
    assert (record["holds"], record["complete"], record["not_rechecked"]) == (False, False, 2)
    assert [claim["recheck"] for claim in record["claims"]] == ["confirmed", "not re-checked"]


def test_the_time_limit_of_a_recheck_is_longer(run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def noted(seconds: float, alarmed: bool) -> Deadline:
        given.append(seconds)
        return Deadline(seconds)

    for module in (certifying, rechecking):
        monkeypatch.setattr(module, "Deadline", noted)
    run("certify", "--expression", "x + 1", "--range", "x=0,1", "-o", tmp_path / "c.json")
    run("certify", "--check", tmp_path / "c.json")
    run("certify", "--check", tmp_path / "c.json", "--seconds", "3.5")
    assert given == [60.0, 600.0, 3.5]


def test_long_tables_of_claims_are_cut_and_say_so(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rechecking, "SHOWN_CLAIMS", 1)
    run("certify", "--expression", "sqrt(x) + 1", "--range", "x=0,1", "-o", tmp_path / "c.json")
    assert "and 1 more claims; --json has all" in run("certify", "--check", tmp_path / "c.json").out


@pytest.mark.parametrize(
    ("text", "box", "message"),
    [
        ("exp(exp(exp(1000)))*x", "0,1", "exp(exp(1000)) is too large: beyond 2**10000"),
        ("gamma(1e9)*x", "0,1", "gamma accepts numbers up to 1000 only"),
        ("x", "0,1e1001", "the number 1e1001 is too large or too small (at most 10^1000)"),
    ],
)
def test_numbers_that_are_too_large_are_refused(run: Command, text: str, box: str, message: str) -> None:
    assert message in refused(run("certify", "--expression", text, "--range", f"x={box}"))


def test_numbers_beyond_the_floats_are_shown(run: Command, expires: Callable[[int], None]) -> None:
    outcome = run("certify", "--expression", "x - 1 >= 0", "--range", "x=-1e900,1e-900")
    assert (
        "is refuted: the difference of its sides must be >= 0, but it is at most -1.79769e+308 at x = -" in outcome.out
    )
    assert "(-5.00000e+899)" in outcome.out
    outcome = run("certify", "--expression", "-x >= 0", "--range", "x=0,1e-900")
    assert "must be >= 0, but it is below 0 at x = " in outcome.out
    expires(300)
    outcome = run("certify", "--expression", "x**2 - 2*x + 1", "--range", "x=1,1e900")
    assert outcome.code == 0


def test_what_was_found_is_shown_even_if_no_certificate_can_hold_it(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate_module, "MOST_BYTES", 100)
    outcome = run("certify", "--expression", "x", "--range", "x=1,2", "-o", tmp_path / "c.json")
    assert outcome.code == 2
    assert "proved" in outcome.out
    assert "a re-check reads at most 100; certify fewer inequalities at a time" in outcome.err
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/dev/null"])
def test_devices_are_no_certificates(run: Command, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(run("certify", "--check", path))
    assert said == f"certificate: '{path}' is a device or a pipe; name a regular file"


def test_an_interrupt_keeps_what_was_proved(
    run: Command, stated: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(inequality: Inequality, **_: Any) -> Outcome:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            nodes = (Split(0, Fraction(1, 2)), Leaf("range"), Leaf("open"))
            return Outcome(inequality, Status.UNDECIDED, nodes, share=0.5)
        raise AssertionError("no interrupt came")

    monkeypatch.setattr(certifying, "prove", interrupted)
    before = signal.getsignal(signal.SIGINT)
    outcome = run("certify", ID, "-o", tmp_path / "c.json")
    assert outcome.code == 130
    assert "50 %" in outcome.out
    assert outcome.out.count("undecided") >= 3
    assert "interrupted: inequalities that were not finished are undecided" in outcome.out
    assert signal.getsignal(signal.SIGINT) is before
    assert run("certify", "--check", tmp_path / "c.json").code == 1


# Results.


def test_a_result_is_certified_at_its_parameters(run: Command, stated: None, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    outcome = run("certify", ID, "--set", "eta=0.01", "-o", path)
    assert outcome.code == 0
    assert "eta = 0.01" in outcome.out
    assert "gradient_mapping: small" in outcome.out
    assert "path is refuted: the difference of its sides must be >= 0, but it is at most -" in outcome.out
    assert "cannot be tried: e_w has no range" in outcome.out
    assert run("certify", "--check", path).code == 0
    content = json.loads(path.read_text())
    assert content["claims"][0]["origin"]["parameters"]["eta"] == ["float", "0.01"]


def test_one_quantity_of_a_result(run: Command, stated: None) -> None:
    record = json.loads(run("certify", ID, "--quantity", "gradient_mapping", "--json").out)
    assert [claim["name"] for claim in record["claims"]] == ["gradient_mapping: small"]


@pytest.mark.parametrize(
    ("name", "quantity", "belonging"),
    [("decay", "decay", True), ("decay: G4", "decay", True), ("decayed", "decay", False), ("a decay", "decay", False)],
)
def test_which_inequalities_are_of_a_quantity(name: str, quantity: str, belonging: bool) -> None:
    assert belongs(name, quantity) is belonging


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "certify takes one of ID, --expression TEXT and --check FILE"),
        ([ID, "--expression", "x"], "certify takes one of ID"),
        ([ID, "--range", "x=0,1"], "--range goes with --expression TEXT"),
        (["--expression", "x", "--set", "a=1"], "--set goes with a result's ID"),
        (["--expression", "x", "--quantity", "a"], "--quantity goes with a result's ID"),
        ([ID, "--set", "zeta=1"], "has no parameter 'zeta'"),
        (["no.result"], "no.result"),
        ([ID, "--seconds", "0"], "give a number > 0"),
        ([ID, "--seconds", "nan"], "give a number > 0"),
        (["--check", "c.json", "--seconds", "-1"], "give a number > 0"),
        ([ID, "--quantity", "nothing"], "states no inequality of 'nothing'"),
        ([ID, "-o", "c.txt"], "cannot tell the format of 'c.txt' from its suffix; use .json."),
        ([ID, "-o", "no/such/c.json"], "there is no folder"),
        (["--check", "missing.json"], "there is no file 'missing.json'"),
        (["--check", "c.json", ID], "not take ID"),
        (["--check", "c.json", "-o", "d.json"], "not take --output"),
    ],
    ids=range(16),
)
def test_refusals(
    arguments: list[str], message: str, run: Command, stated: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "nothing" in arguments:
        monkeypatch.setattr(certifying, "stated_obligations", lambda result_id, params: ([], []))
    assert message in refused(run("certify", *arguments))


def test_parameters_that_are_choices_are_left_out_if_each_states_the_same(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert run("certify", "induction.trends", "--quantity", "h.turn.line", "-o", path).code == 0
    assert "flow" not in json.loads(path.read_text())["claims"][0]["origin"]["parameters"]
    assert run("certify", "--check", path).code == 0


def test_parameters_that_are_choices_have_to_be_chosen_if_they_matter(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certifying, "stated_now", lambda result_id, params: STATED[: 1 + (params["flow"] == "true")])
    assert "choose one by --set flow=..., from true, printed" in refused(run("certify", "induction.trends"))


def edited(path: Path, change: Any) -> Path:
    """The first claim's record changed, and sealed again."""
    content = json.loads(path.read_text())
    change(content["claims"])
    path.write_text(json.dumps(content | {"digest": digest(content)}))
    return path


@pytest.fixture
def certificate(run: Command, tmp_path: Path) -> Path:
    path = tmp_path / "head.json"
    assert run("certify", "induction.lyapunov_head", "--quantity", "decay.true_flow", "-o", path).code == 0
    assert run("certify", "--check", path).code == 0
    return path


@pytest.mark.long
def test_edited_words_quantities_and_parameters_are_noticed(run: Command, certificate: Path) -> None:
    original = certificate.read_text()
    for change, code, message in (
        (lambda c: c[0]["inequality"].update(meaning="for all inputs"), 1, "differs from the one of induction"),
        (lambda c: c[0]["inequality"].update(because=dict.fromkeys(c[0]["inequality"]["symbols"], "so")), 1, "words"),
        (lambda c: c[0]["origin"].update(quantity="estimate.psi"), 1, "assigns it to 'estimate.psi'"),
        (lambda c: c[0]["origin"]["parameters"].update(foo=["text", "bar"]), 2, "has no parameter 'foo'"),
        (lambda c: c[0]["origin"]["parameters"].pop("alpha"), 2, "no value is given for alpha"),
        (lambda c: c[0]["origin"]["parameters"].update(w_star=["float", "0.9"]), 2, "w_star = 0.9 does not meet"),
        (lambda c: c[0]["origin"].update(result="induction.lyapunov_gram"), 2, "takes no parameters"),
    ):
        certificate.write_text(original)
        outcome = run("certify", "--check", edited(certificate, change))
        assert outcome.code == code
        assert message in " ".join((outcome.out + outcome.err).split())


@pytest.mark.long
def test_a_file_with_a_part_of_a_quantity_says_so(run: Command, certificate: Path) -> None:
    edited(certificate, lambda claims: claims.pop())
    outcome = run("certify", "--check", certificate)
    assert "covers " in outcome.out
    assert "it does not prove that quantity" in " ".join(outcome.out.split())
    assert json.loads(run("certify", "--check", certificate, "--json").out)["complete"] is False


def test_symbols_whose_assumptions_contradict_the_box_are_no_certificate(run: Command, tmp_path: Path) -> None:
    """|x| of a positive x is x: with the box [-1, 1] a false claim would look proved."""
    path = tmp_path / "c.json"
    run("certify", "--expression", "x - abs(x) + 3 >= 0", "--range", "x=-1,1", "-o", path)
    for flags in (["positive"], ["integer"], ["nonpositive"]):
        edited(path, lambda claims, flags=flags: claims[0]["inequality"]["symbols"].update(x=flags))
        assert "exclude; declare it real" in refused(run("certify", "--check", path))


def test_results_without_inequalities_say_what_to_do_instead(run: Command) -> None:
    said = refused(run("certify", "induction.vanilla"))
    assert "`boundsmith compare induction.vanilla` judges its bounds" in said
    assert "induction.lyapunov_head" in said


def test_a_misspelt_quantity_is_answered_by_the_nearest(run: Command) -> None:
    said = refused(run("certify", "induction.trends", "--quantity", "h.turn.lin"))
    assert "Did you mean h.turn.line.holds" in said


def test_a_file_of_another_version_is_refused(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    run("certify", "--expression", "x", "--range", "x=1,2", "-o", path)
    path.write_text(path.read_text().replace('"version":1', '"version":2'))
    assert "is of version 2" in refused(run("certify", "--check", path))


def test_an_edited_file_is_refused(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    run("certify", "--expression", "x", "--range", "x=1,2", "-o", path)
    path.write_text(path.read_text().replace('["x","1","2"]', '["x","1","3"]'))
    assert "the digest does not match" in refused(run("certify", "--check", path))
