"""Certificates: they round-trip, and whatever is changed in one is noticed, by the digest or by the proof itself."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from bridge.questions.certify import checking
from bridge.questions.certify.certificate import (
    CertifiedClaim,
    Origin,
    certificate_text,
    digest,
    settled_share,
)
from bridge.questions.certify.checking import check_certificate
from bridge.questions.certify.expressions import from_record, symbols_from_record, symbols_to_record, to_record
from bridge.questions.certify.nodes import TreeError, boxes_of
from bridge.questions.certify.proving import Leaf, Outcome, Split, Status, prove
from bridge.questions.certify.scalars import root_of
from symbolic import UsageError
from symbolic.derivations.inequalities import Inequality

x, y = sp.symbols("x y", real=True)


def write_certificate(path: str, claims: Sequence[CertifiedClaim]) -> None:
    Path(path).write_text(certificate_text(claims))


u = sp.Symbol("u", positive=True)
Content = dict[str, Any]
Change = Callable[[Content], None]

# exp(u) - 1 - u - (9/20) u^2 vanishes to second order at u = 0; (x - 1/3)^2 keeps the second coordinate busy.
TIGHT = Inequality(
    "tight",
    sp.exp(x) - 1 - x - sp.Rational(9, 20) * x**2 * sp.cos(y / 7) ** 2,
    {x: (sp.Rational(-1, 10), sp.Rational(1, 3)), y: (sp.Rational(0), sp.Rational(2))},
    vanishing=(x,),
)
CUT = Inequality(
    "cut",
    sp.exp(-3 * x) - 1 + sp.Rational(5, 2) * x + y**2 + sp.Rational(1, 50),
    {x: (sp.Rational(0), sp.Rational(7, 3)), y: (sp.Rational(-1), sp.Rational(1))},
    where=(x - y - sp.Rational(1, 4),),
    strict=True,
)
FALSE = replace(CUT, name="false", expression=CUT.expression - sp.Rational(1, 2))
OPEN = Inequality(
    "open", sp.sin(x) ** 2 - 2 * sp.sin(x) / sp.pi + 1 / sp.pi**2, {x: (sp.Rational(0), sp.Rational(1))}, strict=True
)
FORM = Inequality(
    "form",
    sp.expand(2 * x**2 + 2 * u * x * y + y**2),
    {
        x: (sp.Rational(-1), sp.Rational(1)),
        y: (sp.Rational(-1), sp.Rational(1)),
        u: (sp.Rational(0), sp.Rational(7, 5)),
    },
    form=((x, y), ((sp.Integer(2), u), (u, sp.Integer(1)))),
)


@pytest.fixture(scope="module")
def claims() -> dict[str, CertifiedClaim]:
    found = {each.name: CertifiedClaim(prove(each)) for each in (TIGHT, CUT, FALSE, FORM)}
    return found | {"open": CertifiedClaim(prove(OPEN, most_boxes=12))}


@pytest.fixture
def content(claims: dict[str, CertifiedClaim]) -> Content:
    return json.loads(certificate_text(list(claims.values())))


def save(path: Path, content: Content, *, sealed: bool) -> str:
    """Writes the content; `sealed` with the digest that belongs to it."""
    if sealed:
        content = {**content, "digest": digest(content)}
    path.write_text(json.dumps(content))
    return str(path)


def accepted(path: str) -> bool:
    """Whether the re-check confirms every claim of the file."""
    try:
        return all(claim.confirmed for claim in check_certificate(path).claims)
    except UsageError:
        return False


# Expressions.

EXPRESSIONS = [
    sp.Rational(-7, 3),
    x,
    sp.exp(-u) * sp.sqrt(1 - u**2) / (1 + x**2) - sp.pi * sp.E,
    sp.Max(x, y, 0) + sp.Min(x, 1) + sp.Abs(x - y),
    sp.tanh(x) + sp.erf(y) + sp.gamma(u + 1) + sp.log(u) + sp.sin(x) * sp.cos(y),
    sp.Mul(2, sp.Add(x, y), evaluate=False),
    u ** sp.Rational(-3, 2) + 2**x,
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=map(str, range(len(EXPRESSIONS))))
def test_expressions_come_back_as_they_were(expression: sp.Expr) -> None:
    symbols = symbols_from_record(json.loads(json.dumps(symbols_to_record(expression.free_symbols))), "here")
    assert from_record(json.loads(json.dumps(to_record(expression))), symbols) == expression


@pytest.mark.parametrize(
    "expression",
    [sp.Float(0.5) * x, sp.zeta(x), sp.Sum(x**y, (y, 0, 3)), sp.oo, sp.I * x, sp.Dummy("x"), sp.Heaviside(x)],
    ids=map(str, range(7)),
)
def test_what_a_certificate_cannot_hold_is_refused_by_name(expression: sp.Expr) -> None:
    with pytest.raises(UsageError, match="cannot be written into a certificate"):
        to_record(expression)


@pytest.mark.parametrize(
    "symbol",
    [x, u, sp.Symbol("z"), sp.Symbol("n", integer=True, positive=True), sp.Symbol("k", nonnegative=True)],
    ids=str,
)
def test_symbols_keep_their_assumptions(symbol: sp.Symbol) -> None:
    assert symbols_from_record(symbols_to_record([symbol]), "here") == {symbol.name: symbol}


@pytest.mark.parametrize(
    "record",
    [
        ["Pow", ["Rational", "10", "1"], ["Rational", "1000000000", "1"]],
        ["Pow", ["Symbol", "x"], ["Rational", "1000000000", "1"]],
        ["Rational", "2", "4"],
        ["Rational", "1", "0"],
        ["Rational", "01", "1"],
        ["Rational", 1, 2],
        ["Symbol", "z"],
        ["Symbol", "__import__"],
        ["eval", ["Symbol", "x"]],
        ["exp"],
        ["Add", ["Symbol", "x"]],
        [],
        "x",
        None,
        {},
        3,
    ],
    ids=str,
)
def test_nodes_that_nothing_wrote_are_refused(record: Any) -> None:
    with pytest.raises(UsageError, match="here"):
        from_record(record, {"x": x}, "here")


# Whole files.


def test_outcomes_come_back_and_are_confirmed(tmp_path: Path, claims: dict[str, CertifiedClaim]) -> None:
    write_certificate(str(tmp_path / "c.json"), list(claims.values()))
    checked = check_certificate(str(tmp_path / "c.json"))
    assert [claim.inequality for claim in checked.claims] == [claim.outcome.inequality for claim in claims.values()]
    assert [(claim.verdict, claim.confirmed) for claim in checked.claims] == [
        (status, True) for status in (Status.PROVED, Status.PROVED, Status.REFUTED, Status.PROVED, Status.UNDECIDED)
    ]
    assert not checked.holds  # one is undecided
    assert 0 < checked.claims[-1].share < 1
    assert [claim.boxes for claim in checked.claims if claim.boxes] == [
        claim.outcome.boxes for claim in claims.values() if claim.outcome.status is not Status.REFUTED
    ]


def test_the_examples_use_every_part_of_a_certificate(content: Content) -> None:
    forms = {node[0] for claim in content["claims"] for node in claim.get("tree", []) if isinstance(node[0], str)}
    assert {"hessian", "outside 0", "open", "form"} <= forms
    assert forms & {"range", "slope"}


def test_the_proved_and_refuted_ones_hold(tmp_path: Path, claims: dict[str, CertifiedClaim]) -> None:
    write_certificate(str(tmp_path / "c.json"), [claim for name, claim in claims.items() if name != "open"])
    assert check_certificate(str(tmp_path / "c.json")).holds


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every leaf of the JSON with the way to it."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))
    else:
        yield path, value


def places_of_each(content: Content) -> Iterator[tuple[Content, tuple[Any, ...], Any]]:
    """The same for files of one claim each."""
    for claim in content["claims"]:
        single = {**content, "claims": [claim]}
        yield from ((single, path, value) for path, value in places(single))


def changed(content: Content, path: tuple[Any, ...], value: Any) -> Content:
    copy = json.loads(json.dumps(content))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return copy


def numeric(value: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    return isinstance(value, int) or (isinstance(value, str) and value.lstrip("-").replace("/", "").isdecimal())


def other_number(value: Any) -> Any:
    return value + 1 if isinstance(value, int) else str(Fraction(value) + 1)


def test_every_leaf_changed_one_at_a_time_breaks_the_digest(tmp_path: Path, content: Content) -> None:
    count = 0
    for path, value in places(content):
        other = (not value) if isinstance(value, bool) else other_number(value) if numeric(value) else f"{value}x"
        with pytest.raises(UsageError):
            check_certificate(save(tmp_path / "c.json", changed(content, path, other), sealed=False))
        count += 1
    assert count > 200


def test_every_number_of_a_tree_changed_is_noticed_by_the_cover_itself(tmp_path: Path, content: Content) -> None:
    """The digest made to fit: another axis or count leaves boxes over or without a proof, or proves the same claim.

    An axis changed may give another true proof of the same claim; it is then really one. Counts never fit again.
    """
    rejected = 0
    for single, path, value in places_of_each(content):
        if "tree" in path and isinstance(value, int) and path[-1] == 1:
            for other in (value + 1, value - 1):
                assert not accepted(save(tmp_path / "c.json", changed(single, path, other), sealed=True)), path
            rejected += 1
        if "tree" in path and isinstance(value, int) and path[-1] == 0:
            assert not accepted(save(tmp_path / "c.json", changed(single, path, value + 2), sealed=True)), path
    assert rejected >= 8


def test_a_changed_share_or_point_is_noticed_by_the_proof_itself(tmp_path: Path, content: Content) -> None:
    for path, value in places(content):
        if path[-1] == "share":
            for other in ("1/2", "2", "-1", "1" if value != "1" else "0"):
                assert not accepted(save(tmp_path / "c.json", changed(content, path, other), sealed=True))
        if path[-1] == "value":
            for other in ("-3", "1", str(2 * Fraction(value))):
                assert not accepted(save(tmp_path / "c.json", changed(content, path, other), sealed=True))
        if path[-2:-1] == ("point",):
            assert not accepted(save(tmp_path / "c.json", changed(content, path, "5"), sealed=True))


FALSE_CLAIMS = {
    "range": lambda c: c["claims"][0]["inequality"]["box"][0].__setitem__(1, "-9"),
    "range above": lambda c: c["claims"][1]["inequality"]["box"][1].__setitem__(2, "1/0"),
    "range swapped": lambda c: c["claims"][1]["inequality"]["box"][1].__setitem__(2, "-2"),
    "constant": lambda c: c["claims"][1]["inequality"].__setitem__("expression", lowered(CUT.expression)),
    "coefficient 9/20 to 11/20": lambda c: c["claims"][0]["inequality"].__setitem__(
        "expression", to_record(TIGHT.expression.subs(sp.Rational(9, 20), sp.Rational(11, 20)))
    ),
    "exponent": lambda c: c["claims"][0]["inequality"].__setitem__(
        "expression", to_record(sp.exp(x) - 1 - x - sp.Rational(9, 20) * sp.Abs(x) * sp.cos(y / 7) ** 2)
    ),
    "condition dropped": lambda c: c["claims"][1]["inequality"].__setitem__("where", []),
    "strict": lambda c: c["claims"][0]["inequality"].__setitem__("strict", True),
    "vanishing dropped": lambda c: c["claims"][0]["inequality"].__setitem__("vanishing", []),
    "form": lambda c: c["claims"][3]["inequality"]["form"]["matrix"][0].__setitem__(0, ["Rational", "1", "1"]),
    "form not symmetric": lambda c: c["claims"][3]["inequality"]["form"]["matrix"][0].__setitem__(
        1, to_record(sp.Integer(2) * u)
    ),
    "verdict": lambda c: c["claims"][4].__setitem__("verdict", "proved"),
    "verdict undecided": lambda c: c["claims"][0].__setitem__("verdict", "undecided"),
    "refuted is proved": lambda c: c["claims"].__setitem__(
        2, {**c["claims"][1], "inequality": c["claims"][2]["inequality"]}
    ),
    "range of the form": lambda c: c["claims"][3]["inequality"]["box"][2].__setitem__(2, "3/2"),
}


def lowered(expression: sp.Expr) -> list[Any]:
    return to_record(expression - sp.Rational(1, 2))


@pytest.mark.parametrize("change", FALSE_CLAIMS.values(), ids=FALSE_CLAIMS)
def test_a_claim_made_false_is_noticed_by_the_proof_itself(tmp_path: Path, content: Content, change: Change) -> None:
    assert accepted(save(tmp_path / "before.json", content, sealed=True))
    change(content)
    assert not accepted(save(tmp_path / "c.json", content, sealed=True))


def test_nodes_left_out_or_doubled_are_noticed(tmp_path: Path, content: Content) -> None:
    for claim in content["claims"]:
        single = {**content, "claims": [claim]}
        for node in range(len(claim.get("tree", []))):
            for tree in (
                claim["tree"][:node] + claim["tree"][node + 1 :],
                claim["tree"][: node + 1] + claim["tree"][node:],
            ):
                edited = changed(single, ("claims", 0, "tree"), tree)
                assert not accepted(save(tmp_path / "c.json", edited, sealed=True))


def test_a_cut_outside_of_its_box_is_noticed() -> None:
    root = ((Fraction(0), Fraction(1)),)
    for at in (Fraction(0), Fraction(1), Fraction(2), Fraction(-1, 3)):
        with pytest.raises(TreeError, match="outside"):
            list(boxes_of(root, (Split(0, at), Leaf("range"), Leaf("range"))))


def test_the_boxes_of_a_tree_cover_the_root() -> None:
    nodes = (Split(0, Fraction(1, 3)), Leaf("range"), Split(1, Fraction(0)), Leaf("open"), Leaf("slope"))
    root = ((Fraction(0), Fraction(1)), (Fraction(-1), Fraction(1)))
    volumes = [(a[1] - a[0]) * (b[1] - b[0]) for (a, b), node in boxes_of(root, nodes) if isinstance(node, Leaf)]
    assert sum(volumes) == 2
    inequality = Inequality(
        "i", x + y, {s: (sp.Rational(a), sp.Rational(b)) for s, (a, b) in zip((x, y), root, strict=True)}
    )
    assert root_of(inequality) == root
    assert settled_share(inequality, nodes) == Fraction(2, 3)


def test_cuts_elsewhere_than_in_the_middle_are_kept(tmp_path: Path) -> None:
    inequality = Inequality("away", x, {x: (sp.Rational(1, 7), sp.Rational(1))})
    nodes = (Split(0, Fraction(1, 3)), Leaf("range"), Leaf("slope"))
    path = str(tmp_path / "c.json")
    write_certificate(path, [CertifiedClaim(Outcome(inequality, Status.PROVED, nodes, share=1.0))])
    content = json.loads(Path(path).read_text())
    assert content["claims"][0]["tree"][0] == [0, "1/3"]
    assert check_certificate(path).holds
    for at in ("1/7", "1", "2", "-1/3", "2/6", "0.5", "1/3 "):
        edited = changed(content, ("claims", 0, "tree", 0, 1), at)
        assert not accepted(save(tmp_path / "d.json", edited, sealed=True))


def test_a_leaf_whose_form_proves_nothing_is_named(tmp_path: Path) -> None:
    wrong = Outcome(replace(CUT, where=(), expression=x - sp.Rational(1, 2)), Status.PROVED, (Leaf("range"),))
    write_certificate(str(tmp_path / "c.json"), [CertifiedClaim(wrong)])
    (claim,) = check_certificate(str(tmp_path / "c.json")).claims
    assert not claim.confirmed
    assert "is not proved by the form 'range'" in claim.reason
    assert "x in [0, 2.33333]" in claim.reason


# Files that are none.


@pytest.mark.parametrize("share", [0.0, 0.1, 0.37, 0.5, 0.9, 0.99, 0.9999])
def test_truncated_files_are_refused(tmp_path: Path, content: Content, share: float) -> None:
    text = json.dumps(content)
    path = tmp_path / "c.json"
    path.write_text(text[: int(share * len(text))])
    with pytest.raises(UsageError, match="not a certificate"):
        check_certificate(str(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(version=2), "is of version 2; this boundsmith reads 1"),
        (lambda c: c.update(version=True), "is of version True"),
        (lambda c: c.update(format="other"), "is not a certificate"),
        (lambda c: c.update(extra=1), "has unknown extra"),
        (lambda c: c.pop("package"), "lacks package"),
        (lambda c: c.update(claims=[]), "a non-empty list"),
        (lambda c: c["claims"].append(3), "should be an object"),
        (lambda c: c["claims"][0].pop("tree"), "lacks tree"),
        (lambda c: c["claims"][0].update(verdict="sure"), "not a verdict"),
        (lambda c: c["claims"][0].update(share=1), "write it as a string"),
        (lambda c: c["claims"][0].update(tree=[["magic", 1]]), "neither a cut nor a form"),
        (lambda c: c["claims"][0].update(tree=[[True]]), "neither a cut nor a form"),
        (lambda c: c["claims"][0].update(tree=[["range", 10**18]]), "neither a cut nor a form"),
        (lambda c: c["claims"][0]["inequality"]["symbols"].update(x=["positive", "negative"]), "contradict"),
        (lambda c: c["claims"][0]["inequality"]["box"].pop(), "one range for each symbol"),
        (lambda c: c["claims"][0].update(origin={"result": "a"}), "lacks parameters, quantity"),
    ],
)
def test_other_contents_are_refused_by_name(tmp_path: Path, content: Content, change: Change, message: str) -> None:
    change(content)
    with pytest.raises(UsageError, match=message):
        check_certificate(save(tmp_path / "c.json", content, sealed=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "not a certificate|nested too deeply"),
        ('{"a": 1, "a": 2}', "a key is repeated"),
        ('{"a": 0.5}', "is not exact"),
        ('{"a": NaN}', "is not exact"),
        ('{"a": ' + "9" * 5_000 + "}", "not a certificate"),
        ("[1, 2]", "not contain a JSON object"),
        ("\x00\x01", "not a certificate"),
    ],
    ids=["deep", "twice", "float", "nan", "digits", "list", "binary"],
)
def test_odd_json_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        check_certificate(str(tmp_path / "c.json"))


def test_an_expression_nested_too_deeply_is_refused(tmp_path: Path, content: Content) -> None:
    deep: list[Any] = ["Symbol", "x"]
    for _ in range(300):
        deep = ["exp", deep]
    content["claims"][0]["inequality"]["expression"] = deep
    with pytest.raises(UsageError, match="nested deeper than"):
        check_certificate(save(tmp_path / "c.json", content, sealed=True))


# Results.


def test_what_belongs_to_a_result_has_to_be_what_it_states(
    tmp_path: Path, claims: dict[str, CertifiedClaim], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stated(result_id: str, params: dict[str, Any]) -> list[Inequality]:
        assert result_id == "a.result"
        assert params == {"L": 7, "w": 0.49, "kind": "7", "q": sp.Rational(1, 3)}
        return [CUT]

    monkeypatch.setattr(checking, "stated_now", stated)
    origin = Origin("a.result", "cut", {"L": 7, "w": 0.49, "kind": "7", "q": sp.Rational(1, 3)})
    path = str(tmp_path / "c.json")
    write_certificate(path, [CertifiedClaim(claims["cut"].outcome, origin)])
    assert check_certificate(path).holds
    write_certificate(path, [CertifiedClaim(claims["tight"].outcome, origin)])
    checked = check_certificate(path)
    assert not checked.holds
    assert "does not state this inequality at these parameters (it states: cut)" in checked.claims[0].reason


def test_a_file_that_a_certificate_names_is_not_run(tmp_path: Path, claims: dict[str, CertifiedClaim]) -> None:
    trap = tmp_path / "trap.py"
    trap.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    path = str(tmp_path / "c.json")
    write_certificate(path, [CertifiedClaim(claims["cut"].outcome, Origin(str(trap), "cut", {}))])
    with pytest.raises(UsageError, match="is a file, and no file that a certificate names is run"):
        check_certificate(path)
    assert not (tmp_path / "ran").exists()


def test_another_parameter_is_noticed_because_the_result_states_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stated(result_id: str, params: dict[str, Any]) -> list[Inequality]:
        return [Inequality("by L", params["L"] - x, {x: (sp.Integer(0), sp.Integer(1))})]

    monkeypatch.setattr(checking, "stated_now", stated)
    path = tmp_path / "c.json"
    write_certificate(str(path), [CertifiedClaim(prove(stated("", {"L": 5})[0]), Origin("r", "", {"L": 5}))])
    assert accepted(str(path))
    content = json.loads(path.read_text())
    edited = changed(content, ("claims", 0, "origin", "parameters", "L", 1), "6")
    assert not accepted(save(path, edited, sealed=True))
