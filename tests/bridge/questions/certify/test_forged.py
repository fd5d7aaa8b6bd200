"""Forged certificates with a digest that fits: each edit is refused, not confirmed, or reported as what it is."""

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bridge.questions.certify.certificate import CertifiedClaim, Origin, certificate_text, digest
from bridge.questions.certify.checking import CheckedClaim, check_certificate
from bridge.questions.certify.proving import prove
from bridge.questions.certify.reading import read_inequality
from bridge.questions.certify.stating import stated_now
from bridge.questions.certify.words import region, statement
from symbolic import UsageError
from tests.bridge.questions.certify import by_points

Content = dict[str, Any]
Edit = Callable[[list[Any]], object]  # of the list of claims
TYPED = [
    ("exp(x) >= 1 + x/2", ["x=0,1"], ["x <= 3/4"]),
    ("x*(1 - x) < 1/5", ["x=0,1"], []),
    ("sqrt(x)**2 + log(x + 1) + y > -1/2", ["x=0,2", "y=-1/3,1"], []),
]
RESULT = {"L": 1000, "alpha": 1.0, "w_star": 0.49, "sigma_init": 0.01}
PROVED, REFUTED, FROM_RESULT = 0, 1, -1  # places of claims


@pytest.fixture(scope="module")
def text() -> str:
    typed = [each for given in TYPED for each in read_inequality(*given)]
    claims = [CertifiedClaim(prove(each)) for each in typed]
    (stated,) = (each for each in stated_now("induction.trends", RESULT) if each.name == "h.turn.line.holds")
    claims.append(CertifiedClaim(prove(stated), Origin("induction.trends", "h.turn.line.holds", RESULT)))
    assert [str(claim.outcome.status) for claim in claims] == ["proved", "refuted", *["proved"] * 4]
    return certificate_text(claims)


# ---- The edits

X: list[Any] = ["Symbol", "x"]


def number(p: int, q: int = 1) -> list[str]:
    return ["Rational", str(p), str(q)]


def add(*parts: Any) -> list[Any]:
    return ["Add", *parts]


def times(*parts: Any) -> list[Any]:
    return ["Mul", *parts]


def power(of: Any, p: int, q: int = 1) -> list[Any]:
    return ["Pow", of, number(p, q)]


def minus(of: Any) -> list[Any]:
    return times(number(-1), of)


def cancelled(of: Any, left: int = 0) -> list[Any]:
    """f - f, and what is left."""
    return add(of, number(left), minus(of))


def sigmoid(of: Any) -> list[Any]:
    return power(add(number(1), ["exp", of]), -1)


