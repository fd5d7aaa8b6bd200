"""Certificate files parsed strictly: anything that `certificate` beside it does not write is a UsageError.

The work for a file is bounded by its size: runs of boxes are never expanded, the number of cuts of a box is limited,
and the size of the numbers in an expression is checked before SymPy reads it.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from bridge.limits.files import read_bytes
from bridge.questions.certify.certificate import FORMAT, MOST_BYTES, VERSION, Origin, digest
from bridge.questions.certify.expressions import fraction, from_record, shown, symbols_from_record, whole
from bridge.questions.certify.goals import ProofGoal
from bridge.questions.certify.nodes import OPEN, Leaf, Node, Reduction, Split, Status, TreeError, boxes_of
from bridge.questions.certify.scalars import Box, root_of, volume
from bridge.questions.certify.sizes import check_expansion
from bridge.questions.certify.step_records import read_step
from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.inequalities import Inequality, written_out
from symbolic.words.errors import UsageError

MOST_LEAVES, MOST_STEPS_DEEP = 20_000_000, 60
FORMS = re.compile(r"range|slope|hessian|form|open|empty|outside [0-9]{1,4}")
FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,3})?")
FIELDS = ("format", "version", "package", "claims", "digest")
SETTLED = {"inequality", "origin", "verdict", "share", "tree"}
REFUTED = {"inequality", "origin", "verdict", "point", "value"}
INEQUALITY = {"name", "symbols", "box", "expression", "where", "strict", "vanishing", "form", "meaning", "because"}

Check = Callable[[], None]
Symbols = dict[str, sp.Symbol]


@dataclass(frozen=True)
class Tree:
    """The nodes of a tree in preorder, as the file has them: a run of boxes stays one entry."""

    record: tuple[Any, ...]
    where: str

    def __iter__(self) -> Iterator[Node | Callable[[Box], Node]]:
        for at, node in enumerate(self.record):
            if isinstance(node, Reduction):
                yield node
            elif type(node[0]) is not int:
                leaf = Leaf(node[0])
                yield from (leaf for _ in range(node[1]))
            elif len(node) == 1:
                yield _halving(node[0])
            else:
                yield Split(node[0], fraction(node[1], f"{self.where}, node {at}"))

    @property
    def forms(self) -> set[str]:
        return {node[0] for node in self._runs}

    @property
    def boxes(self) -> int:
        """How many boxes and steps there are in all."""
        steps = [node for node in self.record if isinstance(node, Reduction)]
        inside = sum(tree.boxes for node in steps for tree in node.trees)
        return sum(node[1] for node in self._runs) + len(steps) + inside

    @property
    def _runs(self) -> list[Any]:
        return [node for node in self.record if isinstance(node, list) and isinstance(node[0], str)]


@dataclass(frozen=True)
class ParsedClaim:
    """A claim as the file states it: a tree for a settled box, a point and a value for a refutation."""

    inequality: Inequality
    origin: Origin | None
    verdict: Status
    tree: Tree
    share: Fraction = Fraction(0)
    point: tuple[Fraction, ...] = ()
    value: Fraction = Fraction(0)


def read_content(path: str) -> dict[str, Any]:
    """The file as JSON, of this format and version, with a matching digest. Raises UsageError."""
    content = parse_json(read_bytes(path, "certificate", MOST_BYTES), path)
    require_fields(content, set(FIELDS), f"'{path}'")
    if content["format"] != FORMAT:
        raise UsageError(f"'{path}' is not a certificate: its format is {shown(content['format'])}, not {FORMAT!r}.")
    if type(content["version"]) is not int or content["version"] != VERSION:
        raise UsageError(f"'{path}' is of version {shown(content['version'])}; this boundsmith reads {VERSION}.")
    if content["digest"] != digest(content):
        raise UsageError(f"'{path}': the digest does not match the content: the file was changed after it was written.")
    if not isinstance(content["package"], str) or not isinstance(content["claims"], list) or not content["claims"]:
        raise UsageError(f"'{path}': `package` must be a text and `claims` a non-empty list.")
    return content


def parse_json(text: bytes, path: str) -> dict[str, Any]:
    """A JSON object without floats and without a repeated key. Raises UsageError."""
    try:
        content = json.loads(text.decode(), object_pairs_hook=_object, parse_float=_no_float, parse_constant=_no_float)
    except RecursionError:
        raise UsageError(f"'{path}' is nested too deeply for a certificate.") from None
    except ValueError as error:  # not UTF-8, no JSON, a number of too many digits
        raise UsageError(f"'{path}' is not a certificate (truncated?): {str(error)[:200]}.") from None
    if not isinstance(content, dict):
        raise UsageError(f"'{path}' is not a certificate: it does not contain a JSON object.")
    return content


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key is repeated among {', '.join(sorted(key for key, _ in pairs))[:100]}")
    return found


def _no_float(text: str) -> Any:
    raise ValueError(f"the number {text} is not exact; write a string p/q")


def require_fields(record: Any, expected: set[str], where: str) -> None:
    if not isinstance(record, dict):
        raise UsageError(f"{where}: {shown(record)} should be an object with {', '.join(sorted(expected))}.")
    missing, unknown = sorted(expected - set(record)), sorted(set(record) - expected)
    if missing or unknown:
        words = [
            f"{what} {', '.join(names)[:100]}"
            for what, names in (("lacks", missing), ("has unknown", unknown))
            if names
        ]
        raise UsageError(f"{where} {' and '.join(words)}.")


def parse_claim(record: Any, where: str, check: Check = lambda: None) -> ParsedClaim:
    """Raises UsageError for anything but what `claim_record` writes. `check` is called at every node of the tree."""
    verdict = record.get("verdict") if isinstance(record, dict) else None
    require_fields(record, REFUTED if verdict == Status.REFUTED else SETTLED, where)
    if verdict not in list(Status):
        raise UsageError(f"{where}: {shown(verdict)} is not a verdict; the verdicts are {', '.join(Status)}.")
    status = Status(verdict)
    inequality, origin = parse_inequality(record["inequality"], where), _origin(record["origin"], where)
    if status is Status.REFUTED:
        point, value = _point(record["point"], inequality, where), fraction(record["value"], where)
        return ParsedClaim(inequality, origin, status, Tree((), where), point=point, value=value)
    symbols = {symbol.name: symbol for symbol in ProofGoal.of(inequality).symbols}
    tree, share = _tree(record["tree"], symbols, where, check), fraction(record["share"], where)
    if (OPEN in tree.forms) != (status is Status.UNDECIDED):
        raise UsageError(f"{where}: the verdict is undecided if and only if a box is open; it is {verdict}.")
    settled = _settled(inequality, tree, check)
    if share != settled:
        raise UsageError(f"{where}: the share is {share}, but the tree settles {settled}.")
    return ParsedClaim(inequality, origin, status, tree, share)


def _settled(inequality: Inequality, tree: Tree, check: Check) -> Fraction:
    """The share of the box that is not open; UsageError for a tree that does not cover it."""
    root, left = root_of(inequality), Fraction(0)
    try:
        for box, node in boxes_of(root, tree):
            check()
            if node == Leaf(OPEN):
                left += volume(box, root)
    except TreeError as error:
        raise UsageError(f"{tree.where}: the tree of boxes is wrong: {error}.") from None
    return 1 - left


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
    expression, form = from_record(record["expression"], symbols, where), _form(record["form"], symbols, where)
    if form is not None:
        check_expansion(expression - written_out(form), where)  # the two are compared by expanding them
    try:
        return Inequality(
            record["name"],
            expression,
            box,
            tuple(from_record(condition, symbols, where) for condition in record["where"]),
            record["strict"],
            tuple(symbols[name] for name in names),
            form,
            record["meaning"],
            {symbols[name]: reason for name, reason in because.items()},
        )
    except DerivationError as error:
        raise UsageError(f"{where}: {error}.") from None


def _require(held: bool, name: str, value: Any, expected: str, where: str) -> None:
    if not held:
        raise UsageError(f"{where}: {name} = {shown(value)} should be {expected}.")


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


def _tree(record: Any, symbols: Symbols, where: str, check: Check, depth: int = 0) -> Tree:
    if not isinstance(record, list):
        raise UsageError(f"{where}: the tree {shown(record)} is not a list.")
    boxes = 0
    nodes: list[Any] = []
    for at, node in enumerate(record):
        check()
        place = f"{where}, node {at}"
        if isinstance(node, dict):
            nodes.append(_reduction(node, symbols, place, check, depth))
            continue
        if not isinstance(node, list) or not 1 <= len(node) <= 2:
            raise UsageError(f'{place}: {shown(node)} is neither [axis], [axis, "p/q"] nor [form, count].')
        nodes.append(node)
        if type(node[0]) is int:
            if len(node) == 2:
                fraction(node[1], place)
            continue
        known = isinstance(node[0], str) and FORMS.fullmatch(node[0]) and len(node) == 2 and type(node[1]) is int
        if not known or not 1 <= node[1] <= MOST_LEAVES - boxes or (depth and node[0] == OPEN):
            raise UsageError(f"{place}: {shown(node)} is neither a cut nor a form with a count of boxes.")
        boxes += node[1]
    return Tree(tuple(nodes), where)


def _reduction(record: Any, symbols: Symbols, where: str, check: Check, depth: int) -> Reduction:
    if depth == MOST_STEPS_DEEP:
        raise UsageError(f"{where}: steps are nested deeper than {MOST_STEPS_DEEP}.")
    children = record.get("children")
    if not isinstance(children, list):
        raise UsageError(f"{where}: children = {shown(children)} should be a list of trees.")
    step = read_step({name: value for name, value in record.items() if name != "children"}, symbols, where)
    trees = (_tree(each, symbols, f"{where}, child {i}", check, depth + 1) for i, each in enumerate(children))
    return Reduction(step, tuple(trees))


def _halving(axis: int) -> Callable[[Box], Node]:
    def halved(box: Box) -> Node:
        low, high = box[axis] if 0 <= axis < len(box) else (Fraction(0), Fraction(0))
        return Split(axis, (low + high) / 2)

    return halved
