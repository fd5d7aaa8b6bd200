"""Certificates re-checked from scratch: parsed strictly, boxes rebuilt from the root, every leaf evaluated by Arb.

Nothing is taken over from the run that wrote the file but its tree of cuts and the form by which each box was shown.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from bridge.certify.certificate import FORMAT, OPEN, VERSION, Origin, TreeError, boxes_of, digest, root_of, volume
from bridge.certify.expressions import fraction, from_record, shown, symbols_from_record, whole
from bridge.certify.forms import Enclosures, as_ball
from bridge.certify.proving import Box, Leaf, Node, Split, Status
from bridge.certify.stating import belongs, family, reasons, same, stated_now
from bridge.files import read_bytes
from bridge.lowering import LoweringError
from symbolic.derivation import DerivationError
from symbolic.inequalities import Inequality
from symbolic.statements import UsageError

BITS = 160  # more than the prover's
MOST_BYTES = 256 << 20
MOST_LEAVES = 20_000_000
FORMS = re.compile(r"range|slope|hessian|form|open|outside [0-9]{1,4}")
FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,3})?")
FIELDS = ("format", "version", "package", "claims", "digest")
SETTLED = {"inequality", "origin", "verdict", "share", "tree"}
REFUTED = {"inequality", "origin", "verdict", "point", "value"}
INEQUALITY = {"name", "symbols", "box", "expression", "where", "strict", "vanishing", "form", "meaning", "because"}

Report = Callable[[int, float], None]  # boxes and share done


@dataclass(frozen=True)
class CheckedClaim:
    """One inequality of a file: the verdict that it claims, and whether that was confirmed (`reason` says why not)."""

    inequality: Inequality
    origin: Origin | None
    verdict: Status
    confirmed: bool
    reason: str = ""
    boxes: int = 0
    share: Fraction = Fraction(0)


@dataclass(frozen=True)
class Checked:
    """A certificate file, re-checked. It `holds` if every claim is decided (proved or refuted) and confirmed."""

    path: str
    package: str
    claims: tuple[CheckedClaim, ...]
    gaps: tuple[str, ...] = ()  # quantities that the file covers in part only

    @property
    def holds(self) -> bool:
        return all(claim.confirmed and claim.verdict is not Status.UNDECIDED for claim in self.claims)


@dataclass(frozen=True)
class _Parsed:
    inequality: Inequality
    origin: Origin | None
    verdict: Status
    nodes: tuple[Node | Callable[[Box], Node], ...] = ()
    share: Fraction = Fraction(0)
    point: tuple[Fraction, ...] = ()
    value: Fraction = Fraction(0)


def check_certificate(path: str, *, bits: int = BITS, progress: Report | None = None) -> Checked:
    """Re-checks a certificate file. Raises UsageError for a file that is none (truncated, another version, edited)."""
    content = parse_json(read_bytes(path, "certificate"), path)
    require_fields(content, set(FIELDS), f"'{path}'")
    if content["format"] != FORMAT:
        raise UsageError(f"'{path}' is no certificate: its format is {shown(content['format'])}, not {FORMAT!r}.")
    if type(content["version"]) is not int or content["version"] != VERSION:
        raise UsageError(f"'{path}' is of version {shown(content['version'])}; this boundsmith reads {VERSION}.")
    if content["digest"] != digest(content):
        raise UsageError(f"'{path}': the digest does not fit the content: the file was changed after it was written.")
    if not isinstance(content["package"], str) or not isinstance(content["claims"], list) or not content["claims"]:
        raise UsageError(f"'{path}': package has to be a text and claims a list that is not empty.")
    parsed = [_claim(record, f"'{path}', claim {at}") for at, record in enumerate(content["claims"])]
    try:
        checked = tuple(_checked(claim, bits, progress) for claim in parsed)
        return Checked(path, content["package"], checked, _gaps(parsed))
    except UsageError as error:
        raise UsageError(f"'{path}': {error}") from None


# Parsing.


def parse_json(text: bytes, path: str) -> dict[str, Any]:
    """A JSON object without floats and without a key that comes twice. Raises UsageError."""
    if len(text) > MOST_BYTES:
        raise UsageError(f"'{path}' has {len(text)} bytes, more than the {MOST_BYTES} that a certificate may have.")
    try:
        content = json.loads(text.decode(), object_pairs_hook=_object, parse_float=_no_float, parse_constant=_no_float)
    except RecursionError:
        raise UsageError(f"'{path}' is nested too deeply for a certificate.") from None
    except ValueError as error:  # not UTF-8, no JSON, a number of too many digits
        raise UsageError(f"'{path}' is no certificate (truncated?): {str(error)[:200]}.") from None
    if not isinstance(content, dict):
        raise UsageError(f"'{path}' is no certificate: it holds no JSON object.")
    return content


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key comes twice among {', '.join(sorted(key for key, _ in pairs))[:100]}")
    return found


def _no_float(text: str) -> Any:
    raise ValueError(f"the number {text} is not exact; write a string p/q")


def require_fields(record: Any, wanted: set[str], where: str) -> None:
    if not isinstance(record, dict):
        raise UsageError(f"{where}: {shown(record)} should be an object with {', '.join(sorted(wanted))}.")
    missing, unknown = sorted(wanted - set(record)), sorted(set(record) - wanted)
    if missing or unknown:
        words = [
            f"{what} {', '.join(names)[:100]}"
            for what, names in (("lacks", missing), ("has unknown", unknown))
            if names
        ]
        raise UsageError(f"{where} {' and '.join(words)}.")


def _claim(record: Any, where: str) -> _Parsed:
    verdict = record.get("verdict") if isinstance(record, dict) else None
    require_fields(record, REFUTED if verdict == Status.REFUTED else SETTLED, where)
    if verdict not in list(Status):
        raise UsageError(f"{where}: {shown(verdict)} is no verdict; there are {', '.join(Status)}.")
    status = Status(verdict)
    inequality, origin = parse_inequality(record["inequality"], where), _origin(record["origin"], where)
    if status is Status.REFUTED:
        point = _point(record["point"], inequality, where)
        return _Parsed(inequality, origin, status, point=point, value=fraction(record["value"], where))
    nodes = _tree(record["tree"], where)
    leaves = [node for node in nodes if isinstance(node, Leaf)]
    if (Leaf(OPEN) in leaves) != (status is Status.UNDECIDED):
        raise UsageError(f"{where}: open boxes make a verdict undecided, and nothing else does; it says {verdict}.")
    share = fraction(record["share"], where)
    root = root_of(inequality)
    try:
        left = sum((volume(box, root) for box, node in boxes_of(root, nodes) if node == Leaf(OPEN)), Fraction(0))
    except TreeError as error:
        raise UsageError(f"{where}: the tree of boxes is wrong: {error}.") from None
    if share != 1 - left:
        raise UsageError(f"{where}: the share {share} is not the one that the tree settles, {1 - left}.")
    return _Parsed(inequality, origin, status, nodes, share)


def parse_inequality(record: Any, where: str) -> Inequality:
    """Raises UsageError for anything but what `inequality_record` writes."""
    require_fields(record, INEQUALITY, f"{where}, inequality")
    where = f"{where}, inequality"
    symbols = symbols_from_record(record["symbols"], where)
    _require(isinstance(record["strict"], bool), "strict", record["strict"], "true or false", where)
    for name in ("name", "meaning"):
        _require(isinstance(record[name], str), name, record[name], "a text", where)
    for name in ("box", "where", "vanishing"):
        _require(isinstance(record[name], list), name, record[name], "a list", where)
    box = dict(_side(side, symbols, where) for side in record["box"])
    _require(len(box) == len(record["box"]) == len(symbols), "box", record["box"], "one range for each symbol", where)
    because = record["because"]
    reasons = isinstance(because, dict) and all(isinstance(reason, str) for reason in because.values())
    _require(reasons and set(because) <= set(symbols), "because", because, "reasons by symbol", where)
    names = record["vanishing"]
    known = all(isinstance(name, str) and name in symbols for name in names) and len(set(names)) == len(names)
    _require(known, "vanishing", names, "a list of symbols", where)
    try:
        return Inequality(
            record["name"],
            from_record(record["expression"], symbols, where),
            box,
            tuple(from_record(condition, symbols, where) for condition in record["where"]),
            record["strict"],
            tuple(symbols[name] for name in names),
            _form(record["form"], symbols, where),
            record["meaning"],
            {symbols[name]: reason for name, reason in because.items()},
        )
    except DerivationError as error:
        raise UsageError(f"{where}: {error}.") from None


def _require(held: bool, name: str, value: Any, wanted: str, where: str) -> None:
    if not held:
        raise UsageError(f"{where}: {name} = {shown(value)} should be {wanted}.")


def _side(side: Any, symbols: dict[str, sp.Symbol], where: str) -> tuple[sp.Symbol, tuple[sp.Rational, sp.Rational]]:
    held = isinstance(side, list) and len(side) == 3 and isinstance(side[0], str) and side[0] in symbols
    _require(held, "box", side, "[symbol, low, high]", where)
    low, high = (fraction(end, where) for end in side[1:])
    return symbols[side[0]], (sp.Rational(low), sp.Rational(high))


def _form(record: Any, symbols: dict[str, sp.Symbol], where: str) -> Any:
    if record is None:
        return None
    require_fields(record, {"vector", "matrix"}, f"{where}, form")
    vector, matrix = record["vector"], record["matrix"]
    square = isinstance(vector, list) and isinstance(matrix, list) and len(matrix) == len(vector) <= 8
    square = square and all(isinstance(row, list) and len(row) == len(vector) for row in matrix)
    _require(square, "form", record, "a vector and a square matrix of its size, at most 8", where)
    rows = tuple(tuple(from_record(entry, symbols, where) for entry in row) for row in matrix)
    symmetric = all(rows[i][j] == rows[j][i] for i in range(len(rows)) for j in range(i))
    _require(symmetric, "form", record, "a symmetric matrix", where)
    return tuple(from_record(entry, symbols, where) for entry in vector), rows


def _origin(record: Any, where: str) -> Origin | None:
    if record is None:
        return None
    require_fields(record, {"result", "quantity", "parameters"}, f"{where}, origin")
    for name in ("result", "quantity"):
        _require(isinstance(record[name], str), name, record[name], "a text", where)
    _require(isinstance(record["parameters"], dict), "parameters", record["parameters"], "an object", where)
    parameters = {name: _parameter(name, value, where) for name, value in record["parameters"].items()}
    return Origin(record["result"], record["quantity"], parameters)


def _parameter(name: str, record: Any, where: str) -> Any:
    held = isinstance(record, list) and len(record) == 2 and all(isinstance(part, str) for part in record)
    _require(held, name, record, "[type, text]", where)
    kind, text = record
    if kind == "text":
        return text
    if kind == "int":
        return whole(text, where)
    if kind == "rational":
        return sp.Rational(fraction(text, where))
    _require(kind == "float" and FLOAT.fullmatch(text) is not None, name, record, "a parameter with its type", where)
    _require(repr(float(text)) == text, name, record, "a finite number as Python writes it", where)
    return float(text)


def _point(record: Any, inequality: Inequality, where: str) -> tuple[Fraction, ...]:
    names = [symbol.name for symbol in inequality.box]
    require_fields(record, set(names), f"{where}, point")
    return tuple(fraction(record[name], where) for name in names)


def _tree(record: Any, where: str) -> tuple[Node | Callable[[Box], Node], ...]:
    if not isinstance(record, list):
        raise UsageError(f"{where}: the tree {shown(record)} is no list.")
    nodes: list[Node | Callable[[Box], Node]] = []
    for at, node in enumerate(record):
        place = f"{where}, node {at}"
        if not isinstance(node, list) or not 1 <= len(node) <= 2:
            raise UsageError(f'{place}: {shown(node)} is neither [axis], [axis, "p/q"] nor [form, count].')
        if type(node[0]) is int:
            nodes.append(_halving(node[0]) if len(node) == 1 else Split(node[0], fraction(node[1], place)))
            continue
        known = isinstance(node[0], str) and FORMS.fullmatch(node[0]) and len(node) == 2 and type(node[1]) is int
        if not known or not 1 <= node[1] <= MOST_LEAVES - len(nodes):
            raise UsageError(f"{place}: {shown(node)} is neither a cut nor a form with a count of boxes.")
        nodes += [Leaf(node[0])] * node[1]
    return tuple(nodes)


def _halving(axis: int) -> Callable[[Box], Node]:
    def halved(box: Box) -> Node:
        low, high = box[axis] if 0 <= axis < len(box) else (Fraction(0), Fraction(0))
        return Split(axis, (low + high) / 2)

    return halved


# Checking.


def _checked(claim: _Parsed, bits: int, progress: Report | None) -> CheckedClaim:
    boxes = sum(isinstance(node, Leaf) for node in claim.nodes)
    reason = _not_stated(claim) or (
        _not_refuted(claim, bits) if claim.verdict is Status.REFUTED else _not_shown(claim, bits, boxes, progress)
    )
    return CheckedClaim(claim.inequality, claim.origin, claim.verdict, not reason, reason, boxes, claim.share)


def _not_stated(claim: _Parsed) -> str:
    """Why the result does not state this inequality now; "" where it does, or where none is named."""
    if claim.origin is None:
        return ""
    result, quantity, inequality = claim.origin.result, claim.origin.quantity, claim.inequality
    stated = stated_now(result, dict(claim.origin.parameters))
    agreeing = [each for each in stated if same(inequality, each)]
    if not agreeing:
        names = ", ".join(each.name for each in stated) or "none"
        return f"{result} does not state this inequality at these parameters (it states: {names})"
    if quantity and not belongs(inequality.name, quantity):
        return f"the file says that it is of '{quantity}', and it is not"
    if agreeing[0].meaning != inequality.meaning or reasons(agreeing[0]) != reasons(inequality):
        return (
            f"the file describes it in other words than {result} does, which says: {agreeing[0].meaning or 'nothing'}"
        )
    return ""


def _gaps(claims: Sequence[_Parsed]) -> tuple[str, ...]:
    """Which quantities of a result the file covers in part: what it leaves out is not shown by it."""
    found: list[str] = []
    origins = {(c.origin.result, tuple(sorted(c.origin.parameters.items()))) for c in claims if c.origin is not None}
    for result, parameters in sorted(origins, key=str):
        here = [c for c in claims if c.origin and c.origin.result == result]
        names = {
            c.inequality.name for c in here if c.origin and tuple(sorted(c.origin.parameters.items())) == parameters
        }
        stated = [each.name for each in stated_now(result, dict(parameters))]
        for quantity in dict.fromkeys(family(name) for name in stated if name in names):
            whole = [name for name in stated if family(name) == quantity]
            if left := [name for name in whole if name not in names]:
                covered = f"covers {len(whole) - len(left)} of {len(whole)} inequalities of {quantity}"
                found.append(f"{covered} ({result}); it leaves out {', '.join(left)}")
    return tuple(found)


# f(point) lies in the ball, whose upper end is below 0 (at most 0 if > 0 is claimed) and at most the stated value.
def _not_refuted(claim: _Parsed, bits: int) -> str:
    enclosures = Enclosures(claim.inequality, bits)
    if not enclosures.inside(claim.point):
        return "the point is not shown to lie in the box and to meet the conditions"
    value = enclosures.value_at(claim.point)
    if not (value <= 0 if claim.inequality.strict else value < 0):
        return f"the point does not refute: the expression there is {value.str(10)}"
    above = enclosures.value_at(claim.point) - as_ball(claim.value)
    return "" if above <= 0 and claim.value <= 0 else f"the stated value {float(claim.value):g} is no upper bound there"


def _shows(enclosures: Enclosures, box: Box, form: str) -> bool:
    """Whether the form proves it there; one that the expression does not have (a second derivative, say) does not."""
    try:
        return enclosures.shown_by(box, form)
    except LoweringError:
        return False


def _not_shown(claim: _Parsed, bits: int, boxes: int, progress: Report | None) -> str:
    enclosures, done = Enclosures(claim.inequality, bits), 0
    for box, node in boxes_of(root_of(claim.inequality), claim.nodes):
        if not isinstance(node, Leaf):
            continue
        if node.by != OPEN and not _shows(enclosures, box, node.by):
            ends = ", ".join(
                f"{symbol} in [{float(low):.6g}, {float(high):.6g}]"
                for symbol, (low, high) in zip(claim.inequality.box, box, strict=True)
            )
            return f"box {done} ({ends}) is not shown by '{node.by}'"
        done += 1
        if progress is not None and done % 100 == 0:
            progress(done, done / boxes)
    return ""