NAMES = {
    "another bound": "exp(x) >= 1 + x + x**2",
    "reversed": "exp(x) <= 1 + x/2",
    "strict": "exp(x) > 1 + x/2",
    "another letter": "exp(y) >= 1 + y/2",
    "equality": "exp(x) == 1 + x/2",
    "characters": "exp(x) \u2265 1 + x + x\u00b2",
    "words": "the Riemann hypothesis",
    "a result": "induction.trends: h.turn.line.holds",
    "of another result": "h.turn.line.fails",
    "escape": "\x1b[2Jexp(x) >= 2",
    "markup": "[bold]exp(x) >= 2[/bold]",
    "lines": "exp(x) >= 1 + x/2\nthe certificate holds for all x",
    "long": "x" * 50_000,
    "deep": "(" * 5_000,
    "code": "__import__('os').system('true') >= 0",
    "of definedness": "defined: x",
    "empty": "",
    "false": "0 > 1",
    "true": "0 >= 0",
    "unbounded": "exp(x) >= 1 + x/2 for all real x",
}
NO_NAMES = {"number": 3, "none": None, "list": ["x"], "float": 0.5, "object": {}}
EXPRESSIONS = {
    "x": X,
    "x + 1": add(X, number(1)),
    "x - 1/2": add(X, number(-1, 2)),
    "-1": number(-1),
    "0": number(0),
    "x/x": times(X, power(X, -1)),
    "0/x": times(number(0), power(X, -1)),
    "log x + 5 - log x": cancelled(["log", X], 5),
    "sqrt(x - 1/2)^2 + 2": add(power(power(add(X, number(-1, 2)), 1, 2), 2), number(2)),
    "exp(log x) + 2": add(["exp", ["log", X]], number(2)),
    "tan - tan": cancelled(["tan", times(number(2), X)]),
    "gamma/gamma": times(["gamma", X], power(["gamma", X], -1)),
    "asin(2x) - asin(2x)": cancelled(["asin", times(number(2), X)]),
    "sigmoids of a pole": add(number(1), minus(sigmoid(power(X, -1))), minus(sigmoid(minus(power(X, -1))))),
    "pole of a pole": add(power(power(X, -1), -1), number(1)),
    "pole inside": cancelled(power(add(X, number(-1, 3)), -1), 1),
    "x^(1/2)": power(X, 1, 2),
    "0^0": power(number(0), 0),
    "1/0": power(number(0), -1),
    "power of a tower": ["Pow", number(9), power(number(9), 9)],
    "unknown function": ["zeta", X],
    "unknown symbol": ["Symbol", "z"],
    "integer": ["Rational", 1, 2],
    "float": ["Rational", "0.5", "1"],
    "not reduced": ["Rational", "2", "4"],
    "garbage": [[[[]]]],
    "text": "x",
    "nested": {"Add": [X, X]},
    "empty": [],
    "one part": add(X),
    "cancelled": cancelled(X),
}
ENDS = [
    "-9",
    "9",
    "1/0",
    "2/4",
    "0.5",
    "1e3",
    " 1",
    "+1",
    "",
    "nan",
    "oo",
    1,
    0.5,
    None,
    True,
    ["1"],
    "-1/7",
    "10000000",
]
CONDITIONS = {
    "none": [],
    "empty region": [add(X, number(-100))],
    "true": [number(1)],
    "undefined": [power(cancelled(X), -1)],
    "half": [add(X, number(-1, 2))],
    "log": [cancelled(["log", minus(X)])],
    "garbage": [["x"]],
    "text": "x >= 0",
    "number": 1,
    "null": None,
    "unknown symbol": [["Symbol", "q"]],
}
FIELDS: dict[str, list[Any]] = {
    "strict": [True, False, 1, 0, "true", None],
    "vanishing": [["x"], ["x", "x"], ["q"], "x", None, [["x"]]],
    "form": [{}, {"vector": [X], "matrix": [[X]]}, {"vector": [X], "matrix": [[X, X]]}, [], "x", 3],
    "meaning": ["proved for every x", 3, None],
    "because": [{"x": "it is positive"}, {"q": "x"}, {"x": 1}, [], None],
    "symbols": [{}, {"x": ["positive"]}, {"x": ["integer"]}, {"x": ["magic"]}, {"x": "real"}, {"x": [], "q": []}, []],
}
TREES: list[Any] = [
    *([["range", count]] for count in (0, 2, -1, 1.0, True, 10**30, "1", None)),
    *([[axis], ["range", 2]] for axis in (9, -1, 0.0, None)),
    *([[0, at], ["range", 2]] for at in ("5", "0.5", 0.5)),
    *([], [[0], ["range", 1]], [[0, "1/2"], ["range", 3]], "range", None, [[[["range"]]]]),
]


def origin(result: str) -> dict[str, Any]:
    return {"result": result, "quantity": "", "parameters": {}}


OF_CLAIMS: dict[str, list[Any]] = {
    "verdict": ["proved", "refuted", "undecided", "Proved", "", None, 1, ["proved"]],
    "share": ["0", "1/2", "2", "-1", "1.0", 1, 1.0, None],
    "tree": [
        *([[form, 1]] for form in ("slope", "hessian", "form", "outside 0", "outside 7", "open", "magic")),
        *TREES,
    ],
    "point": [{"x": "0"}, {"x": "1/2"}, {"x": "7"}, {"x": 0.5}, {"y": "1/2"}, {}, None, {"x": "1/2", "y": "0"}],
    "value": ["-1", "1", "0", -1, -0.05, None, "-1/1000000"],
    "origin": [
        {},
        "induction.trends",
        1,
        [],
        *(origin(name) for name in ("induction.trends", "no.result", "a/file.py")),
    ],
}
WHOLE: dict[str, list[Any]] = {
    "version": [0, 2, -1, "1", 1.0, True, None, [1]],
    "format": ["other", None, 1],
    "package": [1, None, ["0"]],
    "claims": [[], {}, None, "x", [None], [[]], [{}]],
}


