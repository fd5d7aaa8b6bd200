"""Certificates: proofs and refutations of inequalities, as a JSON file that `checking` beside it can re-check.

Every number is an exact rational "p/q". The tree of boxes is in preorder: [axis] halves a box, [axis, "p/q"] cuts
it at p/q, and [form, n] are n consecutive boxes that the form proves. The boxes themselves are not stored. They follow
from the tree, and they cover the whole box by construction. An object is a box that a step of `steps` beside it proves:
its name, its fields, and under "children" a tree for each goal that it leaves. The digest is the SHA-256 of the content
as canonical JSON.
"""

import hashlib
import importlib.metadata
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Any

import sympy as sp

from bridge.questions.certify.expressions import symbols_to_record, to_record
from bridge.questions.certify.nodes import OPEN, Leaf, Node, Reduction, Split, Status, boxes_of
from bridge.questions.certify.scalars import Box, root_of, volume
from bridge.questions.certify.step_records import step_record
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError

Outcome = Any  # of `proving` beside it; a re-check reads this file, and nothing of the search
FORMAT, VERSION = "boundsmith-certificate", 1
MOST_BYTES = 16 << 20  # of a file: four million cuts, read into a few hundred MiB

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Origin:
    """The result that states the inequality, and the parameters at which it does."""

    result: str
    quantity: str = ""
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True)
class CertifiedClaim:
    """An outcome with the origin of its inequality; None for an inequality that the user typed."""

    outcome: Outcome
    origin: Origin | None = None


def certificate_text(claims: Sequence[CertifiedClaim]) -> str:
    """The text of the file. Raises UsageError for content that a certificate cannot store."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "package": importlib.metadata.version("boundsmith"),
        "claims": [claim_record(claim) for claim in claims],
    }
    text = json.dumps({**content, "digest": digest(content)}, ensure_ascii=True, separators=(",", ":")) + "\n"
    if len(text) > MOST_BYTES:
        raise UsageError(
            f"the certificate would have {len(text)} bytes, and a re-check reads at most {MOST_BYTES}; "
            "certify fewer inequalities at a time."
        )
    return text


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256 over everything but the digest itself."""
    body = {name: value for name, value in content.items() if name != "digest"}
    canonical = json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def claim_record(claim: CertifiedClaim) -> dict[str, Any]:
    outcome = claim.outcome
    record: dict[str, Any] = {
        "inequality": inequality_record(outcome.inequality),
        "origin": None if claim.origin is None else origin_record(claim.origin),
        "verdict": str(outcome.status),
    }
    if outcome.status is Status.REFUTED:
        assert outcome.value is not None  # a refuting point is stored with its value
        record["point"] = {symbol.name: str(Fraction(value)) for symbol, value in outcome.point.items()}
        return record | {"value": str(Fraction(outcome.value))}
    nodes = without_open_cuts(outcome.nodes or (Leaf(OPEN),))
    return record | {
        "share": str(settled_share(outcome.inequality, nodes)),
        "tree": tree_record(root_of(outcome.inequality), nodes),
    }


def without_open_cuts(nodes: Sequence[Node]) -> list[Node]:
    """The same tree without cuts of boxes that stay open as a whole: an undecided run stores what it settled."""
    trees: list[tuple[Any, ...]] = []  # node, lower part, upper part
    for node in reversed(nodes):
        parts = (trees.pop(), trees.pop()) if isinstance(node, Split) else ()
        trees.append((Leaf(OPEN),) if parts and all(each == (Leaf(OPEN),) for each in parts) else (node, *parts))
    kept: list[Node] = []
    while trees:
        tree = trees.pop()
        kept.append(tree[0])
        trees += tree[:0:-1]
    return kept


def inequality_record(inequality: Inequality) -> dict[str, Any]:
    """The inequality as JSON; the order of the coordinates is part of it."""
    where = f"inequality '{inequality.name}'"
    form = inequality.form
    return {
        "name": inequality.name,
        "symbols": symbols_to_record(inequality.box, where),
        "box": [[symbol.name, str(low), str(high)] for symbol, (low, high) in inequality.box.items()],
        "expression": to_record(inequality.expression, where),
        "where": [to_record(condition, where) for condition in inequality.where],
        "strict": inequality.strict,
        "vanishing": [symbol.name for symbol in inequality.vanishing],
        "form": None
        if form is None
        else {
            "vector": [to_record(sp.sympify(entry), where) for entry in form[0]],
            "matrix": [[to_record(sp.sympify(entry), where) for entry in row] for row in form[1]],
        },
        "meaning": inequality.meaning,
        "because": {symbol.name: reason for symbol, reason in inequality.because.items()},
    }


def origin_record(origin: Origin) -> dict[str, Any]:
    parameters = {name: parameter_record(name, value) for name, value in origin.parameters.items()}
    return {"result": origin.result, "quantity": origin.quantity, "parameters": parameters}


def parameter_record(name: str, value: Any) -> list[str]:
    """A parameter with its type, so that the same value can be restored exactly."""
    if type(value) is int:
        return ["int", str(value)]
    if type(value) is float and math.isfinite(value):
        return ["float", repr(value)]
    if type(value) is str:
        return ["text", value]
    if isinstance(value, sp.Rational):
        return ["rational", str(value)]
    raise UsageError(f"certificate: the parameter {name} = {value!r} is neither a finite number nor a text.")


def tree_record(root: Box, nodes: Sequence[Node]) -> list[Any]:
    boxes = (box for box, _ in boxes_of(root, nodes))
    record: list[Any] = []
    for by, run in groupby(zip(boxes, nodes, strict=True), key=lambda pair: getattr(pair[1], "by", None)):
        pairs = list(run)
        if by is not None:
            record.append([by, len(pairs)])
        else:
            record += [_node_record(box, node) for box, node in pairs]
    return record


def _node_record(box: Box, node: Any) -> Any:
    if isinstance(node, Reduction):
        boxes = [each.box for each in node.goals]
        trees = [tree_record(*each) for each in zip(boxes, node.trees, strict=True)]
        return step_record(node.step) | {"children": trees}
    return _split_record(box, node)


def _split_record(box: Box, split: Split) -> list[Any]:
    low, high = box[split.axis]
    return [split.axis] if 2 * split.at == low + high else [split.axis, str(Fraction(split.at))]


def settled_share(inequality: Inequality, nodes: Sequence[Node]) -> Fraction:
    """The exact share of the box's volume in leaves that are not open."""
    root = root_of(inequality)
    left = sum((volume(box, root) for box, node in boxes_of(root, nodes) if node == Leaf(OPEN)), start=Fraction(0))
    return 1 - left