Forgery = tuple[tuple[int, ...], Edit]  # the claims of the file, by place, and what is done to them
ALL = (0, 1, 2, 3, 4)


def put(value: Any, *way: Any) -> Edit:
    """The first claim, with a value at the end of the way."""

    def edit(claims: list[Any]) -> None:
        inner = claims[0]
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = value

    return edit


def edits() -> Iterator[tuple[str, Forgery]]:
    """Of every kind, with a name for each."""
    for at, of in ((PROVED, "proved"), (REFUTED, "refuted"), (FROM_RESULT, "stated")):
        for name, value in (NAMES | NO_NAMES).items():
            yield f"{of}: name {name}", ((at,), put(value, "inequality", "name"))
    for at, of in ((PROVED, "proved"), (REFUTED, "refuted")):
        yield from ((f"{of}: {name}", ((at,), edit)) for name, edit in edits_of_one())
    for value in ("-1", "1", "4/5", "0", 1, 0.5):
        yield f"stated: end {value!r}", ((FROM_RESULT,), put(value, "inequality", "box", 0, 2))
    yield from ((name, (ALL, edit)) for name, edit in edits_of_several())


def edits_of_one() -> Iterator[tuple[str, Edit]]:
    for part, table in (("expression", EXPRESSIONS), ("where", CONDITIONS)):
        yield from ((f"{part} {name}", put(value, "inequality", part)) for name, value in table.items())
    for end in (1, 2):
        yield from ((f"end {end} {value!r}", put(value, "inequality", "box", 0, end)) for value in ENDS)
    for name, values in FIELDS.items():
        yield from ((f"{name} {value!r:.60}", put(value, "inequality", name)) for value in values)
    for name, values in OF_CLAIMS.items():
        yield from ((f"{name} {value!r:.60}", put(value, name)) for value in values)


def edits_of_several() -> Iterator[tuple[str, Edit]]:
    """Of the whole list: a proof, a refutation, where the third is defined (two claims), the third."""

    def copied(claims: list[Any], **changes: Any) -> None:
        claims.append({**claims[0], "inequality": {**claims[0]["inequality"], **changes}})

    def wider(claims: list[Any]) -> None:
        del claims[2:4]
        claims[2]["inequality"]["box"][0][1] = "-1/2"

    yield "defined claims deleted", lambda claims: claims.__delitem__(slice(2, 4))
    yield "defined claims deleted and the box wider", wider
    yield "a defined claim alone", lambda claims: claims.__delitem__(slice(3, None))
    yield "a claim copied under another name", lambda claims: copied(claims, name="exp(x) >= 2 + x")
    yield "a claim copied", copied
    yield "a proof of another claim", lambda claims: claims[1].update(inequality=claims[0]["inequality"])
    yield "a tree of another claim", lambda claims: claims[4].update(inequality=claims[1]["inequality"])
    yield "a range left out", lambda claims: claims[4]["inequality"]["box"].pop()
    yield "a range twice", lambda claims: claims[4]["inequality"]["box"].append(claims[4]["inequality"]["box"][0])
    yield "ranges exchanged", lambda claims: claims[4]["inequality"]["box"].reverse()
    yield "ends exchanged", lambda claims: claims[0]["inequality"]["box"][0].reverse()
    yield "an unknown field", lambda claims: claims[0].update(proof="by authority")
    yield "a field left out", lambda claims: claims[0].pop("origin")


EDITS = dict(edits())


def test_there_are_enough_edits() -> None:
    assert len(EDITS) >= 150


def sealed(content: Content, path: Path) -> str:
    path.write_text(json.dumps(content | {"digest": digest(content)}))
    return str(path)


@pytest.mark.parametrize("name", EDITS)
def test_a_forged_claim_is_refused_or_reported_as_what_it_is(name: str, text: str, tmp_path: Path) -> None:
    places, edit = EDITS[name]
    content = json.loads(text)
    content["claims"] = [content["claims"][at] for at in places]
    edit(content["claims"])
    try:
        path = sealed(content, tmp_path / "c.json")
        checked = check_certificate(path)
    except UsageError:
        return
    for claim in checked.claims:
        assert_reported(claim, content)


def assert_reported(claim: CheckedClaim, content: Content) -> None:
    """A confirmed claim is a record of the file that points agree with, and it is shown as that record."""
    if not claim.confirmed:
        assert claim.reason
        return
    assert claim.inequality is not None
    box = [[str(symbol), str(low), str(high)] for symbol, (low, high) in claim.inequality.box.items()]
    of_name = [each for each in content["claims"] if each["inequality"]["name"] == claim.name]
    record = next(each for each in of_name if each["inequality"]["box"] == box and each["verdict"] == claim.verdict)
    judge(record)
    assert all(end in region(claim.inequality) for side in box for end in side)
    if claim.title != statement(claim.inequality) and claim.origin is None:
        ((typed, *_), *_) = [read_inequality(claim.title, [f"{s}={a},{b}" for s, a, b in box])[-1:]]
        assert (typed.expression, typed.strict) == (claim.inequality.expression, claim.inequality.strict)
    if claim.origin is not None:
        assert claim.title == "h.turn.line.holds"
    if claim.title != claim.name:
        assert claim.label in ("", claim.name, f"{claim.name[:297]}...")


def judge(record: Content) -> None:
    inequality = record["inequality"]
    if record["verdict"] == "proved" and len(inequality["box"]) <= 2:
        assert not by_points.fails(inequality)
    if record["verdict"] == "refuted":
        at = record["point"]
        single = inequality | {"box": [[name, at[name], at[name]] for name, _, _ in inequality["box"]], "where": []}
        assert by_points.fails(single)
        assert by_points.inside(inequality, {name: Fraction(x) for name, x in at.items()})


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WHOLE.items() for value in values])
def test_a_forged_file_is_refused(name: str, value: Any, text: str, tmp_path: Path) -> None:
    if (name, value) == ("package", "0"):
        return
    with pytest.raises(UsageError):
        check_certificate(sealed(json.loads(text) | {name: value}, tmp_path / "c.json"))


# ---- What a name may say


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_never_shown_for_an_inequality_that_it_does_not_state(name: str, text: str, tmp_path: Path) -> None:
    content = json.loads(text)
    content["claims"] = [content["claims"][PROVED]]
    inequality = content["claims"][0]["inequality"]
    inequality.update(name=NAMES[name], expression=add(X, number(1)), where=[])
    checked = check_certificate(sealed(content, tmp_path / "c.json"))
    (claim,) = checked.claims
    assert claim.title == "x + 1 >= 0"
    assert claim.label == (NAMES[name] if len(NAMES[name]) <= 300 else f"{NAMES[name][:297]}...")
    states_another = name in ("another bound", "reversed", "strict", "another letter", "false", "true")
    assert checked.holds is not states_another
    assert ("its name in the file states another inequality" in claim.reason) is states_another


@pytest.mark.parametrize("name", ["x + 1", "x + 1 >= 0", "1 + x >= 0", "0 <= x + 1", "x >= -1"])
def test_a_name_that_states_the_inequality_is_no_contradiction(name: str, text: str, tmp_path: Path) -> None:
    content = json.loads(text)
    content["claims"] = [content["claims"][PROVED]]
    content["claims"][0]["inequality"].update(name=name, expression=add(X, number(1)), where=[])
    checked = check_certificate(sealed(content, tmp_path / "c.json"))
    assert checked.holds
    (claim,) = checked.claims
    assert claim.title in ("x + 1 >= 0", "x + 1")
    assert claim.label == ("" if claim.title == name else name)
